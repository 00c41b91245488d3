"""The judge: compares a page with the kept pages of its scope, and keeps it if it is new."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.urls import without_credentials
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
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.fingerprints.sentences import unpack
from simhash_gate.fingerprints.sketch import compare, decode
from simhash_gate.gate.memory import SiteMemories
from simhash_gate.gate.policy import Policy, scope_of
from simhash_gate.gate.verdict import Differs, NotCompared, Verdict
from simhash_gate.stores.base import Match, Record, Window

if TYPE_CHECKING:
    from collections.abc import Collection

    from simhash_gate.fingerprints.sketch import Sketch
    from simhash_gate.gate.memory import SiteMemory
    from simhash_gate.page.page import Page
    from simhash_gate.stores.base import Store

DEFAULT_POLICY = Policy()
# Below this a copy says nothing: "Not found" is the whole text of many different pages.
FEW_WORDS = 5
GROWTH = 0.03
"""The share of its words that a copy may have more or less, for each bit of the threshold."""
MOST_LOOKS = 16
"""A page unlike so many that look like it is kept without looking at more."""
SHARE = 0.9
"""Of a page's words: with so much that its site repeats, a match says nothing."""
MOST_CLAIMS = 4
"""So many that claim to be other pages, though they come first whose claims are most alike."""


class Gate:
    """Judges the pages of one run against a store. `run` names the run, `pipeline` its version."""

    def __init__(self, store: Store, *, run: str, pipeline: str) -> None:
        self.store = store
        self.run = run
        self.pipeline = pipeline
        self._over: set[str] = set()
        self._memories = SiteMemories(store)

    def judge(
        self,
        page: Page,
        policy: Policy = DEFAULT_POLICY,
        *,
        url: str,
        scope: str | None = None,
        request: str = "",
        retry: bool = False,
        dismissed: Collection[Record] = (),
    ) -> Verdict:
        """Return the verdict on a page; a page that is not a duplicate is remembered.

        `scope` is the registered domain of `url` unless it is given; `request` is the request
        fingerprint in hex, or anything else that tells requests apart, such as the URL, its
        default; `retry` says that this run sent the very request again on purpose, so that its own
        record is no reason against it. What another run that is still live has kept under the same
        request is a duplicate like any other; once that run has ended, the page is `unchanged`.
        Records in `dismissed` are not compared. Raises `StoreError`, and
        ValueError for a policy that compares texts and a page that has no sketch.
        """
        request = request or without_credentials(url)
        if page.fingerprint is None:
            reason = page.reason or "nothing to fingerprint"
            return Verdict("skipped", reason, policy, page)
        if page.words < min(FEW_WORDS, policy.min_words):
            reason = f"only {how_many(page.words, 'word')}: compared with nothing"
            return Verdict("new", reason, policy, page, not_compared="few_words")

        now = time.time()
        record = Record(
            scope=scope_of(url, "domain") if scope is None else scope,
            url=url,
            request=request,
            fingerprint=page.fingerprint,
            digest=page.digest,
            words=page.words,
            title=page.title,
            pipeline=self.pipeline,
            run=self.run,
            first_seen=now,
            last_seen=now,
            sketch=_remembered(page, policy),
        )
        memory = None if policy.verify == "distance" else self._memories.of(record.scope)
        match, added, found, passed = self._look_up(record, page, policy, dismissed, memory)
        if memory is not None and page.claims:
            claims = decode_claims(page.claims)
            if claims.names:
                memory.learn(claims.key, unpack(page.sentences))
        why = found.said
        if added:
            if match is None:
                return Verdict("new", "no similar page is remembered", policy, page, record=record)
            reason = why or f"beyond the threshold of {policy.threshold}"
            reason = f"distance {match.distance}: {reason}"
            return Verdict(
                *("near", reason, policy, page, match, record),
                not_compared=passed,
                differs=found.differs,
            )
        assert match is not None
        said = f"distance {match.distance}, threshold {policy.threshold}{why and '; '}{why}"
        if match.record.request == request:
            if match.record.run == self.run and retry:
                reason = "the same request, sent again"
                return Verdict("unchanged", reason, policy, page, match, match.record)
            if match.record.run != self.run and self._is_over(match.record.run):
                return Verdict("unchanged", said, policy, page, match)
        return Verdict("duplicate", said, policy, page, match)

    def keep_memories(self) -> None:
        """Let the store keep what sites repeat, for other crawls. Raises `StoreError`."""
        self._memories.keep()

    def _is_over(self, run: str) -> bool:
        """Tell whether another run has ended; who asks the store each time asks for each page."""
        if run not in self._over and not self.store.is_live(run):
            self._over.add(run)
        return run in self._over

    def _look_up(
        self,
        record: Record,
        page: Page,
        policy: Policy,
        dismissed: Collection[Record],
        memory: SiteMemory | None,
    ) -> tuple[Match | None, bool, _Finding, NotCompared]:
        """Return the match, whether the record was added, and what a closer look found.

        Last comes what it could not look at, if the record was added.
        """
        window = Window(policy.window, policy.ttl)
        look = _Look(page, policy, memory)
        first: Match | None = None
        found = _SAME
        passed_over = list(dismissed)
        looks = contradicted = 0
        while True:
            many = looks >= MOST_LOOKS
            radius = None if many or contradicted >= MOST_CLAIMS else look.radius
            match: Match | None
            added, match = self.store.check_and_add(
                record, radius, passed_over, near=policy.near, exact=look.exact, window=window
            )
            if added or match is None:
                missed: NotCompared = "many_alike" if many else ""
                return first or match, added, found, "no_sketch" if look.in_vain else missed
            finding = look.at(*match)
            if finding.same:
                return match, False, finding, ""
            if first is None:
                first, found = match, finding
            looks += 1
            contradicted += finding.differs in _CLAIMED
            passed_over.append(match.record)


def is_duplicate_of(kept: Record, page: Page, policy: Policy, scope: str) -> bool:
    """Tell whether a page, if it came now, would be a duplicate of this very record."""
    if page.fingerprint is None or kept.scope != scope:
        return False
    look = _Look(page, policy)
    distance = hamming_distance(page.fingerprint, kept.fingerprint)
    if distance > look.radius:
        return False
    return (not look.exact or kept.digest == page.digest) and look.at(kept, distance).same


class _Finding(NamedTuple):
    """Whether two pages are the same at a closer look, what differs, and in words."""

    same: bool
    said: str = ""
    differs: Differs = "texts"


_SAME = _Finding(True, "", "")
_CLAIMED: frozenset[Differs] = frozenset({"names", "offers", "fields"})


def _remembered(page: Page, policy: Policy) -> bytes:
    """Return what is kept of a page for a closer look."""
    if policy.verify == "distance":
        return b""
    claims = page.claims or NO_CLAIMS
    return claims + page.sketch if policy.verify == "text" else claims


class _Look:
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

    def at(self, kept: Record, distance: int) -> _Finding:
        """Tell whether a kept page at a distance is the same, and what differs."""
        claimed, sketch = _taken_apart(kept.sketch)
        agree = False
        if self._claims is not None and claimed is not None:
            found = contradiction(claimed, self._claims)
            if found is not None:
                return _Finding(False, found.said, found.differs)
            agree = agreement(claimed, self._claims)
            if not same_name(claimed, self._claims) and self._says_what_others_say():
                return _Finding(False, "pages of other names say the same", "repeats")
        if self._sketch is not None:
            return self._compared(kept, sketch, self._sketch, claimed if agree else None)
        if distance > self._threshold:
            said = "the same name, number and price"
            return _Finding(
                agree, said if agree else f"beyond the threshold of {self._threshold}", ""
            )
        words, before = self._page.words, kept.words
        if kept.digest == self._page.digest:
            return _SAME
        if self._is_short(kept):
            return _Finding(False, "another text")
        if abs(words - before) > self._growth * max(words, before):
            return _Finding(False, f"{how_many(before, 'word')}, now {words}")
        return _SAME

    def _compared(
        self, kept: Record, sketch: bytes, own: Sketch, claimed: Claims | None
    ) -> _Finding:
        short = self._is_short(kept)
        if short and kept.digest == self._page.digest:
            return _Finding(True, "the same text")
        try:
            its_sketch = decode(sketch)
        except ValueError:  # it has none, or one that another version made
            self.in_vain += 1
            return _Finding(False, "kept without a sketch to verify by")
        repeated = self._is_repeated if self._memory is not None else None
        told = partial(is_claimed, claimed) if claimed is not None else None
        return _Finding(
            *compare(its_sketch, own, strict=short, is_repeated=repeated, is_claimed=told)
        )

    def _is_repeated(self, sentence: int) -> bool:
        assert self._memory is not None
        return self._memory.is_repeated(self._name, sentence)

    def _says_what_others_say(self) -> bool:
        """Tell if what a page shares with any other is what its site repeats."""
        if self._memory is None:
            return False
        return self._memory.share(self._name, unpack(self._page.sentences)) >= SHARE

    def _is_short(self, kept: Record) -> bool:
        return min(self._page.words, kept.words) < self._least_words


def _taken_apart(sketch: bytes) -> tuple[Claims | None, bytes]:
    """Return the claims and the sketch of a kept page; it may have none, or of another version."""
    try:
        claimed, rest = split_claims(sketch)
        return decode_claims(claimed), rest
    except ValueError:
        return None, b""
