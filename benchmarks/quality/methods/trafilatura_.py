"""trafilatura, an extractor for large corpora: its text, under its own SimHash, and under ours."""

from __future__ import annotations

from trafilatura import bare_extraction, extract
from trafilatura.deduplication import Simhash

from benchmarks.quality.methods.base import Content, Extractor, HammingMethod, OurFeatures
from simhash_gate.page.parse import decode


class OwnSimhash(HammingMethod):
    """`trafilatura.deduplication.Simhash`; its similarity of 61/64 (0.953) or more is 3 bits."""

    title = "trafilatura, its own SimHash"
    needs = ("trafilatura", "lxml")

    def fingerprint(self, body: bytes, url: str) -> int | None:
        text = text_of(body, url)
        return Simhash(text).hash if text else None


class GateFeatures(OurFeatures):
    """Its text without comments."""

    title = "trafilatura's text, our features"
    needs = ("trafilatura", "lxml")

    def text(self, body: bytes, url: str) -> str:
        return text_of(body, url)


class TrafilaturaContent(Extractor):
    """Its text with comments, as it comes, and its title."""

    title = "trafilatura"
    needs = ("trafilatura", "lxml")

    def read(self, body: bytes, url: str) -> Content:
        found = bare_extraction(decode(body), url=url, with_metadata=True)
        if found is None:
            return Content("", "")
        return Content(f"{found.text or ''}\n{found.comments or ''}", found.title or "")


def text_of(body: bytes, url: str) -> str:
    """Return its text of a page, without comments."""
    return extract(decode(body), url=url, include_comments=False) or ""
