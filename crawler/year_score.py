"""What a year of crawls met and delivered, against what the newspapers published."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crawler.site.year_plan import Year
from crawler.truth import Served, changed_fraction, rows
from simhash_gate.gate.verdict import OUTCOMES

GONE = (404, 410)
LARGE = 0.05
"""The share of its words from which a change must not be missed."""
REDESIGNS = "simhash_gate/redesigns"
WITHIN = 7
"""In how many days a redesign must be reported."""
RECOGNISED = ("unchanged", "duplicate")


@dataclass
class Day:
    """One crawl: when it was, the number of responses before it, and what became of its pages."""

    number: int
    moment: float
    before: int
    outcomes: dict[int, str] = field(default_factory=dict)
    delivered: set[int] = field(default_factory=set)
    stats: dict[str, Any] = field(default_factory=dict)


class Visit(NamedTuple):
    """One response: what the site sent, what the gate called it, and whether it became an item."""

    day: int
    moment: float
    url: str
    status: int
    article: str
    version: int
    content: str
    outcome: str
    delivered: bool


def visits_of(log: Iterable[Served], days: Sequence[Day]) -> Iterator[Visit]:
    """Yield the responses of web pages in the order in which the site sent them."""
    starts = [day.before for day in days]
    for it in sorted(log):
        day = days[bisect_left(starts, it.serve) - 1]
        if it.content:
            shown = (it.path, it.status, it.article, it.version, it.content)
            outcome, delivered = day.outcomes.get(it.serve, ""), it.serve in day.delivered
            yield Visit(day.number, day.moment, *shown, outcome, delivered)


class Deliveries:
    """Which versions of articles a year of crawls met, and which it delivered.

    `updates` is how far each version that came after a delivered one was from what was known then.
    """

    def __init__(self, year: Year, visits: Sequence[Visit]) -> None:
        self.year = year
        self.by_article: dict[str, list[Visit]] = defaultdict(list)
        self.delivered: dict[str, set[int]] = defaultdict(set)
        self.updates: dict[tuple[str, int], float] = {}
        self.gone: dict[str, int] = {}
        known: dict[str, int] = {}
        for visit in visits:
            if visit.status in GONE:
                self.gone.setdefault(visit.url, visit.day)
            if not visit.article:
                continue
            key, before = (visit.article, visit.version), known.get(visit.article, visit.version)
            if visit.version != before and key not in self.updates:
                self.updates[key] = self._apart(visit.article, before, visit.version)
            self.by_article[visit.article].append(visit)
            if visit.delivered:
                known[visit.article] = visit.version
                self.delivered[visit.article].add(visit.version)
        self.missed = [
            apart
            for (it, version), apart in self.updates.items()
            if version not in self.delivered[it]
        ]

    @property
    def lost(self) -> int:
        """Count versions unlike any delivered one, and articles that went with another page."""
        met = [visit for visits in self.by_article.values() for visit in visits]
        unlike = sum(
            all(self._apart(article, version, other) >= LARGE for other in self.delivered[article])
            for article, version in {(it.article, it.version) for it in met if it.status == 200}
            if version not in self.delivered[article]
        )
        return unlike + sum(map(self._is_orphaned, self.by_article.values()))

    def _is_orphaned(self, met: Sequence[Visit]) -> bool:
        """Tell whether pages of an article were met, and dropped, after those delivered were gone.

        What a crawl sees gone counts from the next crawl on.
        """
        sources: set[str] = set()
        orphaned = False
        for visit in met:
            if visit.delivered:
                sources.add(visit.url)
                orphaned = False
            elif sources and all(self.gone.get(url, visit.day) < visit.day for url in sources):
                orphaned = True
        return orphaned

    def _apart(self, article: str, one: int, other: int) -> float:
        versions = self.year.by_id[article].versions
        return changed_fraction(versions[one - 1].words(), versions[other - 1].words())


def score(year: Year, met: Sequence[Visit], days: Sequence[Day], seconds: float) -> dict[str, Any]:
    """Return the closing figures of a year.

    `fetches` counts responses that were web pages, and `not_modified` those of them with 304.
    `updates` are versions that differ from the last delivered one in 5 % of the words or more,
    `small_updates` those that differ in less. `unchanged` pages said what they said at the visit
    before; `unchanged_recognised` is the share that the gate called unchanged or duplicate.
    Redesigns are reported if within a week; `false_alarms` are reports without cause, too late, or
    second ones. `lost` counts versions that were met, when neither they nor a version within 5 % of
    their words was ever delivered, and articles whose pages were gone while a copy was dropped.
    """
    deliveries = Deliveries(year, met)
    unchanged, recognised = _unchanged(met)
    reports = {day.moment: day.stats.get(REDESIGNS, 0) for day in days}
    redesigns = [
        at
        for at in (paper.redesign.since for paper in year.papers.values())
        if min(reports) < at <= max(reports)
    ]
    reported = sum(
        any(reports[day] for day in reports if at <= day <= at + WITHIN) for at in redesigns
    )
    updates, missed = [*deliveries.updates.values()], deliveries.missed
    large, large_missed = (sum(apart >= LARGE for apart in each) for each in (updates, missed))
    return {
        "days": len(days),
        "articles": len(deliveries.by_article),
        "fetches": len(met),
        "not_modified": sum(visit.status == 304 for visit in met),
        "updates": large,
        "updates_missed": large_missed,
        "small_updates": len(updates) - large,
        "small_updates_missed": len(missed) - large_missed,
        "unchanged": unchanged,
        "unchanged_recognised": round(recognised / unchanged, 4) if unchanged else 1.0,
        "redesigns": len(redesigns),
        "redesigns_reported": reported,
        "false_alarms": sum(reports.values()) - reported,
        "lost": deliveries.lost,
        "seconds": round(seconds, 1),
    }


def _unchanged(met: Sequence[Visit]) -> tuple[int, int]:
    """Count pages that say what they said at the visit before, and those known to.

    A copy is none of them when no page that was delivered says any longer what it says.
    """
    shown: dict[str, str] = {}
    sources: dict[str, set[str]] = defaultdict(set)
    unchanged = recognised = 0
    for visit in met:
        is_there = visit.status in (200, 304)
        if is_there and shown.get(visit.url) == visit.content:
            stands = any(shown[url] == visit.content for url in sources[visit.content])
            unchanged += stands
            recognised += stands and (visit.status == 304 or visit.outcome in RECOGNISED)
        shown[visit.url] = visit.content if is_there else ""
        if visit.delivered:
            sources[visit.content].add(visit.url)
    return unchanged, recognised


def week(days: Sequence[Day]) -> str:
    """Return what the crawls of a week counted, in one line."""
    counts = {
        outcome: sum(day.stats.get(f"simhash_gate/{outcome}", 0) for day in days)
        for outcome in OUTCOMES
    }
    counted = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    return f"Days {days[0].number + 1} to {days[-1].number + 1}: {counted}"


def report(figures: dict[str, Any]) -> str:
    """Return the figures as a few lines of text."""
    small = "{small_updates_missed} of {small_updates} smaller ones"
    lines = [
        ("pages fetched", "fetches", "{not_modified} answered that nothing has changed"),
        ("updates", "updates", f"{{updates_missed}} missed, and {small}"),
        ("unchanged", "unchanged", "{unchanged_recognised:.1%} recognised"),
        ("redesigns", "redesigns", "{redesigns_reported} reported"),
        ("false alarms", "false_alarms", "reports of a redesign without cause"),
        ("articles", "articles", "{lost} lost"),
    ]
    return rows(figures, lines)
