"""`near_duplicates`: all near pairs of a DataFrame of fingerprints."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import functions as sql

from simhash_gate.common.encoded import signed
from simhash_gate.fingerprints.hamming import require_distance
from simhash_gate.spark.groups import FOUND, find_pairs, kinds, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame

MOST_TOGETHER = 2_000_000
"""A larger group is split: a task that compares so many takes about 200 MB."""


def near_duplicates(df: DataFrame, max_distance: int = 3, *, all_copies: bool = True) -> DataFrame:
    """Return each pair of pages whose fingerprints differ in at most 0 to 8 bits, once.

    `df` has columns `id`, of any type that can be ordered, and `fingerprint`, the 64 bits as a
    signed bigint; where it has a `scope`, pages are compared with those of the same. Returns
    columns `a`, `b` (ids, a < b) and `distance`. Rows without an id or a fingerprint are in no
    pair. An id that is there several times is one page, at its smallest distance.

    n pages with one fingerprint make n (n - 1) / 2 pairs. Without `all_copies` they make n - 1,
    with the one of the smallest id, and it alone is paired with others: the clusters are the same.
    Raises ValueError for columns or a distance that are not allowed.
    """
    radius = check(df, max_distance)
    pages = pages_of(df).where("id IS NOT NULL AND fingerprint IS NOT NULL")
    values = first_pages(pages)
    near = near_values(pages.select("scope", "fingerprint").distinct(), radius)
    if all_copies:
        equal = values.where("pages > 1").select(
            "scope",
            sql.col("fingerprint").alias("a"),
            sql.col("fingerprint").alias("b"),
            sql.lit(0).alias("distance"),
        )
        pairs = _named(near.unionByName(equal), pages.withColumnRenamed("id", "page")).where(
            "one != other AND (a != b OR one < other)"
        )
        found = pairs.select("one", "other", "distance")
    else:
        pairs = _named(near, values.withColumnRenamed("first", "page").drop("pages"))
        copies = pages.join(values.where("pages > 1"), ["scope", "fingerprint"])
        found = (
            pairs.select("one", "other", "distance")
            .unionByName(copies.selectExpr("first AS one", "id AS other", "0 AS distance"))
            .where("one != other")
        )
    return (
        found.select(
            sql.least("one", "other").alias("a"),
            sql.greatest("one", "other").alias("b"),
            "distance",
        )
        .groupBy("a", "b")
        .agg(sql.min("distance").alias("distance"))
    )


def check(df: DataFrame, max_distance: int, needed: Iterable[str] = ("id", "fingerprint")) -> int:
    """Return the distance. Raises ValueError for one that is not allowed, or for columns."""
    types = dict(df.dtypes)
    missing = [name for name in needed if name not in types]
    if missing:
        raise ValueError(f"no column {missing[0]!r}; columns are {', '.join(types)}")
    if types["fingerprint"] != "bigint":
        raise ValueError(
            f"column 'fingerprint' is {types['fingerprint']}: expected bigint, the 64 bits as a "
            "signed number"
        )
    if max_distance > 8:
        raise ValueError(f"not a distance from 0 to 8: {max_distance}")
    return require_distance(max_distance)


def pages_of(df: DataFrame) -> DataFrame:
    """Return columns `id`, `scope` (a hash of it) and `fingerprint`."""
    return df.select("id", scope_of(df), "fingerprint")


def scope_of(df: DataFrame) -> Column:
    """Return the hash of the scope, 0 where there is none: numbers are shuffled, and not texts."""
    scope = sql.xxhash64("scope") if "scope" in df.columns else sql.lit(0).cast("bigint")
    return scope.alias("scope")


def first_pages(pages: DataFrame) -> DataFrame:
    """Return the fingerprints of each scope, how many pages have each, and the `first` id."""
    return pages.groupBy("scope", "fingerprint").agg(
        sql.min("id").alias("first"), sql.count("id").alias("pages")
    )


def near_values(values: DataFrame, radius: int, most: int | None = None) -> DataFrame:
    """Return the near pairs of the distinct fingerprints of each scope: see `groups.FOUND`.

    `most` fingerprints are compared in one task, unless they agree in much more than a block.
    """
    if radius == 0:
        return values.selectExpr(
            "scope", "fingerprint AS a", "fingerprint AS b", "0 AS distance"
        ).limit(0)
    most = MOST_TOGETHER if most is None else most
    whole = range(radius + 1)
    each = sql.array(*[_key(number, radius) for number in whole])
    groups = values.select("scope", "fingerprint", sql.posexplode(each).alias("kind", "key"))
    large = sql.broadcast(
        groups.groupBy("kind", "key").count().where(sql.col("count") > most).drop("count")
    )
    usual = groups.join(large, ["kind", "key"], "left_anti")
    in_pieces = groups.join(large, ["kind", "key"]).select(
        "scope", "fingerprint", sql.explode(_pieces(radius)).alias("piece")
    )
    columns = ["kind", "key", "scope", "fingerprint"]
    return (
        usual.select(*columns)
        .union(in_pieces.select("piece.kind", "piece.key", "scope", "fingerprint"))
        .repartition("kind", "key", "scope")
        .select("kind", "scope", "fingerprint")
        .mapInArrow(partial(find_pairs, radius=radius), FOUND)
    )


def _key(number: int, radius: int) -> Column:
    """Return the bits that the fingerprints of a group of this kind have in common."""
    mask = sql.lit(signed(kinds(radius)[number].same)).cast("bigint")
    return sql.col("fingerprint").bitwiseAND(mask)


def _pieces(radius: int) -> Column:
    """Return the smaller groups of a fingerprint, by the kind of the group that is split."""
    kind = sql.col("kind")
    chosen = None
    for block in range(radius + 1):
        pieces = sql.array(
            *[
                sql.struct(sql.lit(number).alias("kind"), _key(number, radius).alias("key"))
                for number in pieces_of(block, radius)
            ]
        )
        chosen = (chosen.when if chosen is not None else sql.when)(kind == block, pieces)
    assert chosen is not None
    return chosen


def _named(near: DataFrame, pages: DataFrame) -> DataFrame:
    """Put the pages of both fingerprints to each pair: `one` and `other`."""
    one = pages.select("scope", sql.col("fingerprint").alias("a"), sql.col("page").alias("one"))
    other = pages.select("scope", sql.col("fingerprint").alias("b"), sql.col("page").alias("other"))
    return near.join(one, ["scope", "a"]).join(other, ["scope", "b"])
