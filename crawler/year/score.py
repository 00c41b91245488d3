"""What a year of crawls delivered, against what the newspapers published."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from crawler.truth import changed_fraction
from crawler.year.visits import GONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.site.year.plan import Life, Year
    from crawler.year.alarms import Alarms
    from crawler.year.visits import Day, Visit

LARGE = 0.05
"""The share of its words from which a change must not be missed."""
SOON = 3.0
RECOGNISED = ("unchanged", "duplicate")


@dataclass(frozen=True, slots=True)
class YearScore:
    """The closing figures of a year.

    `fetches` counts responses that were web pages, and `not_modified` those of them with 304.
    `updates` are versions that differ from the last delivered one in 5 % of the words or more,
    `small_updates` those that differ in less. `unchanged` pages said what they said at the visit
    before; `unchanged_recognised` is the share that the gate called unchanged or duplicate.
    Redesigns are reported if within a week; `false_alarms` are reports without cause, or second
    ones. `lost` counts versions that were met, when neither they nor a version within 5 % of their
    words was ever delivered, and articles whose pages were gone while a copy was dropped.
    `found_soon` is the share of `changes` that were delivered within three days, `freshness` that
    of the time in which the newest version of an article was the one delivered last.
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
    wrong_validators: int
    wrong_validators_reported: int
    false_alarms: int
    lost: int
    changes: int
    found_soon: float
    freshness: float
    seconds: float

    def as_dict(self) -> dict[str, int | float]:
        """Return the figures by name, in the order of their definition."""
        return asdict(self)


class Deliveries:
    """Which versions of articles a year of crawls met, and which it delivered."""

    def __init__(self, year: Year, visits: Sequence[Visit]) -> None:
        self.year = year
        self.by_article: dict[str, list[Visit]] = defaultdict(list)
        self.delivered: dict[str, dict[int, float]] = defaultdict(dict)
        for visit in visits:
            if not visit.article:
                continue
            self.by_article[visit.article].append(visit)
            if visit.delivered:
                self.delivered[visit.article].setdefault(visit.version, visit.moment)
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


class Times:
    """When the newest version of each article was known, and for how long."""

    def __init__(self, year: Year, deliveries: Deliveries, moments: Sequence[float]) -> None:
        self.year = year
        self.moments = moments
        self.end = moments[-1] + 1
        self.known = {article: sorted(d.items()) for article, d in deliveries.delivered.items()}

    @property
    def freshness(self) -> float:
        """The share of the time of all articles in which the newest version was known."""
        lives = self.year.lives
        whole = sum(max(0.0, self._end(life) - self._start(life)) for life in lives)
        return sum(map(self._fresh, lives)) / whole if whole else 1.0

    @property
    def found_soon(self) -> tuple[int, float]:
        """The number of changes, and the share that was delivered in time."""
        found = [
            any(known >= version and at <= moment + SOON for known, at in self._known(life))
            for life in self.year.lives
            for version, moment in enumerate(life.moments, 1)
            if version > 1 and self.moments[0] < moment <= self._end(life) - SOON
        ]
        return len(found), sum(found) / len(found) if found else 1.0

    def _known(self, life: Life) -> list[tuple[int, float]]:
        return self.known.get(life.article.id, [])

    def _start(self, life: Life) -> float:
        return max(life.since, self.moments[0])

    def _end(self, life: Life) -> float:
        return min(life.until, self.end)

    def _fresh(self, life: Life) -> float:
        """Return for how long the newest version was the one delivered last."""
        fresh = 0.0
        for version, at in self._known(life):
            number = bisect_right(life.moments, at)
            replaced = life.moments[version] if version < len(life.moments) else self.end
            if number == version:
                fresh += max(0.0, min(replaced, self._end(life)) - at)
        return fresh


def score(
    year: Year, met: Sequence[Visit], days: Sequence[Day], alarms: Alarms, seconds: float
) -> YearScore:
    """Judge a year of crawls."""
    deliveries = Deliveries(year, met)
    unchanged, recognised = _unchanged(met)
    times = Times(year, deliveries, [day.moment for day in days])
    changes, found_soon = times.found_soon
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
        redesigns=alarms.redesigns,
        redesigns_reported=alarms.redesigns_reported,
        wrong_validators=alarms.wrong_validators,
        wrong_validators_reported=alarms.wrong_validators_reported,
        false_alarms=alarms.false_alarms,
        lost=deliveries.lost,
        changes=changes,
        found_soon=round(found_soon, 4),
        freshness=round(times.freshness, 4),
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
