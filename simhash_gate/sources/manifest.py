"""A manifest: one JSON object per line, each naming a page on disk, or holding it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.complaints import why
from simhash_gate.sources.entry import TOO_LARGE, Entry, Source, read_body
from simhash_gate.sources.jsonl import count_lines, json_objects
from simhash_gate.sources.text import as_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.complaints import Complain

Record = Mapping[str, Any]
_EXAMPLE = '{"path": "page.html"}'
_INLINE = ("html", "text")


def manifest(path: str, complain: Complain, max_bytes: int, *, needs_url: bool) -> Source:
    """Return the pages that a manifest names; paths in it are relative to its folder.

    Keys: `path`; `url`, needed where `needs_url`; `id`, any value; `encoding` and `scope`.
    """
    needed = ("path", "url") if needs_url else ("path",)
    return Source(_entries(path, complain, max_bytes, needed), lambda: count_lines(path))


def _entries(
    path: str, complain: Complain, max_bytes: int, needed: tuple[str, ...]
) -> Iterator[Entry]:
    folder = Path(path).parent
    for place, record in json_objects(path, complain, _EXAMPLE):
        try:
            yield _entry(place, record, needed, folder, max_bytes)
        except OSError as error:
            complain(place, f"{record['path']!r}: {why(error)}")
        except ValueError as error:
            complain(place, str(error))


def _entry(
    place: str, record: Record, needed: tuple[str, ...], folder: Path, max_bytes: int
) -> Entry:
    """Return the page that a line names. Raises ValueError and OSError."""
    _check(record, needed)
    body = read_body(folder / record["path"], max_bytes)
    return Entry(
        place,
        body or b"",
        record["path"],
        record.get("url") or "",
        record.get("id"),
        record.get("encoding") or None,
        record.get("scope"),
        skipped=TOO_LARGE if body is None else "",
    )


def inline_pages(path: str, complain: Complain, max_bytes: int) -> Source:
    """Return the pages that the lines of a file hold as `html` or `text`, or name by their `path`.

    Other keys are those of a manifest. A page is called by its URL, else by its line.
    """
    return Source(_inline(path, complain, max_bytes), lambda: count_lines(path))


def _inline(path: str, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    folder = Path(path).parent
    for place, record in json_objects(path, complain, '{"url": …, "html": …}'):
        try:
            yield _inline_entry(place, record, folder, max_bytes)
        except OSError as error:
            complain(place, f"{record['path']!r}: {why(error)}")
        except ValueError as error:
            complain(place, str(error))


def _inline_entry(place: str, record: Record, folder: Path, max_bytes: int) -> Entry:
    """Return the page of a line. Raises ValueError and OSError."""
    kind = next((key for key in _INLINE if record.get(key) is not None), None)
    if kind is None:
        if not record.get("path"):
            raise ValueError("no 'html', 'text', 'path' or 'fingerprint'")
        return _entry(place, record, ("path",), folder, max_bytes)
    _check(record, (), (kind,))
    said: str = record[kind]
    body = as_html(said) if kind == "text" else said.encode("utf-8", "replace")
    skipped = TOO_LARGE if len(body) > max_bytes else ""
    return Entry(
        place,
        b"" if skipped else body,
        record.get("path") or place,
        record.get("url") or "",
        encoding="utf-8",
        scope=record.get("scope"),
        skipped=skipped,
    )


def _check(record: Record, needed: tuple[str, ...], more: tuple[str, ...] = ()) -> None:
    for key in needed:
        if not record.get(key):
            raise ValueError(f"no {key!r}")
    for key in ("path", "url", "encoding", "scope", *more):
        value = record.get(key)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{key!r} is {value!r}: expected a string")
