"""What a report of several crawlers shows of each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.report.findings import Finding, findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.report.counts import Counts, Tally
    from simhash_gate.report.fleet import Crawler, Fleet, Row
    from simhash_gate.report.pairs import Pair

MOST_WORST = 5
"""Domains that are shown of a crawler."""
MOST_SETTINGS = 30


class Section(NamedTuple):
    """One crawler: its figures, what looks wrong, and its worst domains, of which `more` are left.

    `sources` says whose pages its dropped pages were like. `settings` are those that are not the
    default, as text.
    """

    crawler: Crawler
    row: Row
    findings: list[Finding]
    sources: list[tuple[str, int]]
    domains: list[tuple[str, Tally]]
    more: int
    settings: list[str]


def sections(fleet: Fleet, pairs: Sequence[Pair]) -> Iterator[Section]:
    """Yield the section of each crawler. `pairs` are the duplicates of all that differ most."""
    for crawler, row in fleet.rows():
        own = [pair for pair in pairs if pair.page.crawler == crawler.number]
        ranked = _worst(crawler.counts)
        said = crawler.said.settings if crawler.said else {}
        settings = [f"{name} = {value}" for name, value in said.items()]
        yield Section(
            crawler,
            row,
            findings(crawler.counts, own),
            fleet.sources_of(crawler),
            ranked[:MOST_WORST],
            len(ranked) - len(ranked[:MOST_WORST]),
            settings[:MOST_SETTINGS],
        )


def _worst(counts: Counts) -> list[tuple[str, Tally]]:
    """Return the domains of a crawler, those first where most looks wrong."""

    def rank(item: tuple[str, Tally]) -> tuple[int, int, int, int]:
        tally = item[1]
        total = tally.outcomes.total()
        return -tally.named.dropped, -tally.outcomes["error"], -tally.dropped, -total

    return sorted(counts.domains.items(), key=rank)
