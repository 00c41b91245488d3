"""`read_pages`: read the pages of a DataFrame on the executors."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyarrow import RecordBatch, array
from pyspark.sql import DataFrame, types
from pyspark.sql.pandas.types import to_arrow_type

from simhash_gate.common.encoded import signed
from simhash_gate.options import Options, pipeline_version
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.settings import Settings, read_settings
from simhash_gate.sources import TOO_LARGE, Entry
from simhash_gate.sources.read_pages import extract_pages
from simhash_gate.values import PREFIX
from simhash_gate.workers.pool import ReadError

logger = logging.getLogger(__name__)

_LOOK = (
    types.StructType()
    .add("pipeline", types.StringType())
    .add("digest", types.LongType())
    .add("listing", types.BooleanType())
    .add("sketch", types.BinaryType())
    .add("lines", types.BinaryType())
)
_READ = {
    "title": types.StringType(),
    "markdown": types.StringType(),
    "words": types.IntegerType(),
    "fingerprint": types.LongType(),
    "reason": types.StringType(),
    "look": _LOOK,
}
_TAKEN = ("body", "encoding", "skipped")
_ROWS = 100
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_MOST_IN_BATCH = 1_000


def read_pages(df: DataFrame, settings: Mapping[str, Any] | None = None) -> DataFrame:
    """Read the pages in the columns `body` (binary, or a string) and `url`.

    Returns a row for each row. It has the other columns of `df`, and `title`, `markdown`, `words`
    (null if the page could not be read), `fingerprint` (the 64 bits as a signed bigint), `scope`
    (unless `df` has it), `reason` (why there is no fingerprint) and `look` (for `dedupe`).

    `df` may also have `encoding` (that of the HTTP header) and `skipped` (why a page is not to be
    read). `settings` are `SIMHASH_GATE_*`. A page is read in a process beside the task, within the
    limits of a crawl. Raises ValueError for missing columns, and for columns that have the name of
    a result; raises `SettingsError` for settings.
    """
    given = dict(settings or {})
    read_settings(given)
    _check(df)
    together = int(df.sparkSession.conf.get(_BATCH, "10000") or 0)
    if not 0 < together <= _MOST_IN_BATCH:
        logger.warning(
            "%s is %d: so many pages are in memory at once. 200 are enough", _BATCH, together
        )
    others = [field for field in df.schema.fields if field.name not in _TAKEN]
    schema = df.select(*[field.name for field in others]).schema
    for name, kind in _added(df.columns).items():
        schema = schema.add(name, kind)
    return df.mapInArrow(partial(_read, given=given), schema)


def _check(df: DataFrame) -> None:
    there = dict(df.dtypes)
    for name, allowed in (("body", ("binary", "string")), ("url", ("string",))):
        if there.get(name) not in allowed:
            problem = f"is {there[name]}" if name in there else "is missing"
            raise ValueError(f"column {name!r} {problem}: expected {' or '.join(allowed)}")
    for name in _READ:
        if name in there:
            raise ValueError(f"column {name!r} is there: rename it, read_pages writes its own")


def _added(names: Sequence[str]) -> dict[str, types.DataType]:
    return _READ if "scope" in names else {**_READ, "scope": types.StringType()}


def _read(batches: Iterable[RecordBatch], given: Mapping[str, Any]) -> Iterator[RecordBatch]:
    settings = read_settings(given)
    workers = settings.workers if f"{PREFIX}WORKERS" in given else 1  # a task has one core
    options = replace(settings.options, markdown=True)
    settings = replace(settings, options=options, workers=workers)
    waiting: deque[RecordBatch] = deque()

    def entries() -> Iterator[Entry]:
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS):
                waiting.append(batch.slice(start, _ROWS))
                yield from _entries(waiting[-1], settings.max_bytes)

    rows: list[dict[str, Any]] = []
    version = pipeline_version(settings.options)
    for entry, result in extract_pages(entries(), settings, _whole):
        rows.append(_row(entry, result, settings, version))
        if len(rows) == waiting[0].num_rows:
            yield _with(waiting.popleft(), rows)
            rows.clear()


def _entries(batch: RecordBatch, max_bytes: int) -> Iterator[Entry]:
    names = [name for name in ("url", *_TAKEN) if name in batch.schema.names]
    for row in batch.select(names).to_pylist():
        body, encoding = row["body"] or b"", row.get("encoding")
        if isinstance(body, str):
            body, encoding = body.encode("utf-8", "replace"), "utf-8"
        skipped = row.get("skipped") or (TOO_LARGE if len(body) > max_bytes else "")
        url = row["url"] or ""
        yield Entry(
            url, b"" if skipped else body, url=url, encoding=encoding or None, skipped=skipped
        )


def _whole(body: bytes, url: str, encoding: str | None, options: Options) -> tuple[Page, str]:
    page = read_page(body, url=url, encoding=encoding, options=options)
    return replace(page, article=b""), page.markdown


def _row(
    entry: Entry, read: tuple[Page, str] | ReadError | None, settings: Settings, version: str
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(_READ)
    row["scope"] = settings.policies.site_of(entry.url).scope
    if not isinstance(read, tuple):
        return row | {"reason": _text(entry.skipped if read is None else str(read))}
    page, markdown = read
    if page.unreadable:
        return row | {"reason": _text(page.reason)}
    return row | {
        "title": _text(page.title),
        "markdown": _text(markdown),
        "words": page.words,
        "fingerprint": None if page.fingerprint is None else signed(page.fingerprint),
        "reason": _text(page.reason),
        "look": {
            "pipeline": version,
            "digest": signed(page.digest),
            "listing": page.listing,
            "sketch": page.sketch,
            "lines": page.lines,
        },
    }


def _text(text: str | None) -> str | None:
    """Return text that UTF-8 can hold. Broken pages have lone surrogates."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


def _with(batch: RecordBatch, rows: list[dict[str, Any]]) -> RecordBatch:
    whole = batch.select([name for name in batch.schema.names if name not in _TAKEN])
    for name, kind in _added(batch.schema.names).items():
        column = array([row[name] for row in rows], to_arrow_type(kind))
        whole = whole.append_column(name, column)
    return whole
