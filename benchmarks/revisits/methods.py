"""The methods that are compared."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.revisits.year import Year
from simhash_gate.history.rates import DAY, GRID, Rates
from simhash_gate.history.schedule import POLICIES, Hints, VisitedPage, chosen, plan, rates_of
from simhash_gate.history.versions import History, Version
from simhash_gate.offline.history import groups_of


class Planned:
    """The policies of simhash_gate, with what visits told of the rates."""

    def __init__(self, policy: str) -> None:
        self.policy = POLICIES[policy]()
        self.histories: dict[int, History] = {}
        self.urls: dict[int, str] = {}

    def visited(self, page: int, url: str, day: float, *, changed: bool, gone: bool) -> None:
        history, at = self.histories.get(page, History()), day * DAY
        if gone:
            self.histories[page] = history.left(at)
            return
        self.urls[page] = url
        version = Version(at, at, page, int(at), 100, "", "run")
        again = None if changed else history.last
        self.histories[page] = history.visited(version, again=again, most=2)

    def plan(self, day: float, visits: int) -> Sequence[int]:
        numbers = [*self.urls]
        groups = groups_of(("site.example", self.urls[number]) for number in numbers)
        histories = (self.histories[number] for number in numbers)
        pages, at = list(map(VisitedPage, groups, histories)), day * DAY
        rates, hints = rates_of(pages, at), self.hints(numbers, day)
        found = plan(pages, rates, self.policy, at=at, budget=visits, hints=hints)
        return [numbers[visit.page] for visit in found]

    def hints(self, pages: Sequence[int], day: float) -> Hints | None:
        """Return what is said of pages from outside: nothing."""
        return None


class WithSitemap(Planned):
    """The same, with a sitemap whose `lastmod` tells of most changes, and sometimes of none.

    How far it can be believed is counted at visits.
    """

    RECALL, FALSE = 0.85, 1 / 60

    def __init__(self, policy: str, year: Year) -> None:
        super().__init__(policy)
        chance = random.Random("sitemap")
        self.told = [
            sorted(
                [moment for moment in page.changes if chance.random() < self.RECALL]
                + [day + chance.random() for day in range(366) if chance.random() < self.FALSE]
            )
            for page in year
        ]
        self.counted = {(said, changed): 1 for said in (0, 1) for changed in (0, 1)}

    def visited(self, page: int, url: str, day: float, *, changed: bool, gone: bool) -> None:
        if (history := self.histories.get(page)) is not None:
            self.counted[self._says(page, history.seen / DAY, day), int(changed)] += 1
        super().visited(page, url, day, changed=changed, gone=gone)

    def hints(self, pages: Sequence[int], day: float) -> Hints | None:
        """Return what the sitemap of this day says."""
        said = [float(self._says(n, self.histories[n].seen / DAY, day)) for n in pages]
        false, recall = (
            self.counted[1, changed] / (self.counted[0, changed] + self.counted[1, changed])
            for changed in (0, 1)
        )
        return Hints(np.array(said), recall, false)

    def _says(self, page: int, since: float, day: float) -> int:
        told = self.told[page]
        return int(bisect_right(told, day) > bisect_right(told, since))


class Oracle:
    """A policy that knows the true rates, and when a page is gone."""

    def __init__(self, policy: str, year: Year) -> None:
        self.policy = POLICIES[policy]()
        self.rates = certain(page.rate for page in year)
        self.last = np.full(len(year), np.inf)

    def visited(self, page: int, url: str, day: float, *, changed: bool, gone: bool) -> None:
        self.last[page] = np.inf if gone else day

    def plan(self, day: float, visits: int) -> Sequence[int]:
        days = np.maximum(0.0, day + 0.5 - self.last)
        return [n for n in chosen(self.policy, self.rates, days, visits) if days[n] > 0]


class Nutch:
    """AdaptiveFetchSchedule of Apache Nutch, after its description, with its defaults.

    The interval grows by 0.4 of itself where nothing has changed, and shrinks by 0.2 where
    something has; it is no less than a minute and no more than a year. It is no less than the time
    since the last change either, and the next visit is earlier by 0.3 of that time (`sync_delta`).
    The generator takes the pages that are due, longest first.

    `start` is the first interval, 30 days by default.
    """

    INC, DEC, SYNC, LEAST, MOST = 0.4, 0.2, 0.3, 1 / 1_440, 365.0

    def __init__(self, start: float) -> None:
        self.start = start
        self.interval: dict[int, float] = {}
        self.modified: dict[int, float] = {}
        self.due: dict[int, float] = {}

    def visited(self, page: int, url: str, day: float, *, changed: bool, gone: bool) -> None:
        if gone:
            self.interval[page] = min(self.interval.get(page, self.start) * 1.5, self.MOST)
            self.due[page] = day + self.interval[page]
            return
        interval = self.interval.get(page)
        if interval is None:
            interval = self.start
        else:
            interval *= 1 - self.DEC if changed else 1 + self.INC
        if changed:
            self.modified[page] = day
        since = day - self.modified[page]
        interval = min(max(interval, since, self.LEAST), self.MOST)
        self.interval[page] = interval
        self.due[page] = day - self.SYNC * since + interval

    def plan(self, day: float, visits: int) -> Sequence[int]:
        order = sorted(self.due, key=self.due.__getitem__)
        return [page for page in order if self.due[page] <= day][:visits]


def certain(rates: Iterable[float]) -> Rates:
    """Return rates that are known: each is made of the two of `GRID` beside it, with its mean."""
    wanted = np.clip(np.fromiter(rates, np.float64), GRID[0], GRID[-1])
    above = np.clip(np.searchsorted(GRID, wanted), 1, GRID.size - 1)
    share = (wanted - GRID[above - 1]) / (GRID[above] - GRID[above - 1])
    weights = np.zeros((wanted.size, GRID.size))
    pages = np.arange(wanted.size)
    weights[pages, above] = share
    weights[pages, above - 1] = 1 - share
    return Rates(weights)
