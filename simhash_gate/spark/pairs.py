"""`near_duplicates`: all near pairs of a DataFrame of fingerprints.

The 64 bits are cut into k + 1 blocks. Two fingerprints that differ in at most k bits agree in at
least one block. So each fingerprint goes to k + 1 groups, one for each block, with all others that
have the same bits in the block. A group that is too large for a task is split. Its fingerprints
agree in the block, so they differ in at most k of the other bits. These are cut into k + 1 pieces
in turn, and each fingerprint goes to k + 1 smaller groups, with the others that have the same bits
in the block and in the piece.

A pair that meets in several groups belongs to the first: it differs in all blocks before.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import pairwise, zip_longest
from typing import NamedTuple

import numpy as np
from pyarrow import RecordBatch, record_batch
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from simhash_gate.collection.pairs import stream_pairs
from simhash_gate.common.encoded import signed
from simhash_gate.fingerprints.arrays import Positions
from simhash_gate.fingerprints.blocks import split
from simhash_gate.fingerprints.hamming import BITS, require_distance

MOST_TOGETHER = 2_000_000
"""Larger groups are split. A task that compares this many fingerprints takes about 200 MB."""
_EQUAL = ("scope", "fingerprint AS a", "fingerprint AS b", "0 AS distance")


def near_duplicates(df: DataFrame, max_distance: int = 3, *, all_copies: bool = True) -> DataFrame:
    """Return each pair of pages whose fingerprints differ in at most `max_distance` bits, 0 to 8.

    `df` has columns `id`, of any type that can be ordered, and `fingerprint`, the 64 bits as a
    signed bigint. If it has a column `scope`, only pages of one scope are compared. Returns columns
    `a`, `b` (ids, a < b) and `distance`. Rows without an id or a fingerprint are in no pair.
    Several rows with one id are one page, at the smallest distance of them.

    n pages with one fingerprint make n (n - 1) / 2 pairs. Without `all_copies` they make n - 1
    pairs with the page of the smallest id, and only this page is paired with other pages: the
    clusters are the same. Raises ValueError for columns or a distance that are not allowed.
    """
    radius = check(df, max_distance)
    pages = pages_of(df)
    values = first_pages(pages)
    near = near_values(pages.select("scope", "fingerprint").distinct(), radius)
    if all_copies:
        equal = values.where("pages > 1").selectExpr(*_EQUAL)
        pairs = _named(near.unionByName(equal), pages.withColumnRenamed("id", "page")).where(
            "one != other AND (a != b OR one < other)"
        )
        ends = pairs.select("one", "other", "distance")
    else:
        pairs = _named(near, values.withColumnRenamed("first", "page").drop("pages"))
        copies = pages.join(values.where("pages > 1"), ["scope", "fingerprint"])
        ends = (
            pairs.select("one", "other", "distance")
            .unionByName(copies.selectExpr("first AS one", "id AS other", "0 AS distance"))
            .where("one != other")
        )
    return (
        ends.selectExpr("least(one, other) AS a", "greatest(one, other) AS b", "distance")
        .groupBy("a", "b")
        .agg(sql.min("distance").alias("distance"))
    )


def check(df: DataFrame, max_distance: int, needed: Iterable[str] = ("id", "fingerprint")) -> int:
    """Return the distance. Raises ValueError if it, or a column, is not allowed."""
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
    """Return the columns `id`, `scope` (as a hash) and `fingerprint` of rows that have them."""
    usable = df.where("id IS NOT NULL AND fingerprint IS NOT NULL")
    return usable.select("id", scope_of(df), "fingerprint")


def scope_of(df: DataFrame) -> Column:
    """Return the hash of the scope, 0 if there is none. Shuffling numbers is faster than texts."""
    scope = sql.xxhash64("scope") if "scope" in df.columns else sql.lit(0).cast("bigint")
    return scope.alias("scope")


def first_pages(pages: DataFrame) -> DataFrame:
    """Return the fingerprints of each scope, with the number of `pages` and the `first` id."""
    return pages.groupBy("scope", "fingerprint").agg(
        sql.min("id").alias("first"), sql.count("id").alias("pages")
    )


def near_values(values: DataFrame, radius: int) -> DataFrame:
    """Return the near pairs of distinct fingerprints of each scope, with the columns of `FOUND`.

    One task compares at most `MOST_TOGETHER` fingerprints, unless more of them agree in a block
    and a piece.
    """
    if radius == 0:
        return values.selectExpr(*_EQUAL).limit(0)
    keys = sql.array(*[_key(number, radius) for number in range(radius + 1)])
    groups = values.select("scope", "fingerprint", sql.posexplode(keys).alias("kind", "key"))
    large = sql.broadcast(
        groups.groupBy("kind", "key").count().where(sql.col("count") > MOST_TOGETHER).drop("count")
    )
    usual = groups.join(large, ["kind", "key"], "left_anti")
    in_pieces = groups.join(large, ["kind", "key"]).select(
        "scope", "fingerprint", sql.explode(_split_groups(radius)).alias("piece")
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


def _split_groups(radius: int) -> Column:
    """Return the smaller groups of a fingerprint for the kind of the group that is split."""
    count = radius + 1
    pieces = [
        sql.struct(sql.lit(number).alias("kind"), _key(number, radius).alias("key"))
        for number in range(count, len(kinds(radius)))
    ]
    of_blocks = (sql.array(*pieces[block * count :][:count]) for block in range(count))
    return sql.coalesce(
        *[sql.when(sql.col("kind") == block, some) for block, some in enumerate(of_blocks)]
    )


def _named(near: DataFrame, pages: DataFrame) -> DataFrame:
    """Add to each pair of fingerprints the pages that have them: `one` and `other`."""
    one = pages.select("scope", sql.col("fingerprint").alias("a"), sql.col("page").alias("one"))
    other = pages.select("scope", sql.col("fingerprint").alias("b"), sql.col("page").alias("other"))
    return near.join(one, ["scope", "a"]).join(other, ["scope", "b"])


FOUND = "scope bigint, a bigint, b bigint, distance int"
"""The columns that `find_pairs` yields, as a schema of Spark: pairs of fingerprints of one scope.
"""
_AT_ONCE = 1 << 20


class GroupKind(NamedTuple):
    """A kind of groups, as masks: the bits that all fingerprints of a group share, and the blocks
    and pieces in which the pairs that belong to the group differ."""

    same: int
    differ: tuple[int, ...]


@lru_cache
def kinds(radius: int) -> tuple[GroupKind, ...]:
    """Return the kinds of groups: first one for each block, then one for each piece of a block."""
    blocks = [block.mask << block.shift for block in split(radius + 1)]
    groups = [GroupKind(block, tuple(blocks[:number])) for number, block in enumerate(blocks)]
    for whole in groups[: radius + 1]:
        pieces = _pieces(~whole.same, radius + 1)
        groups += [
            GroupKind(whole.same | piece, (*whole.differ, *pieces[:number]))
            for number, piece in enumerate(pieces)
        ]
    return tuple(groups)


def _pieces(mask: int, count: int) -> list[int]:
    bits = [bit for bit in range(BITS) if mask >> bit & 1]
    edges = [len(bits) * number // count for number in range(count + 1)]
    return [sum(1 << bit for bit in bits[low:high]) for low, high in pairwise(edges)]


def find_pairs(batches: Iterable[RecordBatch], radius: int) -> Iterator[RecordBatch]:
    """Find the near pairs of one task. Its batches have columns `kind`, `scope`, `fingerprint`.

    A fingerprint must occur once for each kind and scope. All of a group must be in one task.
    """
    columns = [[column.to_numpy() for column in batch.columns] for batch in batches]
    if not columns:
        return
    numbers, scopes, signed = map(np.concatenate, zip(*columns, strict=True))
    columns.clear()
    bits = signed.view(np.uint64)
    met: list[tuple[Positions, Positions]] = []
    groups = kinds(radius)
    same = np.array([kind.same for kind in groups], np.uint64)
    # Shorter lists are filled up with all bits: distinct fingerprints always differ in them.
    masks = zip_longest(*(kind.differ for kind in groups), fillvalue=(1 << BITS) - 1)
    differ = np.array(list(masks), np.uint64)

    def use(one: Positions, other: Positions) -> None:
        """Take the pairs that belong to the group in which they met."""
        apart, number = bits[one] ^ bits[other], numbers[one]
        belongs = np.equal(apart & same[number], 0)
        for mask in differ:
            belongs &= np.not_equal(apart & mask[number], 0)
        met.append((one[belongs], other[belongs]))

    _, scope_numbers = np.unique(scopes, return_inverse=True)
    stream_pairs(bits, radius, use, scopes=scope_numbers * len(groups) + numbers)
    for one, other in met:
        for start in range(0, len(one), _AT_ONCE):
            i, j = one[start : start + _AT_ONCE], other[start : start + _AT_ONCE]
            distance = np.bitwise_count(bits[i] ^ bits[j]).astype(np.int32)
            pairs = [scopes[i], signed[i], signed[j], distance]
            yield record_batch(pairs, names=["scope", "a", "b", "distance"])
