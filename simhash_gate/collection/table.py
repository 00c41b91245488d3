"""Rows as JSON Lines, CSV or Parquet, on stdout or in a file that is there whole or not at all."""

from __future__ import annotations

import csv
import io
from itertools import islice
from json.encoder import encode_basestring, encode_basestring_ascii
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.sources.parquet import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

Row = tuple["str | int | None", ...]

FORMATS = ("jsonl", "csv", "parquet")
NUMBERS = frozenset({"distance", "words"})
"""Columns of numbers, whatever is in their first rows."""
_ROWS = 10_000  # written at once


def format_of(path: str | None) -> str:
    """Return the format that a file's name tells, else JSON Lines."""
    suffix = Path(path or "").suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else FORMATS[0]


def write_rows(
    rows: Iterable[Row], columns: Sequence[str], form: str, file: BinaryIO, *, batch: int = _ROWS
) -> int:
    """Write all rows in one of `FORMATS`; return how many. Raises `MissingExtraError`, OSError."""
    parts = _batches(rows, batch)
    if form == "parquet":
        return _write_parquet(parts, columns, file)
    written = 0
    if form == "csv":
        file.write(_csv([tuple(columns)]))
    text = _csv if form == "csv" else _json_lines(columns)
    for part in parts:
        file.write(text(part))
        written += len(part)
    return written


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while part := list(islice(iterator, size)):
        yield part


def _csv(rows: list[Row]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _json_lines(columns: Sequence[str]) -> Callable[[list[Row]], bytes]:
    """Return what makes lines of rows, several times faster than an encoder for each."""
    shown = [f"{encode_basestring(column)}: {{}}" for column in columns]
    line = "{{" + ", ".join(shown) + "}}\n"

    def value(cell: str | int | None) -> str | int:
        if not isinstance(cell, str):
            return "null" if cell is None else cell
        return encode_basestring(cell) if cell.isprintable() else encode_basestring_ascii(cell)

    def text(rows: list[Row]) -> bytes:
        lines = [line.format(*map(value, row)) for row in rows]
        return "".join(lines).encode()

    return text


def _write_parquet(parts: Iterable[list[Row]], columns: Sequence[str], file: BinaryIO) -> int:
    pa = load()
    writer: Any = None
    written = 0
    try:
        for part in parts:
            named = zip(columns, zip(*part, strict=True), strict=True)
            table = pa.table({name: _array(pa, name, cells) for name, cells in named})
            writer = writer or pa.parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
            written += len(part)
        if writer is None:
            nothing = {name: _array(pa, name, ()) for name in columns}
            pa.parquet.write_table(pa.table(nothing), file)
    finally:
        if writer is not None:
            writer.close()
    return written


def _array(pa: Any, name: str, cells: Sequence[str | int | None]) -> Any:
    if name in NUMBERS or (cells and isinstance(cells[0], int)):
        return pa.array(cells, pa.int64())
    texts = [
        None if cell is None else str(cell).encode("utf-8", "backslashreplace").decode()
        for cell in cells
    ]
    return pa.array(texts, pa.string())
