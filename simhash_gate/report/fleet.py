"""The crawlers that verdicts come from, and the figures of each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from simhash_gate.report.crawled import Crawled
    from simhash_gate.report.judged import Judged

MOST_CRAWLS = 200
"""Crawlers that are counted one by one."""
OTHERS = "(others)"
_MOST_RUNS = 1_000


class Row(NamedTuple):
    """The figures of a crawler, or of all: responses = skipped + judged, judged = the next three.

    `delivered` pages went to the spider with their items, `held` pages for their links alone. Of
    the pages that were dropped or held, `own` were so for a page of the same crawler, `others` for
    one of another crawler here, `earlier` for one that no crawler here has kept.
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
    errors: int


class Crawler:
    """One crawler: where its verdicts were read, what it says of itself, and its counts."""

    def __init__(self, number: int, place: str) -> None:
        self.number = number
        self.place = place
        self.said: Crawled | None = None
        self.outcomes = Counter[str]()
        self.delivered = self.dropped = self.held = 0
        self.runs = Counter[str]()
        """Pages that were dropped or held, by the run that kept the page they were like."""

    @property
    def name(self) -> str:
        """The spider and the crawler's number, or what tells it from the others."""
        return f"{self.said.name if self.said and self.said.name else self.place} #{self.number}"

    @property
    def run(self) -> str:
        """What a store knows it by; "" if it does not say."""
        return self.said.run if self.said else ""

    def count(self, page: Judged) -> None:
        """Count what became of a page."""
        self.outcomes[page.outcome] += 1
        if page.outcome in ("skipped", "kept"):
            return
        if not (page.dropped or page.held):
            self.delivered += 1
            return
        self.dropped += page.dropped
        self.held += not page.dropped
        run = page.kept.run if page.kept else ""
        known = run in self.runs or len(self.runs) < _MOST_RUNS
        self.runs[run if known else OTHERS] += 1

    def row(self, here: Collection[str]) -> Row:
        """Return the figures; `here` are the runs of all crawlers."""
        own = self.runs[self.run]
        others = sum(n for run, n in self.runs.items() if run in here and run != self.run)
        return Row(
            responses=self.outcomes.total(),
            skipped=self.outcomes["skipped"],
            judged=self.delivered + self.dropped + self.held,
            delivered=self.delivered,
            dropped=self.dropped,
            held=self.held,
            own=own,
            others=others,
            earlier=self.dropped + self.held - own - others,
            errors=self.outcomes["error"],
        )


def total_of(rows: Iterable[Row]) -> Row:
    """Return the sum of some rows."""
    return Row(*map(sum, zip(*rows, strict=True)))
