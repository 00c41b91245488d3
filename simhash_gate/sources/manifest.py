"""A manifest: JSON Lines, each of which names a page on disk, or holds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.wording import complaining, why
from simhash_gate.sources import TOO_LARGE, Entry, Source, read_body
from simhash_gate.sources.files import text_as_html
from simhash_gate.sources.jsonl import check_strings, count_lines, json_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.wording import Complain

_EXAMPLE = '{"path": "page.html"}'


def manifest(
    path: str,
    complain: Complain,
    max_bytes: int,
    *,
    needs_url: bool = False,
    holds_pages: bool = False,
) -> Source:
    """Return the pages of a manifest. Paths in it are relative to its folder.

    The keys of a line are `path`, `url`, `id` (any value), `encoding` and `scope`. With
    `holds_pages`, a line can have the page itself, as `html` or `text`, and needs no path.
    """
    needed: tuple[str, ...] = () if holds_pages else ("path",)
    if needs_url:
        needed += ("url",)
    return Source(_entries(path, complain, max_bytes, needed), lambda: count_lines(path))


def _entries(
    path: str, complain: Complain, max_bytes: int, needed: tuple[str, ...]
) -> Iterator[Entry]:
    folder = Path(path).parent
    for place, line in json_objects(path, complain, _EXAMPLE):
        with complaining(complain, place):
            yield _entry(place, line, folder, max_bytes, needed)


def _entry(
    place: str, line: dict[str, Any], folder: Path, max_bytes: int, needed: tuple[str, ...]
) -> Entry:
    """Return the page of a line. Raises ValueError."""
    inline = () if needed else ("html", "text")
    _check(line, needed, inline)
    encoding = line.get("encoding") or None
    held = next((key for key in inline if line.get(key) is not None), None)
    body: bytes | None
    if held:
        encoding, text = "utf-8", line[held]
        body = text_as_html(text) if held == "text" else text.encode("utf-8", "replace")
        body = body if len(body) <= max_bytes else None
    else:
        try:
            body = read_body(folder / line["path"], max_bytes)
        except OSError as error:
            raise ValueError(f"{line['path']!r}: {why(error)}") from None
    return Entry(
        place,
        body or b"",
        line.get("path") or place,
        line.get("url") or "",
        line.get("id"),
        encoding,
        line.get("scope"),
        skipped=TOO_LARGE if body is None else "",
    )


def _check(line: dict[str, Any], needed: tuple[str, ...], inline: tuple[str, ...]) -> None:
    """Raise ValueError for a line that lacks a key, or has a value that is not a string."""
    for key in needed:
        if not line.get(key):
            raise ValueError(f"no {key!r}")
    if inline and not line.get("path") and all(line.get(key) is None for key in inline):
        raise ValueError("no 'html', 'text', 'path' or 'fingerprint'")
    check_strings(line, ("path", "url", "encoding", "scope", *inline))
