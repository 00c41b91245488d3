"""The judge: compares a page with the kept pages of its scope, and keeps it if it is new."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many, require, require_time
from simhash_gate.compare.contradictions import CONTRADICTIONS, Difference
from simhash_gate.compare.difference import CloserLook
from simhash_gate.compare.site_memory import SiteMemories, SiteMemory
from simhash_gate.compare.sketch import decode
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.gate.answers import Answers, AnswerText
from simhash_gate.gate.policy import Policy, scope_of
from simhash_gate.gate.revisit import Revisit, Revisits, version_in, version_of, what_changed
from simhash_gate.gate.verdict import NotCompared, Outcome, Verdict
from simhash_gate.gate.visit import Visit, what_else
from simhash_gate.history.versions import Version
from simhash_gate.identity.keys import PLAIN, Keys
from simhash_gate.page import Page
from simhash_gate.stores.base import Identity, Match, Record, StoreError, Window
from simhash_gate.stores.store import Store

DEFAULT_POLICY = Policy()
# Below this a copy says nothing: "Not found" is the whole text of many different pages.
FEW_WORDS = 5
MOST_LOOKS = 16
"""A page unlike so many that look like it is kept without looking at more."""
MOST_CONTRADICTIONS = 4
"""So many that claim to be other pages, though they come first whose claims are most alike."""


class Judging(NamedTuple):
    """A page that is judged: its policy, its visit, and what else the verdict rests on.

    `record` will be remembered of it. `before` is the record of what the page was, None where it
    counts no more. If the store fails, it may have `added` these records all the same.
    """

    page: Page
    policy: Policy
    visit: Visit
    record: Record
    dismissed: Collection[Record]
    memory: SiteMemory | None
    before: Record | None
    added: list[Record]


class Gate:
    """Judges the pages of one run against a store. `run` names the run, `pipeline` its version."""

    def __init__(self, store: Store, *, run: str, pipeline: str, keys: Keys = PLAIN) -> None:
        self.store = require(store, Store, "a store, as open_store() returns it")
        self.run = require(run, str, "the name of a run")
        self.pipeline = require(pipeline or None, str, "a version, as of pipeline_version()")
        self._doubtful: dict[Identity, Record] = {}
        self._over = {run}
        self._answers = Answers(store)
        self._memories = SiteMemories(store)
        self._keys, self._revisits = keys, Revisits(store, run, pipeline, keys)

    def judge(
        self,
        page: Page,
        policy: Policy = DEFAULT_POLICY,
        visit: Visit | None = None,
        *,
        url: str | None = None,
        at: float | None = None,
        dismissed: Collection[Record] = (),
    ) -> Verdict:
        """Return the verdict on a page that a visit found; one that is no duplicate is remembered.

        A `url` stands for a visit to it, in the scope of its registered domain, `at` a Unix time or
        now. What another run that is still live has kept under the key of the visit is a duplicate
        like any other; once that run has ended, the page, whatever address it came by, is
        `unchanged` if it says the same, else `updated`, or `rewritten` if it is further than `near`
        from what it was. A page that was kept for another asker is no match, nor is a record in
        `dismissed`. What this run kept is no reason against a retry. Raises `StoreError`, and
        TypeError without a visit and a URL. Of a page for which it raises, nothing is remembered.
        Raises ValueError if a page with a `url` was read without the fields that the policy names.
        """
        require(page, Page, "a Page, as read_page() returns it")
        require(policy, Policy, "a Policy")
        if visit is None:
            url = without_credentials(require(url, str, "a visit, or the url of one"))
            now = time.time() if at is None else require_time(at)
            visit = Visit(url, scope_of(url, "domain"), self._keys.key_of(url), now)
            known = dict(decode(page.sketch).compared) if page.sketch and policy.compare else {}
            if page.sketch and not known.keys() >= {*policy.compare}:
                raise ValueError(f"expected a page read with Options(compare={policy.compare!r})")
            verdict = self._judge(page, policy, visit, dismissed)
            return replace(verdict, canonical_url=self._keys.precise(url))
        require(visit, Visit, "a Visit")
        if url is not None or at is not None:
            raise ValueError("expected a visit, or the url and the time of one, not both")
        return self._judge(page, policy, visit, dismissed)

    def _judge(
        self, page: Page, policy: Policy, visit: Visit, dismissed: Collection[Record]
    ) -> Verdict:
        self.take_back_doubtful()
        if page.fingerprint is None or page.words < min(FEW_WORDS, policy.min_words):
            before = None
            with suppress(StoreError):
                before = self._revisits.of(visit, policy).previous
            answer = self._answers.meet(visit, page)
            return self._answered(answer, page, policy) or _not_judged(page, policy, before)

        memory = self._memories.of(visit.scope) if policy.verify else None
        visit, revisit = self._revisits.at(visit, page, policy)
        record = visit.record(page, self.run, self.pipeline, verify=policy.verify)
        kept = revisit.kept  # its version may have the address that it has moved to
        if kept and any(kept.identity == replace(it, url=kept.url).identity for it in dismissed):
            revisit = Revisit(revisit.history)
        answer = self._answers.meet(visit, page, revisit.previous)
        if (answered := self._answered(answer, page, policy)) is not None:
            return answered
        kept = self.store.current(revisit.kept) if revisit.previous and revisit.kept else None
        judged = Judging(page, policy, visit, record, dismissed, memory, kept, [record])
        try:
            verdict = self._unchanged(judged, revisit) or self._compared(judged, revisit)
        except BaseException:
            self.doubt(*judged.added)
            raise
        if answer is not None and verdict.outcome != "unchanged":
            answer.kept.append(record)
        if memory is not None and page.sketch and (sketch := decode(page.sketch)).all_names:
            memory.learn(sketch.name_key, sketch.lines)
            if verdict.outcome != "duplicate":
                memory.learn_names(sketch.all_names)
        return verdict

    def take_back(self, record: Record) -> None:
        """Forget a page that this run kept; before the next one if this raises `StoreError`."""
        self.doubt(record)
        kept = self.store.current(record)
        if kept is not None and kept.first_seen == record.first_seen:  # else that of another visit
            self.store.forget(kept)
        self._revisits.take_back(record)
        self._doubtful.pop(record.identity, None)

    def doubt(self, *records: Record) -> None:
        """Note what this run may have kept, and shall be taken back when the store works again."""
        self._doubtful |= {record.identity: record for record in records}

    def take_back_doubtful(self) -> None:
        """Take back what may have been kept when the store failed. Raises `StoreError`."""
        for record in [*self._doubtful.values()]:
            self.take_back(record)

    def found_gone(self, visit: Visit) -> bool:
        """Note that a page is gone, and forget its record; False if it was not known.

        So the next copy of it that is visited is new: its content does not go with the page that
        stood for it. Its key may have been another one then. Raises `StoreError`.
        """
        kept, url = self.store.at_address(visit.scope, visit.url), visit.url
        own_key, key_of = self._keys.own_key, self._keys.key_of
        keys = {own_key(url), visit.key, key_of(url), *(record.key for record in kept)}
        found = [self._revisits.found_gone(visit.under(key), kept) for key in keys]
        for record in filter(None, found):  # the page may have moved, or have had another address
            kept += [record, *self.store.at_address(record.scope, record.url)]
        for record in kept:
            self.store.forget(record, adopted=True)
        return bool(kept)

    def known(self, visit: Visit, policy: Policy) -> Revisit:
        """Return what is known of earlier visits to the page of a visit. Raises `StoreError`.

        Nothing that it said before counts for a request that hands on something else.
        """
        revisit = self._revisits.of(visit, policy)
        before = revisit.previous
        same = before is not None and visit.carries in ("", before.carries)
        return revisit if same else Revisit(revisit.history)

    def confirm(self, visit: Visit, policy: Policy) -> None:
        """Note that a page was as it had been, though it was not fetched. Raises `StoreError`."""
        revisit = self._revisits.of(visit, policy)
        if revisit.previous is not None and revisit.kept is not None:
            self.store.update([revisit.kept], seen=visit.at)
            again = replace(revisit.previous, last_seen=visit.at)
            self._revisits.keep(revisit, again, visit, policy)

    def note_items(self, record: Record, items: str) -> None:
        """Note what the items of a kept page said, as `Version.items`. Raises `StoreError`."""
        self._revisits.note_items(record, items)

    def keep_memories(self) -> None:
        """Let the store keep what sites repeat, for other crawls. Raises `StoreError`."""
        self._memories.keep()

    def _answered(self, answer: AnswerText | None, page: Page, policy: Policy) -> Verdict | None:
        """Return the verdict if this is no page, else None; forget what was kept for it before."""
        if answer is None or answer.kind is None:
            return None
        while answer.kept:
            self.take_back(answer.kept[-1])
            answer.kept.pop()
        return Verdict(answer.kind, answer.why, policy, page)

    def _unchanged(self, judged: Judging, revisit: Revisit) -> Verdict | None:
        """Return the verdict on a page that says what it said before; None if it does not."""
        page, policy, visit, record, *_ = judged
        before, current = revisit.previous, judged.before
        kept = current or revisit.kept
        if before is None or kept is None:
            return None
        look, _ = _closer_look(page, policy, judged.memory)
        text = look.revisit(kept, before.digest)
        changed = bool(what_changed(before, page, policy, visit, text))
        rendition = changed or before.digest != page.digest
        rendition = rendition and current is not None and self._is_rendition(judged, current)
        if changed and not rendition:
            return None
        if kept.url != record.url:
            self._says_no_more(record)
        found_at, when = self._when(visit, before)
        version, renewed = version_of(page, record, visit), kept
        here = current and kept.digest == record.digest  # else its version tells nothing later
        here = here and replace(kept, run=self.run, url=record.url).identity == record.identity
        if rendition or here:
            self.store.update([kept], seen=visit.at)
            again = replace(before, last_seen=visit.at)
            version = again if rendition else replace(version, run=kept.run)
            self._revisits.keep(revisit, version, visit, policy)
        else:
            self._forget(kept)
            window = Window(policy.window, policy.ttl)
            renewed = replace(record, url=kept.url, settled=True, gave=kept.gave)
            judged.added.append(renewed)
            self.store.check_and_add(renewed, None, window=window)
            self._revisits.keep(revisit, version, visit, policy)
            if kept.run != self.run:  # what counted before counts if this run dies
                self.store.update([renewed], durable=True)
        match = Match(renewed, hamming_distance(kept.fingerprint, record.fingerprint))
        reason = f"the same text{look.excused and '; '}{look.excused}, {when}"
        verdict = Verdict("unchanged", reason, policy, page, match, previous=before)
        if found_at not in ("", visit.url):
            return replace(verdict, outcome="duplicate")
        if policy.revisit == "pass" and not self._is_over(kept.run):
            reason = f"{reason}, by a crawl that runs and has delivered it"
            return replace(verdict, outcome="duplicate", reason=reason)
        reason += "; other links" * verdict.has_other_links
        return replace(verdict, reason=reason)

    def _when(self, visit: Visit, before: Version) -> tuple[str, str]:
        """Return where this run first found an earlier version, if so, and when it was seen."""
        found_at = self._revisits.found_at(visit, before)
        where = "this address" if found_at == visit.url else found_at
        return found_at, f"last seen at {where} in this crawl" if found_at else before.age(visit.at)

    def _compared(self, judged: Judging, revisit: Revisit) -> Verdict:
        """Return the verdict on a page that is compared with the others of its scope."""
        page, policy, visit, record, *_ = judged
        kept = revisit.kept
        if kept is not None:
            judged = judged._replace(dismissed=(*judged.dismissed, kept))
            if kept.identity == record.identity:  # two records of one identity can't be told apart
                self.store.forget(kept)
        match, added, found, passed = self._look_up(judged)
        earlier = self._earlier(match.record, judged, revisit) if match else None
        if match is not None and earlier is not None:
            # Another variant of the page was seen last; or the store keeps no histories.
            revisit = Revisit(revisit.history, earlier, match.record)
            judged = judged._replace(before=match.record)
            if not added:
                return self._unchanged(judged, revisit) or self._compared(judged, revisit)
        if not added:
            return self._seen(judged, revisit, match, found)
        when = revisit.previous and self._when(visit, revisit.previous)[1]
        verdict = _kept(judged, revisit, match, found, passed, when or "")
        self._replaced(revisit.kept, record)
        revisit = Revisit(revisit.history)  # what was found is another version
        self._revisits.keep(revisit, version_of(page, record, visit), visit, policy)
        return verdict

    def _seen(
        self, judged: Judging, revisit: Revisit, match: Match | None, found: Difference | None
    ) -> Verdict:
        """Return the verdict on a page that is like another one."""
        page, policy, visit, record, *_ = judged
        assert match is not None
        if visit.retry and match.record.key == record.key and match.record.run == self.run:
            reason = "the same request, sent again"
            return Verdict("unchanged", reason, policy, page, match, match.record)
        if revisit.kept is not None:
            self._replaced(revisit.kept, record)
            if match.record.key != record.key:  # else another live run has noted it
                self._revisits.close(visit)
        elif match.record.key == record.key and match.record.run == self.run:
            self._says_no_more(record)
        bits, limit = match.distance, f"threshold {policy.threshold}"
        detail = found.reason if found else ""
        if bits > policy.threshold:
            limit, detail = f"near {policy.near}", detail or "the same text at a closer look"
        elif page.listing:
            detail = detail or "the same entries, in any order"
        reason = f"distance {bits}, {limit}{detail and '; '}{detail}"
        return Verdict("duplicate", reason, policy, page, match, previous=revisit.previous)

    def _replaced(self, kept: Record | None, record: Record) -> None:
        """Forget an earlier version, unless another address was kept, which may show it still."""
        if kept is None or kept.identity == record.identity:
            return
        if kept.key != record.key or self._same(kept, record):
            self._forget(kept)

    def _says_no_more(self, record: Record) -> None:
        """Forget what the address of a page said before, now that it says what another one said."""
        for old in self.store.at_address(record.scope, record.url):
            if old.key == record.key and old.run != self.run:
                self.store.forget(old)

    def _forget(self, kept: Record) -> None:
        """Forget an earlier version of a page, whatever key it is kept under by now."""
        self.store.forget(kept, adopted=True)
        for other in self.store.at_address(kept.scope, kept.url):
            same = (other.fingerprint, other.asker) == (kept.fingerprint, kept.asker)
            if same and (other.settled or other.run != self.run):
                self.store.forget(other)

    def _earlier(self, other: Record, judged: Judging, revisit: Revisit) -> Version | None:
        """Return the version that a record remembers, if it is that of an earlier visit."""
        record = judged.record
        one = other.key == record.key or self._same(other, record)
        one = one and other.asker in ("", record.asker)
        if not one or not self._is_over(other.run):
            return None
        version = version_in(other, revisit.history)
        return version if self._revisits.counts(version, record.last_seen, judged.policy) else None

    def _is_rendition(self, judged: Judging, kept: Record) -> bool:
        """Tell if another address of its key shows a page otherwise, as copies do in one crawl."""
        page, policy, _, record, *_ = judged
        if kept.key != record.key or self._keys.precise(kept.url) == self._keys.precise(record.url):
            return False  # it has moved, or is what it was
        look, radius = _closer_look(page, policy, judged.memory)
        bits = hamming_distance(kept.fingerprint, record.fingerprint)
        return kept.stands_for(record) and bits <= radius and look.at(kept) is None

    def _same(self, one: Record, other: Record) -> bool:
        return self._keys.key_of(one.url) == self._keys.key_of(other.url)

    def _is_over(self, run: str) -> bool:
        """Tell whether a run is no other that lives; the store is asked once of one that ended."""
        if run not in self._over and not self.store.is_live(run):
            self._over.add(run)
        return run in self._over

    def _look_up(
        self, judged: Judging
    ) -> tuple[Match | None, bool, Difference | None, NotCompared]:
        """Return the match, whether the record was added, and what a closer look found to differ.

        Last comes what it could not look at, if the record was added.
        """
        policy, record = judged.policy, judged.record
        look, radius = _closer_look(judged.page, policy, judged.memory)
        first: Match | None = None
        found: Difference | None = None
        passed_over = list(judged.dismissed)
        looks = contradicted = 0
        while True:
            many = looks >= MOST_LOOKS
            unseen = many or contradicted >= MOST_CONTRADICTIONS  # others may have kept it by now
            added, match = self.store.check_and_add(
                record,
                radius,
                passed_over,
                near=policy.near,
                exact=look.exact,
                unseen=unseen,
                window=Window(policy.window, policy.ttl),
            )
            if added or match is None:
                if match is not None and first is None and match.distance <= radius:
                    found = look.at(match.record)
                    found = found or Difference("carried", what_else(match.record, record))
                missed: NotCompared = "many_alike" if many else ""
                return first or match, added, found, missed
            finding = look.at(match.record)
            if finding is None:
                excused = Difference("texts", look.excused) if look.excused else None
                return match, False, excused, ""
            if first is None:
                first, found = match, finding
            looks += 1
            contradicted += finding.differs in CONTRADICTIONS
            passed_over.append(match.record)


def _closer_look(page: Page, policy: Policy, memory: SiteMemory | None) -> tuple[CloserLook, int]:
    """Return what compares a page under a policy, and how many bits away it looks."""
    look = CloserLook(page, memory, least_words=policy.min_words, verify=policy.verify)
    return look, look.radius(policy.threshold, policy.near)


def _not_judged(page: Page, policy: Policy, before: Version | None) -> Verdict:
    """Return the verdict on a page that is compared with nothing: it says too little."""
    if page.unreadable:
        return Verdict("error", str(page.reason), policy, page, not_compared="unreadable")
    if page.fingerprint is None:
        reason = page.reason or "nothing to fingerprint"
        return Verdict("skipped", reason, policy, page, previous=before)
    reason = f"only {how_many(page.words, 'word')}: compared with nothing"
    return Verdict("new", reason, policy, page, not_compared="few_words", previous=before)


def _kept(
    judged: Judging,
    revisit: Revisit,
    match: Match | None,
    found: Difference | None,
    passed: NotCompared,
    when: str,
) -> Verdict:
    page, policy, visit, record, *_ = judged
    before = revisit.previous
    if before is not None and revisit.kept is not None:
        bits = hamming_distance(before.fingerprint, record.fingerprint)
        match = Match(revisit.kept, bits)
        outcome: Outcome = "rewritten" if match.distance > policy.near else "updated"
        text = None
        if judged.before is not None:
            look, _ = _closer_look(page, policy, judged.memory)
            text = look.revisit(judged.before, before.digest)
        changed = what_changed(before, page, policy, visit, text), text, when
        reason = "; ".join(filter(None, changed))
        return Verdict(
            *(outcome, reason, policy, page, match, record), not_compared=passed, previous=before
        )
    if match is None:
        return Verdict("new", "no similar page is remembered", policy, page, record=record)
    reason = (found and found.reason) or f"beyond the threshold of {policy.threshold}"
    return Verdict(
        *("near", f"distance {match.distance}: {reason}", policy, page, match, record),
        not_compared=passed,
        differs=found.differs if found else "",
    )


def is_duplicate_of(kept: Record, page: Page, policy: Policy, scope: str) -> bool:
    """Tell whether a page, if it came now, would be a duplicate of this very record."""
    if page.fingerprint is None or kept.scope != scope:
        return False
    look, radius = _closer_look(page, policy, None)
    if hamming_distance(page.fingerprint, kept.fingerprint) > radius:
        return False
    return (not look.exact or kept.digest == page.digest) and look.at(kept) is None
