"""`near_duplicates`: exact, each pair once, whatever the fingerprints; `clusters` of such pairs."""

import random
from itertools import combinations, pairwise

import numpy as np
import pytest

from simhash_gate import near_duplicate_pairs
from simhash_gate.common.encoded import signed
from simhash_gate.spark import clustering, clusters, near_duplicates, pairs

ROWS = "id bigint, fingerprint bigint"


def planted(seed: int, families: int = 50) -> list[int]:
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


@pytest.mark.parametrize("distance", [0, 1, 3, 8])
def test_all_pairs_are_found_once_also_in_groups_too_large_for_a_task(
    spark, monkeypatch, distance: int
) -> None:
    chance = random.Random(distance)
    fingerprints = planted(distance)
    fingerprints += [bits & ~0xFFFFFFFF | 0xABCD1234 for bits in planted(distance + 100)]
    fingerprints += [1 << bit for bit in chance.sample(range(64), 9)] + [0]
    assert any(bits >> 63 for bits in fingerprints)
    df = spark.createDataFrame(rows_of(fingerprints), ROWS)
    expected = expected_of(fingerprints, distance)
    assert len(expected) > 10
    assert found_in(near_duplicates(df, distance)) == expected
    if distance:
        monkeypatch.setattr(pairs, "MOST_TOGETHER", 5)
        assert found_in(near_duplicates(df, distance)) == expected


def test_scopes_are_apart_an_id_is_one_page_and_what_lacks_a_fingerprint_is_in_none(spark) -> None:
    rows = [
        *(("a1", 5, "a"), ("a2", 4, "a"), ("b1", 5, "b"), ("b2", 7, "b"), ("b3", -1, "b")),
        *(("n1", 5, None), ("n2", 5, None), ("c", 5, "c"), (None, 5, "a"), ("a4", None, "a")),
        *(("d1", 8, "d"), ("d1", 8, "d"), ("d1", 12, "d"), ("d2", 12, "d")),
    ]
    df = spark.createDataFrame(rows, "id string, fingerprint bigint, scope string")
    assert found_in(near_duplicates(df, 1)) == [
        *(("a1", "a2", 1), ("b1", "b2", 1), ("d1", "d2", 0), ("n1", "n2", 0)),
    ]


def test_copies_can_be_paired_with_the_first_alone_and_make_the_same_clusters(spark) -> None:
    same, near, far = 77, 76, 1 << 63
    fingerprints = [far, *[same] * 99, near, *[near] * 2]
    first_alone = [(1, number, 0) for number in range(2, 100)]
    first_alone += [(100, 101, 0), (100, 102, 0), (1, 100, 1)]
    others = [bits for bits in planted(9, 25) for _ in range(2)]
    df = spark.createDataFrame(rows_of([*fingerprints, *others]), ROWS)
    every, few = (near_duplicates(df, all_copies=each).localCheckpoint() for each in (True, False))
    assert found_in(few.where("a < 103")) == sorted(first_alone)
    assert every.where("a < 103").count() == 102 * 101 // 2
    known, again = (dict(map(tuple, clusters(pairs).collect())) for pairs in (every, few))
    assert known == again


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


def cluster_of(pairs: list[tuple]) -> dict:
    """Return the smallest member of the cluster of each page, by the plainest way there is."""
    cluster = {page: page for pair in pairs for page in pair}
    changed = True
    while changed:
        changed = False
        for a, b in pairs:
            least = min(cluster[a], cluster[b])
            changed = changed or not cluster[a] == cluster[b] == least
            cluster[a] = cluster[b] = least
    return cluster


@pytest.mark.parametrize("few", [0, clustering.FEW])
def test_every_page_gets_the_smallest_id_that_it_hangs_together_with(
    spark, monkeypatch, few: int
) -> None:
    monkeypatch.setattr(clustering, "FEW", few)
    chance = random.Random(1)
    chain = [*range(24)]
    chance.shuffle(chain)
    star = [(1000, number) for number in range(1001, 1030)]
    loose = chance.sample([*combinations(range(300, 400), 2)], 40)
    linked = [(f"{a:04}", f"{b:04}") for a, b in [*pairwise(chain), *star, *loose]]
    linked += [("b", "ä"), ("B", "b"), ("x", "y")]
    linked += [("z\N{GRINNING FACE}", "z\uffee"), ("z\uffee", "z")]
    df = spark.createDataFrame([*linked, *linked[:30], ("alone", None)], "a string, b string")
    found = clusters(df)
    assert found.columns == ["id", "cluster"]
    rows = [tuple(row) for row in found.collect()]
    assert len(rows) == len(dict(rows))
    assert dict(rows) == cluster_of(linked)
