"""A year of a site that is made up: when each page appears, changes, and goes; and its visits."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

DAYS = 365
WITHIN = 3.0
"""Days in which a change is to be found."""


@dataclass
class SimulatedPage:
    """A page: its life from `born` to `gone`, in days, and when it changes; `rate` in the long run.

    That it goes is its last change.
    """

    url: str
    rate: float
    born: float = 0.0
    gone: float = float("inf")
    changes: list[float] = field(default_factory=list)

    def next_change(self, after: float) -> float:
        """Return when the page changes first after a time."""
        place = bisect_right(self.changes, after)
        return self.changes[place] if place < len(self.changes) else float("inf")


def simulate(
    seed: int, pages: int = 300, days: int = DAYS, site: str = "usual"
) -> list[SimulatedPage]:
    """Return a year of `pages` pages, and of a fifth as many that appear in its course."""
    chance = random.Random(f"year {seed}")
    year = [_page(chance, number, days, SITES[site]) for number in range(pages)]
    year += [_article(chance, pages + number, days) for number in range(pages // 5)]
    for page in year:
        if chance.random() < 0.1:
            page.gone = chance.uniform(page.born, days)
            page.changes = [*page.changes[: bisect_left(page.changes, page.gone)], page.gone]
    return year


KINDS = ("still", "now and then", "daily", "each week", "working days", "bursts")
SITES = {"usual": (50, 32, 5, 5, 3, 5), "busy": (10, 45, 25, 10, 5, 5)}
"""Which percentage of the pages is of each kind."""
SECTIONS = ("archive", "guides", "topics", "reviews", "topics", "events")
"""Where most pages of each kind are."""


def _page(chance: random.Random, number: int, days: int, shares: Sequence[int]) -> SimulatedPage:
    (kind,) = chance.choices(KINDS, shares)
    place = KINDS.index(kind)
    section = SECTIONS[place]
    if chance.random() < 0.3:  # what stands in a section is not of one kind
        section = chance.choice(SECTIONS)
    changes, rate = LIVES[place](chance, days)
    return SimulatedPage(f"https://site.example/{section}/{number}", rate, changes=changes)


def _article(chance: random.Random, number: int, days: int) -> SimulatedPage:
    """An article that appears, is corrected once a day at first, and then ever more seldom."""
    born = chance.uniform(0, days)
    changes = [
        born + moment
        for moment in _poisson(chance, 1.0, 60)
        if chance.random() < 2 ** (-moment / 4) and born + moment < days
    ]
    url = f"https://site.example/news/{number}"
    return SimulatedPage(url, len(changes) / days, born, changes=changes)


Life = tuple[list[float], float]


def _still(_: random.Random, __: int) -> Life:
    return [], 0.0


def _now_and_then(chance: random.Random, days: int) -> Life:
    """Every 40 days in the middle; some every other day, some every other year."""
    rate = min(2.0, chance.lognormvariate(0.0, 1.2) / 40)
    return _poisson(chance, rate, days), rate


def _daily(chance: random.Random, days: int) -> Life:
    rate = chance.uniform(0.7, 2.0)
    return _poisson(chance, rate, days), rate


def _each_week(chance: random.Random, days: int) -> Life:
    """On one day of the week, about one hour."""
    start = chance.uniform(0, 7)
    weeks = range(int(days // 7) + 1)
    moments = [start + 7 * week + chance.uniform(-0.1, 0.1) for week in weeks]
    return [moment for moment in moments if 0 < moment < days], 1 / 7


def _working_days(chance: random.Random, days: int) -> Life:
    moments = [day + chance.uniform(0.3, 0.7) for day in range(days) if day % 7 < 5]
    return moments, 5 / 7


def _bursts(chance: random.Random, days: int) -> Life:
    """Still for two months on average, then two changes a day for a week or so."""
    moments: list[float] = []
    for start in _poisson(chance, 1 / 60, days):
        moments += [start + moment for moment in _poisson(chance, 2.0, chance.uniform(3, 10))]
    moments = sorted(moment for moment in moments if moment < days)
    return moments, len(moments) / days


Lives = tuple[Callable[[random.Random, int], Life], ...]
LIVES: Lives = (_still, _now_and_then, _daily, _each_week, _working_days, _bursts)


def _poisson(chance: random.Random, rate: float, days: float) -> list[float]:
    moments, moment = [], chance.expovariate(rate)
    while moment < days:
        moments.append(moment)
        moment += chance.expovariate(rate)
    return moments


Year = Sequence[SimulatedPage]


class Method(Protocol):
    """Chooses which pages to visit. It is told what visits found, and nothing else."""

    def visited(self, page: int, url: str, day: float, *, changed: bool, gone: bool) -> None:
        """Take note of a visit; the first one to a page has `changed`."""

    def plan(self, day: float, visits: int) -> Sequence[int]:
        """Return so many pages that were visited before, or fewer, to visit on a day."""


@dataclass
class Figures:
    """What a method reached."""

    visits: int = 0
    changes: int = 0
    in_time: int = 0
    fresh: float = 0.0  # page-days
    lived: float = 0.0

    @property
    def found(self) -> float:
        """The share of changes that a visit found within `WITHIN` days."""
        return self.in_time / self.changes if self.changes else 1.0

    @property
    def freshness(self) -> float:
        """The share of pages whose last version was known, over time."""
        return self.fresh / self.lived if self.lived else 1.0


def replay(year: Year, method: Method, visits: int, days: int) -> Figures:
    """Return what a method reaches with so many visits a day.

    On day 0 a first crawl fetches all pages. A new page is visited on the next day, at the cost of
    the budget. Changes until `WITHIN` days before the end count.
    """
    figures = Figures()
    seen: list[list[float]] = [[] for _ in year]
    for day in range(days):
        new = [n for n, page in enumerate(year) if not seen[n] and page.born <= day]
        old = method.plan(float(day), max(0, visits - len(new))) if day else []
        assert len(old) <= max(0, visits - len(new)) or not day
        for number in [*new, *old]:
            page = year[number]
            before = seen[number][-1] if seen[number] else None
            changed = before is None or page.next_change(before) <= day
            seen[number].append(float(day))
            method.visited(number, page.url, day, changed=changed, gone=page.gone <= day)
            figures.visits += day > 0
    for page, times in zip(year, seen, strict=True):
        for moment in page.changes if times else ():
            if times[0] < moment <= days - WITHIN:
                figures.changes += 1
                figures.in_time += any(moment <= visit <= moment + WITHIN for visit in times)
        for visit, after in zip(times, [*times[1:], float(days)][: len(times)], strict=True):
            figures.lived += after - visit
            figures.fresh += min(after, max(visit, page.next_change(visit))) - visit
    return figures
