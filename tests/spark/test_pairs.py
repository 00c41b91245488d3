"""`near_duplicates`: exact, each pair once, whatever the fingerprints."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from simhash_gate import near_duplicate_pairs
from simhash_gate.collection.listing import find_copies
from simhash_gate.spark import clusters, near_duplicates, pairs
from simhash_gate.spark.groups import kinds, pieces_of
from simhash_gate.stores.values import signed

ROWS = "id bigint, fingerprint bigint"


def planted(seed: int, families: int = 120) -> list[int]:
    """Return fingerprints in families of up to four, 0 to 9 bits from the first of each."""
    chance = random.Random(seed)
    found = []
    for _ in range(families):
        first = chance.getrandbits(64)
        found.append(first)
        for _ in range(chance.randrange(4)):
            bits = chance.sample(range(64), chance.randrange(10))
            found.append(first ^ sum(1 << bit for bit in bits))
    chance.shuffle(found)
    return found


def rows_of(fingerprints: list[int]) -> list[tuple[int, int]]:
    return [(number, signed(bits)) for number, bits in enumerate(fingerprints)]


def found_in(df) -> list[tuple]:
    assert df.columns == ["a", "b", "distance"]
    return sorted(map(tuple, df.collect()))


def expected_of(fingerprints: list[int], distance: int) -> list[tuple]:
    columns = near_duplicate_pairs(np.array(fingerprints, np.uint64), distance)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("distance", range(9))
def test_all_planted_pairs_are_found_once(spark, distance: int) -> None:
    fingerprints = planted(distance)
    assert any(bits >> 63 for bits in fingerprints)
    df = spark.createDataFrame(rows_of(fingerprints), ROWS)
    expected = expected_of(fingerprints, distance)
    assert len(expected) > 10
    assert found_in(near_duplicates(df, distance)) == expected


@pytest.mark.parametrize("distance", [1, 3, 8])
def test_groups_that_are_too_large_for_a_task_are_split(spark, monkeypatch, distance) -> None:
    chance = random.Random(distance)
    fingerprints = [bits & ~0xFFFFFFFF | 0xABCD1234 for bits in planted(distance)]
    fingerprints += planted(100) + [1 << bit for bit in chance.sample(range(64), 9)] + [0]
    df = spark.createDataFrame(rows_of(fingerprints), ROWS)
    expected = expected_of(fingerprints, distance)
    split = near_duplicates(df, distance)  # is made before anything runs
    monkeypatch.setattr(pairs, "MOST_TOGETHER", 5)
    small = near_duplicates(df, distance)
    assert found_in(small) == expected == found_in(split)


@pytest.mark.parametrize("distance", range(1, 9))
def test_a_pair_belongs_to_one_group_and_to_one_of_the_smaller_ones(distance: int) -> None:
    chance = random.Random(distance)
    known = kinds(distance)
    for _ in range(300):
        bits = chance.sample(range(64), chance.randrange(1, distance + 1))
        differ = sum(1 << bit for bit in bits)
        own = [
            not differ & kind.same and all(differ & mask for mask in kind.differ) for kind in known
        ]
        assert sum(own[: distance + 1]) == 1
        block = own.index(True)
        assert [number for number in range(distance + 1, len(own)) if own[number]] == [
            number for number in pieces_of(block, distance) if own[number]
        ]
        assert sum(own) == 2


def test_pages_are_compared_within_their_scope(spark) -> None:
    rows = [
        ("a1", 5, "a"), ("a2", 4, "a"), ("b1", 5, "b"), ("b2", 7, "b"), ("b3", -1, "b"),
        ("n1", 5, None), ("n2", 5, None), ("c", 5, "c"),
    ]  # fmt: skip
    df = spark.createDataFrame(rows, "id string, fingerprint bigint, scope string")
    assert found_in(near_duplicates(df, 1)) == [("a1", "a2", 1), ("b1", "b2", 1), ("n1", "n2", 0)]
    all_of_them = near_duplicates(df.drop("scope"), 1)
    assert len(found_in(all_of_them)) == len(expected_of([5, 4, 5, 7, 2**64 - 1, 5, 5, 5], 1))


def test_what_has_no_fingerprint_or_no_id_is_in_no_pair_and_an_id_is_one_page(spark) -> None:
    rows = [(1, 8), (1, 8), (1, 12), (2, 12), (3, None), (4, None), (None, 8), (5, 8), (5, 8)]
    df = spark.createDataFrame(rows, ROWS)
    assert found_in(near_duplicates(df)) == [(1, 2, 0), (1, 5, 0), (2, 5, 1)]


def test_no_rows_make_no_pairs(spark) -> None:
    df = spark.createDataFrame([], ROWS)
    assert found_in(near_duplicates(df)) == []
    assert near_duplicates(df).dtypes == [("a", "bigint"), ("b", "bigint"), ("distance", "int")]
    assert clusters(near_duplicates(df)).collect() == []


def test_copies_of_one_fingerprint_can_be_paired_with_the_first_alone(spark) -> None:
    same, near, far = 77, 76, 1 << 63
    fingerprints = [far, *[same] * 4000, near, *[near] * 2]
    df = spark.createDataFrame(rows_of(fingerprints), ROWS)
    found = found_in(near_duplicates(df, all_copies=False))
    expected = [(1, number, 0) for number in range(2, 4001)]
    expected += [(4001, 4002, 0), (4001, 4003, 0), (1, 4001, 1)]
    assert found == sorted(expected)
    assert len(found_in(near_duplicates(df.where("id > 3900")))) == 103 * 102 // 2


def test_columns_and_distances_that_are_not_allowed_are_named(spark) -> None:
    df = spark.createDataFrame([(1, "b0621b61d9d51ad2")], "id bigint, fingerprint string")
    with pytest.raises(ValueError, match="'fingerprint' is string: expected bigint"):
        near_duplicates(df)
    with pytest.raises(ValueError, match="no column 'fingerprint'; columns are id"):
        near_duplicates(df.drop("fingerprint"))
    good = df.selectExpr("id", "1L AS fingerprint")
    for distance in (-1, 9):
        with pytest.raises(ValueError, match=f"not a .*distance from 0 to .*: {distance}"):
            near_duplicates(good, distance)


def test_the_command_finds_the_same_pairs(spark, run, tmp_path) -> None:
    fingerprints = planted(5, 60)
    hosts = ("www.example.com", "news.example.com", "example.org")
    urls = [f"https://{hosts[n % 3]}/{n}" for n in range(len(fingerprints))]
    scopes = [("example.com", "example.com", "example.org")[n % 3] for n in range(len(urls))]
    bits = pa.array(map(signed, fingerprints), pa.int64())
    table = pa.table({"url": urls, "fingerprint": bits, "scope": scopes})
    pyarrow.parquet.write_table(table, tmp_path / "pages.parquet")
    df = spark.read.parquet(str(tmp_path / "pages.parquet")).withColumnRenamed("url", "id")

    for options, own in ((["-k", "4"], df), (["-k", "4", "--across"], df.drop("scope"))):
        result = run("pairs", "pages.parquet", *options)
        told = {(*sorted((line["a"], line["b"])), line["distance"]) for line in result.lines}
        assert len(told) == len(result.lines) > 5
        assert found_in(near_duplicates(own, 4)) == sorted(told)


def test_clusters_are_those_of_the_first_copies(spark) -> None:
    fingerprints = [bits for bits in planted(9) for _ in range(2)]
    df = spark.createDataFrame(rows_of(fingerprints), ROWS)
    found = [
        sorted(map(tuple, clusters(near_duplicates(df, 3, all_copies=each)).collect()))
        for each in (True, False)
    ]
    assert found[0] == found[1]
    copies = [
        copy for group in find_copies(np.array(fingerprints, np.uint64), None, 3) for copy in group
    ]
    known = dict(found[0])
    assert all(known[copy.kept] == known[copy.row] for copy in copies)
