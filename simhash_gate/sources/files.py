"""Files of HTML or text, each a page."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from simhash_gate.common.wording import complaining
from simhash_gate.sources import TOO_LARGE, Entry, read_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.common.wording import Complain

_PARAGRAPH = re.compile(r"\n\s*\n")


def read_html(path: str, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the page of a file of HTML."""
    with complaining(complain, path):
        body = read_body(path, max_bytes)
        yield Entry(path, body or b"", path, skipped=TOO_LARGE if body is None else "")


def read_text(path: str, complain: Complain, max_bytes: int) -> Iterator[Entry]:
    """Yield the page of a file of text."""
    with complaining(complain, path):
        body = read_body(path, max_bytes)
        if body:
            body = text_as_html(body.decode("utf-8-sig", "replace"))
        yield Entry(path, body or b"", path, skipped=TOO_LARGE if body is None else "")


def text_as_html(text: str) -> bytes:
    """Return an HTML page whose article has the paragraphs of a text."""
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in _PARAGRAPH.split(text))
    page = f"<!doctype html><meta charset=utf-8><article>\n{paragraphs}</article>"
    return page.encode("utf-8", "replace")
