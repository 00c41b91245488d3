"""rs-trafilatura, an extractor in Rust that knows kinds of pages."""

from __future__ import annotations

from rs_trafilatura import extract

from benchmarks.quality.methods.base import Content, Extractor, OurFeatures
from simhash_gate.page.parse import decode


class RsTrafilaturaFeatures(OurFeatures):
    """Its main content."""

    title = "rs-trafilatura's text, our features"
    needs = ("rs-trafilatura",)

    def text(self, body: bytes, url: str) -> str:
        return extract(decode(body), url=url).main_content or ""


class RsTrafilaturaContent(Extractor):
    """Its main content, and its title."""

    title = "rs-trafilatura"
    needs = ("rs-trafilatura",)

    def read(self, body: bytes, url: str) -> Content:
        found = extract(decode(body), url=url)
        return Content(found.main_content or "", found.title or "")
