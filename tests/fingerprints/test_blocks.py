"""Blocks of a fingerprint, and the probes that reach one of every neighbour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.blocks import probe_count, probes, split


@given(st.integers(1, 64), st.integers(0, 64), st.data())
def test_some_probe_reaches_a_block_of_every_neighbour(blocks, radius, data):
    """The pigeonhole argument itself, for every number of blocks and every radius."""
    if probe_count(blocks, radius) > 20_000:
        radius = min(radius, blocks)
    bits = data.draw(st.sets(st.integers(0, 63), max_size=radius))
    difference = sum(1 << bit for bit in bits)
    asked = probes(blocks, radius)
    assert sum(len(probe.flips) for probe in asked) == probe_count(blocks, radius)
    keys = [
        (difference >> split(blocks)[table].shift & split(blocks)[table].mask, flips)
        for table, flips in asked
    ]
    assert any(key in flips for key, flips in keys)


@pytest.mark.parametrize("blocks", range(1, 65))
def test_blocks_cover_every_bit_once_and_evenly(blocks):
    cut = split(blocks)
    assert sum(block.mask << block.shift for block in cut) == 2**64 - 1
    assert sum(block.width for block in cut) == 64
    assert max(block.width for block in cut) - min(block.width for block in cut) <= 1


@pytest.mark.parametrize("widest", [1, 3, 7, 15])
@given(st.integers(1, 16), st.data())
def test_some_probe_reaches_a_part_of_a_block_of_every_neighbour(widest, blocks, data):
    radius = data.draw(st.integers(0, min(12, blocks * 2)))
    bits = data.draw(st.sets(st.integers(0, 63), max_size=radius))
    difference = sum(1 << bit for bit in bits)
    cut = split(blocks, widest)
    assert max(block.width for block in cut) <= widest
    asked = probes(blocks, radius, widest)
    assert sum(len(probe.flips) for probe in asked) == probe_count(blocks, radius, widest)
    assert any(difference >> cut[table].shift & cut[table].mask in flips for table, flips in asked)
