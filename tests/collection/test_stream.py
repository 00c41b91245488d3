import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate.collection import pairs
from simhash_gate.collection.pairs import stream_pairs
from simhash_gate.fingerprints import arrays
from tests.collection.crowds import brute_force, crowded


def streamed(values, radius, **options):
    """The pairs as a sorted list, so that one which comes twice shows."""
    found = []

    def use(one, other):
        found.extend((min(p), max(p)) for p in zip(one.tolist(), other.tolist(), strict=True))

    stream_pairs(np.array(values, np.uint64), radius, use, **options)
    return sorted(found)


@settings(max_examples=180, deadline=None)
@given(
    pages=crowded(scopes=(0, 1, 7)),
    radius=st.integers(0, 8),
    at_once=st.sampled_from([1, 7, 1 << 20]),
    small=st.sampled_from([0, 200]),
)
def test_every_path_finds_the_pairs_that_brute_force_finds(pages, radius, at_once, small):
    values = [value for value, _ in pages]
    scopes = np.array([scope for _, scope in pages], np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_SMALL", small)
        patch.setattr(pairs, "_AT_ONCE", at_once)
        patch.setattr(arrays, "CHUNK", 16)
        across = streamed(values, radius)
        within = streamed(values, radius, scopes=scopes)
    assert across == [pair[:2] for pair in brute_force(pages, radius)]
    assert within == [pair[:2] for pair in brute_force(pages, radius, across=False)]


def test_more_pairs_than_memory_holds_come_in_portions():
    """A hundred thousand equal fingerprints have five thousand million pairs."""
    portions = []

    def use(one, other):
        portions.append(len(one))
        if sum(portions) > 1 << 22:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        stream_pairs(np.zeros(100_000, np.uint64), 0, use)
    assert max(portions) <= 1 << 20
