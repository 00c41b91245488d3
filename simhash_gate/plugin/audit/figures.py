"""What the audit found, by domain: wrong drops among the compared ones, and how sure that is."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.proportion import wilson
from simhash_gate.plugin.listeners import Columns
from simhash_gate.plugin.stats import OTHERS
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.statscollectors import StatsCollector

    from simhash_gate.gate.policy import Policy

logger = logging.getLogger(__name__)

FEW = 30
"""Fewer pages than this give no more than a rough idea."""
TOO_MANY = 0.05
"""A share of wrong drops that is surely above this is worth a warning."""
MOST_DOMAINS = 10_000
MOST_FIELDS = 200


class AuditRow(NamedTuple):
    """The figures of one domain, or of all.

    Of the `audited` duplicates `compared` could be compared, of which `wrong` say something new.
    `low` and `high` bound the share of wrong drops, 0 to 1, at 95 % confidence. `fields` are those
    that differed, and `not_comparable` the reasons why pages were not compared, with their counts,
    the most frequent first.
    """

    domain: str
    audited: int
    compared: int
    wrong: int
    low: float
    high: float
    fields: tuple[tuple[str, int], ...]
    not_comparable: tuple[tuple[str, int], ...]

    def as_line(self) -> dict[str, Any]:
        """Return what a verdict log and a report say of it."""
        known = {name: getattr(self, name) for name in ("domain", "audited", "compared", "wrong")}
        return {"audit": known | {"fields": dict(self.fields)}}

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the closing table."""
        share = f"{100 * self.low:.1f}–{100 * self.high:.1f}" if self.compared else "-"
        return str(self.audited), str(self.compared), str(self.wrong), share

    @property
    def is_bad(self) -> bool:
        """Whether more drops than can be put up with are wrong, at 95 % confidence."""
        return self.low > TOO_MANY


@dataclass(slots=True)
class DomainFigures:
    """The counts of one domain."""

    audited: int = 0
    compared: int = 0
    wrong: int = 0
    warned: bool = False
    fields: Counter[str] = field(default_factory=Counter)
    not_comparable: Counter[str] = field(default_factory=Counter)

    def row(self, domain: str) -> AuditRow:
        """Return the counts with the interval they give."""
        return AuditRow(
            domain,
            self.audited,
            self.compared,
            self.wrong,
            *wilson(self.wrong, self.compared),
            tuple(self.fields.most_common()),
            tuple(self.not_comparable.most_common()),
        )


class AuditFigures:
    """Counts in Scrapy's stats as the crawl goes, and by domain."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._all = DomainFigures()
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
        for name in dict.fromkeys(fields):
            self._count(f"field/{self._field(name)}")
        for figures in self._of(domain):
            figures.compared += 1
            figures.wrong += bool(fields)
            figures.fields.update(self._field(name) for name in dict.fromkeys(fields))
        _, figures = self._of(domain)
        if fields and not figures.warned and (row := figures.row(domain)).is_bad:
            figures.warned = True
            logger.warning("Audit of %s: %s. %s", domain, _wrong(row), _advice(row, policy))

    def not_comparable(self, domain: str, reason: str) -> None:
        """Count a page that was chosen and could not be compared."""
        self._count("not_comparable", f"not_comparable/{reason}")
        for figures in self._of(domain):
            figures.not_comparable[reason] += 1

    @property
    def total(self) -> AuditRow:
        """The figures of all domains together."""
        return self._all.row("")

    def rows(self) -> list[AuditRow]:
        """Return the figures of each domain that had a page audited, most pages first."""
        rows = [figures.row(domain) for domain, figures in self._domains.items()]
        return sorted(rows, key=lambda row: -row.audited)

    def columns(self) -> Columns:
        """Return the columns of the closing table."""

        def cells(domain: str) -> tuple[str, ...]:
            return self._domains.get(domain, DomainFigures()).row(domain).cells()

        heads = ("audited", "compared", "wrong", "% wrong (95 %)")
        return Columns(heads, cells, self.total.cells())

    def close(self) -> None:
        """Write the closing figures: stats, and a line in the log."""
        for domain, figures in self._domains.items():
            for _ in range(figures.audited - figures.compared - figures.not_comparable.total()):
                self.not_comparable(domain, "unfinished")
        for row in self.rows():
            for name in ("audited", "compared", "wrong"):
                self._set(f"{name}/{row.domain}", getattr(row, name))
            if row.compared:
                self._set(f"wrong_low/{row.domain}", round(row.low, 4))
                self._set(f"wrong_high/{row.domain}", round(row.high, 4))
        if self.total.compared:
            self._set("wrong_low", round(self.total.low, 4))
            self._set("wrong_high", round(self.total.high, 4))
        bad = [row.domain for row in self.rows() if row.is_bad]
        level = logging.WARNING if bad or self.total.is_bad else logging.INFO
        of = f" (too many in {', '.join(bad[:10])})" if bad else ""
        logger.log(level, "Audit: %s%s", _summary(self.total), of)

    def _of(self, domain: str) -> tuple[DomainFigures, DomainFigures]:
        if domain not in self._domains and len(self._domains) >= MOST_DOMAINS:
            domain = OTHERS
        return self._all, self._domains.setdefault(domain, DomainFigures())

    def _field(self, name: str) -> str:
        known = self._all.fields
        return name if name in known or len(known) < MOST_FIELDS else OTHERS

    def _count(self, *names: str) -> None:
        for name in names:
            self._stats.inc_value(f"simhash_gate/audit/{name}")

    def _set(self, name: str, value: float) -> None:
        self._stats.set_value(f"simhash_gate/audit/{name}", value)


def _summary(row: AuditRow) -> str:
    """Say the figures in a sentence or two."""
    if not row.audited:
        return "no duplicate was chosen; a larger share chooses more"
    if not row.compared:
        said = f"none of {row.audited} audited duplicates could be compared"
    else:
        said = _wrong(row)
    if row.fields:
        said += f"; fields that differ: {_listed(row.fields)}"
    if row.not_comparable:
        said += f"; not comparable: {_listed(row.not_comparable)}"
    if 0 < row.compared < FEW:
        said += ". These are few pages: a larger share gives a narrower interval"
    return said


def _wrong(row: AuditRow) -> str:
    return (
        f"{row.wrong} of {row.compared} compared duplicates were wrong drops: "
        f"{row.wrong / row.compared:.1%} (95 % interval {row.low:.1%} to {row.high:.1%})"
    )


def _advice(row: AuditRow, policy: Policy) -> str:
    """Say what to do about wrong drops."""
    ways = [f"lower its threshold of {policy.threshold} ({PREFIX}DOMAINS)"] * (policy.threshold > 0)
    ways += [f"compare its words ({PREFIX}VERIFY = 'text')"] * (policy.verify != "text")
    ways += [f"drop nothing of it ({PREFIX}ACTION = 'tag')"]
    return (
        f"If these pages are no copies, {', or '.join(ways)}. If the fields that differ "
        f"({_listed(row.fields)}) are no content, name those that are in {PREFIX}AUDIT_FIELDS"
    )


def _listed(counts: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts[:10])
