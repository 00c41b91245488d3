"""The life of each page after its verdict. This module alone follows it, and tells the listeners.

A page is kept when the gate passes it, long before its callback and its items are finished. If one
of these fails, the page is taken back: its record is forgotten.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.datatypes import LocalCache

from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.verdict import VERDICT_KEY, Verdict, verdict_of
from simhash_gate.plugin.followed import FollowedPage, Stage
from simhash_gate.plugin.item_values import AWAITED, DIGEST, packed, said_by
from simhash_gate.plugin.listeners import Crawl, Judged, Listeners
from simhash_gate.plugin.requests import AGAIN_KEY, STORED_FLAG
from simhash_gate.plugin.signals import item_held
from simhash_gate.plugin.yields import fields_of, values_of
from simhash_gate.stores import Record
from simhash_gate.stores.base import Identity

# The least size that Scrapy counts for a response it works on (scrapy.core.scraper.Slot).
MIN_RESPONSE_SIZE = 1024
SWALLOWED = frozenset({Stage.PASSED, Stage.ENTERING})
"""A page in one of these stages is lost when the crawl is idle."""
MOST_ITEMS = 1_000
"""Items of a page that wait until its callback has ended. Further ones are held back."""


class Lifecycle:
    """Follows the pages of one crawl until they can't fail any more.

    `sees_end` tells whether the middlewares report the ends of callbacks and of items. `settles`
    tells whether it marks such pages as settled in the store.
    """

    def __init__(self, crawl: Crawl, listeners: Listeners) -> None:
        self.sees_end = self.settles = False
        self.listeners = listeners
        self._parked = crawl.parked
        self._store = crawl.store
        self._crawler = crawl.crawler
        self._stats = crawl.crawler.stats
        self._followed, self._yields = crawl.followed, crawl.yields
        self._kept: OrderedDict[Identity, FollowedPage] = OrderedDict()
        self._copies: WeakKeyDictionary[Request, FollowedPage] = WeakKeyDictionary()
        self._unpaid: dict[FollowedPage, None] = {}  # those copies that pay for another page
        settings = crawl.crawler.settings
        # While the responses that Scrapy works on exceed a size, it fetches no more. So it can't
        # work any more on a page after which this many pages were kept.
        self._most = (
            1000
            + 4 * settings.getint("CONCURRENT_REQUESTS")
            + (settings.getint("SCRAPER_SLOT_MAX_ACTIVE_SIZE") // MIN_RESPONSE_SIZE)
        )
        self._forgotten: LocalCache[Identity, None] = LocalCache(self._most)

    def was_forgotten(self, record: Record) -> bool:
        """Tell whether the page of a record has failed since it was kept."""
        return record.identity in self._forgotten

    def opened(self, spider: Spider) -> None:
        """Restore the requests of the last part of the job, and tell that the spider was opened."""
        self._parked.restore(spider)
        self.listeners.tell("opened", spider)

    def judged(self, judged: Judged) -> None:
        """Follow a page from its verdict on, if it can still fail."""
        page: FollowedPage | None = None
        verdict = judged.verdict
        url = without_credentials(judged.response.url)
        if verdict.record is not None:
            wanted = self._yields.wanted(verdict.record)
            page = self._keep(verdict.record, url)
            if verdict.outcome == "unchanged" and not wanted:
                page.given += 1  # it gave something at an earlier visit
        elif verdict.match and self.sees_end and not judged.dropped and judged.action != "tag":
            page = self._copies[judged.request] = FollowedPage(None, url)
            kept = page.stands_for = verdict.match.record
            unknown = kept.identity not in self._followed and self._yields.wanted(kept) == "nothing"
            if verdict.unpaid or unknown or not judged.held:
                self._pays(page)
        self.listeners.tell("judged", judged, page)

    def found(self, request: Request, response: Response) -> bool:
        """Tell the listeners that a page led to a request. Return whether it may be sent."""
        if (page := self._of(response.request)) is not None:
            page.polls |= AGAIN_KEY in request.meta
        return all(self.listeners.tell("found", request, response))

    def reached(self, request: Request, stage: Stage = Stage.RECEIVED) -> None:
        """Note that a page has reached a stage. By default, Scrapy has received it, and no other
        downloader middleware swallowed it."""
        page = self._of(request)
        if page is not None and page.stage < stage:
            page.stage = stage

    def awaited(self, request: Request, digest: int) -> None:
        """Note the digest of what the callback of a page has awaited: its items belong to both.

        What is awaited after the callback, such as by `FilesPipeline`, makes no other items.
        """
        page = self._of(request)
        if page is not None and page.stage is Stage.IN_CALLBACK:
            page.said.setdefault(AWAITED, set()).add(digest & DIGEST)

    def finished(self, request: Request | None) -> None:
        """Note that the callback has yielded its last output."""
        page = self._of(request)
        if page is not None and page.stage is Stage.IN_CALLBACK:
            page.stage = Stage.FINISHED

    def item_out(self, response: Response, item: Any) -> bool:
        """Note that an item leaves the spider middlewares. Return whether it may go on."""
        page, verdict = self._of(response.request), verdict_of(response)
        if item is None:
            return True
        if page is not None and verdict is not None:
            filled, empty = fields_of(values := values_of(item))
            for name, value in filled.items():
                page.filled.setdefault(name, []).append(value)
            page.empty |= empty
            if self.settles and STORED_FLAG not in response.flags:  # else it says nothing else
                asked = response.request.url if response.request else ""
                own = {response.url, asked, verdict.canonical_url}
                for name, digests in said_by(values, own).items():
                    page.said.setdefault(name, set()).update(digests)
        if verdict is not None and verdict.held:
            if page is None or len(page.waiting) >= MOST_ITEMS:
                self._hold(item, response, verdict)
            else:
                page.waiting.append(item)
            return False
        if page is not None:
            page.items += 1
        return True

    def items_left(self, response: Response) -> list[Any]:
        """Return the items that waited for the end of the callback, if they bring anything new."""
        page, verdict = self._of(response.request), verdict_of(response)
        if page is None or verdict is None:
            return []
        items, page.waiting = page.waiting, []
        if items and self._yields.brings(verdict, page):
            self._pays(page)
            page.items += len(items)
            return items
        for item in items:
            self._hold(item, response, verdict)
        return []

    def _hold(self, item: Any, response: Response, verdict: Verdict) -> None:
        self._stats.inc_value("simhash_gate/items_held")
        about = {"item": item, "response": response, "verdict": verdict}
        self._crawler.signals.send_catch_log(item_held, spider=self._crawler.spider, **about)

    def left(self, request: Request) -> None:
        """Note that the last output has left the spider middlewares.

        If the callback was cut short, or an errback was called in its place, the page has failed.
        """
        page = self._of(request)
        if page is None or page.stage in (Stage.PASSED, Stage.RECEIVED):
            return  # this output belongs to an earlier response: the request was sent again since
        if page.stage is not Stage.FINISHED:
            self._fail(page)
            return
        page.stage = Stage.LEFT
        self.listeners.tell("moved", page)
        self._settle(page)

    def item_done(self, response: Response | None, *, given: bool = False) -> None:
        """Note that an item was `given` or dropped."""
        if (page := self._of(getattr(response, "request", None))) is not None:
            page.items -= 1
            page.given += given
            self._settle(page)

    def failed(self, response: object) -> None:
        """Take back the page of a response: its callback, a middleware or an item failed."""
        if (page := self._of(getattr(response, "request", None))) is not None:
            self._fail(page)

    def idle(self) -> None:
        """Take back pages that got lost, now that nothing is on its way any more."""
        self._parked.idle()
        self.listeners.tell("idle")
        for page in (*self._kept.values(), *self._unpaid):
            if page.stage in SWALLOWED:
                self._fail(page)

    async def closed(self, spider: Spider, *, paused: bool) -> None:
        """Tell the listeners, one after the other, that the spider was closed."""
        self._parked.close(paused=paused)
        for page in list(self._kept.values()):
            self._let_go(page)
        await self.listeners.ask("closed")
        self._parked.keep(spider)

    def _of(self, request: Request | None) -> FollowedPage | None:
        verdict: Verdict | None = request.meta.get(VERDICT_KEY) if request is not None else None
        if request is None or verdict is None:
            return None
        if verdict.record is not None:
            return self._kept.get(verdict.record.identity)
        return self._copies.get(request)

    def _keep(self, record: Record, url: str) -> FollowedPage:
        self._forgotten.pop(record.identity, None)
        page = self._kept.setdefault(record.identity, FollowedPage(record, url))
        page.stage = Stage.PASSED
        self._followed.add(record.identity)
        self._kept.move_to_end(record.identity)
        while len(self._kept) > self._most:
            self._let_go(next(iter(self._kept.values())))
        return page

    def _pays(self, page: FollowedPage) -> None:
        """Let the copies of the page that this one stands for wait for its end."""
        assert page.stands_for is not None
        page.pays = True
        self._unpaid[page] = None
        self._followed.add(page.stands_for.identity)

    def _let_go(self, page: FollowedPage) -> None:
        """Stop following a page. It has failed if it never reached its callback."""
        if page.stage in SWALLOWED:
            self._fail(page)
        else:
            self._take_out(page, Stage.OUT_OF_SIGHT)

    def _settle(self, page: FollowedPage) -> None:
        if not self.sees_end or not page.decides or page.stage is not Stage.LEFT or page.items > 0:
            return
        settled = self._yields.ended(page)
        if self.settles and settled is not None:
            items = packed(page.said)
            self._store.submit(lambda gate: gate.note_items(settled, items))
            self._store.settle(settled)
        self._take_out(page, Stage.SETTLED)

    def _fail(self, page: FollowedPage) -> None:
        if page.record is not None:
            self._forgotten[page.record.identity] = None
            self._store.forget(page.record)
            self._stats.inc_value("simhash_gate/forgotten")
        self._take_out(page, Stage.FAILED)

    def _take_out(self, page: FollowedPage, stage: Stage) -> None:
        if page.record is not None:
            del self._kept[page.record.identity]
        self._unpaid.pop(page, None)
        if page.decides is not None:
            self._followed.discard(page.decides.identity)
        page.stage = stage
        self.listeners.tell("moved", page)
