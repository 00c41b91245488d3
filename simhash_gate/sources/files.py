"""Pages in files: HTML, text, Markdown, and JSON Lines that hold or name pages (a manifest)."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simhash_gate.common.times import unix_time
from simhash_gate.common.wording import Complain, complaining, why
from simhash_gate.fingerprints.hamming import from_hex
from simhash_gate.gate.policy import is_public_host
from simhash_gate.identity.keys import canonical_urls
from simhash_gate.sources import TOO_LARGE, Entry, File, Known, read_body
from simhash_gate.sources.jsonl import json_objects, shown_path
from simhash_gate.sources.markdown import front_matter, markdown_as_html
from simhash_gate.values import TEXT, checked

PAGES = ("html", "path", "markdown", "text")
"""Keys of a line that hold a page, or name its file. The first one that a line has counts."""
_OF_CORPUS = ("words", "fingerprint", "pipeline")
KEYS = (*PAGES, "url", "id", "title", "encoding", "scope", "time", "date", *_OF_CORPUS)
_TEXTS = (*PAGES, "url", "encoding", "scope")
_EXAMPLE = '{"path": "page.html"}'
_PARAGRAPH = re.compile(r"\n\s*\n")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:[:+]\d{1,5})?")
_INDEX = re.compile(r"/index\.(?:x?html?|xht)$", re.IGNORECASE)
_SAFE = "/%?=&~:@!$'()*+,;"


def read_file(
    file: File, complain: Complain, max_bytes: int, *, of_text: bool = False
) -> Iterator[Entry]:
    """Yield the page of a file of HTML or text; front matter gives the values of the entry."""
    place = shown_path(file.path)
    with complaining(complain, place):
        path = Path(file.path)
        if file.folder and path.exists() and not path.is_file():
            raise OSError("no ordinary file")  # to open a pipe would wait for its writer
        content = read_body(file.path, max_bytes)
        body, metadata = content or b"", dict[str, Any]()
        if of_text and body:
            text = body.decode("utf-8-sig", "replace")
            if file.path.lower().endswith(".md"):
                metadata, text = front_matter(text)
                body = markdown_as_html(text, text_of(metadata, "title"), text_of(metadata, "url"))
                metadata |= {"markdown": text.strip("\n")} if metadata else {}
            else:
                body = text_as_html(text)
        url = text_of(metadata, "url")
        guess = guess_url(b"" if of_text else body, file.path, file.folder)
        yield Entry(
            place,
            body,
            file.path,
            url or guess,
            metadata.get("id"),
            skipped=TOO_LARGE if content is None else "",
            time=unix_time(metadata.get("time")),
            guessed=not url,
            known=known_of(metadata),
            of_text=of_text,
            fields=metadata,
        )


def text_as_html(text: str, title: str = "") -> bytes:
    """Return an HTML page whose article has the paragraphs of a text."""
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in _PARAGRAPH.split(text))
    named = f"<title>{html.escape(title)}</title>" if title else ""
    page = f"<!doctype html><meta charset=utf-8>{named}<article>\n{paragraphs}</article>"
    return page.encode("utf-8", "replace")


def text_of(values: dict[str, Any], key: str) -> str:
    """Return the string under a key of front matter or of a line, "" if there is none."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def known_of(values: dict[str, Any]) -> Known | None:
    """Return the earlier result for a page of a corpus, if these values have a fingerprint."""
    with suppress(ValueError):
        bits, words = from_hex(text_of(values, "fingerprint")), values.get("words")
        title, pipeline = text_of(values, "title"), text_of(values, "pipeline")
        return Known(bits, title, words if isinstance(words, int) else 0, pipeline)
    return None


def guess_url(body: bytes, path: str, folder: str = "") -> str:
    """Return the URL that a page or its path names, "" for none. `folder` was named by the user."""
    return next(canonical_urls(body), "") or url_of_path(path, folder)


def url_of_path(path: str, folder: str = "") -> str:
    """Return the URL of a file of a mirror by the host in its path, "" if there is no host.

    `mirror/example.com/a/b.html` is `https://example.com/a/b.html`. The first host within the
    folder counts, else the first one in the name of the folder.
    """
    named = Path(folder).parts if folder else ()
    parts = Path(path).parts
    places = [*range(len(named), len(parts) - 1), *range(len(named))]
    hosts = [re.split("[:+]", it)[0].lower() if _HOST.fullmatch(it) else "" for it in parts]
    host = next((place for place in places if is_public_host(hosts[place])), None)
    if host is None:
        return ""
    scheme = parts[host - 1] if host and parts[host - 1] in ("http", "https") else "https"
    rest = os.fsencode("/".join(parts[host + 1 :]))
    address = _INDEX.sub("/", "/" + quote(rest, safe=_SAFE))
    return f"{scheme}://{parts[host].lower().replace('+', ':')}{address}"


def is_pages(keys: Iterable[str]) -> bool:
    """Tell whether keys or columns include one that holds a page."""
    return not set(keys).isdisjoint(PAGES)


def manifest(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the pages of JSON Lines. Paths in it are relative to its folder.

    The other keys of a line are `url`, `id` (any value), `title` (of a text), `encoding`, `scope`
    and `time`. `date` is the time of the capture too, except in a corpus: there the page says it.
    """
    folder = Path(file.path).parent
    for place, line in json_objects(file.path, complain, _EXAMPLE):
        with complaining(complain, place):
            yield entry_of(place, line, folder, max_bytes)


def paths(path: str) -> Iterator[str]:
    """Yield the paths of the files that a manifest names."""
    folder = Path(path).parent
    for _, line in json_objects(path, lambda *_: None, _EXAMPLE):
        name = line.get("path")
        if name and isinstance(name, str):
            yield str(folder / name)


def entry_of(place: str, line: dict[str, Any], folder: Path, max_bytes: int) -> Entry:
    """Return the page of a line; its HTML may be bytes. Raises ValueError."""
    form = next((key for key in PAGES if line.get(key) or line.get(key) in ("", b"")), None)
    for key in _TEXTS:
        if not isinstance(line.get(key), bytes):
            checked(line, key, TEXT)
    if form is None or (form == "path" and not line["path"]):
        raise ValueError("no 'html', 'path', 'markdown' or 'text'")
    encoding = line.get("encoding") or None
    if isinstance(line[form], str) and form != "path":
        encoding = "utf-8"
    body = _body(form, line, folder, max_bytes)
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
        known=known_of(line) if form == "markdown" else None,
        of_text=form in ("markdown", "text"),
        fields={k: v for k, v in line.items() if form in ("markdown", "text") or k not in KEYS},
    )


def _body(form: str, line: dict[str, Any], folder: Path, max_bytes: int) -> bytes | None:
    """Return the page of a line as HTML, None if it is too large. Raises ValueError."""
    page = line[form]
    if form == "path":
        try:
            return read_body(folder / page, max_bytes)
        except OSError as error:
            raise ValueError(f"{page!r}: {why(error)}") from None
    if form == "html":
        return page if isinstance(page, bytes) else page.encode("utf-8", "replace")
    title = text_of(line, "title")
    if form == "markdown":
        return markdown_as_html(page, title, line.get("url") or "")
    return text_as_html(page, title)
