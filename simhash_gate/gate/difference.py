"""Looks closer at two pages that the fingerprint says are alike: names, offers, words, template."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.claims import (
    NO_CLAIMS,
    Claims,
    agreement,
    contradiction,
    decode_claims,
    is_claimed,
    same_name,
    split_claims,
)
from simhash_gate.fingerprints.sketch import compare, decode, unpack_sentences

if TYPE_CHECKING:
    from simhash_gate.fingerprints.sketch import Sketch
    from simhash_gate.gate.policy import Policy
    from simhash_gate.gate.site_memory import SiteMemory
    from simhash_gate.gate.verdict import Differs
    from simhash_gate.page import Page
    from simhash_gate.stores.base import Record

GROWTH = 0.03
"""The share of its words that a copy may have more or less, for each bit of the threshold."""
SHARE = 0.9
"""Of a page's words: with so much that its site repeats, a match says nothing."""


class Finding(NamedTuple):
    """Whether two pages are the same at a closer look, what differs, and in words."""

    same: bool
    said: str = ""
    differs: Differs = "texts"


SAME = Finding(True, "", "")


def remembered_of(page: Page, policy: Policy) -> bytes:
    """Return what is kept of a page for a closer look."""
    if policy.verify == "distance":
        return b""
    claims = page.claims or NO_CLAIMS
    return claims + page.sketch if policy.verify == "text" else claims


class CloserLook:
    """Looks closer at the pages that the fingerprint says are alike.

    Where the text must agree exactly (a short page: a word or two is all that tells it from its
    neighbours; a listing: one new entry is one new link), so must that of the remembered page.
    Sketches tell of a short page which of its words are its own, and are worth a wider search;
    `in_vain` counts the pages that have none.
    """

    def __init__(self, page: Page, policy: Policy, memory: SiteMemory | None = None) -> None:
        self._page = page
        self._memory = memory
        self._least_words = policy.min_words
        self._growth = GROWTH * policy.threshold
        self.in_vain = 0
        self._claims = None
        if policy.verify != "distance" and page.claims:
            self._claims = decode_claims(page.claims)
        self._name = self._claims.key if self._claims is not None else b""
        self._sketch = decode(page.sketch) if policy.verify == "text" else None
        self.exact = page.listing or (self._sketch is None and page.words < policy.min_words)
        self.radius = 0 if self.exact else policy.threshold
        self._threshold = policy.threshold
        sold = self._claims is not None and bool(self._claims.offered)
        if (sold or self._sketch is not None) and not self.exact:
            self.radius = max(policy.threshold, policy.near)

    def at(self, kept: Record, distance: int) -> Finding:
        """Tell whether a kept page at a distance is the same, and what differs."""
        claimed, sketch = _taken_apart(kept.sketch)
        agree = False
        if self._claims is not None and claimed is not None:
            found = contradiction(claimed, self._claims)
            if found is not None:
                return Finding(False, found.said, found.differs)
            agree = agreement(claimed, self._claims)
            if not same_name(claimed, self._claims) and self._says_what_others_say():
                return Finding(False, "pages of other names say the same", "repeats")
        if self._sketch is not None:
            return self._compared(kept, sketch, self._sketch, claimed if agree else None)
        if distance > self._threshold:
            said = "the same name, number and price"
            return Finding(
                agree, said if agree else f"beyond the threshold of {self._threshold}", ""
            )
        words, before = self._page.words, kept.words
        if kept.digest == self._page.digest:
            return SAME
        if self._is_short(kept):
            return Finding(False, "another text")
        if abs(words - before) > self._growth * max(words, before):
            return Finding(False, f"{how_many(before, 'word')}, now {words}")
        return SAME

    def _compared(
        self, kept: Record, sketch: bytes, own: Sketch, claimed: Claims | None
    ) -> Finding:
        short = self._is_short(kept)
        if short and kept.digest == self._page.digest:
            return Finding(True, "the same text")
        try:
            its_sketch = decode(sketch)
        except ValueError:  # it has none, or one that another version made
            self.in_vain += 1
            return Finding(False, "kept without a sketch to verify by")
        repeated = self._is_repeated if self._memory is not None else None
        told = partial(is_claimed, claimed) if claimed is not None else None
        return Finding(
            *compare(its_sketch, own, strict=short, is_repeated=repeated, is_claimed=told)
        )

    def _is_repeated(self, sentence: int) -> bool:
        assert self._memory is not None
        return self._memory.is_repeated(self._name, sentence)

    def _says_what_others_say(self) -> bool:
        """Tell if what a page shares with any other is what its site repeats."""
        if self._memory is None:
            return False
        return self._memory.share(self._name, unpack_sentences(self._page.sentences)) >= SHARE

    def _is_short(self, kept: Record) -> bool:
        return min(self._page.words, kept.words) < self._least_words


def _taken_apart(sketch: bytes) -> tuple[Claims | None, bytes]:
    """Return the claims and the sketch of a kept page; it may have none, or of another version."""
    try:
        claimed, rest = split_claims(sketch)
        return decode_claims(claimed), rest
    except ValueError:
        return None, b""
