"""`clusters`: the pages that are connected by pairs.

In each round, the smallest id of a cluster spreads to larger neighbours ("large star"), and then
among smaller ones ("small star"), until nothing changes. That takes few rounds, even for long
chains. Few pairs are joined in one task instead, which is faster than a round.

Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii, "Connected Components in MapReduce and Beyond"
(2014).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyarrow import RecordBatch, array, record_batch
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

FEW = 1_000_000
"""Pairs that one task joins, in some seconds and about 300 MB."""


def clusters(pairs: DataFrame) -> DataFrame:
    """Return columns `id` and `cluster`: the smallest id that a page is connected with.

    `pairs` has columns `a` and `b`, as `near_duplicates` returns them. Pages of no pair have no
    row. A cluster can have pages that are not near each other: then a chain of pairs connects them.
    This runs jobs at once, and keeps their results on the executors (local checkpoints).
    """
    edges = pairs.selectExpr("greatest(a, b) AS high", "least(a, b) AS low").where("high != low")
    edges = edges.distinct().localCheckpoint()
    before, now = None, _digest(edges)
    if now[0] <= FEW:
        kind = dict(edges.dtypes)["high"]
        return edges.repartition(1).mapInArrow(_joined, f"id {kind}, cluster {kind}")
    while before != now:
        edges = _small_star(_large_star(edges)).localCheckpoint()
        before, now = now, _digest(edges)
    # Every page but the smallest of its cluster has one edge left, which leads to the smallest.
    least = edges.selectExpr("low AS id", "low AS cluster").distinct()
    return edges.selectExpr("high AS id", "low AS cluster").unionByName(least)


def _large_star(edges: DataFrame) -> DataFrame:
    """Connect each larger neighbour of a page with the smallest of the page and its neighbours."""
    both = edges.selectExpr("high AS page", "low AS other").unionByName(
        edges.selectExpr("low AS page", "high AS other")
    )
    least = both.groupBy("page").agg(sql.min("other").alias("least"))
    return (
        both.join(least, "page")
        .where("other > page")
        .select(sql.col("other").alias("high"), sql.least("page", "least").alias("low"))
        .distinct()
    )


def _small_star(edges: DataFrame) -> DataFrame:
    """Connect a page and each of its smaller neighbours with the smallest one."""
    least = edges.groupBy("high").agg(sql.min("low").alias("least"))
    smaller = edges.join(least, "high").where("low != least")
    return (
        smaller.selectExpr("low AS high", "least AS low")
        .unionByName(least.withColumnRenamed("least", "low"))
        .distinct()
    )


def _digest(edges: DataFrame) -> tuple[int, int | None]:
    """Return the number of edges, and a hash of them that does not depend on their order."""
    row = edges.select(sql.count("*"), sql.expr("bit_xor(xxhash64(high, low))")).first()
    assert row is not None
    return row[0], row[1]


def _joined(batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
    above: dict[Any, Any] = {}

    def root_of(page: Any) -> Any:
        root = page
        while (up := above.setdefault(root, root)) != root:
            root = up
        while above[page] != root:
            above[page], page = root, above[page]
        return root

    kind = None
    for batch in batches:
        kind = batch.schema.field("high").type
        for high, low in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            one, other = root_of(high), root_of(low)
            above[max(one, other)] = min(one, other)
    if kind is not None:
        columns = [array(above, kind), array(map(root_of, list(above)), kind)]
        yield record_batch(columns, names=["id", "cluster"])
