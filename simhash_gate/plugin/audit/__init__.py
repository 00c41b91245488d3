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
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from simhash_gate.common.urls import without_credentials
from simhash_gate.plugin.audit.figures import AuditFigures
from simhash_gate.plugin.audit.items import FieldDifference, Reader, Snapshot, Value
from simhash_gate.plugin.bounded import Bounded
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Identity, Judged, Listener, Stage
from simhash_gate.plugin.threads import LineThread
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response
    from typing_extensions import Self

    from simhash_gate.gate.verdict import Verdict

logger = logging.getLogger(__name__)

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
        if verdict.outcome != "duplicate" or not self._chooses(fingerprint, verdict.policy.audit):
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
            if verdict.policy.audit:
                self._keep(page.record.identity)
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
            self._not_comparable(harvest, harvest.failure)
        elif not any(harvest.snapshots()):
            self._not_comparable(harvest, "no_items")
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

    def _chooses(self, fingerprint: str, share: float) -> bool:
        digest = blake2b(fingerprint.encode(), key=self._seed, digest_size=8).digest()
        return int.from_bytes(digest, "big") < share * 2**64

    def _harvest(self, page: FollowedPage) -> KeptHarvest | AuditedHarvest | None:
        if page.record is None:
            return self._audited.get(page)
        return self._kept.get(page.record.identity)

    def _keep(self, identity: Identity) -> None:
        """Get ready for the items of a kept page; what came of an earlier attempt is void."""
        before = self._kept.get(identity)
        self._put(identity, KeptHarvest(waiting=before.waiting if before is not None else []))

    def _put(self, identity: Identity, harvest: KeptHarvest) -> None:
        for gone in self._kept.put(identity, harvest, harvest.size):
            for audited in gone.waiting:
                self._not_comparable(audited, "forgotten")
            gone.waiting.clear()

    def _find_kept(self, page: AuditedHarvest) -> None:
        assert page.verdict.match is not None
        identity = page.verdict.match.record.identity
        kept = self._kept.get(identity)
        if kept is None:
            self._not_comparable(page, "forgotten")
        elif kept.whole:
            self._compare(kept, page)
        else:
            kept.waiting.append(page)

    def _compare(self, kept: KeptHarvest, page: AuditedHarvest) -> None:
        if kept.failure:
            reason = "kept_page_failed" if kept.failure == "failed" else kept.failure
            self._not_comparable(page, reason)
            return
        self._thread.start()
        self._thread.put((kept, page))

    def _compare_all(self, batches: Iterator[list[tuple[KeptHarvest, AuditedHarvest]]]) -> None:
        """Compare pages, off the event loop: long items take their time."""
        for kept, page in chain.from_iterable(batches):
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
                self._not_comparable(page, "unreadable_item")
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

    def _not_comparable(self, page: AuditedHarvest, reason: str) -> None:
        self.figures.not_comparable(page.domain, reason)
