"""JSON Lines of pages: each line holds a page, or names a file of it (a manifest)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simhash_gate.common.times import unix_time
from simhash_gate.common.wording import complaining, why
from simhash_gate.sources import TOO_LARGE, Entry, read_body
from simhash_gate.sources.files import guess_url, known_of, text_as_html, text_of
from simhash_gate.sources.jsonl import check_strings, json_objects
from simhash_gate.sources.markdown import markdown_as_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simhash_gate.common.wording import Complain
    from simhash_gate.sources import File

PAGES = ("html", "path", "markdown", "text")
"""Keys of a line that hold a page, or name its file. The first of them that is there counts."""
_OF_CORPUS = ("words", "fingerprint", "pipeline")
KEYS = (*PAGES, "url", "id", "title", "encoding", "scope", "time", "date", *_OF_CORPUS)
_TEXTS = (*PAGES, "url", "encoding", "scope")
_EXAMPLE = '{"path": "page.html"}'


def is_pages(keys: Iterable[str]) -> bool:
    """Tell whether some keys or columns are those of pages."""
    return not set(keys).isdisjoint(PAGES)


def manifest(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the pages of JSON Lines. Paths in it are relative to its folder.

    The other keys of a line are `url`, `id` (any value), `title` (of a text), `encoding`, `scope`
    and `time`. (The `date` of a corpus is what the page says; elsewhere it is that of the capture.)
    """
    folder = Path(file.path).parent
    for place, line in json_objects(file.path, complain, _EXAMPLE):
        with complaining(complain, place):
            yield entry_of(place, line, folder, max_bytes)


def paths(path: str) -> Iterator[str]:
    """Yield the files that the lines of a manifest name."""
    folder = Path(path).parent
    for _, line in json_objects(path, lambda *_: None, _EXAMPLE):
        name = line.get("path")
        if name and isinstance(name, str):
            yield str(folder / name)


def entry_of(place: str, line: dict[str, Any], folder: Path, max_bytes: int) -> Entry:
    """Return the page of a line; its HTML may be bytes. Raises ValueError."""
    held = next((key for key in PAGES if line.get(key) or line.get(key) in ("", b"")), None)
    check_strings(line, (key for key in _TEXTS if not isinstance(line.get(key), bytes)))
    if held is None or (held == "path" and not line["path"]):
        raise ValueError("no 'html', 'path', 'markdown' or 'text'")
    encoding = line.get("encoding") or None
    if isinstance(line[held], str) and held != "path":
        encoding = "utf-8"
    body = _body(held, line, folder, max_bytes)
    too_large = body is None or len(body) > max_bytes
    body = b"" if body is None or too_large else body
    path, url, time = line.get("path") or "", line.get("url") or "", line.get("time")
    return Entry(
        place,
        body,
        path or place,
        url or guess_url(body, path),
        line.get("id"),
        encoding,
        line.get("scope"),
        skipped=TOO_LARGE if too_large else "",
        time=unix_time(line.get("date") if time is None and "pipeline" not in line else time),
        guessed=not url,
        visit=time is not None and "pipeline" not in line,
        known=known_of(line) if held == "markdown" else None,
        of_text=held in ("markdown", "text"),
    )


def _body(held: str, line: dict[str, Any], folder: Path, max_bytes: int) -> bytes | None:
    """Return the page of a line as HTML, None if it is too large. Raises ValueError."""
    page = line[held]
    if held == "path":
        try:
            return read_body(folder / page, max_bytes)
        except OSError as error:
            raise ValueError(f"{page!r}: {why(error)}") from None
    if held == "html":
        return page if isinstance(page, bytes) else page.encode("utf-8", "replace")
    title = text_of(line, "title")
    if held == "markdown":
        return markdown_as_html(page, title, line.get("url") or "")
    return text_as_html(page, title)
