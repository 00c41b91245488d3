"""Pages of whole scopes, judged one after the other by the gate of a crawl."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from simhash_gate.common.encoded import unsigned
from simhash_gate.gate.judge import Gate
from simhash_gate.offline.replay import ALL_PAGES, judge, live_run
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.settings import read_settings
from simhash_gate.sources import TOO_LARGE, Entry
from simhash_gate.values import PREFIX
from simhash_gate.workers.pool import ReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyarrow import RecordBatch

    from simhash_gate.settings import Settings

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
        judges = _Judges(
            Gate(store, run=run, pipeline=pipeline_version(settings.options)), settings
        )
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS):
                with store.batch():
                    yield judges.judge(batch.slice(start, _ROWS))


class _Judges:
    """Judges pages in order, and knows the ids of those that are kept."""

    def __init__(self, gate: Gate, settings: Settings) -> None:
        self._gate = gate
        self._settings = settings
        self._scope: str | None = None
        self._ids: dict[tuple[object, ...], Any] = {}  # by the identity of the record

    def judge(self, batch: RecordBatch) -> RecordBatch:
        """Return a row for each page."""
        import pyarrow as pa

        rows = [self._row(row) for row in batch.to_pylist()]
        kind = batch.schema.field("id").type
        columns = [
            ("id", kind),
            ("scope", pa.string()),
            ("kept", pa.bool_()),
            ("original", kind),
            ("distance", pa.int32()),
            ("reason", pa.string()),
        ]
        return pa.RecordBatch.from_pylist(rows, pa.schema(columns))

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        scope = row["scope"] or ""
        if scope != self._scope:
            self._scope, self._ids = scope, {}
        page = _page_of(row)
        skipped = row["reason"] or "" if page is None else ""
        entry = Entry(
            f"id {row['id']}", id=row["id"], url=row["url"] or "", scope=scope, skipped=skipped
        )
        if row["look"] is not None:  # fingerprints of two versions are never compared
            self._gate.pipeline = row["look"]["pipeline"]
        verdict = judge(self._gate, self._settings, entry, page)
        kept = verdict.outcome not in ("duplicate", "skipped")
        if verdict.outcome == "error":
            kept = isinstance(page, Page)  # the disk kept it from being judged: it is no copy
        if verdict.record is not None:
            self._ids[verdict.record.identity] = row["id"]
        match = verdict.match
        return {
            "id": row["id"],
            "scope": row["scope"],
            "kept": kept,
            "original": self._ids.get(match.record.identity) if match and not kept else None,
            "distance": match.distance if match else None,
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
