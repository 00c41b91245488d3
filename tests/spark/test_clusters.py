"""`clusters`: what hangs together, in rounds and in one task."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from simhash_gate.spark import clustering, clusters


def expected_of(pairs: list[tuple]) -> dict:
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


def some_pairs() -> list[tuple[int, int]]:
    chance = random.Random(1)
    chain = [*range(24)]
    chance.shuffle(chain)
    star = [(1000, number) for number in range(1001, 1030)]
    loose = chance.sample([*combinations(range(300, 400), 2)], 40)
    return [*pairwise(chain), *star, *loose]


@pytest.mark.parametrize("few", [0, clustering.FEW])
def test_every_page_gets_the_smallest_id_that_it_hangs_together_with(
    spark, monkeypatch, few: int
) -> None:
    monkeypatch.setattr(clustering, "FEW", few)
    pairs = [(f"{a:04}", f"{b:04}") for a, b in some_pairs()]
    pairs += [("b", "ä"), ("B", "b"), ("x", "y")]
    pairs += [("z\N{GRINNING FACE}", "z\uffee"), ("z\uffee", "z")]
    df = spark.createDataFrame([*pairs, *pairs[:30], ("alone", None)], "a string, b string")
    found = clusters(df)
    assert found.columns == ["id", "cluster"]
    rows = [tuple(row) for row in found.collect()]
    assert len(rows) == len(dict(rows))
    assert dict(rows) == expected_of(pairs)
