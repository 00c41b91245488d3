"""A year of daily crawls with a budget of visits, as each method spends it; what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.revisits.year import SimulatedPage

WITHIN = 3.0


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


def replay(year: Sequence[SimulatedPage], method: Method, *, visits: int, days: int) -> Figures:
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
            changed = before is None or page.changed(before, day) > 0
            seen[number].append(float(day))
            method.visited(number, page.url, day, changed=changed, gone=page.gone <= day)
            figures.visits += day > 0
    for page, times in zip(year, seen, strict=True):
        _count(figures, page, times, days)
    return figures


def _count(figures: Figures, page: SimulatedPage, times: list[float], days: int) -> None:
    if not times:
        return
    for moment in page.changes:
        if times[0] < moment <= days - WITHIN:
            figures.changes += 1
            figures.in_time += any(moment <= visit <= moment + WITHIN for visit in times)
    for visit, after in zip(times, [*times[1:], float(days)], strict=True):
        figures.lived += after - visit
        figures.fresh += min(after, max(visit, page.next_change(visit))) - visit
