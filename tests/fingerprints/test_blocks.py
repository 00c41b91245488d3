"""Blocks of a fingerprint, and the probes that reach one of every neighbour."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.blocks import probe_count, probes, split


@pytest.mark.parametrize("widest", [1, 3, 7, 15, 64])
@given(st.integers(1, 64), st.integers(0, 64), st.data())
def test_some_probe_reaches_a_part_of_a_block_of_every_neighbour(widest, blocks, radius, data):
    """The pigeonhole argument itself, for every number of blocks and every radius."""
    if probe_count(blocks, radius, widest) > 5_000:
        radius = min(radius, blocks)
    bits = data.draw(st.sets(st.integers(0, 63), max_size=radius))
    difference = sum(1 << bit for bit in bits)
    cut = split(blocks, widest)
    asked = probes(blocks, radius, widest)
    assert sum(len(flips) for _, flips in asked) == probe_count(blocks, radius, widest)
    assert any(difference >> cut[table].shift & cut[table].mask in flips for table, flips in asked)
