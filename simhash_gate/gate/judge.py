"""The judge: compares a page with the kept pages of its scope, and keeps it if it is new."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.claims import decode_claims
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.fingerprints.sketch import unpack_sentences
from simhash_gate.gate.difference import SAME, CloserLook, Finding, remembered_of
from simhash_gate.gate.policy import Policy, scope_of
from simhash_gate.gate.site_memory import SiteMemories
from simhash_gate.gate.verdict import NotCompared, Verdict
from simhash_gate.stores.base import Match, Record, Window

if TYPE_CHECKING:
    from collections.abc import Collection

    from simhash_gate.gate.site_memory import SiteMemory
    from simhash_gate.page import Page
    from simhash_gate.stores.base import Store

DEFAULT_POLICY = Policy()
# Below this a copy says nothing: "Not found" is the whole text of many different pages.
FEW_WORDS = 5
MOST_LOOKS = 16
"""A page unlike so many that look like it is kept without looking at more."""
MOST_CLAIMS = 4
"""So many that claim to be other pages, though they come first whose claims are most alike."""
_CLAIMED = frozenset({"names", "offers", "fields"})


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
        at: float | None = None,
    ) -> Verdict:
        """Return the verdict on a page; a page that is not a duplicate is remembered.

        `scope` is the registered domain of `url` unless it is given; `request` is the request
        fingerprint in hex, or anything else that tells requests apart, such as the URL, its
        default; `retry` says that this run sent the very request again on purpose, so that its own
        record is no reason against it. What another run that is still live has kept under the same
        request is a duplicate like any other; once that run has ended, the page is `unchanged`.
        Records in `dismissed` are not compared. `at` is the Unix time at which the page was seen,
        now by default. Raises `StoreError`, and
        ValueError for a policy that compares texts and a page that has no sketch.
        """
        request = request or without_credentials(url)
        if page.fingerprint is None:
            reason = page.reason or "nothing to fingerprint"
            return Verdict("skipped", reason, policy, page)
        if page.words < min(FEW_WORDS, policy.min_words):
            reason = f"only {how_many(page.words, 'word')}: compared with nothing"
            return Verdict("new", reason, policy, page, not_compared="few_words")

        at = time.time() if at is None else at
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
            first_seen=at,
            last_seen=at,
            sketch=remembered_of(page, policy),
        )
        memory = None if policy.verify == "distance" else self._memories.of(record.scope)
        match, added, found, passed = self._look_up(record, page, policy, dismissed, memory)
        if memory is not None and page.claims:
            claims = decode_claims(page.claims)
            if claims.names:
                memory.learn(claims.key, unpack_sentences(page.sentences))
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
    ) -> tuple[Match | None, bool, Finding, NotCompared]:
        """Return the match, whether the record was added, and what a closer look found.

        Last comes what it could not look at, if the record was added.
        """
        window = Window(policy.window, policy.ttl)
        look = CloserLook(page, policy, memory)
        first: Match | None = None
        found = SAME
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
    look = CloserLook(page, policy)
    distance = hamming_distance(page.fingerprint, kept.fingerprint)
    if distance > look.radius:
        return False
    return (not look.exact or kept.digest == page.digest) and look.at(kept, distance).same
