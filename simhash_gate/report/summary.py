"""All figures of a report, gathered in one pass over the verdicts, in bounded memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import how_many
from simhash_gate.gate.policy import registered_domain
from simhash_gate.report.bounded import Clusters, Timeline, Top
from simhash_gate.report.doubt import ADVICE, Named, doubt, has_another_name
from simhash_gate.report.judged import Crawled, CrawlNote, LoggedVerdict, read

Key = TypeVar("Key", bound="Hashable")

MOST_CRAWLS = 200
"""Crawlers that are counted one by one."""
OTHERS = "(others)"
MOST_TALLIES = 10_000
MOST_RUNS = 1_000
MOST_REASONS = 1_000
MOST_NOTES = 100
MOST_DUPLICATES = MOST_NEAR = MOST_CHANGED = 500
ALIKE_IN_REPEATS = "alike only in what the site repeats"
MOST_NAMED = 5
"""Domains that are named because pages of many names are near each other."""


@dataclass(slots=True)
class Tally:
    """The counts of a domain or a crawler.

    `held` pages passed for their links alone. `differs` counts pages within the threshold that
    passed.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    dropped: int = 0
    held: int = 0
    bytes_saved: int = 0
    differs: Counter[str] = field(default_factory=Counter)
    named: Named = field(default_factory=Named)

    @property
    def checked(self) -> int:
        """How many pages were judged."""
        return self.outcomes.total() - self.outcomes["skipped"] - self.outcomes["kept"]

    def add(self, page: LoggedVerdict) -> None:
        """Count one response."""
        self.outcomes[page.outcome] += 1
        if page.dropped:
            self.dropped += 1
            self.bytes_saved += page.size
        self.held += page.held and not page.dropped
        if page.differs:
            self.differs[page.differs] += 1
        if page.is_within and not page.means.revisit:
            self.named.add(other=has_another_name(page), dropped=page.dropped)


@dataclass(slots=True)
class Crawler:
    """One crawler: where its verdicts were read, what it says of itself, and its counts.

    `runs` counts the pages that were dropped or held by the run that kept the page they were like.
    """

    number: int
    place: str
    crawl: Crawled | None = None
    tally: Tally = field(default_factory=Tally)
    runs: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The spider and the crawler's number, or what tells it from the others."""
        return f"{self.crawl.name if self.crawl and self.crawl.name else self.place} #{self.number}"

    @property
    def run(self) -> str:
        """What a store knows it by; "" if it does not say."""
        return self.crawl.run if self.crawl else ""

    def add(self, page: LoggedVerdict) -> None:
        """Count what became of a page."""
        self.tally.add(page)
        if page.dropped or page.held:
            run = page.kept.run if page.kept else ""
            self.runs[_known(run, self.runs, MOST_RUNS, OTHERS)] += 1

    def row(self, here: Collection[str]) -> tuple[int, ...]:
        """Return the figures, as the report's table has them; `here` are the runs of all crawlers.

        Responses = skipped + judged; judged = delivered + dropped + held; these two = for a page of
        its own, of another crawler here, or of one that none of them has kept. Then come errors.
        """
        tally, own = self.tally, self.runs[self.run]
        others = sum(n for run, n in self.runs.items() if run in here and run != self.run)
        not_delivered = tally.dropped + tally.held
        return (
            *(tally.outcomes.total(), tally.outcomes["skipped"], tally.checked),
            *(tally.checked - not_delivered, tally.dropped, tally.held),
            *(own, others, not_delivered - own - others, tally.outcomes["error"]),
        )


class Summary:
    """Counts by domain and crawler, distances, a timeline, clusters, and the pages worth a look.

    Takes the lines of verdict logs, one log after the other; a log may have several crawls.
    `reasons` are why pages were not judged, by outcome. `missed` counts verdicts that are missing
    in the figures, and `unusable` inputs that are no verdicts.
    """

    def __init__(self) -> None:
        self.total = Tally()
        self.domains = defaultdict[str, Tally](Tally)
        self.clusters = Clusters()
        self.crawlers: list[Crawler] = []
        self.notes: list[CrawlNote] = []
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.missed = self.unusable = 0
        self.distances = defaultdict[int, Counter[str]](Counter)
        self.of_other_names: Counter[int] = Counter()
        self.thresholds: Counter[int] = Counter()
        self.timeline = Timeline()
        self.duplicates: Top[LoggedVerdict] = Top(MOST_DUPLICATES)
        self.near: Top[LoggedVerdict] = Top(MOST_NEAR)
        self.changed: Top[LoggedVerdict] = Top(MOST_CHANGED)
        self._places: list[str] = []
        self._filled: set[str] = set()
        self._is_new = True

    def begin(self, place: str) -> None:
        """Begin with a log; `place` is where it is read."""
        self._places.append(place)
        self._is_new = True

    @property
    def empty(self) -> list[str]:
        """The logs that had no verdict."""
        return [place for place in self._places if place not in self._filled]

    @property
    def seen(self) -> int:
        """How many responses were counted."""
        return self.total.outcomes.total()

    @property
    def crawls(self) -> list[Crawled]:
        """What the crawlers say of themselves."""
        return [crawler.crawl for crawler in self.crawlers if crawler.crawl]

    @property
    def are_several(self) -> bool:
        """Whether the lines are of more than one crawl."""
        return len(self.crawlers) > 1

    def rows(self) -> list[tuple[Crawler, tuple[int, ...]]]:
        """Return the figures of each crawler."""
        here = {crawler.run for crawler in self.crawlers if crawler.run}
        return [(crawler, crawler.row(here)) for crawler in self.crawlers]

    def sums(self) -> list[int]:
        """Return the sums of the figures of all crawlers."""
        return [sum(numbers) for numbers in zip(*(row for _, row in self.rows()), strict=True)]

    @property
    def of_many_names(self) -> list[tuple[str, Named]]:
        """The domains where pages of many names are near each other, the worst first."""
        found = [(domain, it.named) for domain, it in self.domains.items() if it.named.are_many]
        return sorted(found, key=lambda item: -item[1].others)

    def reasons_of(self, outcome: str) -> list[tuple[str, int]]:
        """Return why pages had an outcome, and how many, the most frequent reason first."""
        return [(reason, n) for (kind, reason), n in self.reasons.most_common() if kind == outcome]

    @property
    def kept_within(self) -> str:
        """A sentence about the pages within the threshold that passed; "" if there are none."""
        kinds = ", ".join(
            f"{pages:,} {ALIKE_IN_REPEATS if kind == 'repeats' else f'other {kind}'}"
            for kind, pages in self.total.differs.most_common()
        )
        return f"Within the threshold, but not dropped: {kinds}." if kinds else ""

    def remarks(self) -> Iterator[str]:
        """Yield sentences about what the counts of outcomes do not tell."""
        if self.kept_within:
            yield self.kept_within
        if self.total.named.dropped:
            dropped = how_many(self.total.named.dropped, "page", ",")
            yield f"Dropped, although the title contradicts that of the kept page: {dropped}."
        found = self.of_many_names
        for domain, named in found[:MOST_NAMED]:
            yield f"{domain or '(no host)'}: {named}."
        if len(found) > MOST_NAMED:
            yield f"The same is true of {how_many(len(found) - MOST_NAMED, 'more domain', ',')}."
        if found:
            yield ADVICE

    def add_line(self, line: Mapping[str, Any]) -> None:
        """Count a line of a verdict log. Lines of other kinds are passed over.

        Raises ValueError that names the key, if the value of a verdict is wrong.
        """
        if isinstance(line.get("crawl"), dict):
            crawl = read(Crawled, line["crawl"])
            self._crawler(begins=bool(self.crawlers and self.crawlers[-1].crawl)).crawl = crawl
        if isinstance(line.get("crawl_note"), dict):
            self.notes = [*self.notes, read(CrawlNote, line["crawl_note"])][:MOST_NOTES]
        elif "outcome" in line:
            page = LoggedVerdict.of(line, self._crawler().number)
            self.add(page)
            self._filled.update(self._places[-1:])

    def _crawler(self, *, begins: bool = False) -> Crawler:
        """Return the crawler that a line is of: a new one where a crawl or a log begins."""
        if (self._is_new or begins) and len(self.crawlers) <= MOST_CRAWLS:
            number = len(self.crawlers) + 1
            place = self._places[-1] if self._places else ""
            self.crawlers.append(Crawler(number, place if number <= MOST_CRAWLS else OTHERS))
        self._is_new = False
        return self.crawlers[-1]

    def add(self, page: LoggedVerdict) -> None:
        """Count the verdict on one response."""
        if page.at is not None and page.outcome != "skipped":
            self.timeline.add(page.at, page.outcome)
        self.total.add(page)
        domain = registered_domain(host_of(page.url))
        self.domains[_known(domain, self.domains, MOST_TALLIES, OTHERS)].add(page)
        self._crawler().add(page)
        # How far a page is from what it was tells nothing of how far other pages are.
        if page.distance is not None and not page.means.changed:
            self.distances[page.distance][page.outcome] += 1
            self.of_other_names[page.distance] += has_another_name(page)
            if page.threshold is not None:
                self.thresholds[page.threshold] += 1
        if page.is_duplicate:
            found = doubt(page)
            self.duplicates.add(found, page)
            if page.kept is not None and page.outcome == "duplicate":
                self.clusters.add(page.kept, page, found)
        elif page.means.changed:
            self.changed.add((not page.listing, page.at or 0), page)
        elif page.outcome == "near":
            self.near.add((-(page.distance or 0), -doubt(page).growth), page)
        elif not page.means.judged:
            why, others = (page.outcome, page.reason), (page.outcome, OTHERS)
            self.reasons[_known(why, self.reasons, MOST_REASONS, others)] += 1


def _known(key: Key, counted: Collection[Key], most: int, others: Key) -> Key:
    """Return what a key is counted as: where there are many already, a new one as one of others."""
    return key if key in counted or len(counted) < most else others
