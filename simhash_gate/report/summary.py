"""All figures of a report, gathered in one pass over the verdicts, in bounded memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from simhash_gate.common.urls import host_of
from simhash_gate.common.wording import how_many
from simhash_gate.gate.policy import registered_domain
from simhash_gate.report.bounded import PAGES, SECONDS, Timeline, Top
from simhash_gate.report.counts import Counts
from simhash_gate.report.crawled import Crawled
from simhash_gate.report.doubt import Doubt, doubt
from simhash_gate.report.judged import ADVICE, Audited, Judged
from simhash_gate.report.unsent import UnsentRequests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_DUPLICATES = 500
MOST_NEAR = 500
ALIKE_IN_REPEATS = "alike only in what the site repeats"
MOST_NAMED = 5
"""Domains that are named because pages of many names are near each other."""
MOST_CRAWLS = 200


class Summary(Counts):
    """Counts by domain, distances, a timeline, clusters, and the pages worth a look."""

    def __init__(self) -> None:
        super().__init__()
        self.distances: Counter[tuple[int, str]] = Counter()
        self.of_other_names: Counter[tuple[int, str]] = Counter()
        self.thresholds: Counter[int] = Counter()
        self.by_time = Timeline(SECONDS)
        self.by_order = Timeline(PAGES)
        self.duplicates: Top[Judged] = Top(MOST_DUPLICATES)
        self.near: Top[Judged] = Top(MOST_NEAR)
        self.unsent = UnsentRequests()

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

    @property
    def timeline(self) -> Timeline:
        """By time if most verdicts have one; else by the order in which they came."""
        return self.by_time if self.by_time.seen > self.seen / 2 else self.by_order

    def add_line(self, line: Mapping[str, Any]) -> None:
        """Count a line of a verdict log. Lines of other kinds are passed over.

        Raises ValueError that names the key, if the value of a verdict is wrong.
        """
        if isinstance(line.get("crawl"), dict):
            self.crawls = [*self.crawls, Crawled.of(line["crawl"])][:MOST_CRAWLS]
        if isinstance(line.get("audit"), dict):
            self.audits.append(Audited.of(line["audit"]))
        elif isinstance(line.get("redesign"), dict):
            self.add_redesign(line["redesign"])
        elif "outcome" in line:
            self.add(Judged.of(line))
        elif "not_sent" in line:
            self.unsent.add(line)

    def add(self, page: Judged) -> None:
        """Count the verdict on one response."""
        self.take(page, *looked_at(page))

    def take(self, page: Judged, domain: str, found: Doubt | None) -> None:
        """Count the verdict on one response that `looked_at` has looked at."""
        if page.at is not None:
            self.by_time.add(page.at, page.outcome)
        self.by_order.add(self.seen, page.outcome)
        self.count(page, domain, found)
        # How far a page is from what it was tells nothing of how far other pages are.
        if page.distance is not None and page.outcome not in ("updated", "rewritten"):
            self.distances[page.distance, page.outcome] += 1
            self.of_other_names[page.distance, page.outcome] += page.has_another_name
            if page.threshold is not None:
                self.thresholds[page.threshold] += 1
        if found is not None:
            self.duplicates.add(found, page)
        elif page.outcome == "near":
            self.near.add((-(page.distance or 0), -doubt(page).growth), page)


def looked_at(page: Judged) -> tuple[str, Doubt | None]:
    """Return the domain of a page, and how doubtful it is that it is a duplicate, if it is one."""
    return registered_domain(host_of(page.url)), doubt(page) if page.is_duplicate else None
