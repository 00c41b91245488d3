from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simhash_gate import near_duplicate_pairs
from simhash_gate.collection.pairs import stream_pairs
from simhash_gate.fingerprints import block_sort
from tests.collection.crowds import brute_force, compared_in_rows, crowded


def plain(pages):
    return [value for value, _ in pages]


def listed(values, radius):
    pairs = near_duplicate_pairs(np.array(values, np.uint64), radius)
    assert [column.dtype for column in pairs] == [np.intp, np.intp, np.uint8]
    return list(zip(*(column.tolist() for column in pairs), strict=True))


def scattered(random, count, planted, radius):
    """Random fingerprints, some of them with a few bits of another one flipped."""
    values = random.integers(0, 2**64, count, dtype=np.uint64)
    for copy, source in zip(
        random.permutation(count)[:planted], random.integers(0, count, planted), strict=True
    ):
        bits = random.permutation(64)[: random.integers(0, radius + 2)]
        values[copy] = values[source] ^ np.bitwise_or.reduce(
            np.uint64(1) << bits.astype(np.uint64), initial=0
        )
    return values


@settings(max_examples=150, deadline=None)
@given(crowded(), st.integers(0, 9) | st.sampled_from([12, 40, 64]))
def test_pairs_are_those_that_brute_force_finds(pages, radius):
    expected = brute_force(pages, radius)
    assert listed(plain(pages), radius) == expected


@pytest.mark.parametrize("radius", range(1, 9))
def test_any_number_of_blocks_finds_the_same(radius, monkeypatch):
    values = scattered(np.random.default_rng(radius), 300, 150, radius)
    expected = compared_in_rows(values, radius)
    for extra in range(5):
        monkeypatch.setattr(block_sort, "_cheapest", lambda size, radius, e=extra: radius + e)
        assert [pair[:2] for pair in listed(values, radius)] == expected


@pytest.mark.parametrize("radius", [0, 3, 8])
def test_many_on_several_threads_give_what_a_comparison_of_all_gives(radius, monkeypatch):
    monkeypatch.setattr(block_sort, "_FEW", 1_000)
    values = scattered(np.random.default_rng(radius), 8_000, 4_000, radius)
    expected = compared_in_rows(values, radius)
    pairs = near_duplicate_pairs(values, radius)
    assert list(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True)) == expected
    assert (pairs.distance == np.bitwise_count(values[pairs.i] ^ values[pairs.j])).all()
    assert len(expected) > 1_000


def test_a_large_group_of_near_duplicates_is_found_in_portions():
    """All within two bits of one, each twice: a group has many times as many pairs as members."""
    bits = np.uint64(1) << np.arange(64, dtype=np.uint64)
    ball = np.concatenate(([0], bits, [a | b for a, b in combinations(bits, 2)])).astype(np.uint64)
    # Of 2081 values, those of odd weight differ by 1 or 3 bits from those of even weight, or by 2.
    distances = np.bitwise_count(ball[:, None] ^ ball)
    between = (int((distances <= 3).sum()) - len(ball)) // 2
    portions = []
    stream_pairs(np.repeat(ball, 2), 3, lambda one, _: portions.append(len(one)))
    assert sum(portions) == 4 * between + len(ball)
    assert max(portions) <= 1 << 20


def test_groups_of_near_duplicates_among_many_are_found_exactly():
    """Two balls, each with members that are there twice, and with others just outside of it."""
    radius = 3
    random = np.random.default_rng(radius)
    values = random.integers(0, 2**64, 18_000, dtype=np.uint64)
    for start, farthest in ((0, 4), (800, 8)):
        for place in range(start, start + 800):
            flips = random.permutation(64)[: random.integers(0, farthest + 1)].astype(np.uint64)
            values[place] = values[-1 - start] ^ np.bitwise_or.reduce(
                np.uint64(1) << flips, initial=0
            )
    assert [pair[:2] for pair in listed(values, radius)] == compared_in_rows(values, radius)


def test_runs_longer_than_a_chunk_are_searched_whole():
    """All agree in the upper half, so that whole tables are one run."""
    values = np.arange(3_000, dtype=np.uint64)
    assert [pair[:2] for pair in listed(values, 2)] == compared_in_rows(values, 2)


def test_what_is_out_of_range_is_refused():
    for array in (np.array([-1]), np.array([0.5])):
        with pytest.raises(ValueError, match="64-bit"):
            near_duplicate_pairs(array)
    for radius in (-1, 65):
        with pytest.raises(ValueError, match="0 to 64"):
            near_duplicate_pairs([1, 2], radius)


def test_large_fingerprints_in_a_list_are_not_rounded() -> None:
    pairs = near_duplicate_pairs([2**63 + 1, 5, 2**63, 2**64 - 1], 1)
    assert (pairs.i.tolist(), pairs.j.tolist(), pairs.distance.tolist()) == ([0], [2], [1])
    assert near_duplicate_pairs([]).i.size == 0
