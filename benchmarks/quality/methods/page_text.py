"""SimHash without extraction: what it is worth to know where the article is."""

from __future__ import annotations

from collections import Counter

from benchmarks.quality.methods.base import Content, Extractor, HammingMethod
from benchmarks.quality.text import UNSEEN, page_text, texts
from simhash_gate import simhash
from simhash_gate.fingerprints.features import shingles
from simhash_gate.fingerprints.words import words
from simhash_gate.page.parse import parse


class PageText(HammingMethod):
    """Counted 3-shingles of all text in the body."""

    title = "SimHash of the whole page's text"

    def fingerprint(self, body: bytes, url: str) -> int | None:
        found = Counter(shingles(words(page_text(body))))
        return simhash(found) if found else None


class PageContent(Extractor):
    """All text in the body, and what `<title>` says."""

    title = "the whole page's text"

    def read(self, body: bytes, url: str) -> Content:
        root = parse(body)
        if root is None:
            return Content("", "")
        title = root.findtext(".//title") or ""
        page = root if root.find("body") is None else root.find("body")
        for element in list(page.iter(*UNSEEN)):
            element.drop_tree()
        return Content("".join(texts(page)), title)
