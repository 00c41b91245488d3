"""The index of fingerprints: what it finds, what it keeps, and what that takes."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from simhash_gate.fingerprints.blocks import probe_count, probes, split
from simhash_gate.fingerprints.index import HammingIndex

FINGERPRINTS = st.integers(0, 2**64 - 1)
RADII = [*range(13), 17, 31, 32, 63, 64]
BLOCKS = [None, 1, 2, 3, 4, 5, 7, 9, 16, 64]


def brute_force(stored, query, radius):
    distances = ((other, (other ^ query).bit_count()) for other in set(stored))
    near = [pair for pair in distances if pair[1] <= radius]
    return sorted(near, key=lambda pair: pair[::-1])


def flip(fingerprint, bits):
    return fingerprint ^ sum(1 << bit for bit in bits)


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


@st.composite
def planted(draw):
    """A query, and fingerprints that hold neighbours of it at distances of all kinds."""
    query = draw(FINGERPRINTS)
    places = st.sets(st.integers(0, 63), max_size=20)
    # Runs of neighbouring bits put all the difference into few blocks.
    runs = st.tuples(st.integers(0, 63), st.integers(0, 20)).map(
        lambda run: set(range(run[0], min(run[0] + run[1], 64)))
    )
    near = [flip(query, bits) for bits in draw(st.lists(places | runs, max_size=30))]
    return query, near + draw(st.lists(FINGERPRINTS, max_size=30))


@pytest.mark.parametrize("radius", RADII)
@settings(max_examples=20)
@given(planted(), st.sampled_from(BLOCKS))
def test_lookups_find_what_brute_force_finds(radius, case, blocks):
    query, stored = case
    expected = brute_force(stored, query, radius)
    for index in (HammingIndex(radius, blocks), HammingIndex(blocks=blocks)):
        for fingerprint in stored:
            index.insert(fingerprint)
        assert index.find_all(query, radius) == expected
        assert index.find_first(query, radius) == (expected[0] if expected else None)


@pytest.mark.parametrize(("radius", "blocks"), [*product(range(9), [4, 5, 8, 9])])
def test_a_neighbour_at_each_distance_is_found_among_many(radius, blocks):
    """With enough stored that the tables are asked, not everything scanned."""
    random = np.random.default_rng(radius * 100 + blocks)
    index = HammingIndex(radius, blocks)
    index.insert_bulk(random.integers(0, 2**64, probe_count(blocks, radius) + 1, dtype=np.uint64))
    assert probe_count(index.blocks, radius) <= len(index)
    for query in random.integers(0, 2**64, 5, dtype=np.uint64).tolist():
        for distance in range(radius + 2):
            neighbour = flip(query, random.permutation(64)[:distance].tolist())
            fresh = index.insert(neighbour)
            assert ((neighbour, distance) in index.find_all(query)) == (distance <= radius)
            assert fresh
            index.remove(neighbour)


class IndexMachine(RuleBasedStateMachine):
    """An index beside a set, through single and bulk changes, from few crowded values."""

    # All of one block is equal, so that postings grow and shrink.
    values = st.integers(0, 40).map(lambda value: value * 0x0001_0001_0000_0001)

    def __init__(self):
        super().__init__()
        self.index = HammingIndex()
        self.model = set()

    @rule(value=values)
    def insert(self, value):
        assert self.index.insert(value) == (value not in self.model)
        self.model.add(value)

    @rule(value=values)
    def remove(self, value):
        assert self.index.remove(value) == (value in self.model)
        self.model.discard(value)

    @rule(batch=st.lists(values, max_size=30))
    def insert_bulk(self, batch):
        new = set(batch) - self.model
        assert self.index.insert_bulk(np.array(batch, np.uint64)) == len(new)
        self.model |= new

    @rule(query=values, radius=st.integers(0, 64))
    def find(self, query, radius):
        assert self.index.find_all(query, radius) == brute_force(self.model, query, radius)

    @rule(queries=st.lists(values, max_size=5), radius=st.integers(0, 64))
    def find_bulk(self, queries, radius):
        near = self.index.find_all_bulk(np.array(queries, np.uint64), radius)
        expected = [
            (position, *pair)
            for position, query in enumerate(queries)
            for pair in brute_force(self.model, query, radius)
        ]
        assert list(zip(*(column.tolist() for column in near), strict=True)) == expected

    @invariant()
    def holds_the_same(self):
        assert len(self.index) == len(self.model)
        assert sorted(self.index) == sorted(self.model)
        assert all(value in self.index for value in self.model)


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=50, stateful_step_count=40)


@pytest.mark.parametrize("radius", [0, 1, 3, 4, 8, 12, 64])
def test_bulk_lookups_answer_as_single_ones_do(radius):
    random = np.random.default_rng(radius)
    stored = random.integers(0, 2**64, 2_000 if radius < 64 else 50, dtype=np.uint64)
    flips = np.array(
        [flip(0, random.permutation(64)[: n % 15].tolist()) for n in range(300)], np.uint64
    )
    queries = random.choice(stored, 300) ^ flips
    index = HammingIndex(radius)
    assert index.insert_bulk(stored) == len(index) == len(set(stored.tolist()))

    query, fingerprint, distance = index.find_all_bulk(queries)
    found = list(zip(query.tolist(), fingerprint.tolist(), distance.tolist(), strict=True))
    single = [index.find_all(value) for value in queries.tolist()]
    assert found == [(n, *pair) for n, pairs in enumerate(single) for pair in pairs]
    assert (query.dtype, fingerprint.dtype, distance.dtype) == (np.intp, np.uint64, np.uint8)
    assert any(single)

    nearest, distances = index.find_first_bulk(queries)
    expected = [pairs[0] if pairs else (0, -1) for pairs in single]
    assert list(zip(nearest.tolist(), distances.tolist(), strict=True)) == expected
    assert (nearest.dtype, distances.dtype) == (np.uint64, np.int8)


def test_more_pairs_than_one_chunk_holds_are_all_found():
    stored = np.arange(3_000, dtype=np.uint64) << np.uint64(48)  # equal in three blocks of four
    index = HammingIndex()
    index.insert_bulk(stored)
    found = index.find_all_bulk(stored[:1_000], 0)
    assert found.fingerprint.tolist() == stored[:1_000].tolist()
    assert found.query.tolist() == list(range(1_000))


def test_an_empty_index_and_empty_queries_find_nothing():
    index = HammingIndex()
    assert (len(index), list(index), index.find_first(7), index.find_all(7, 64)) == (
        0,
        [],
        None,
        [],
    )
    found, distances = index.find_first_bulk(np.array([1, 2], np.uint64))
    assert (found.tolist(), distances.tolist()) == ([0, 0], [-1, -1])
    index.insert(7)
    assert [len(column) for column in index.find_all_bulk(np.array([], np.uint64))] == [0, 0, 0]
    assert index.insert_bulk(np.array([], np.uint64)) == 0


def test_the_blocks_are_chosen_by_size_and_nothing_is_lost_when_they_change():
    random = np.random.default_rng(8)
    values = random.integers(0, 2**64, 30_000, dtype=np.uint64).tolist()
    index = HammingIndex(8)
    seen = {index.blocks}
    for value in values:
        index.insert(value)
        seen.add(index.blocks)
    assert len(seen) > 1
    assert set(index) == set(values)
    assert all(index.find_first(value ^ 0xFF) == (value, 8) for value in values[::500])


def test_blocks_that_are_given_stay():
    index = HammingIndex(8, blocks=9)
    index.insert_bulk(np.random.default_rng(9).integers(0, 2**64, 5_000, dtype=np.uint64))
    assert index.blocks == 9


def test_what_is_out_of_range_is_refused():
    index = HammingIndex()
    for value in (-1, 2**64):
        for method in (index.insert, index.remove, index.find_first, index.find_all):
            with pytest.raises(ValueError, match="64-bit"):
                method(value)
        assert value not in index
    for radius in (-1, 65):
        with pytest.raises(ValueError, match="0 to 64"):
            HammingIndex(radius)
        with pytest.raises(ValueError, match="0 to 64"):
            index.find_all(0, radius)
    for blocks in (0, -1, 65):
        with pytest.raises(ValueError, match="1 to 64"):
            HammingIndex(blocks=blocks)
    for array in (np.array([-1]), np.array([0.5]), np.array(["a"])):
        with pytest.raises(ValueError, match="64-bit"):
            index.insert_bulk(array)
    assert len(index) == 0


def test_arrays_of_other_whole_numbers_are_taken_as_they_are():
    index = HammingIndex()
    assert index.insert_bulk(np.array([1, 2, 2], np.int32)) == 2
    assert index.insert_bulk([3, 1]) == 1
    assert sorted(index) == [1, 2, 3]


def test_an_index_of_one_page_costs_little_and_one_of_many_no_more_than_64_bytes_each():
    random = np.random.default_rng(1)
    HammingIndex().insert_bulk(np.arange(100))  # what is made once for all indexes
    tracemalloc.start()
    try:
        for size, most in ((1, 500), (1_000, 64_000), (10_000, 640_000), (300_000, 19_200_000)):
            values = random.integers(0, 2**64, size, dtype=np.uint64)
            before, _ = tracemalloc.get_traced_memory()
            index = HammingIndex()
            index.insert_bulk(values)
            after, _ = tracemalloc.get_traced_memory()
            assert after - before <= most
            del index
    finally:
        tracemalloc.stop()


def test_an_index_that_grows_one_by_one_takes_no_more_than_64_bytes_each():
    values = np.random.default_rng(3).integers(0, 2**64, 20_000, dtype=np.uint64).tolist()
    warm = HammingIndex()  # what is made once for all indexes
    for value in values:
        warm.insert(value)
    tracemalloc.start()
    try:
        index = HammingIndex()
        for value in values:
            index.insert(value)
            if len(index) >= 1_000:
                taken, _ = tracemalloc.get_traced_memory()
                assert taken <= 64 * len(index)
    finally:
        tracemalloc.stop()


def test_slots_of_two_bytes_give_way_before_they_are_used_up():
    values = np.random.default_rng(4).integers(0, 2**64, 66_000, dtype=np.uint64)
    index = HammingIndex()
    index.insert_bulk(values[:32_767])
    index.insert_bulk(values[32_767:64_700])
    for value in values[64_700:].tolist():
        assert index.insert(value)
    assert len(index) == len(values)
    assert all(index.find_first(value ^ 7) == (value, 3) for value in values[::500].tolist())


def test_an_index_that_has_shrunk_gives_memory_back_and_loses_nothing():
    values = np.random.default_rng(2).integers(0, 2**64, 8_000, dtype=np.uint64).tolist()
    tracemalloc.start()
    try:
        index = HammingIndex()
        index.insert_bulk(np.array(values, np.uint64))
        full, _ = tracemalloc.get_traced_memory()
        for value in values[10:]:
            assert index.remove(value)
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert left < full / 20
    assert set(index) == set(values[:10])
    assert all(index.find_first(value ^ 7) == (value, 3) for value in values[:10])
