"""Pages of whole scopes, judged one after the other by the gate of a crawl."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from simhash_gate.common.encoded import unsigned
from simhash_gate.gate.judge import Gate
from simhash_gate.offline.replay import ALL_PAGES, CorpusJudge, live_run
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.settings import read_settings
from simhash_gate.sources import TOO_LARGE, Entry
from simhash_gate.values import PREFIX
from simhash_gate.workers.pool import ReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyarrow import RecordBatch

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
