"""Rows as JSON Lines, CSV or Parquet, on stdout or in a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from simhash_gate.common.wording import printable
from simhash_gate.gate.verdict import encode
from simhash_gate.sources.parquet import load

Row = tuple["str | int | None", ...]

FORMATS = ("jsonl", "csv", "parquet")
NUMBERS = frozenset({"distance", "words"})
"""Columns of numbers, whatever is in their first rows."""
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")  # what one begins with, also in full width
_ROWS = 10_000  # written at once


def format_of(path: str | None) -> str:
    """Return the format by the end of a file's name, else JSON Lines."""
    suffix = Path(path or "").suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else FORMATS[0]


def write_rows(
    rows: Iterable[Row], columns: Sequence[str], form: str, file: BinaryIO, *, batch: int = _ROWS
) -> int:
    """Write rows in one of `FORMATS`. Return their number. Raises `MissingExtraError`, OSError."""
    if form == "parquet":
        return _write_parquet(iter(rows), columns, file, batch)
    if form == "csv":
        file.write(_csv(columns))
    written = 0
    for written, row in enumerate(rows, 1):  # noqa: B007 - it counts
        file.write(_csv(row) if form == "csv" else encode(dict(zip(columns, row, strict=True))))
    return written


def _csv(row: Sequence[str | int | None]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(map(_harmless, row))
    return text.getvalue().encode()


def _harmless(cell: str | int | None) -> str | int | None:
    """Return a cell that controls no terminal, and that no spreadsheet takes for a formula."""
    text = printable(cell) if isinstance(cell, str) else ""
    return f"'{text}" if text.lstrip()[:1] in _FORMULA else text or cell


def _write_parquet(rows: Iterator[Row], columns: Sequence[str], file: BinaryIO, batch: int) -> int:
    pa = load()

    def table(part: Sequence[Row]) -> Any:
        cells = zip(*part, strict=True) if part else [()] * len(columns)
        named = zip(columns, cells, strict=True)
        return pa.table({name: _array(pa, name, column) for name, column in named})

    written = 0
    parts = iter(lambda: list(islice(rows, batch)), [])
    first = next(parts, [])
    with pa.parquet.ParquetWriter(file, table(first).schema) as writer:
        for part in chain([first], parts):
            writer.write_table(table(part))
            written += len(part)
    return written


def _array(pa: Any, name: str, cells: Sequence[str | int | None]) -> Any:
    if name in NUMBERS or (cells and isinstance(cells[0], int)):
        return pa.array([cell if isinstance(cell, int) else None for cell in cells], pa.int64())
    texts = [
        None if cell is None else str(cell).encode("utf-8", "backslashreplace").decode()
        for cell in cells
    ]
    return pa.array(texts, pa.string())
