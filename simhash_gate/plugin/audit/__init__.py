"""The spider's own items as witness: were the dropped pages copies of those they were dropped for?

A share of the duplicates goes to the spider after all. What comes out of each is compared with what
came out of the kept page, once both are through; the share of those that say something new is an
estimate of the share of wrong drops.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
import zlib
from collections import Counter, deque
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.http import Response

from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin.audit.items import FieldDifference, Reader, Snapshot, Value
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener, Stage
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.threads import LineThread
from simhash_gate.report.judged import FEW, Audited
from simhash_gate.report.summary import MOST_TALLIES, OTHERS
from simhash_gate.stores.base import Identity
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector
    from typing_extensions import Self


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


MOST_ITEMS = 100
"""A page with more items is not compared."""
MOST_BYTES = 32 * 1024 * 1024
_ENTRY_BYTES = 1024


@dataclass(slots=True, eq=False)
class Harvest:
    """The items that came out of one page so far.

    `whole` tells that all of its items are there, or never will be; `failure` why they won't.
    """

    items: list[bytes] = field(default_factory=list)
    whole: bool = False
    failure: str = ""

    @property
    def size(self) -> int:
        """The bytes that it takes, roughly."""
        return _ENTRY_BYTES + sum(map(len, self.items))

    def add(self, item: Snapshot) -> None:
        """Take an item in."""
        if len(self.items) < MOST_ITEMS:
            self.items.append(zlib.compress(json.dumps(item).encode(), 1))
        else:
            self.failure = "too_many_items"

    def snapshots(self) -> list[Snapshot]:
        """Return the items."""
        return [
            {name: Value(*value) for name, value in json.loads(zlib.decompress(item)).items()}
            for item in self.items
        ]


@dataclass(slots=True, eq=False)
class KeptHarvest(Harvest):
    """The items of a kept page, and the audited pages that wait for them."""

    waiting: list[AuditedHarvest] = field(default_factory=list)


@dataclass(slots=True, eq=False, kw_only=True)
class AuditedHarvest(Harvest):
    """The items of a duplicate, with what it is a duplicate of."""

    url: str
    domain: str
    verdict: Verdict


class Audit(Listener):
    """Chooses duplicates, gathers their items and those of the kept pages, and compares them."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self.figures = AuditFigures(crawl.crawler.stats)
        self._thread = LineThread("audited pair", self._compare_all)
        self._compared: deque[tuple[AuditedHarvest, list[FieldDifference] | None]] = deque()
        self._reader = Reader(crawl.settings.audit_fields, began=time.time())
        # Of one crawl, so that a retry is chosen alike, and not the same pages day after day.
        self._seed = secrets.token_bytes(16)
        self._kept: Bounded[Identity, KeptHarvest] = Bounded(MOST_BYTES)
        self._audited: WeakKeyDictionary[FollowedPage, AuditedHarvest] = WeakKeyDictionary()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the audit that the settings ask for, if any."""
        return cls(crawl) if crawl.settings.audits and not crawl.settings.recover else None

    def choose(self, domain: str, fingerprint: str, verdict: Verdict) -> Verdict:
        """Return the verdict, `audited` if the page is chosen."""
        if verdict.outcome != "duplicate":
            return verdict
        digest = blake2b(fingerprint.encode(), key=self._seed, digest_size=8).digest()
        if int.from_bytes(digest, "big") >= verdict.policy.audit * 2**64:
            return verdict
        assert verdict.match is not None
        self.figures.audited(domain)
        if verdict.match.record.run != self._crawl.store.run.name:
            self.figures.not_comparable(domain, "other_crawl")
            return verdict
        return replace(verdict, audited=True)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Get ready for the items of a kept page, or of one that was chosen."""
        self._note_compared()
        verdict = judged.verdict
        if page is None:
            return
        if page.record is not None:
            if verdict.policy.audit:  # what came of an earlier attempt is void
                before = self._kept.get(page.record.identity)
                waiting = before.waiting if before is not None else []
                self._put(page.record.identity, KeptHarvest(waiting=waiting))
        elif verdict.audited:
            url = without_credentials(judged.response.url)
            harvest = AuditedHarvest(url=url, domain=judged.domain, verdict=verdict)
            self._audited[page] = harvest

    def item(self, page: FollowedPage, response: Response, item: Any) -> None:
        """Take in an item on its way to the pipelines."""
        harvest = self._harvest(page)
        if harvest is None or harvest.whole or harvest.failure:
            return
        try:
            harvest.add(self._reader.snapshot(item, response))
        except Exception as error:
            url = without_credentials(response.url)
            logger.debug("An item of %s can't be compared: %r", url, error)
            harvest.failure = "unreadable_item"
        if isinstance(harvest, KeptHarvest) and page.record is not None:
            self._put(page.record.identity, harvest)

    def moved(self, page: FollowedPage) -> None:
        """Compare what can be compared now that all items of a page are there, or never will be."""
        harvest = self._harvest(page)
        if harvest is None or harvest.whole or page.stage not in (Stage.LEFT, Stage.FAILED):
            return
        harvest.whole = True
        if page.stage is Stage.FAILED and not harvest.failure:
            harvest.failure = "failed"
        if isinstance(harvest, KeptHarvest):
            waiting, harvest.waiting = harvest.waiting, []
            for audited in waiting:
                self._compare(harvest, audited)
        elif harvest.failure:
            self.figures.not_comparable(harvest.domain, harvest.failure)
        elif not any(harvest.snapshots()):
            self.figures.not_comparable(harvest.domain, "no_items")
        else:
            self._find_kept(harvest)

    async def closed(self) -> None:
        """Write the closing figures, and leave them to the table and the verdict log."""
        await self._thread.close()
        self._note_compared()
        self.figures.close()
        self._crawl.lines.extend(row.as_line() for row in self.figures.rows())
        if self.figures.total.audited and self._reader.unseen:
            names = ", ".join(sorted(self._reader.unseen))
            logger.warning("%sAUDIT_FIELDS: no item has a value in %s", PREFIX, names)

    def _harvest(self, page: FollowedPage) -> KeptHarvest | AuditedHarvest | None:
        if page.record is None:
            return self._audited.get(page)
        return self._kept.get(page.record.identity)

    def _put(self, identity: Identity, harvest: KeptHarvest) -> None:
        for gone in self._kept.put(identity, harvest, harvest.size):
            for audited in gone.waiting:
                self.figures.not_comparable(audited.domain, "forgotten")
            gone.waiting.clear()

    def _find_kept(self, page: AuditedHarvest) -> None:
        assert page.verdict.match is not None
        identity = page.verdict.match.record.identity
        kept = self._kept.get(identity)
        if kept is None:
            self.figures.not_comparable(page.domain, "forgotten")
        elif kept.whole:
            self._compare(kept, page)
        else:
            kept.waiting.append(page)

    def _compare(self, kept: KeptHarvest, page: AuditedHarvest) -> None:
        if kept.failure:
            reason = "kept_page_failed" if kept.failure == "failed" else kept.failure
            self.figures.not_comparable(page.domain, reason)
            return
        self._thread.start()
        self._thread.put((kept, page))

    def _compare_all(self, pairs: Iterator[tuple[KeptHarvest, AuditedHarvest]]) -> None:
        """Compare pages, off the event loop: long items take their time."""
        for kept, page in pairs:
            differences = None
            with suppress(Exception):  # what spiders yield can be nested too deeply
                differences = self._reader.news(kept.snapshots(), page.snapshots())
            self._compared.append((page, differences))

    def _note_compared(self) -> None:
        """Count the pages that were compared since, log the pairs, and warn of wrong drops.

        Of a pair, `a` is the kept page and `b` the dropped one; `duplicate` tells whether the items
        agree, `distance` is in bits, `fields` are those that differ.
        """
        while self._compared:
            page, differences = self._compared.popleft()
            if differences is None:
                self.figures.not_comparable(page.domain, "unreadable_item")
                continue
            fields = list(dict.fromkeys(difference.field for difference in differences))
            match = page.verdict.match
            assert match is not None
            pair = {"a": match.record.url, "b": page.url, "duplicate": not fields}
            pair |= {"distance": match.distance, "fields": fields}
            self._crawl.lines.append({"audit": "pair", **pair})
            self.figures.compared(page.domain, fields, page.verdict.policy)
            if differences:
                logger.warning(
                    "Wrong drop? %s says what %s does not (%s): %s",
                    *(page.url, match.record.url, page.verdict.reason),
                    "; ".join(f"{field}: {change}" for field, change in differences),
                )
