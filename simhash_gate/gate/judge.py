"""The judge: compares a page with the kept pages of its scope, and keeps it if it is new."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from simhash_gate.addresses import without_credentials
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.gate.policy import Policy, scope_of
from simhash_gate.gate.verdict import NotCompared, Verdict
from simhash_gate.sketch import Comparison, compare, decode
from simhash_gate.stores.base import Match, Record, Window
from simhash_gate.wording import how_many

if TYPE_CHECKING:
    from collections.abc import Collection

    from simhash_gate.pages import Page
    from simhash_gate.stores.base import Store

DEFAULT_POLICY = Policy()
# Below this a copy says nothing: "Not found" is the whole text of many different pages.
FEW_WORDS = 5
GROWTH = 0.03
"""The share of its words that a copy may have more or less, for each bit of the threshold."""
MOST_LOOKS = 16
"""A page unlike so many that look like it is kept without looking at more."""


class Gate:
    """Judges the pages of one run against a store. `run` names the run, `pipeline` its version."""

    def __init__(self, store: Store, *, run: str, pipeline: str) -> None:
        self.store = store
        self.run = run
        self.pipeline = pipeline
        self._over: set[str] = set()

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
        ValueError for a policy that verifies and a page that has no sketch.
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
            sketch=page.sketch if policy.verify else b"",
        )
        match, added, why, passed = self._look_up(record, page, policy, dismissed)
        if added:
            if match is None:
                return Verdict("new", "no similar page is remembered", policy, page, record=record)
            reason = why or f"beyond the threshold of {policy.threshold}"
            reason = f"distance {match.distance}: {reason}"
            return Verdict("near", reason, policy, page, match, record, not_compared=passed)
        assert match is not None
        said = f"distance {match.distance}, threshold {policy.threshold}{why and '; '}{why}"
        if match.record.request == request:
            if match.record.run == self.run and retry:
                reason = "the same request, sent again"
                return Verdict("unchanged", reason, policy, page, match, match.record)
            if match.record.run != self.run and self._is_over(match.record.run):
                return Verdict("unchanged", said, policy, page, match)
        return Verdict("duplicate", said, policy, page, match)

    def _is_over(self, run: str) -> bool:
        """Tell whether another run has ended; who asks the store each time asks for each page."""
        if run not in self._over and not self.store.is_live(run):
            self._over.add(run)
        return run in self._over

    def _look_up(
        self, record: Record, page: Page, policy: Policy, dismissed: Collection[Record]
    ) -> tuple[Match | None, bool, str, NotCompared]:
        """Return the match, whether the record was added, and what a closer look found.

        Last comes what it could not look at, if the record was added.
        """
        window = Window(policy.window, policy.ttl)
        look = _Look(page, policy)
        first: Match | None = None
        found = ""
        passed_over = list(dismissed)
        looks = 0
        while True:
            radius = look.radius if looks < MOST_LOOKS else None
            match: Match | None
            added, match = self.store.check_and_add(
                record, radius, passed_over, near=policy.near, exact=look.exact, window=window
            )
            if added or match is None:
                many: NotCompared = "many_alike" if looks >= MOST_LOOKS else ""
                return first or match, added, found, "no_sketch" if look.in_vain else many
            same, difference = look.at(match.record)
            if same:
                return match, False, difference, ""
            if first is None:
                first, found = match, difference
            looks += 1
            passed_over.append(match.record)


def is_duplicate_of(kept: Record, page: Page, policy: Policy, scope: str) -> bool:
    """Tell whether a page, if it came now, would be a duplicate of this very record."""
    if page.fingerprint is None or kept.scope != scope:
        return False
    look = _Look(page, policy)
    if hamming_distance(page.fingerprint, kept.fingerprint) > look.radius:
        return False
    return (not look.exact or kept.digest == page.digest) and look.at(kept).same


class _Look:
    """Looks closer at the pages that the fingerprint says are alike.

    Where the text must agree exactly (a short page: a word or two is all that tells it from its
    neighbours; a listing: one new entry is one new link), so must that of the remembered page.
    Sketches tell of a short page which of its words are its own, and are worth a wider search;
    `in_vain` counts the pages that have none.
    """

    def __init__(self, page: Page, policy: Policy) -> None:
        self._page = page
        self._least_words = policy.min_words
        self._growth = GROWTH * policy.threshold
        self.in_vain = 0
        self._sketch = decode(page.sketch) if policy.verify else None
        self.exact = page.listing or (self._sketch is None and page.words < policy.min_words)
        self.radius = 0 if self.exact else policy.threshold
        if self._sketch is not None and not self.exact:
            self.radius = max(policy.threshold, policy.near)

    def at(self, kept: Record) -> Comparison:
        """Tell whether a kept page says the same, and what differs."""
        same = kept.digest == self._page.digest
        words, before = self._page.words, kept.words
        short = min(words, before) < self._least_words
        if self._sketch is None:
            if short or same:
                return Comparison(same, "" if same else "another text")
            if abs(words - before) > self._growth * max(words, before):
                return Comparison(False, f"{how_many(before, 'word')}, now {words}")
            return Comparison(True, "")
        if short and same:
            return Comparison(True, "the same text")
        try:
            its_sketch = decode(kept.sketch)
        except ValueError:  # it has none, or one that another version made
            self.in_vain += 1
            return Comparison(False, "kept without a sketch to verify by")
        return compare(its_sketch, self._sketch, strict=short)
