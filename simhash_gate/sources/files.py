"""Files of HTML, text or Markdown, each a page."""

from __future__ import annotations

import html
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from simhash_gate.common.times import unix_time
from simhash_gate.common.wording import complaining
from simhash_gate.fingerprints.hamming import from_hex
from simhash_gate.gate.policy import is_public_host
from simhash_gate.identity.canonical import canonical_urls
from simhash_gate.sources import TOO_LARGE, Entry, Known, read_body
from simhash_gate.sources.markdown import front_matter, markdown_as_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.wording import Complain
    from simhash_gate.sources import File

_PARAGRAPH = re.compile(r"\n\s*\n")


def read_html(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the page of a file of HTML."""
    with complaining(complain, file.path):
        body = _body(file, max_bytes)
        yield Entry(
            file.path,
            body or b"",
            file.path,
            guess_url(body or b"", file.path, file.folder),
            skipped=TOO_LARGE if body is None else "",
            guessed=True,
        )


def read_text(file: File, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the page of a file of text. The front matter of Markdown tells what is known of it."""
    with complaining(complain, file.path):
        body = _body(file, max_bytes)
        metadata: dict[str, Any] = {}
        if body:
            text = body.decode("utf-8-sig", "replace")
            if file.path.lower().endswith(".md"):
                metadata, text = front_matter(text)
                body = markdown_as_html(text, text_of(metadata, "title"), text_of(metadata, "url"))
            else:
                body = text_as_html(text)
        url = text_of(metadata, "url")
        yield Entry(
            file.path,
            body or b"",
            file.path,
            url or url_of_path(file.path, file.folder),
            metadata.get("id"),
            skipped=TOO_LARGE if body is None else "",
            time=unix_time(metadata.get("time")),
            guessed=not url,
            known=known_of(metadata),
            of_text=True,
        )


def text_as_html(text: str, title: str = "") -> bytes:
    """Return an HTML page whose article has the paragraphs of a text."""
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in _PARAGRAPH.split(text))
    named = f"<title>{html.escape(title)}</title>" if title else ""
    page = f"<!doctype html><meta charset=utf-8>{named}<article>\n{paragraphs}</article>"
    return page.encode("utf-8", "replace")


def _body(file: File, max_bytes: int) -> bytes | None:
    """Return what is in a file, or None if that is too much. Raises OSError."""
    path = Path(file.path)
    if file.folder and path.exists() and not path.is_file():
        raise OSError("no ordinary file")  # to open a pipe would wait for its writer
    return read_body(path, max_bytes)


def text_of(values: dict[str, Any], key: str) -> str:
    """Return a text that front matter, or a line, has under a key; else ""."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def known_of(values: dict[str, Any]) -> Known | None:
    """Return the fingerprint of a page of a corpus, if its front matter, or its line, has one."""
    with suppress(ValueError):
        words = values.get("words")
        return Known(
            from_hex(text_of(values, "fingerprint")),
            text_of(values, "title"),
            words if isinstance(words, int) else 0,
            text_of(values, "pipeline"),
        )
    return None


_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:[:+]\d{1,5})?")
_INDEX = re.compile(r"/index\.(?:x?html?|xht)$", re.IGNORECASE)
_SAFE = "/%?=&~:@!$'()*+,;"


def guess_url(body: bytes, path: str, folder: str = "") -> str:
    """Return the URL that a page or its path tells, "" for none. `folder` is where it was found."""
    return next(canonical_urls(body), "") or url_of_path(path, folder)


def url_of_path(path: str, folder: str = "") -> str:
    """Return the URL of a file of a mirror, by the host in its path; "" where it has none.

    `mirror/example.com/a/b.html` is `https://example.com/a/b.html`. The first host within the
    folder counts, else the first one in the name of the folder.
    """
    named = Path(folder).parts if folder else ()
    parts = Path(path).parts
    places = [*range(len(named), len(parts) - 1), *range(len(named))]
    host = next((place for place in places if _is_host(parts[place])), None)
    if host is None:
        return ""
    scheme = parts[host - 1] if host and parts[host - 1] in ("http", "https") else "https"
    rest = os.fsencode("/".join(parts[host + 1 :]))
    address = _INDEX.sub("/", "/" + quote(rest, safe=_SAFE))
    return f"{scheme}://{parts[host].lower().replace('+', ':')}{address}"


def _is_host(name: str) -> bool:
    return bool(_HOST.fullmatch(name)) and is_public_host(re.split("[:+]", name)[0].lower())
