"""A corpus that `simhash-gate dedupe` made: Markdown files, JSON Lines or Parquet."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.wording import complaining
from simhash_gate.fingerprints.hamming import from_hex
from simhash_gate.sources import TOO_LARGE, Entry, find, read_body
from simhash_gate.sources.jsonl import check_strings, first_object, json_objects
from simhash_gate.sources.markdown import markdown_as_html
from simhash_gate.sources.parquet import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.wording import Complain
    from simhash_gate.sources.find import File

_KEYS = ("url", "title", "words", "fingerprint", "pipeline")
_COLUMNS = (*_KEYS, "markdown")
_TEXTS = ("url", "title", "fingerprint", "pipeline", "markdown")
_EXAMPLE = '{"url": …, "fingerprint": "b0621b61d9d51ad2", "markdown": …}'
_MARK = b"---"
_HEAD = 1 << 16  # bytes of a file in which its front matter ends
_ROWS = 200  # read at once, with their Markdown


@dataclass(frozen=True, slots=True)
class CorpusEntry(Entry):
    """A page of a corpus. Its body is made from its Markdown; the rest is what the corpus says."""

    title: str = ""
    words: int = 0
    fingerprint: int | None = None
    pipeline: str = ""


def is_corpus(file: File) -> bool:
    """Tell if a file is a corpus, or a page of one. Raises `MissingExtraError`."""
    if file.kind == find.JSONL:
        return first_object(file.path).keys() >= {*_COLUMNS}
    if file.kind == find.PARQUET:
        return _has_columns(file.path)
    return file.kind == find.TEXT and _has_front_matter(file.path)


def corpus(file: File, complain: Complain, max_bytes: int) -> Iterator[CorpusEntry]:
    """Yield the pages of a file that `is_corpus`, in order."""
    if file.kind == find.JSONL:
        rows = json_objects(file.path, complain, _EXAMPLE)
    elif file.kind == find.PARQUET:
        rows = _parquet_rows(file.path, complain)
    else:
        rows = _file_row(file.path, complain, max_bytes)
    for place, row in rows:
        with complaining(complain, place):
            yield _entry(place, file.path, row, max_bytes)


def _entry(place: str, path: str, row: dict[str, Any], max_bytes: int) -> CorpusEntry:
    """Return the page of a row. Raises ValueError that names what is wrong."""
    for key in _COLUMNS:
        if key not in row:
            raise ValueError(f"no {key!r}: expected a page such as {_EXAMPLE}")
    check_strings(row, _TEXTS)
    words, markdown, digits = row["words"], row["markdown"] or "", row["fingerprint"]
    if not isinstance(words, int) or isinstance(words, bool) or words < 0:
        raise ValueError(f"'words' is {words!r}: expected a count")
    title = row["title"] or ""
    body = markdown_as_html(markdown, title, row["url"] or "")
    too_large = len(body) > max_bytes
    skipped = TOO_LARGE if too_large else "" if digits and markdown else "no text"
    return CorpusEntry(
        place,
        b"" if skipped else body,
        path,
        row["url"] or "",
        encoding="utf-8",
        skipped=skipped,
        title=title,
        words=words,
        fingerprint=from_hex(digits) if digits else None,
        pipeline=row["pipeline"] or "",
    )


def _has_front_matter(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            if file.readline(8).strip() != _MARK:
                return False
            head = file.read(_HEAD).splitlines()
    except (OSError, ValueError):
        return False
    keys = {line.partition(b":")[0] for line in head[: _index(head)]}
    return keys >= {key.encode() for key in _KEYS}


def _index(lines: list[bytes]) -> int:
    return lines.index(_MARK) if _MARK in lines else len(lines)


def _file_row(
    path: str, complain: Complain, max_bytes: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the row of a Markdown file, whose front matter has a key and a JSON value a line."""
    with complaining(complain, path):
        data = read_body(path, max_bytes + _HEAD)
        if data is None:
            raise ValueError(TOO_LARGE)
        head, mark, markdown = data.partition(b"\n---\n")
        if not mark:
            raise ValueError("cut off: its front matter does not end")
        row: dict[str, Any] = {"markdown": _text(markdown).strip("\n")}
        for number, line in enumerate(_text(head).split("\n")[1:], 2):
            key, _, value = line.partition(": ")
            try:
                row[key] = json.loads(value)
            except ValueError as error:
                raise ValueError(f"line {number}: {key!r} is not JSON: {error}") from None
        yield path, row


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start}") from None


def _has_columns(path: str) -> bool:
    pa = load()
    try:
        return {*pa.parquet.read_schema(path).names} >= {*_COLUMNS}
    except (pa.ArrowException, OSError, ValueError):
        return False  # who reads it says why


def _parquet_rows(path: str, complain: Complain) -> Iterator[tuple[str, dict[str, Any]]]:
    pa = load()
    number = 0
    try:
        with pa.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS, columns=[*_COLUMNS]):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", row
    except (pa.ArrowException, OSError) as error:
        complain(f"{path}, after row {number}", f"can't be read: {error}")
