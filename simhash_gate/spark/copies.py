"""`dedupe`: which pages of a DataFrame are kept, and of what the others are copies.

A page is compared with kept pages only, in the order of ids: A~B~C never makes C a copy of A. So
what is kept hangs on what was kept before it. It hangs on nothing outside its scope, and, by
fingerprints alone, on nothing outside its cluster: each is decided in one task, in order.
"""

from __future__ import annotations

from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sql

from simhash_gate.common.encoded import unsigned
from simhash_gate.gate.judge import Gate
from simhash_gate.offline.replay import ALL_PAGES, CorpusJudge, live_run
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.settings import read_settings
from simhash_gate.sources import TOO_LARGE, Entry
from simhash_gate.spark.clustering import clusters
from simhash_gate.spark.pairs import check, first_pages, near_values, pages_of, scope_of
from simhash_gate.values import PREFIX
from simhash_gate.workers.pool import ReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyarrow import RecordBatch
    from pyspark.sql import Column, DataFrame

_THRESHOLD = f"{PREFIX}THRESHOLD"
_JUDGED_BY = ("id", "url", "scope", "title", "words", "fingerprint", "reason", "look")


def dedupe(
    df: DataFrame,
    max_distance: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Return a row for each page: `id`, `kept`, `original` (an id), `distance`, `reason`; `scope`.

    Pages are judged in the order of `id`. Of pages that `read_pages` has read, with a `look`, the
    same are kept as `simhash-gate dedupe` keeps; `settings` are `SIMHASH_GATE_*` as there, and
    `max_distance` is its `-k`. Where `df` has only `id`, `fingerprint` and perhaps `scope`,
    fingerprints are compared alone: the same copies are found as by `simhash-gate pairs
    --clusters`. This runs jobs at once, and keeps what they found on the executors (local
    checkpoints).

    A page without a fingerprint is not kept; `reason` says why. An id that is there twice with one
    fingerprint is one page. Raises ValueError for columns or a distance that are not allowed,
    `SettingsError` for settings.
    """
    if "look" in df.columns:
        given = dict(settings or {})
        if max_distance is not None:
            given[_THRESHOLD] = max_distance
        threshold = read_settings(given).policies.default.threshold
        check(df, min(threshold, 8), _JUDGED_BY)
        return _by_gate(df, given)
    if settings:
        raise ValueError("settings need pages as read_pages returns them, with a column 'look'")
    return _by_fingerprints(df, check(df, 3 if max_distance is None else max_distance))


def _by_gate(df: DataFrame, given: Mapping[str, Any]) -> DataFrame:
    """Judge whole scopes, page by page, as the command does."""
    kind = dict(df.dtypes)["id"]
    return (
        df.select(*_JUDGED_BY)
        .dropDuplicates(["scope", "id", "fingerprint"])
        .repartition("scope")
        .sortWithinPartitions("scope", "id", "fingerprint")
        .mapInArrow(partial(judge_pages, given=given), JUDGED.format(id=kind))
    )


def _by_fingerprints(df: DataFrame, radius: int) -> DataFrame:
    scoped = ["scope"] if "scope" in df.columns else []
    pages = df.select("id", *scoped, "fingerprint").distinct()
    names = [sql.col(name).alias("name") for name in scoped]
    named = pages.select("id", *names, scope_of(pages), "fingerprint")
    values = first_pages(pages_of(pages).where("id IS NOT NULL AND fingerprint IS NOT NULL"))
    near = _kept_neighbours(values.select("scope", "fingerprint", "first"), radius)
    found = named.join(values.drop("pages"), ["scope", "fingerprint"], "left").join(
        near, ["scope", "fingerprint"], "left"
    )
    # Of kept pages that came before, the nearest; of several, the last.
    best = sql.expr(
        "array_max(transform(filter(neighbours, x -> x.first <= id),"
        " x -> struct(-x.distance AS nearness, x.first AS first)))"
    )
    found = found.withColumn("best", best)
    return found.select(
        "id",
        *[sql.col("name").alias(name) for name in scoped],
        sql.expr("first IS NOT NULL AND neighbours IS NULL AND first = id").alias("kept"),
        sql.expr(
            "CASE WHEN neighbours IS NOT NULL THEN best.first WHEN first < id THEN first END"
        ).alias("original"),
        sql.expr(
            "CASE WHEN neighbours IS NOT NULL THEN -best.nearness WHEN first < id THEN 0 END"
        ).alias("distance"),
    ).withColumn("reason", _reason(radius))


def _reason(radius: int) -> Column:
    said = sql.format_string(f"distance %d, threshold {radius}", sql.col("distance"))
    return (
        sql.when(sql.col("distance").isNotNull(), said)
        .when(sql.col("id").isNull(), "no id")
        .when(~sql.col("kept"), "no fingerprint")
    )


def _kept_neighbours(values: DataFrame, radius: int) -> DataFrame:
    """Return `neighbours` of each fingerprint that is a copy: the kept ones that it is near."""
    edges = _edges(values, radius).localCheckpoint()
    own = sql.xxhash64("scope", "fingerprint")
    earlier = sql.xxhash64("scope", "earlier")
    cluster_of = clusters(edges.select(own.alias("a"), earlier.alias("b")))
    copies = (
        edges.withColumn("id", own)
        .join(cluster_of, "id")
        .select("cluster", "first", "scope", "fingerprint", "earlier")
        .repartition("cluster")
        .sortWithinPartitions("cluster", "first", "scope", "fingerprint")
        .mapInArrow(_copies, "scope bigint, fingerprint bigint")
        .localCheckpoint()
    )
    both = edges.selectExpr(
        "scope", "fingerprint", "earlier AS other", "earlier_first AS first", "distance"
    ).unionByName(
        edges.selectExpr(
            "scope", "earlier AS fingerprint", "fingerprint AS other", "first", "distance"
        )
    )
    others = copies.withColumnRenamed("fingerprint", "other")
    return (
        both.join(copies, ["scope", "fingerprint"])
        .join(others, ["scope", "other"], "left_anti")
        .groupBy("scope", "fingerprint")
        .agg(sql.collect_list(sql.struct("distance", "first")).alias("neighbours"))
    )


def _edges(values: DataFrame, radius: int) -> DataFrame:
    """Return each near pair of fingerprints: the one that comes later, and the one before it."""
    near = near_values(values.select("scope", "fingerprint"), radius)
    one, other = (
        values.select(
            "scope",
            sql.col("fingerprint").alias(name),
            sql.struct("first", "fingerprint").alias(f"of_{name}"),
        )
        for name in ("a", "b")
    )
    return (
        near.join(one, ["scope", "a"])
        .join(other, ["scope", "b"])
        .select(
            "scope",
            sql.greatest("of_a", "of_b").alias("later"),
            sql.least("of_a", "of_b").alias("earlier"),
            "distance",
        )
        .selectExpr(
            "scope",
            "later.fingerprint AS fingerprint",
            "later.first AS first",
            "earlier.fingerprint AS earlier",
            "earlier.first AS earlier_first",
            "distance",
        )
    )


def _copies(batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
    """Yield the fingerprints that are near an earlier one which is kept; clusters come in order."""
    from pyarrow import array, int64, record_batch

    cluster, copies = None, set[tuple[int, int]]()
    for batch in batches:
        found: list[tuple[int, int]] = []
        clusters_, _, scopes, own, earlier = (column.to_pylist() for column in batch.columns)
        for its, scope, later, before in zip(clusters_, scopes, own, earlier, strict=True):
            if its != cluster:
                cluster, copies = its, set()
            key = scope, later
            if key not in copies and (scope, before) not in copies:
                copies.add(key)
                found.append(key)
        columns = [[key[place] for key in found] for place in (0, 1)]
        yield record_batch(
            [array(column, int64()) for column in columns], names=["scope", "fingerprint"]
        )


JUDGED = "id {id}, scope string, kept boolean, original {id}, distance int, reason string"
"""The columns that `judge_pages` yields, as a schema of Spark; `id` is the type of ids."""
_ROWS = 500


def judge_pages(batches: Iterable[RecordBatch], given: Mapping[str, Any]) -> Iterator[RecordBatch]:
    """Judge the pages of one task: those of a scope come together, in order."""
    settings = read_settings({f"{PREFIX}WINDOW": ALL_PAGES, **given})
    with (
        TemporaryDirectory(prefix="simhash-gate-") as folder,
        live_run(f"sqlite:///{folder}/kept.sqlite") as (store, run),
    ):
        gate = Gate(store, run=run, pipeline=pipeline_version(settings.options))
        corpus = CorpusJudge(gate, settings)
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS):
                with store.batch():
                    yield _judged(corpus, batch.slice(start, _ROWS))


def _judged(corpus: CorpusJudge, batch: RecordBatch) -> RecordBatch:
    """Return a row for each page."""
    import pyarrow as pa

    kind = batch.schema.field("id").type
    columns = [
        ("id", kind),
        ("scope", pa.string()),
        ("kept", pa.bool_()),
        ("original", kind),
        ("distance", pa.int32()),
        ("reason", pa.string()),
    ]
    rows = [_row(corpus, row) for row in batch.to_pylist()]
    return pa.RecordBatch.from_pylist(rows, pa.schema(columns))


def _row(corpus: CorpusJudge, row: dict[str, Any]) -> dict[str, Any]:
    page = _page_of(row)
    entry = Entry(
        f"id {row['id']}",
        url=row["url"] or "",
        id=row["id"],
        scope=row["scope"] or "",
        skipped=row["reason"] or "" if page is None else "",
    )
    if row["look"] is not None:  # fingerprints of two versions are never compared
        corpus.gate.pipeline = row["look"]["pipeline"]
    verdict, kept, original = corpus.judge(entry, page, row["id"])
    return {
        "id": row["id"],
        "scope": row["scope"],
        "kept": kept,
        "original": original,
        "distance": verdict.match.distance if verdict.match else None,
        "reason": verdict.reason,
    }


def _page_of(row: dict[str, Any]) -> Page | ReadError | None:
    """Return the page of a row, or why it could not be read; None if it was not to be read."""
    look, reason = row["look"], row["reason"]
    if look is None:
        return None if reason == TOO_LARGE else ReadError(reason or "not read")
    return Page(
        row["title"],
        row["words"],
        None if row["fingerprint"] is None else unsigned(row["fingerprint"]),
        unsigned(look["digest"]),
        look["listing"],
        reason,
        look["sketch"],
        look["lines"],
        url=row["url"] or "",
    )
