"""A manifest: one JSON object per line, each naming a page on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.offline.entry import TOO_LARGE, Entry, Source, read_body, why
from simhash_gate.offline.jsonl import count_lines, json_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.offline.entry import Complain

Record = Mapping[str, Any]
_EXAMPLE = '{"path": "page.html"}'


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
            _check(record, needed)
            body = read_body(folder / record["path"], max_bytes)
        except OSError as error:
            complain(place, f"{record['path']!r}: {why(error)}")
        except ValueError as error:
            complain(place, str(error))
        else:
            yield Entry(
                place,
                body or b"",
                record["path"],
                record.get("url") or "",
                record.get("id"),
                record.get("encoding") or None,
                record.get("scope"),
                skipped=TOO_LARGE if body is None else "",
            )


def _check(record: Record, needed: tuple[str, ...]) -> None:
    for key in needed:
        if not record.get(key):
            raise ValueError(f"no {key!r}")
    for key in ("path", "url", "encoding", "scope"):
        value = record.get(key)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{key!r} is {value!r}: expected a string")
