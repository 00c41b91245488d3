"""A year of a site that is made up: when each page appears, changes, and goes."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

DAYS = 365


@dataclass
class SimulatedPage:
    """A page: its life from `born` to `gone`, in days, and when it changes; `rate` in the long run.

    That it goes is its last change.
    """

    url: str
    kind: str
    rate: float
    born: float = 0.0
    gone: float = float("inf")
    changes: list[float] = field(default_factory=list)

    def changed(self, after: float, until: float) -> int:
        """Return how often the page changes after one time and until another."""
        return bisect_right(self.changes, until) - bisect_right(self.changes, after)

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


# Which percentage of the pages is of each kind.
KINDS = ("still", "now and then", "daily", "each week", "working days", "bursts")
SITES = {"usual": (50, 32, 5, 5, 3, 5), "busy": (10, 45, 25, 10, 5, 5)}

SECTIONS = dict(
    zip(KINDS, ("archive", "guides", "topics", "reviews", "topics", "events"), strict=True)
)
"""Where most pages of each kind are."""


def _page(chance: random.Random, number: int, days: int, shares: Sequence[int]) -> SimulatedPage:
    (kind,) = chance.choices(KINDS, shares)
    section = SECTIONS[kind]
    if chance.random() < 0.3:  # what stands in a section is not of one kind
        section = SECTIONS[chance.choice(KINDS)]
    changes, rate = LIVES[kind](chance, days)
    return SimulatedPage(f"https://site.example/{section}/{number}", kind, rate, changes=changes)


def _article(chance: random.Random, number: int, days: int) -> SimulatedPage:
    """An article that appears, is corrected once a day at first, and then ever more seldom."""
    born = chance.uniform(0, days)
    changes = [
        born + moment
        for moment in _poisson(chance, 1.0, 60)
        if chance.random() < 2 ** (-moment / 4) and born + moment < days
    ]
    url = f"https://site.example/news/{number}"
    return SimulatedPage(url, "article", len(changes) / days, born, changes=changes)


Life = tuple[list[float], float]


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


LIVES: dict[str, Callable[[random.Random, int], Life]] = {
    "still": lambda _, __: ([], 0.0),
    "now and then": _now_and_then,
    "daily": _daily,
    "each week": _each_week,
    "working days": _working_days,
    "bursts": _bursts,
}


def _poisson(chance: random.Random, rate: float, days: float) -> list[float]:
    moments, moment = [], chance.expovariate(rate)
    while moment < days:
        moments.append(moment)
        moment += chance.expovariate(rate)
    return moments
