"""What simhash_gate learns, and what it skips by it: its learner, and its file of visits."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from benchmarks.urls.method import NOT_READ, Method, Read
from simhash_gate.urls.fetched import content_of
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.parts import parts_of, whole
from simhash_gate.urls.visits import Visits, fetched

if TYPE_CHECKING:
    from simhash_gate.urls.learner import Change
    from simhash_gate.urls.rules import Rule
    from simhash_gate.urls.visits import Visit

_LOOKED_AT = 20


class Learned(Method):
    """Does with URLs what a crawl with `SIMHASH_GATE_URLS = "skip"` does.

    A page is compared with what stands for it when it was a probe. What a rule skipped is fetched
    when the rule is suspended.
    """

    title = "**simhash_gate**"
    origin = ""
    probing = 0.05

    def __init__(self) -> None:
        self._learner = Learner()
        self._visits = Visits()
        self._skipped: dict[str, tuple[str, Visit, tuple[tuple[str, Rule], ...]]] = {}
        self._back: list[str] = []

    def skips(self, scope: str, url: str) -> bool:
        """Tell if a fetched URL has the same canonical one."""
        self._visits.catch_up(self._learner.place)
        _, canonical = self._learner.place(scope, url)
        if not self._learner.acts_on(scope):
            return False
        for visit in islice(self._visits.find(scope, canonical), _LOOKED_AT):
            if visit.url != url and (rules := self._learner.reasons(scope, url, visit.url)):
                self._skipped[url] = scope, visit, rules
                return True
        return False

    def learn(
        self, scope: str, url: str, kept: str, same: bool | None, read: Read = NOT_READ
    ) -> None:
        """Note the visit, and learn from it."""
        _, stand_in, rules = self._skipped.pop(url, (scope, None, ()))
        canonical = url if stand_in else self._learner.canonical(scope, url)
        number = self._visits.add(scope, self._shape(url), url, canonical)
        if same is None:
            self._visits.tell(number, None, read.fingerprint, read.said)
            return
        self._visits.tell(number, content_of(kept if same else url), *read)
        changes = self._learner.observe(
            scope,
            url,
            kept or None,
            same if kept else None,
            fingerprint=read.fingerprint,
            said=read.said,
            stood=fetched(self._visits.get(stand_in.id) if stand_in else None),
            by=rules,
        )
        for change in changes:
            self._visits.rules_changed(change.scope, change.shape)
            if change.state != "active":
                self._suspend(change)

    def taken_back(self) -> list[str]:
        """Return what suspended rules skipped."""
        back, self._back = self._back, []
        return back

    @property
    def rules(self) -> int:
        """Those that are active."""
        return self._learner.active

    def _shape(self, url: str) -> str:
        return self._learner.shapes.of(parts_of(url))

    def _suspend(self, change: Change) -> None:
        rules_of = {(change.shape, change.rule), (whole(change.shape), change.rule)}
        parted = whole(change.shape) != change.shape
        back = []
        for url, (scope, visit, rules) in self._skipped.items():
            if scope != change.scope or rules_of.isdisjoint(rules):
                continue
            if parted and change.shape not in map(self._shape, (url, visit.url)):
                continue
            if now := self._learner.reasons(scope, url, visit.url):
                self._skipped[url] = scope, visit, now
            else:
                back.append(url)
        for url in back:
            del self._skipped[url]
        self._back += back
