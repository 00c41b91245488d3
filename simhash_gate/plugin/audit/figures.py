"""What the audit found, by domain: wrong drops among the compared ones, and how sure that is."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simhash_gate.report.judged import FEW, Audited
from simhash_gate.report.summary import MOST_TALLIES, OTHERS
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.statscollectors import StatsCollector

    from simhash_gate.gate.policy import Policy

logger = logging.getLogger(__name__)

MOST_FIELDS = 200


@dataclass(slots=True)
class DomainFigures(Audited):
    """The counts of one domain, or of all; `not_comparable` has why pages were not compared."""

    warned: bool = False
    not_comparable: Counter[str] = field(default_factory=Counter)

    def as_line(self) -> dict[str, Any]:
        """Return what a verdict log and a report say of it."""
        known = {name: getattr(self, name) for name in ("domain", "audited", "compared", "wrong")}
        return {"audit": known | {"fields": dict(self.fields.most_common())}}


class AuditFigures:
    """Counts in Scrapy's stats as the crawl goes, and by domain."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self.total = DomainFigures("")
        self._domains: dict[str, DomainFigures] = {}

    def audited(self, domain: str) -> None:
        """Count a duplicate that was chosen."""
        self._count("audited")
        for figures in self._of(domain):
            figures.audited += 1

    def compared(self, domain: str, fields: Collection[str], policy: Policy) -> None:
        """Count a page whose items were compared; `fields` are those that differed.

        The log warns of a domain once, as soon as too many of its drops are wrong. `policy` is
        the page's.
        """
        self._count("compared", *["wrong"] * bool(fields))
        for name in fields:
            self._count(f"field/{self._field(name)}")
        for figures in self._of(domain):
            figures.compared += 1
            figures.wrong += bool(fields)
            figures.fields.update(self._field(name) for name in fields)
        _, figures = self._of(domain)
        if fields and figures.band == "bad" and not figures.warned:
            figures.warned = True
            logger.warning("Audit of %s: %s. %s", domain, _wrong(figures), _advice(figures, policy))

    def not_comparable(self, domain: str, reason: str) -> None:
        """Count a page that was chosen and could not be compared."""
        self._count("not_comparable", f"not_comparable/{reason}")
        for figures in self._of(domain):
            figures.not_comparable[reason] += 1

    def rows(self) -> list[DomainFigures]:
        """Return the figures of each domain that had a page audited, most pages first."""
        return sorted(self._domains.values(), key=lambda figures: -figures.audited)

    def close(self) -> None:
        """Write the closing figures: stats, and a line in the log."""
        for domain, figures in self._domains.items():
            for _ in range(figures.audited - figures.compared - figures.not_comparable.total()):
                self.not_comparable(domain, "unfinished")
        for row in self.rows():
            for name in ("audited", "compared", "wrong"):
                self._set(f"{name}/{row.domain}", getattr(row, name))
            self._set_interval(row, f"/{row.domain}")
        self._set_interval(self.total, "")
        bad = [row.domain for row in self.rows() if row.band == "bad"]
        level = logging.WARNING if bad or self.total.band == "bad" else logging.INFO
        of = f" (too many in {', '.join(bad[:10])})" if bad else ""
        logger.log(level, "Audit: %s%s", _summary(self.total), of)

    def _of(self, domain: str) -> tuple[DomainFigures, DomainFigures]:
        if domain not in self._domains and len(self._domains) >= MOST_TALLIES:
            domain = OTHERS
        return self.total, self._domains.setdefault(domain, DomainFigures(domain))

    def _field(self, name: str) -> str:
        known = self.total.fields
        return name if name in known or len(known) < MOST_FIELDS else OTHERS

    def _count(self, *names: str) -> None:
        for name in names:
            self._stats.inc_value(f"simhash_gate/audit/{name}")

    def _set_interval(self, figures: DomainFigures, suffix: str) -> None:
        if figures.compared:
            for name, bound in zip(("wrong_low", "wrong_high"), figures.interval, strict=True):
                self._set(name + suffix, round(bound, 4))

    def _set(self, name: str, value: float) -> None:
        self._stats.set_value(f"simhash_gate/audit/{name}", value)


def _summary(row: DomainFigures) -> str:
    """Say the figures in a sentence or two."""
    if not row.audited:
        return "no duplicate was chosen; a larger share chooses more"
    if not row.compared:
        summary = f"none of {row.audited} audited duplicates could be compared"
    else:
        summary = _wrong(row)
    if row.fields:
        summary += f"; fields that differ: {_listed(row.fields)}"
    if row.not_comparable:
        summary += f"; not comparable: {_listed(row.not_comparable)}"
    if 0 < row.compared < FEW:
        summary += ". These are few pages: a larger share gives a narrower interval"
    return summary


def _wrong(row: DomainFigures) -> str:
    low, high = row.interval
    return (
        f"{row.wrong} of {row.compared} compared duplicates were wrong drops: "
        f"{row.wrong / row.compared:.1%} (95 % interval {low:.1%} to {high:.1%})"
    )


def _advice(row: DomainFigures, policy: Policy) -> str:
    """Say what to do about wrong drops."""
    ways = [f"lower its threshold of {policy.threshold} ({PREFIX}DOMAINS)"] * (policy.threshold > 0)
    ways += [f"look closer at its pages ({PREFIX}VERIFY = True)"] * (not policy.verify)
    ways += [f"drop nothing of it ({PREFIX}ACTION = 'tag')"]
    return (
        f"If these pages are no copies, {', or '.join(ways)}. If the fields that differ "
        f"({_listed(row.fields)}) are no content, name those that are in {PREFIX}AUDIT_FIELDS"
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common(10))
