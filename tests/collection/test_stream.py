from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate import near_duplicate_pairs
from simhash_gate.collection import disk, pairs
from simhash_gate.collection.pairs import stream_pairs
from simhash_gate.fingerprints import arrays

FINGERPRINTS = st.integers(0, 2**64 - 1)


@st.composite
def crowded(draw):
    """Fingerprints around a few centres, with repeats, in scopes of any size."""
    centres = draw(st.lists(FINGERPRINTS, min_size=1, max_size=3))
    flips = st.sets(st.integers(0, 63), max_size=9).map(lambda bits: sum(1 << bit for bit in bits))
    near = st.tuples(st.sampled_from(centres), flips).map(lambda pair: pair[0] ^ pair[1])
    scopes = st.sampled_from([0, 1, 7])
    return draw(st.lists(st.tuples(near | FINGERPRINTS, scopes), max_size=60))


def streamed(values, radius, most=None, **options):
    """The pairs as a sorted list, so that one which comes twice shows."""
    found = []

    def use(one, other):
        found.extend((min(p), max(p)) for p in zip(one.tolist(), other.tolist(), strict=True))

    stream_pairs(np.array(values, np.uint64), radius, use, most=most, **options)
    return sorted(found)


def brute_force(pages, radius, same):
    return [
        (i, j)
        for (i, (a, scope)), (j, (b, other)) in combinations(enumerate(pages), 2)
        if (a ^ b).bit_count() <= radius and same(scope, other)
    ]


@pytest.mark.parametrize("most", [None, 1, 10])
@pytest.mark.parametrize("small", [0, 200])
@settings(max_examples=60, deadline=None)
@given(pages=crowded(), radius=st.integers(0, 8), at_once=st.sampled_from([1, 7, 1 << 20]))
def test_every_path_finds_the_pairs_that_brute_force_finds(small, most, pages, radius, at_once):
    values = [value for value, _ in pages]
    scopes = np.array([scope for _, scope in pages], np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_SMALL", small)
        patch.setattr(pairs, "_AT_ONCE", at_once)
        patch.setattr(disk, "_AT_ONCE", at_once)
        patch.setattr(arrays, "CHUNK", 16)
        across = streamed(values, radius, most=most)
        within = streamed(values, radius, most=most, scopes=scopes)
        listed = near_duplicate_pairs(np.array(values, np.uint64), radius)
    everything = brute_force(pages, radius, lambda scope, other: True)
    assert across == everything
    assert list(zip(listed.i.tolist(), listed.j.tolist(), strict=True)) == everything
    assert within == brute_force(pages, radius, lambda scope, other: scope == other)


@pytest.mark.parametrize("most", [None, 3_000])
def test_many_on_several_threads_give_what_is_listed(most, monkeypatch):
    monkeypatch.setattr("simhash_gate.fingerprints.block_sort._FEW", 1_000)
    random = np.random.default_rng(1)
    values = random.integers(0, 2**64, 20_000, dtype=np.uint64)
    bits = np.uint64(1) << random.integers(0, 64, (3, 10_000), dtype=np.uint64)
    values[10_000:] = values[:10_000] ^ np.bitwise_xor.reduce(bits)
    found = near_duplicate_pairs(values)
    listed = list(zip(found.i.tolist(), found.j.tolist(), strict=True))
    assert streamed(values, 3, most=most) == listed
    assert len(listed) >= 10_000


def test_more_pairs_than_memory_holds_come_in_portions():
    """A hundred thousand equal fingerprints have five thousand million pairs."""
    most = 0

    class EnoughError(Exception):
        pass

    def use(one, other):
        nonlocal most
        most += len(one)
        assert len(one) <= 1 << 20
        if most > 1 << 22:
            raise EnoughError

    with pytest.raises(EnoughError):
        stream_pairs(np.zeros(100_000, np.uint64), 0, use)
