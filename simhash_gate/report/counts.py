"""Counts of verdicts by domain, and what is found in them: of a crawl, or of one of several."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simhash_gate.report.bounded import COPIES, Clusters
from simhash_gate.report.crawled import Redesigned
from simhash_gate.report.judged import Named
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simhash_gate.report.crawled import Crawled
    from simhash_gate.report.doubt import Doubt
    from simhash_gate.report.judged import Audited, Judged

MOST_TALLIES = 10_000
MOST_REASONS = 1_000
MOST_REDESIGNS = 100
OTHERS = "(others)"


@dataclass(slots=True)
class Tally:
    """The counts of one domain. `differs` counts pages within the threshold that passed."""

    outcomes: Counter[str] = field(default_factory=Counter)
    dropped: int = 0
    bytes_saved: int = 0
    differs: Counter[str] = field(default_factory=Counter)
    named: Named = field(default_factory=Named)

    @property
    def checked(self) -> int:
        """How many pages were judged."""
        return self.outcomes.total() - self.outcomes["skipped"] - self.outcomes["kept"]

    def add(self, page: Judged) -> None:
        """Count one response."""
        self.outcomes[page.outcome] += 1
        if page.dropped:
            self.dropped += 1
            self.bytes_saved += page.size
        if page.differs:
            self.differs[page.differs] += 1
        if page.is_within and not page.is_revisit:
            self.named.add(other=page.has_another_name, dropped=page.dropped)

    def update(self, other: Tally) -> None:
        """Count what another tally has counted."""
        self.outcomes.update(other.outcomes)
        self.dropped += other.dropped
        self.bytes_saved += other.bytes_saved
        self.differs.update(other.differs)
        self.named.update(other.named)


class Counts:
    """Counts by domain, clusters, audits, and why pages were not judged (by outcome).

    `crawls` are those that the verdicts come from, as far as these say. `missed` counts verdicts
    that are missing in the figures, and `unusable` inputs that are no verdicts. `clusters` and
    `copies` say how many of them are kept.
    """

    def __init__(self, clusters: int = 10_000, copies: int = COPIES) -> None:
        self.total = Tally()
        self.domains: dict[str, Tally] = {}
        self.clusters = Clusters(clusters, copies)
        self.audits: list[Audited] = []
        self.crawls: list[Crawled] = []
        self.redesigns: list[Redesigned] = []
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.missed = self.unusable = 0

    def add_redesign(self, line: Mapping[str, Any]) -> None:
        """Take in what a line says of a site that was redesigned. Raises ValueError."""
        if len(self.redesigns) < MOST_REDESIGNS:
            self.redesigns.append(Redesigned.of(line))

    @property
    def seen(self) -> int:
        """How many responses were counted."""
        return self.total.outcomes.total()

    @property
    def of_many_names(self) -> list[tuple[str, Named]]:
        """The domains where pages of many names are near each other, the worst first."""
        found = [(domain, tally.named) for domain, tally in self.domains.items()]
        return sorted(
            [(domain, named) for domain, named in found if named.are_many],
            key=lambda item: -item[1].others,
        )

    def setting(self, name: str) -> str:
        """Return what all crawls say of a setting, by the end of its name; "" for the default."""
        said = {crawl.settings.get(PREFIX + name, "") for crawl in self.crawls}
        return said.pop() if len(said) == 1 else ""

    def reasons_of(self, outcome: str) -> list[tuple[str, int]]:
        """Return why pages had an outcome, and how many, the most frequent reason first."""
        return [(said, n) for (kind, said), n in self.reasons.most_common() if kind == outcome]

    def count(self, page: Judged, domain: str, doubt: Doubt | None) -> None:
        """Count the verdict on one response; `doubt` is None for a page that is no duplicate."""
        self.total.add(page)
        self._tally(domain).add(page)
        if doubt is not None:
            if page.kept is not None and page.outcome == "duplicate":
                self.clusters.add(page.kept, page, doubt)
        elif page.outcome in ("error", "skipped"):
            known = len(self.reasons) < MOST_REASONS or (page.outcome, page.reason) in self.reasons
            self.reasons[page.outcome, page.reason if known else OTHERS] += 1

    def _tally(self, domain: str) -> Tally:
        tally = self.domains.get(domain)
        if tally is None:
            if len(self.domains) >= MOST_TALLIES:
                domain = OTHERS
            tally = self.domains.setdefault(domain, Tally())
        return tally
