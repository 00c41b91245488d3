"""trafilatura, an extractor for large corpora: its text, under its own SimHash, and under ours."""

from __future__ import annotations

from trafilatura import bare_extraction, extract
from trafilatura.deduplication import Simhash

from benchmarks.quality.methods.base import Content, Extractor, HammingMethod
from simhash_gate import simhash
from simhash_gate.fingerprints.features import features
from simhash_gate.fingerprints.words import words
from simhash_gate.page.parse import decode


class OwnSimhash(HammingMethod):
    """`trafilatura.deduplication.Simhash`; its similarity of 61/64 (0.953) or more is 3 bits."""

    title = "trafilatura, its own SimHash"
    needs = ("trafilatura", "lxml")

    def fingerprint(self, body: bytes, url: str) -> int | None:
        text = _text(body, url)
        return Simhash(text).hash if text else None


class GateFeatures(HammingMethod):
    """Our features, each shingle counted once, of trafilatura's text; no masking of lines."""

    title = "trafilatura's text, our features"
    needs = ("trafilatura", "lxml")

    def fingerprint(self, body: bytes, url: str) -> int | None:
        found = features(words(_text(body, url)))
        return simhash(found) if found else None


class TrafilaturaContent(Extractor):
    """Its text with comments, as it comes, and its title."""

    title = "trafilatura"
    needs = ("trafilatura", "lxml")

    def read(self, body: bytes, url: str) -> Content:
        found = bare_extraction(decode(body), url=url, with_metadata=True)
        if found is None:
            return Content("", "")
        return Content(f"{found.text or ''}\n{found.comments or ''}", found.title or "")


def _text(body: bytes, url: str) -> str:
    return extract(decode(body), url=url, include_comments=False) or ""
