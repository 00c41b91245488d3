"""The downloader middleware: every response passes it, and gets a verdict."""

from __future__ import annotations

import gc
import logging
from weakref import WeakSet

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.utils.job import job_dir

from simhash_gate.gate.verdict import VERDICT_KEY, Verdict
from simhash_gate.identity.keys import Keys
from simhash_gate.options import pipeline_version
from simhash_gate.plugin.crawl_settings import check, store_url
from simhash_gate.plugin.deliveries import Deliveries
from simhash_gate.plugin.features import listeners_of
from simhash_gate.plugin.judging import PageJudge
from simhash_gate.plugin.lifecycle import Lifecycle
from simhash_gate.plugin.listeners import Crawl, Listeners
from simhash_gate.plugin.parked import ParkedRequests
from simhash_gate.plugin.requests import DROPPED_KEY, mark_from_errback, mark_inline
from simhash_gate.plugin.spider_middleware import (
    CrawlGate,
    only_looks,
    refusing,
    sees_pages_end,
    settings_of,
)
from simhash_gate.plugin.store_thread import StoreFailures, StoreThread
from simhash_gate.plugin.threads import pause
from simhash_gate.settings import Settings
from simhash_gate.stores import StoreError, StoreUnavailable
from simhash_gate.stores.base import without_password
from simhash_gate.values import PREFIX, SettingsError

logger = logging.getLogger(__name__)
_FREEZE_EVERY = 5_000  # pages


class NearDuplicate(IgnoreRequest):
    """A page was dropped. `response` is the page, with its `request`; `verdict` says why."""

    def __init__(self, response: Response, verdict: Verdict) -> None:
        super().__init__(verdict.reason)
        self.response = response
        self.verdict = verdict


class SimhashGateMiddleware(CrawlGate):
    """Judges each HTML page, and drops it if its scope has a near-duplicate among the kept pages.

    It stands nearest to the engine (order 20). So it sees final, decompressed responses, and no
    later middleware can swallow a page that it has kept.
    """

    def __init__(self, crawler: Crawler, settings: Settings) -> None:
        self._crawler, self._settings = crawler, settings
        self._early: WeakSet[Request] = WeakSet()  # judged before they came here: `verdict_on`
        self._met = 0
        self._only_looks = only_looks(crawler)
        folder = None if self._only_looks else job_dir(crawler.settings)
        parked, keys = ParkedRequests(crawler, folder), Keys(settings.tracking)
        self._store = StoreThread(
            pipeline_version(settings.options),
            durable=settings.durable == "page",
            reads=settings.durable == "never",
            keys=keys,
        )
        closes = settings.store_failure == "close"
        self._store_failures = StoreFailures(crawler, self._store, closes=closes)
        name = (crawler.spider or crawler.spidercls).name
        self._url = store_url(settings.store, crawler.settings, name)
        crawl = Crawl(crawler, settings, self._store, parked, keys)
        self.listeners = Listeners(listeners_of(crawl))
        self.lifecycle = Lifecycle(crawl, self.listeners)
        self._judge = PageJudge(crawl, self.lifecycle, self._store_failures)
        self._deliveries = Deliveries(crawler)
        for handler, signal in (
            (self._open, signals.spider_opened),
            (self.lifecycle.reached, signals.response_received),
            (self.lifecycle.failed, signals.spider_error),
            (self.lifecycle.failed, signals.item_error),
            (self._item_scraped, signals.item_scraped),
            (self.lifecycle.item_done, signals.item_dropped),
            (self.lifecycle.idle, signals.spider_idle),
            (self._closed, signals.spider_closed),
            (self._stopped, signals.engine_stopped),
        ):
            crawler.signals.connect(handler, signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SimhashGateMiddleware:
        """Read the settings. Raises `SettingsError`, which stops the crawl before it starts."""
        with refusing():
            settings = settings_of(crawler)
            if not settings.enabled:
                raise NotConfigured(f"{PREFIX}ENABLED is False")
            check(settings, crawler.settings)
            gate = cls(crawler, settings)
            gate.open_store()
            return gate

    def open_store(self) -> None:
        """Open the store. Raises `SettingsError` if it can't be used, or is needed but away."""
        try:
            self._store.open(self._url, at_once=self._url.startswith("memory:")).result()
        except StoreError as error:
            needed = self._settings.store_failure == "close"
            if self._only_looks or (isinstance(error, StoreUnavailable) and not needed):
                return
            self._store.close(ended=False)
            raise SettingsError(f"{PREFIX}STORE: {error}") from None

    def process_request(self, request: Request) -> None:
        """Note what a request is for."""
        self._judge.sent(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Put the verdict into the request's meta. Raises `NearDuplicate` if it drops the page."""
        if request in self._early:
            self._early.discard(request)
            return response
        self._met += 1
        if self._met % _FREEZE_EVERY == 0:  # what is remembered by now took a third of the crawl
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        judged = await self._judge.judged(request, response)
        verdict = request.meta[VERDICT_KEY] = judged.verdict
        if not judged.dropped:
            self.lifecycle.judged(judged)
            return response
        response.request = request
        # An errback closes its page of the browser, as any failure's.
        orphan = None if request.errback else request.meta.pop("playwright_page", None)
        self.lifecycle.judged(judged)
        if orphan is not None:
            try:
                await orphan.close()
            except Exception as error:
                logger.warning("A page of the browser could not be closed: %s", error)
        if DROPPED_KEY in request.meta:  # its errback has heard of the drop
            request.errback = None
        elif request.errback is not None:
            mark_from_errback(request, request.errback)
        raise NearDuplicate(response, verdict)

    async def verdict_on(self, request: Request, response: Response) -> Verdict:
        """Return the verdict on a response that has not come here yet.

        Raises `NearDuplicate` if the page is dropped.
        """
        if VERDICT_KEY not in request.meta:
            await self.process_response(request, response)
            self._early.add(request)
        verdict: Verdict = request.meta[VERDICT_KEY]
        return verdict

    def _open(self, spider: Spider) -> None:
        remembers = not self._url.startswith("memory:")
        mark_inline(self._crawler, self._judge.awaited)
        self.lifecycle.sees_end = sees_pages_end(self._crawler.settings)
        self.lifecycle.settles = remembers
        self.lifecycle.opened(spider)
        takes = (getattr(addon, "take_processes", list) for addon in self._crawler.addons.addons)
        self._judge.reader.open(process for take in takes for process in take())
        where = without_password(self._url) if remembers else "memory"
        self._read = where if remembers and self._settings.durable == "never" else ""
        only = ", which is only read" if self._read else ""
        if not remembers:
            only = f" for this crawl ({PREFIX}STORE = 'sqlite:' remembers its pages for the next)"
        away = ", once it answers" if self._store.run.failure else ""
        logger.info("Kept pages are remembered in %s%s%s", where, only, away)
        gc.freeze()  # each full collection would look at all modules again: a fifth of the crawl

    def _item_scraped(self, response: Response | None) -> None:
        if self._deliveries.item_scraped():
            self.lifecycle.item_done(response, given=True)
        else:
            self.lifecycle.failed(response)

    async def _closed(self, spider: Spider, reason: str) -> None:
        self._judge.reader.close()
        await self.lifecycle.closed(spider, paused=reason != "finished")
        if self._read:
            logger.info("Later crawls won't know of this one: %s was only read", self._read)

    async def _stopped(self) -> None:
        gc.unfreeze()
        missing = self._deliveries.missing()
        if missing:
            why = "; ".join(missing)
            logger.error("%s: later crawls won't take these pages as seen", why)
        well = await self._store_failures.close(ended=not missing)
        if missing or not well:
            await pause(0)  # until others have heard of the end, too
            self._crawler.spider = None  # Scrapy counts it as failed: its commands exit with 1
