"""JSON Lines of pages: each line holds a page, or names a file of it (a manifest)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.times import unix_time
from simhash_gate.common.wording import complaining, why
from simhash_gate.sources import TOO_LARGE, Entry, read_body
from simhash_gate.sources.files import text_as_html
from simhash_gate.sources.jsonl import check_strings, json_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.wording import Complain

PAGES = ("html", "path", "markdown", "text")
"""Keys of a line that hold a page, or name its file. The first of them that is there counts."""
_EXAMPLE = '{"path": "page.html"}'


def manifest(path: str, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the pages of JSON Lines. Paths in it are relative to its folder.

    The other keys of a line are `url`, `id` (any value), `encoding`, `scope` and `time`.
    """
    folder = Path(path).parent
    for place, line in json_objects(path, complain, _EXAMPLE):
        with complaining(complain, place):
            yield _entry(place, line, folder, max_bytes)


def _entry(place: str, line: dict[str, Any], folder: Path, max_bytes: int) -> Entry:
    """Return the page of a line. Raises ValueError."""
    held = next((key for key in PAGES if line.get(key) or line.get(key) == ""), None)
    check_strings(line, (*PAGES, "url", "encoding", "scope"))
    if held is None or (held == "path" and not line["path"]):
        raise ValueError("no 'html', 'path', 'markdown' or 'text'")
    encoding = line.get("encoding") or None
    if held == "path":
        body = _read(folder, line["path"], max_bytes)
    else:
        text = line[held]
        if held == "html":
            encoding = "utf-8"
        body = text.encode("utf-8", "replace") if held == "html" else text_as_html(text)
    too_large = body is None or len(body) > max_bytes
    return Entry(
        place,
        b"" if body is None or too_large else body,
        line.get("path") or place,
        line.get("url") or "",
        line.get("id"),
        encoding,
        line.get("scope"),
        skipped=TOO_LARGE if too_large else "",
        time=unix_time(line.get("time")),
    )


def _read(folder: Path, path: str, max_bytes: int) -> bytes | None:
    try:
        return read_body(folder / path, max_bytes)
    except OSError as error:
        raise ValueError(f"{path!r}: {why(error)}") from None
