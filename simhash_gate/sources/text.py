"""A plain text as a page: its paragraphs are the article, and all of it is read."""

from __future__ import annotations

import html
import re

SUFFIXES = (".txt", ".md")

_PARAGRAPH = re.compile(r"\n\s*\n")


def as_html(text: str) -> bytes:
    """Return a page of HTML that says what a text does, paragraph by paragraph."""
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in _PARAGRAPH.split(text))
    page = f"<!doctype html><meta charset=utf-8><article>\n{paragraphs}</article>"
    return page.encode("utf-8", "replace")
