"""rs-trafilatura, an extractor in Rust that knows kinds of pages."""

from __future__ import annotations

from rs_trafilatura import extract

from benchmarks.quality.methods.base import OurFeatures
from simhash_gate.page.parse import decode


class RsTrafilaturaFeatures(OurFeatures):
    """Its main content."""

    title = "rs-trafilatura's text, our features"
    needs = ("rs-trafilatura",)

    def text(self, body: bytes, url: str) -> str:
        return extract(decode(body), url=url).main_content or ""
