"""readability-lxml, Readability's port to Python: the text of its summary."""

from __future__ import annotations

from readability import Document

from benchmarks.quality.methods.base import Content, Extractor
from benchmarks.quality.text import shown
from simhash_gate.page.parse import decode


class ReadabilityContent(Extractor):
    """The summary as text, and the title without what stands for the site."""

    title = "readability-lxml"
    needs = ("readability-lxml", "lxml")

    def read(self, body: bytes, url: str) -> Content:
        if not body.strip():
            return Content("", "")
        document = Document(decode(body))
        title = document.short_title()
        return Content(shown(document.summary(html_partial=True)), title)
