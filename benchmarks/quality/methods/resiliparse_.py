"""resiliparse, an extractor in C++ for archives of the web."""

from __future__ import annotations

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from benchmarks.quality.methods.base import Content, Extractor, OurFeatures
from simhash_gate.page.parse import decode


class ResiliparseContent(Extractor):
    """Its main content, and what `<title>` says."""

    title = "resiliparse, main content"
    needs = ("resiliparse",)

    def read(self, body: bytes, url: str) -> Content:
        tree = HTMLTree.parse(decode(body))
        return Content(extract_plain_text(tree, main_content=True), tree.title)


class ResiliparseFeatures(OurFeatures):
    """Its main content."""

    title = "resiliparse's text, our features"
    needs = ("resiliparse",)

    def text(self, body: bytes, url: str) -> str:
        return extract_plain_text(decode(body), main_content=True)
