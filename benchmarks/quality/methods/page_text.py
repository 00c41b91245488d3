"""SimHash without extraction: what it is worth to know where the article is."""

from __future__ import annotations

from collections import Counter

from benchmarks.quality.methods.base import HammingMethod
from benchmarks.quality.text import page_text
from simhash_gate import simhash
from simhash_gate.fingerprints.features import shingles
from simhash_gate.fingerprints.words import words


class PageText(HammingMethod):
    """Counted 3-shingles of all text in the body."""

    title = "SimHash of the whole page's text"

    def fingerprint(self, body: bytes, url: str) -> int | None:
        """Return the SimHash of the page's shingles."""
        found = Counter(shingles(words(page_text(body))))
        return simhash(found) if found else None
