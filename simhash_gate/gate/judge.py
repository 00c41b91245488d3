"""The judge: compares a page with the kept pages of its scope, and keeps it if it is new."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from simhash_gate.gate.verdict import Verdict
from simhash_gate.stores.base import Match, Record, Window

if TYPE_CHECKING:
    from simhash_gate.gate.policy import Policy
    from simhash_gate.pipeline import Page
    from simhash_gate.stores.base import Store

# Below this a copy says nothing: "Not found" is the whole text of many different pages.
FEW_WORDS = 5


class Gate:
    """Judges the pages of one run against a store. `run` names the run, `pipeline` its version."""

    def __init__(self, store: Store, *, run: str, pipeline: str) -> None:
        self.store = store
        self.run = run
        self.pipeline = pipeline

    def judge(
        self, page: Page, policy: Policy, *, url: str, scope: str, request: str, retry: bool = False
    ) -> Verdict:
        """Return the verdict on a page; a page that is not a duplicate is remembered.

        `request` is the request fingerprint in hex; `retry` says that the request was sent again
        on purpose, so that its own record is no reason against it. Raises `StoreError`.
        """
        if page.fingerprint is None:
            reason = page.reason or "nothing to fingerprint"
            return Verdict("skipped", reason, policy, page)
        if page.words < min(FEW_WORDS, policy.min_words):
            return Verdict("new", f"only {page.words} words: compared with nothing", policy, page)

        now = time.time()
        record = Record(
            scope=scope,
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
        )
        exact = page.listing or page.words < policy.min_words
        match, added = self._look_up(record, policy, exact=exact)
        if added:
            if match is None:
                return Verdict("new", "no similar page is remembered", policy, page, record=record)
            reason = f"distance {match.distance} is beyond the threshold of {policy.threshold}"
            return Verdict("near", reason, policy, page, match, record)
        assert match is not None
        if match.record.request == request and match.record.run != self.run:
            reason = f"same request as in an earlier crawl, distance {match.distance}"
            return Verdict("unchanged", reason, policy, page, match)
        if match.record.request == request and retry:
            reason = "the same request, sent again"
            return Verdict("unchanged", reason, policy, page, match, match.record)
        reason = f"distance {match.distance}, threshold {policy.threshold}"
        return Verdict("duplicate", reason, policy, page, match)

    def _look_up(self, record: Record, policy: Policy, *, exact: bool) -> tuple[Match | None, bool]:
        """Return the match and whether the record was added.

        Where the text must agree exactly (a short page: a word or two is all that tells it from its
        neighbours; a listing: one new entry is one new link), so must that of the remembered page.
        """
        window = Window(policy.window, policy.ttl)
        radius = 0 if exact else policy.threshold
        dismissed: list[Record] = []
        while True:
            answer = self.store.check_and_add(
                record, radius, dismissed, near=policy.near, window=window
            )
            if answer.added or answer.match is None:
                return answer.match, answer.added
            other = answer.match.record
            if other.digest == record.digest or not (exact or other.words < policy.min_words):
                return answer.match, False
            dismissed.append(other)
