"""The verdicts of several crawlers: each one's own counts, and what they did together."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.report.counts import OTHERS, Counts
from simhash_gate.report.crawled import Crawled
from simhash_gate.report.judged import Audited, Judged
from simhash_gate.report.summary import MOST_CRAWLS, Summary, looked_at
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

MOST_DELIVERIES = 20_000_000
"""Deliveries that are compared across crawlers, 8 bytes each."""
_MOST_RUNS = 1_000
_CLUSTERS = 1_000
_BITS = (1 << 64) - 1


class Row(NamedTuple):
    """The figures of a crawler, or of all: responses = skipped + judged, judged = the next three.

    `delivered` pages went to the spider with their items, `held` pages for their links alone. Of
    the pages that were dropped or held, `own` were so for a page of the same crawler, `others` for
    one of another crawler here, `earlier` for one that no crawler here has kept. `against` counts
    those of other crawlers for pages of this one.
    """

    responses: int
    skipped: int
    judged: int
    delivered: int
    dropped: int
    held: int
    own: int
    others: int
    earlier: int
    against: int
    errors: int


class Crawler:
    """One crawler: where its verdicts were read, what it says of itself, and its counts."""

    def __init__(self, number: int, place: str, said: Crawled | None) -> None:
        self.number = number
        self.place = place
        self.said = said
        self.counts = Counts(clusters=_CLUSTERS, copies=1)
        self.delivered = self.dropped = self.held = self.unchanged = 0
        self.runs: Counter[str] = Counter()
        """Pages that were dropped or held, by the run that kept the page they were like."""
        self.pages = array("Q")
        """A hash of the canonical URL, or of the name, of each page that was delivered."""
        self.first: float | None = None
        self.last: float | None = None

    @property
    def name(self) -> str:
        """The spider and the crawler's number, or what tells it from the others."""
        return f"{self.said.name if self.said and self.said.name else self.place} #{self.number}"

    @property
    def run(self) -> str:
        """What a store knows it by; "" if it does not say."""
        return self.said.run if self.said else ""

    def count(self, page: Judged, *, remember: bool) -> None:
        """Count what became of a page."""
        if page.at is not None:
            self.first = page.at if self.first is None else min(self.first, page.at)
            self.last = page.at if self.last is None else max(self.last, page.at)
        if page.outcome in ("skipped", "kept"):
            return
        if not (page.dropped or page.held):
            self.delivered += 1
            self.unchanged += page.outcome == "unchanged"
            if remember:
                self.pages.append(hash(page.canonical_url or page.name) & _BITS)
            return
        self.dropped += page.dropped
        self.held += not page.dropped
        run = page.kept.run if page.kept else ""
        known = run in self.runs or len(self.runs) < _MOST_RUNS
        self.runs[run if known else OTHERS] += 1


class Fleet:
    """Takes the lines of verdict logs, one log after the other; a log may have several crawls.

    `total` has the figures of all. Beyond `MOST_CRAWLS` crawlers, the rest are counted as one.
    """

    def __init__(self) -> None:
        self.total = Summary()
        self.crawlers: list[Crawler] = []
        self._places: list[str] = []
        self._filled: set[str] = set()
        self._is_new = True
        self._deliveries = 0

    def begin(self, place: str) -> None:
        """Begin with a log; `place` is where it was read."""
        self._places.append(place)
        self._is_new = True

    @property
    def empty(self) -> list[str]:
        """The logs that had no verdict."""
        return [place for place in self._places if place not in self._filled]

    def add_line(self, line: Mapping[str, Any]) -> None:
        """Count a line of a verdict log. Lines of other kinds are passed over.

        Raises ValueError that names the key, if the value of a verdict is wrong.
        """
        if isinstance(line.get("crawl"), dict):
            said = Crawled.of(line["crawl"])
            self._crawler(said)
            self.total.crawls = [*self.total.crawls, said][:MOST_CRAWLS]
        if isinstance(line.get("audit"), dict):
            row = Audited.of(line["audit"])
            self._crawler().counts.audits.append(row)
            self.total.audits.append(row)
        elif isinstance(line.get("redesign"), dict):
            self._crawler().counts.add_redesign(line["redesign"])
            self.total.add_redesign(line["redesign"])
        elif "outcome" in line:
            crawler = self._crawler()
            self._add(Judged.of(line, crawler.number), crawler)
        elif "not_sent" in line:
            self.total.unsent.add(line)

    @property
    def _place(self) -> str:
        return self._places[-1] if self._places else ""

    def _add(self, page: Judged, crawler: Crawler) -> None:
        self._filled.add(self._place)
        domain, found = looked_at(page)
        self.total.take(page, domain, found)
        crawler.counts.count(page, domain, found)
        crawler.count(page, remember=self._deliveries < MOST_DELIVERIES)
        self._deliveries += 1

    def _crawler(self, said: Crawled | None = None) -> Crawler:
        """Return the crawler that a line is of: a new one where a crawl or a log begins."""
        if self._is_new or said is not None:
            self._is_new = False
            if len(self.crawlers) < MOST_CRAWLS:
                self.crawlers.append(Crawler(len(self.crawlers) + 1, self._place, said))
            elif len(self.crawlers) == MOST_CRAWLS:
                self.crawlers.append(Crawler(MOST_CRAWLS + 1, OTHERS, None))
        return self.crawlers[-1]

    @property
    def is_one(self) -> bool:
        """Whether all lines are of one crawl."""
        return len(self.crawlers) < 2

    def name_of(self, number: int) -> str:
        """Return the name of a crawler."""
        return self.crawlers[number - 1].name

    def rows(self) -> list[tuple[Crawler, Row]]:
        """Return the figures of each crawler."""
        by_run = {crawler.run: crawler for crawler in self.crawlers if crawler.run}
        against = Counter(
            {run: sum(it.runs[run] for it in self.crawlers if it.run != run) for run in by_run}
        )
        return [
            (crawler, _row(crawler, by_run.keys(), against[crawler.run]))
            for crawler in self.crawlers
        ]

    def sources_of(self, crawler: Crawler) -> list[tuple[str, int]]:
        """Return whose pages a crawler's dropped pages were like, and how many, the most first."""
        names = {it.run: f"pages of {it.name}" for it in self.crawlers if it.run}
        names[crawler.run] = "its own pages"
        found = Counter[str]()
        for run, pages in crawler.runs.items():
            found[names.get(run, "pages that no crawler here has kept")] += pages
        return found.most_common()

    def deliveries(self) -> Deliveries | None:
        """Return how many crawlers delivered a page; None if there were too many to tell."""
        import numpy as np

        if self._deliveries > MOST_DELIVERIES:
            return None
        pages = [np.unique(np.frombuffer(it.pages, np.uint64)) for it in self.crawlers]
        _, times = np.unique(np.concatenate(pages), return_counts=True)
        counts = np.bincount(times, minlength=1).tolist()
        again = sum(it.delivered for it in self.crawlers) - sum(map(len, pages))
        return Deliveries({by: n for by, n in enumerate(counts) if n}, again)

    def sentences(self) -> Iterator[str]:
        """Yield what the crawlers did together, in plain words."""
        rows = self.rows()
        total = total_of(row for _, row in rows)
        yield (
            f"{len(rows)} crawlers got {how_many(total.responses, 'response', ',')}, judged "
            f"{how_many(total.judged, 'page', ',')}, and delivered {total.delivered:,} of them."
        )
        if total.delivered:
            unchanged = sum(crawler.unchanged for crawler, _ in rows)
            yield from _delivered(self.deliveries(), unchanged)
        if gone := total.dropped + total.held:
            yield (
                f"Not delivered: {how_many(gone, 'page', ',')}. Like a page of the same crawler: "
                f"{total.own:,}; of another crawler: {total.others:,}; of no crawler here: "
                f"{total.earlier:,}."
            )
        crawler, most = max(rows, key=lambda item: item[1].against)
        if most.against:
            yield (f"The others found most copies of pages of {crawler.name}: {most.against:,}.")
        yield f"Pages that passed unjudged: {total.errors:,}."


class Deliveries(NamedTuple):
    """How many pages were delivered by how many crawlers, and how often one did so again.

    The sum of the pages, each times its crawlers, and of `again` is the number of deliveries.
    """

    pages: Mapping[int, int]
    again: int


def total_of(rows: Iterable[Row]) -> Row:
    """Return the sum of some rows."""
    return Row(*map(sum, zip(*rows, strict=True)))


def _row(crawler: Crawler, here: Collection[str], against: int) -> Row:
    counts = crawler.counts.total
    own = crawler.runs[crawler.run]
    others = sum(n for run, n in crawler.runs.items() if run in here and run != crawler.run)
    return Row(
        responses=crawler.counts.seen,
        skipped=counts.outcomes["skipped"],
        judged=counts.checked,
        delivered=crawler.delivered,
        dropped=crawler.dropped,
        held=crawler.held,
        own=own,
        others=others,
        earlier=crawler.dropped + crawler.held - own - others,
        against=against,
        errors=counts.outcomes["error"],
    )


def _delivered(found: Deliveries | None, unchanged: int) -> Iterator[str]:
    if found is None:
        yield "There are too many pages to tell how many crawlers delivered each."
        return
    each = (
        f"{how_many(pages, 'page', ',')} by {how_many(by, 'crawler')}"
        for by, pages in found.pages.items()
    )
    again = f"; {found.again:,} once more by the same crawler" if found.again else ""
    yield f"Delivered: {', '.join(each)}{again}."
    if unchanged and (len(found.pages) > 1 or found.again):
        yield (
            f"Passed as unchanged, because an ended crawl had kept them: {unchanged:,}. With "
            f"{PREFIX}REVISIT = 'drop' such pages are not delivered again."
        )
