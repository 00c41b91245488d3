"""What a year of crawls met and delivered, against what the newspapers published."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from crawler.site.year_plan import Year
from crawler.truth import Served, changed_fraction, rows

LARGE = 0.05
"""The share of its words from which a change must not be missed."""
REDESIGNS = "simhash_gate/redesigns"
WITHIN = 7
"""In how many days a redesign must be reported."""
RECOGNISED = ("unchanged", "duplicate")


class YearScore(NamedTuple):
    """The closing figures of a year.

    `fetches` counts responses that were web pages, and `not_modified` those of them with 304.
    `updates` are versions that differ from the last delivered one in 5 % of the words or more,
    `small_updates` those that differ in less. `unchanged` pages said what they said at the visit
    before; `unchanged_recognised` is the share that the gate called unchanged or duplicate.
    Redesigns are reported if within a week; `false_alarms` are reports without cause, or second
    ones. `lost` counts versions that were met, when neither they nor a version within 5 % of their
    words was ever delivered, and articles whose pages were gone while a copy was dropped.
    """

    days: int
    articles: int
    fetches: int
    not_modified: int
    updates: int
    updates_missed: int
    small_updates: int
    small_updates_missed: int
    unchanged: int
    unchanged_recognised: float
    redesigns: int
    redesigns_reported: int
    false_alarms: int
    lost: int
    seconds: float


class Deliveries:
    """Which versions of articles a year of crawls met, and which it delivered."""

    def __init__(self, year: Year, visits: Sequence[Visit]) -> None:
        self.year = year
        self.by_article: dict[str, list[Visit]] = defaultdict(list)
        self.delivered: dict[str, set[int]] = defaultdict(set)
        for visit in visits:
            if not visit.article:
                continue
            self.by_article[visit.article].append(visit)
            if visit.delivered:
                self.delivered[visit.article].add(visit.version)
        self.gone: dict[str, int] = {}
        for visit in visits:
            if visit.status in GONE:
                self.gone.setdefault(visit.url, visit.day)

    @cached_property
    def updates(self) -> dict[tuple[str, int], float]:
        """How far each version that came after a delivered one was from what was known then."""
        found: dict[tuple[str, int], float] = {}
        for article, met in self.by_article.items():
            known = 0
            for visit in met:
                if known and visit.version != known and (article, visit.version) not in found:
                    found[article, visit.version] = self._apart(article, known, visit.version)
                if visit.delivered:
                    known = visit.version
        return found

    @cached_property
    def missed(self) -> list[float]:
        """How far those updates are from what was known that were never delivered."""
        return [
            apart
            for (article, version), apart in self.updates.items()
            if version not in self.delivered[article]
        ]

    @property
    def lost(self) -> int:
        """Count versions unlike any delivered one, and articles that went with another page."""
        versions = {
            (visit.article, visit.version)
            for met in self.by_article.values()
            for visit in met
            if visit.status == 200
        }
        unlike = sum(
            all(self._apart(article, version, other) >= LARGE for other in self.delivered[article])
            for article, version in versions
            if version not in self.delivered[article]
        )
        return unlike + sum(self._is_orphaned(met) for met in self.by_article.values())

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


def score(year: Year, met: Sequence[Visit], days: Sequence[Day], seconds: float) -> YearScore:
    """Judge a year of crawls. What is reported of a redesign later than in time is an alarm."""
    deliveries = Deliveries(year, met)
    unchanged, recognised = _unchanged(met)
    told = {day.moment: day.stats.get(REDESIGNS, 0) for day in days}
    moved = [paper.redesign.since for paper in year.papers.values()]
    moved = [at for at in moved if min(told) < at <= max(told)]
    reported = sum(any(told[day] for day in told if at <= day <= at + WITHIN) for at in moved)
    large = [apart for apart in deliveries.updates.values() if apart >= LARGE]
    missed = [apart for apart in deliveries.missed if apart >= LARGE]
    return YearScore(
        days=len(days),
        articles=len(deliveries.by_article),
        fetches=len(met),
        not_modified=sum(visit.status == 304 for visit in met),
        updates=len(large),
        updates_missed=len(missed),
        small_updates=len(deliveries.updates) - len(large),
        small_updates_missed=len(deliveries.missed) - len(missed),
        unchanged=unchanged,
        unchanged_recognised=round(recognised / unchanged, 4) if unchanged else 1.0,
        redesigns=len(moved),
        redesigns_reported=reported,
        false_alarms=sum(told.values()) - reported,
        lost=deliveries.lost,
        seconds=round(seconds, 1),
    )


def _unchanged(met: Sequence[Visit]) -> tuple[int, int]:
    """Count pages that say what they said at the visit before, and those known to.

    A copy is none of them when no page that was delivered says any longer what it says.
    """
    said: dict[str, str] = {}
    sources: dict[str, set[str]] = defaultdict(set)
    unchanged = recognised = 0
    for visit in met:
        if visit.status in (200, 304) and said.get(visit.url) == visit.content:
            stands = any(said[url] == visit.content for url in sources[visit.content])
            unchanged += stands
            recognised += stands and (visit.status == 304 or visit.outcome in RECOGNISED)
        said[visit.url] = visit.content if visit.status in (200, 304) else ""
        if visit.delivered:
            sources[visit.content].add(visit.url)
    return unchanged, recognised


GONE = (404, 410)


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
    for entry in sorted(log):
        day = days[bisect_left(starts, entry.serve) - 1]
        if entry.content:
            yield Visit(
                day=day.number,
                moment=day.moment,
                url=entry.path,
                status=entry.status,
                article=entry.article,
                version=entry.version,
                content=entry.content,
                outcome=day.outcomes.get(entry.serve, ""),
                delivered=entry.serve in day.delivered,
            )


OUTCOMES = ("new", "near", "updated", "rewritten", "duplicate", "unchanged", "skipped")


def week(days: Sequence[Day]) -> str:
    """Return what the crawls of a week counted, in one line."""
    told = []
    for outcome in OUTCOMES:
        count = sum(day.stats.get(f"simhash_gate/{outcome}", 0) for day in days)
        told += [f"{count} {outcome}"] if count else []
    first, last = days[0].number + 1, days[-1].number + 1
    return f"Days {first} to {last}: {', '.join(told)}"


def report(figures: YearScore) -> str:
    """Return the figures as a few lines of text."""
    unmodified = f"{figures.not_modified} answered that nothing has changed"
    small = f"{figures.small_updates_missed} of {figures.small_updates} smaller ones"
    return rows(
        [
            ("pages fetched", figures.fetches, unmodified),
            ("updates", figures.updates, f"{figures.updates_missed} missed, and {small}"),
            ("unchanged", figures.unchanged, f"{figures.unchanged_recognised:.1%} recognised"),
            ("redesigns", figures.redesigns, f"{figures.redesigns_reported} reported"),
            ("false alarms", figures.false_alarms, "reports of a redesign without cause"),
            ("articles", figures.articles, f"{figures.lost} lost"),
        ]
    )
