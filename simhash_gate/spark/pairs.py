"""`near_duplicates`: all near pairs of a DataFrame of fingerprints.

Cut 64 bits into k + 1 blocks. Two fingerprints that differ in at most k bits agree in a block at
least. So each fingerprint goes to k + 1 groups: to one for each block, with all others that have
the same bits there. A group may be too large for a task. Its fingerprints agree in a block, so
they differ in at most k bits of the rest. This is cut into k + 1 pieces in turn: each fingerprint
goes to k + 1 smaller groups, with those that have the same bits in the block and in a piece.

A pair that meets in several groups belongs to the first of them: to that which agrees in no
earlier block, or piece.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from simhash_gate.collection.pairs import stream_pairs
from simhash_gate.common.encoded import signed
from simhash_gate.fingerprints.blocks import split
from simhash_gate.fingerprints.hamming import BITS, require_distance

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyarrow import RecordBatch

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions

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
    """Return the near pairs of the distinct fingerprints of each scope: see `FOUND`.

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


FOUND = "scope bigint, a bigint, b bigint, distance int"
"""What `find_pairs` returns, as a schema of Spark: pairs of fingerprints of one scope."""
_AT_ONCE = 1 << 20


class GroupKind(NamedTuple):
    """What the fingerprints of a group agree in, and where its own pairs differ; all are masks."""

    same: int
    differ: tuple[int, ...]


@lru_cache
def kinds(radius: int) -> tuple[GroupKind, ...]:
    """Return the kinds of groups: one for each block; then, block by block, one for each piece."""
    blocks = [block.mask << block.shift for block in split(radius + 1)]
    found = [GroupKind(block, tuple(blocks[:number])) for number, block in enumerate(blocks)]
    for whole in found[: radius + 1]:
        pieces = _pieces(~whole.same, radius + 1)
        found += [
            GroupKind(whole.same | piece, (*whole.differ, *pieces[:number]))
            for number, piece in enumerate(pieces)
        ]
    return tuple(found)


def pieces_of(block: int, radius: int) -> range:
    """Return the numbers of the kinds that a large group of a block is split into."""
    first = (block + 1) * (radius + 1)
    return range(first, first + radius + 1)


def _pieces(mask: int, count: int) -> list[int]:
    """Cut the bits of a mask into masks of the same size, as far as that can be."""
    bits = [bit for bit in range(BITS) if mask >> bit & 1]
    edges = [len(bits) * number // count for number in range(count + 1)]
    return [sum(1 << bit for bit in bits[low:high]) for low, high in pairwise(edges)]


def find_pairs(batches: Iterable[RecordBatch], radius: int) -> Iterator[RecordBatch]:
    """Find the near pairs of one task: its batches have columns `kind`, `scope`, `fingerprint`.

    Fingerprints must be distinct, but for kinds and scopes, and all of a group in one task.
    """
    from pyarrow import record_batch

    columns = [[column.to_numpy() for column in batch.columns] for batch in batches]
    if not columns:
        return
    numbers, scopes, signed = map(np.concatenate, zip(*columns, strict=True))
    columns.clear()
    bits = signed.view(np.uint64)
    found: list[tuple[Positions, Positions]] = []
    own = _Own(radius)

    def use(one: Positions, other: Positions) -> None:
        chosen = own.of(bits[one] ^ bits[other], numbers[one])
        found.append((one[chosen], other[chosen]))

    stream_pairs(bits, radius, use, scopes=_together(numbers, scopes))
    for one, other in found:
        for start in range(0, len(one), _AT_ONCE):
            i, j = one[start : start + _AT_ONCE], other[start : start + _AT_ONCE]
            distance = np.bitwise_count(bits[i] ^ bits[j]).astype(np.int32)
            pairs = [scopes[i], signed[i], signed[j], distance]
            yield record_batch(pairs, names=["scope", "a", "b", "distance"])


def _together(numbers: NDArray[np.int32], scopes: NDArray[np.int64]) -> NDArray[np.uint32]:
    order = np.lexsort((numbers, scopes))
    kind, scope = numbers[order], scopes[order]
    first = np.zeros(len(order), np.uint32)
    first[1:] = (kind[1:] != kind[:-1]) | (scope[1:] != scope[:-1])
    together = np.empty(len(order), np.uint32)
    together[order] = np.cumsum(first, dtype=np.uint32)
    return together


class _Own:
    """Which pairs belong to the group in which they met."""

    def __init__(self, radius: int) -> None:
        known = kinds(radius)
        most = max(len(kind.differ) for kind in known)
        self._same = np.array([kind.same for kind in known], np.uint64)
        # Distinct fingerprints always differ in some of all bits.
        every = (1 << BITS) - 1
        self._differ = np.array(
            [[*kind.differ, *[every] * (most - len(kind.differ))] for kind in known], np.uint64
        )

    def of(self, differ: Fingerprints, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell by the bits in which pairs differ, and by the kinds of their groups."""
        own: NDArray[np.bool_] = np.equal(differ & self._same[numbers], 0)
        for masks in self._differ.T:
            own &= np.not_equal(differ & masks[numbers], 0)
        return own
