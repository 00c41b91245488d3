"""`dedupe`: the pages of a DataFrame that are kept, and the originals of all others.

A page is compared with kept pages only, in the order of ids: A~B~C never makes C a copy of A. So
each decision depends on those before it in the same scope or, by fingerprints alone, in the same
cluster. One task decides a whole scope, or a whole cluster, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyarrow import RecordBatch
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from simhash_gate.collection.listing import KeptFingerprints
from simhash_gate.common.encoded import unsigned
from simhash_gate.offline.replay import ALL_PAGES, CorpusJudge, open_gate
from simhash_gate.page import Page
from simhash_gate.settings import read_settings
from simhash_gate.sources import TOO_LARGE, Entry
from simhash_gate.spark.clustering import clusters
from simhash_gate.spark.pairs import check, first_pages, near_values, pages_of, scope_of
from simhash_gate.values import PREFIX
from simhash_gate.workers.pool import ReadError

_COPIES = "id {id}, scope bigint, fingerprint bigint, original {id}, distance int"
_JUDGED_BY = ("id", "url", "scope", "title", "words", "fingerprint", "reason", "look")


def dedupe(
    df: DataFrame, max_distance: int | None = None, settings: Mapping[str, Any] | None = None
) -> DataFrame:
    """Return a row for each page: `id`, `kept`, `original` (an id), `distance`, `reason`, `scope`.

    Pages are judged in the order of `id`. If `df` comes from `read_pages`, with a column `look`,
    the same pages are kept as by `simhash-gate dedupe`, with the same `settings`
    (`SIMHASH_GATE_*`); `max_distance` is its `-k`. If `df` has only `id`, `fingerprint` and perhaps
    `scope`, fingerprints alone are compared, as by `simhash-gate pairs --clusters`. Then this runs
    jobs at once, and keeps their results on the executors (local checkpoints).

    A page without a fingerprint is not kept; `reason` says why. Rows with the same id and
    fingerprint are one page. Raises ValueError for columns or a distance that are not allowed, and
    `SettingsError` for settings.
    """
    if "look" in df.columns:
        chosen = dict(settings or {})
        if max_distance is not None:
            chosen[f"{PREFIX}THRESHOLD"] = max_distance
        threshold = read_settings(chosen).policies.default.threshold
        check(df, min(threshold, 8), _JUDGED_BY)
        return (
            df.select(*_JUDGED_BY)
            .dropDuplicates(["scope", "id", "fingerprint"])
            .repartition("scope")
            .sortWithinPartitions("scope", "id", "fingerprint")
            .mapInArrow(partial(judge_pages, given=chosen), JUDGED.format(id=dict(df.dtypes)["id"]))
        )
    if settings:
        raise ValueError("settings need pages as read_pages returns them, with a column 'look'")
    return _by_fingerprints(df, check(df, 3 if max_distance is None else max_distance))


def _by_fingerprints(df: DataFrame, radius: int) -> DataFrame:
    scoped = ["scope"] if "scope" in df.columns else []
    pages = df.select("id", *scoped, "fingerprint").distinct()
    names = [sql.col(name).alias("name") for name in scoped]
    named = pages.select("id", *names, scope_of(pages), "fingerprint")
    usable = pages_of(pages)
    values = first_pages(usable).drop("pages")
    near = near_values(values.select("scope", "fingerprint"), radius)
    one, other = (sql.xxhash64("scope", end).alias(end) for end in ("a", "b"))
    kind = dict(df.dtypes)["id"]
    # Outside of clusters, only pages with the same fingerprint are copies.
    copies = (
        usable.withColumn("value", sql.xxhash64("scope", "fingerprint"))
        .join(clusters(near.select(one, other)).withColumnRenamed("id", "value"), "value")
        .select("cluster", "id", "scope", "fingerprint")
        .repartition("cluster")
        .sortWithinPartitions("cluster", "id", "fingerprint")
        .mapInArrow(partial(_copies, radius=radius), _COPIES.format(id=kind))
    )
    key = ["scope", "fingerprint"]
    joined = named.join(values, key, "left").join(copies, ["id", *key], "left")
    is_same = sql.expr("first < id")
    reason = sql.format_string(f"distance %d, threshold {radius}", sql.col("distance"))
    return joined.select(
        "id",
        *[sql.col("name").alias(name) for name in scoped],
        sql.expr("coalesce(first = id AND distance IS NULL, false)").alias("kept"),
        sql.coalesce("original", sql.when(is_same, sql.col("first"))).alias("original"),
        sql.coalesce("distance", sql.when(is_same, 0)).alias("distance"),
    ).withColumn(
        "reason",
        sql.when(sql.col("distance").isNotNull(), reason)
        .when(sql.col("id").isNull(), "no id")
        .when(~sql.col("kept"), "no fingerprint"),
    )


def _copies(batches: Iterable[RecordBatch], radius: int) -> Iterator[RecordBatch]:
    """Yield the copies of one task, in which the pages of each cluster come together, in order."""
    cluster, kept = None, KeptFingerprints(radius)
    for batch in batches:
        found = []
        for row in batch.to_pylist():
            if row["cluster"] != cluster:
                cluster, kept = row["cluster"], KeptFingerprints(radius)
            if copy := kept.add(unsigned(row["fingerprint"]), row["id"]):
                original, distance = copy
                found.append(row | {"original": original, "distance": distance})
        _, *known = batch.schema
        added = [("original", batch.schema.field("id").type), ("distance", pa.int32())]
        yield RecordBatch.from_pylist(found, pa.schema([*known, *added]))


JUDGED = "id {id}, scope string, kept boolean, original {id}, distance int, reason string"
"""The columns that `judge_pages` yields, as a schema of Spark; `id` is the type of ids."""
_ROWS = 500


def judge_pages(batches: Iterable[RecordBatch], given: Mapping[str, Any]) -> Iterator[RecordBatch]:
    """Judge the pages of one task, in which the pages of each scope come together, in order."""
    settings = read_settings({f"{PREFIX}WINDOW": ALL_PAGES, **given})
    with (
        TemporaryDirectory(prefix="simhash-gate-") as folder,
        open_gate(replace(settings, store=f"sqlite:///{folder}/kept.sqlite")) as gate,
    ):
        corpus = CorpusJudge(gate, settings)
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS):
                with gate.store.batch():
                    yield _judged(corpus, batch.slice(start, _ROWS))


def _judged(corpus: CorpusJudge, batch: RecordBatch) -> RecordBatch:
    kinds = {"string": pa.string(), "boolean": pa.bool_(), "int": pa.int32()}
    kinds["{id}"] = batch.schema.field("id").type
    columns = (column.split(" ") for column in JUDGED.split(", "))
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns])
    return RecordBatch.from_pylist([_row(corpus, row) for row in batch.to_pylist()], schema)


def _row(corpus: CorpusJudge, row: dict[str, Any]) -> dict[str, Any]:
    page = _page_of(row)
    url, scope = row["url"] or "", row["scope"] or ""
    skipped = row["reason"] or "" if page is None else ""
    entry = Entry(f"id {row['id']}", url=url, id=row["id"], scope=scope, skipped=skipped)
    if row["look"] is not None:  # pages of different pipeline versions are never compared
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
    """Return the page of a row, the error of reading it, or None if it was not to be read."""
    look, reason = row["look"], row["reason"]
    if look is None:
        return None if reason == TOO_LARGE else ReadError(reason or "not read")
    bits = None if row["fingerprint"] is None else unsigned(row["fingerprint"])
    said = row["title"], row["words"], bits, unsigned(look["digest"]), look["listing"]
    return Page(*said, reason, look["sketch"], look["lines"], url=row["url"] or "")
