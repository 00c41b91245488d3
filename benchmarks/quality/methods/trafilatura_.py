"""trafilatura, an extractor for large corpora: its text under its own SimHash, and under ours."""

from __future__ import annotations

from trafilatura import extract
from trafilatura.deduplication import Simhash

from benchmarks.quality.methods.base import HammingMethod
from simhash_gate import simhash
from simhash_gate.fingerprints.features import features
from simhash_gate.fingerprints.words import words
from simhash_gate.page.parse import decode


class OwnSimhash(HammingMethod):
    """`trafilatura.deduplication.Simhash`; its similarity of 61/64 (0.953) or more is 3 bits."""

    title = "trafilatura, its own SimHash"
    needs = ("trafilatura", "lxml")

    def fingerprint(self, body: bytes, url: str) -> int | None:
        """Return the fingerprint of the text."""
        text = _text(body, url)
        return Simhash(text).hash if text else None


class GateFeatures(HammingMethod):
    """Our features, each shingle counted once, of trafilatura's text; no masking of lines."""

    title = "trafilatura's text, our features"
    needs = ("trafilatura", "lxml")

    def fingerprint(self, body: bytes, url: str) -> int | None:
        """Return the fingerprint of the text."""
        found = features(words(_text(body, url)))
        return simhash(found) if found else None


def _text(body: bytes, url: str) -> str:
    return extract(decode(body), url=url, include_comments=False) or ""
