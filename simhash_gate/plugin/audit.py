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
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.gate.policy import SettingsError, registered_domain
from simhash_gate.plugin.audit_figures import AuditFigures
from simhash_gate.plugin.audit_log import AuditLog
from simhash_gate.plugin.items import Reader, Snapshot, Value
from simhash_gate.plugin.names import VERDICT_KEY
from simhash_gate.plugin.places import fill_in
from simhash_gate.plugin.spider_middleware import sees_pages_end
from simhash_gate.settings import PREFIX

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.recovery import Identity
    from simhash_gate.settings import Settings

logger = logging.getLogger(__name__)

NEEDS_SPIDER_MIDDLEWARES = (
    f"{PREFIX}AUDIT needs the spider middlewares, to see the items of pages: install the add-on, "
    "ADDONS = {'simhash_gate.Addon': 0}"
)
NOT_REMEMBERED = (
    "a request asks for an audit, but the items of kept pages are not remembered: set "
    f"{PREFIX}AUDIT, or audit in {PREFIX}DOMAINS"
)
MOST_ITEMS = 100
"""A page with more items is not compared."""
MOST_BYTES = 32 * 1024 * 1024
_ENTRY_BYTES = 1024


@dataclass(slots=True, eq=False)
class Harvest:
    """The items that came out of one page so far.

    `entered` and `finished` tell that its callback began and came to its end; `whole` that all of
    its items are there; `failure` why they never will be.
    """

    items: list[bytes] = field(default_factory=list)
    entered: bool = False
    finished: bool = False
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
class KeptPage(Harvest):
    """The items of a kept page, and the audited pages that wait for them."""

    waiting: list[AuditedPage] = field(default_factory=list)


@dataclass(slots=True, eq=False, kw_only=True)
class AuditedPage(Harvest):
    """The items of a duplicate, with what it is a duplicate of."""

    url: str
    domain: str
    verdict: Verdict


def audit_of(crawler: Crawler, settings: Settings) -> Audit | None:
    """Return the audit that the settings ask for, if any. Raises `SettingsError`."""
    if settings.recover or not any(policy.audit for policy in settings.policies.all):
        return None
    if not sees_pages_end(crawler.settings):
        raise SettingsError(NEEDS_SPIDER_MIDDLEWARES)
    spider = crawler.spider or crawler.spidercls  # `scrapy shell` makes its spider later
    log = fill_in(settings.audit_log, spider.name)
    return Audit(replace(settings, audit_log=log), crawler.stats)


class Audit:
    """Chooses duplicates, follows them and the kept pages through the spider, and compares."""

    def __init__(self, settings: Settings, stats: StatsCollector) -> None:
        self.figures = AuditFigures(stats)
        self.log = AuditLog(settings.audit_log)
        self._reader = Reader(settings.audit_fields, began=time.time())
        # Of one crawl, so that a retry is chosen alike, and not the same pages day after day.
        self._seed = secrets.token_bytes(16)
        self._kept: OrderedDict[Identity, KeptPage] = OrderedDict()
        self._bytes = 0
        self._audited: WeakKeyDictionary[Request, AuditedPage] = WeakKeyDictionary()

    def judged(
        self, request: Request, response: Response, verdict: Verdict, fingerprint: str, run: str
    ) -> Verdict:
        """Return the verdict, `audited` if the page is chosen. `run` is this crawl's."""
        if verdict.record is not None:
            if verdict.policy.audit:
                self._keep(verdict.record.identity)
        elif verdict.outcome == "duplicate" and self._chooses(fingerprint, verdict.policy.audit):
            assert verdict.match is not None
            domain = registered_domain(host_of(response.url))
            self.figures.audited(domain)
            if verdict.match.record.run != run:
                self.figures.not_comparable(domain, "other_crawl")
                return verdict
            verdict = replace(verdict, audited=True)
            url = without_credentials(response.url)
            page = AuditedPage(url=url, domain=domain, verdict=verdict)
            self._audited[request] = page
        return verdict

    def entered(self, request: Request) -> None:
        """Take note that the page has reached its callback."""
        if page := self._page(request):
            page.entered = True

    def item(self, response: Response, item: Any) -> None:
        """Take in an item on its way to the pipelines."""
        request = response.request
        page = self._page(request) if request is not None else None
        if request is None or page is None or page.whole or page.failure:
            return
        before = page.size
        try:
            page.add(self._reader.snapshot(item, response, request.meta[VERDICT_KEY]))
        except Exception as error:
            url = without_credentials(response.url)
            logger.debug("An item of %s can't be compared: %r", url, error)
            page.failure = "unreadable_item"
        if isinstance(page, KeptPage):
            self._bytes += page.size - before
            self._make_room()

    def finished(self, request: Request) -> None:
        """Take note that the callback has said all it has to say."""
        if page := self._page(request):
            page.finished = True

    def failed(self, request: Request) -> None:
        """Take note that the callback failed, or another middleware did."""
        if page := self._page(request):
            self._end(request, page, page.failure or "failed")

    def left(self, request: Request) -> None:
        """Take note that the last output is out; a callback that was cut short has failed."""
        if page := self._page(request):
            well = page.entered and page.finished
            self._end(request, page, page.failure or ("" if well else "failed"))

    def close(self) -> AuditFigures:
        """Write the closing figures, and return them."""
        self.figures.close()
        if self.figures.total.audited and self._reader.unseen:
            names = ", ".join(sorted(self._reader.unseen))
            logger.warning("%sAUDIT_FIELDS: no item has a value in %s", PREFIX, names)
        return self.figures

    def _chooses(self, fingerprint: str, share: float) -> bool:
        digest = blake2b(fingerprint.encode(), key=self._seed, digest_size=8).digest()
        return int.from_bytes(digest, "big") < share * 2**64

    def _page(self, request: Request) -> KeptPage | AuditedPage | None:
        verdict: Verdict | None = request.meta.get(VERDICT_KEY)
        if verdict is None:
            return None
        if verdict.audited:
            return self._audited.get(request)
        return self._kept.get(verdict.record.identity) if verdict.record is not None else None

    def _keep(self, identity: Identity) -> None:
        """Get ready for the items of a kept page; what came of an earlier attempt is void."""
        page = KeptPage()
        before = self._kept.pop(identity, None)
        if before is not None:
            page.waiting = before.waiting
            self._bytes -= before.size
        self._kept[identity] = page
        self._bytes += page.size
        self._make_room()

    def _make_room(self) -> None:
        while self._bytes > MOST_BYTES:
            _, page = self._kept.popitem(last=False)
            self._bytes -= page.size
            for audited in page.waiting:
                self._not_comparable(audited, "forgotten")
            page.waiting.clear()

    def _end(self, request: Request, page: KeptPage | AuditedPage, failure: str) -> None:
        """Compare what can be compared now that all items of a page are there, or never will be."""
        if page.whole:
            return
        page.whole, page.failure = True, failure
        if isinstance(page, KeptPage):
            waiting, page.waiting = page.waiting, []
            for audited in waiting:
                self._compare(page, audited)
            return
        self._audited.pop(request, None)
        if page.failure:
            self._not_comparable(page, page.failure)
        elif not any(page.snapshots()):
            self._not_comparable(page, "no_items")
        else:
            self._find_kept(page)

    def _find_kept(self, page: AuditedPage) -> None:
        assert page.verdict.match is not None
        identity = page.verdict.match.record.identity
        kept = self._kept.get(identity)
        if kept is None:
            self._not_comparable(page, "forgotten")
        elif kept.whole:
            self._kept.move_to_end(identity)
            self._compare(kept, page)
        else:
            kept.waiting.append(page)

    def _compare(self, kept: KeptPage, page: AuditedPage) -> None:
        if kept.failure:
            reason = "kept_page_failed" if kept.failure == "failed" else kept.failure
            self._not_comparable(page, reason)
            return
        differences = self._reader.news(kept.snapshots(), page.snapshots())
        fields = [difference.field for difference in differences]
        self.figures.compared(page.domain, fields, page.verdict.policy)
        self.log.write(page.url, page.verdict, differences)
        if differences:
            assert page.verdict.match is not None
            logger.warning(
                "Wrong drop? %s says what %s does not (%s): %s",
                page.url,
                page.verdict.match.record.url,
                page.verdict.reason,
                "; ".join(f"{field}: {change}" for field, change in differences),
            )

    def _not_comparable(self, page: AuditedPage, reason: str) -> None:
        self.figures.not_comparable(page.domain, reason)
