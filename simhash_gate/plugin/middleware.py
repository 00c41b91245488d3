"""The downloader middleware: every response comes through here, and leaves with a verdict."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request, Spider, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.job import job_dir

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import printable
from simhash_gate.gate.answers import blocking_service
from simhash_gate.gate.eligibility import why_ineligible
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Site
from simhash_gate.gate.revisit import Sent
from simhash_gate.gate.verdict import VERDICT_KEY, NotCompared, Verdict
from simhash_gate.identity.keys import Keys
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.plugin.asked_for import AskedFor
from simhash_gate.plugin.audit import Audit
from simhash_gate.plugin.conditions import validators_in
from simhash_gate.plugin.crawl_settings import check, overridden, store_url
from simhash_gate.plugin.deliveries import Deliveries
from simhash_gate.plugin.journal import Journal, check_journal
from simhash_gate.plugin.kept_texts import KeptTexts
from simhash_gate.plugin.known_pages import KnownPages
from simhash_gate.plugin.lifecycle import Lifecycle, SettledJudge
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.new_links import NewLinks
from simhash_gate.plugin.page_keys import (
    GONE,
    PageKeys,
    moved_from,
    note_gone,
    time_of_visit,
    walled_from,
)
from simhash_gate.plugin.parked import ParkedRequests
from simhash_gate.plugin.reading import PageReader
from simhash_gate.plugin.requests import (
    INLINE_KEY,
    KEPT_KEY,
    META_KEY,
    RECOVERED_KEY,
    NotSent,
    close,
    forget_others,
    is_retry,
    mark_inline,
    orphaned_page,
)
from simhash_gate.plugin.resend_dropped import Resending
from simhash_gate.plugin.revalidation import Revalidation
from simhash_gate.plugin.site_warnings import AlikePages, AnswerWatch, RedesignWatch, SelectorWatch
from simhash_gate.plugin.spider_middleware import (
    CrawlGate,
    is_installed,
    only_looks,
    refusing,
    sees_pages_end,
    settings_of,
)
from simhash_gate.plugin.stand_ins import StandIns
from simhash_gate.plugin.stats import GateStats
from simhash_gate.plugin.store_thread import StoreFailures, StoreThread
from simhash_gate.plugin.trap_shield import TrapGuard
from simhash_gate.plugin.verdict_log import Announcements, VerdictLog
from simhash_gate.settings import Settings
from simhash_gate.stores import StoreError, StoreUnavailable
from simhash_gate.stores.base import without_password
from simhash_gate.values import PREFIX, SettingsError
from simhash_gate.workers.pool import ReadError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


logger = logging.getLogger(__name__)

LISTENERS: tuple[type[Listener], ...] = (
    Resending,
    AlikePages,
    AnswerWatch,
    SelectorWatch,
    RedesignWatch,
    VerdictLog,
    Journal,
    Announcements,
)
"""Who is told what becomes of pages, in this order, after the audit and the stats."""


class NearDuplicate(IgnoreRequest):
    """A page was dropped: `response` is what was fetched (`request` set), `verdict` says why."""

    def __init__(self, response: Response, verdict: Verdict) -> None:
        super().__init__(verdict.reason)
        self.response = response
        self.verdict = verdict


class SimhashGateMiddleware(CrawlGate):
    """Judges each HTML page, and drops it if its scope has a near-duplicate among the kept pages.

    Stands nearest to the engine (order 20): it sees final, decompressed responses, and nothing
    after it can swallow a page that it has kept.
    """

    def __init__(self, crawler: Crawler, settings: Settings) -> None:
        self.crawler = crawler
        self.settings = settings
        self._links = is_installed(crawler.settings)
        self._read = ""
        # Other components change requests and want verdicts: the arguments that callbacks were
        # sent with, and what was judged before it came here.
        self._sent: WeakKeyDictionary[Request, dict[str, Any]] = WeakKeyDictionary()
        self._early: WeakSet[Request] = WeakSet()
        closes = settings.store_failure == "close"
        self._store = StoreThread(
            pipeline_version(settings.options),
            durable=settings.durable == "page",
            reads=settings.reads_only,
        )
        self._store_failures = StoreFailures(crawler, self._store, closes=closes)
        self._only_looks = only_looks(crawler)
        name = (crawler.spider or crawler.spidercls).name
        self._url = store_url(settings.store, crawler.settings, name)
        folder = None if self._only_looks else job_dir(crawler.settings)
        parked, keys = ParkedRequests(crawler, folder), Keys(settings.tracking)
        crawl = Crawl(crawler, settings, self._store, parked, keys)
        self._asked_for = AskedFor(crawler, settings.ignore, anybody=self._only_looks)
        self._yields = crawl.yields
        self._variants = crawl.variants
        self._page_keys = PageKeys(crawler, keys)
        self._audit = Audit.for_crawl(crawl)
        stats = GateStats(crawl)
        self._stand_ins = StandIns.for_crawl(crawl)
        self._traps = TrapGuard.for_crawl(crawl)
        texts = KeptTexts.for_crawl(crawl)
        self.revalidation = Revalidation.for_crawl(crawl)
        self._new_links = NewLinks.for_crawl(crawl)
        self.known_pages = KnownPages.for_crawl(crawl)
        own = (self._audit, stats, self._stand_ins, self._traps, texts, self.revalidation)
        made = (*own, self.known_pages, self._new_links, *(it.for_crawl(crawl) for it in LISTENERS))
        self.lifecycle = Lifecycle(crawl, [listener for listener in made if listener is not None])
        self._judge = SettledJudge(crawl, self.lifecycle, texts.given if texts else None)
        self._deliveries = Deliveries(crawler)
        self.reader = PageReader(settings, crawler.stats)
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self.lifecycle.reached, signals.response_received)
        crawler.signals.connect(self.lifecycle.failed, signals.spider_error)
        crawler.signals.connect(self._item_failed, signals.item_error)
        crawler.signals.connect(self._item_scraped, signals.item_scraped)
        crawler.signals.connect(self.lifecycle.item_done, signals.item_dropped)
        crawler.signals.connect(self.lifecycle.idle, signals.spider_idle)
        crawler.signals.connect(self._closed, signals.spider_closed)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings. Raises `SettingsError`, which stops the crawl before it starts."""
        with refusing():
            settings = settings_of(crawler)
            if not settings.enabled:
                raise NotConfigured(f"{PREFIX}ENABLED is False")
            check(settings, crawler.settings)
            if settings.recover:
                check_journal(settings.recover, crawler.settings)
            gate = cls(crawler, settings)
            gate.open_store()
            return gate

    def open_store(self) -> None:
        """Open the store. Raises `SettingsError` if it can't be used, or is needed and away."""
        try:
            self._store.open(self._url, at_once=self._url.startswith("memory:")).result()
        except StoreError as error:
            needed = self.settings.store_failure == "close"
            if isinstance(error, StoreUnavailable) and not needed:
                return
            if self._only_looks:
                return
            self._store.close(ended=False)
            raise SettingsError(f"{PREFIX}STORE: {error}") from None

    def process_request(self, request: Request) -> None:
        """Let no verdict travel on to another request. Raise `NotSent` for a needless one."""
        request.meta.pop(VERDICT_KEY, None)
        self._sent[request] = dict(request.cb_kwargs)
        forget_others(request, self.crawler.request_fingerprinter)
        self._asked_for.note(request)
        if self._traps is not None:  # first: what it holds back stands for no other request
            self._traps.ask(request)
        if self._stand_ins is not None:
            self._stand_ins.ask(request, self.settings.policies.site_of(request.url))

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that a request was not sent, or has no answer."""
        if isinstance(exception, NotSent):
            self.lifecycle.not_sent(request, exception)
        elif self._stand_ins is not None:
            self._stand_ins.failed(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Leave the verdict in the request's meta; return the response or raise `NearDuplicate`."""
        if request in self._early:
            self._early.discard(request)
            return response
        self._asked_for.note_added(request)
        judged = await self._judged(request, response)
        verdict = request.meta[VERDICT_KEY] = judged.verdict
        if verdict.record is not None:
            fingerprint = self.crawler.request_fingerprinter.fingerprint(request).hex()
            request.meta[KEPT_KEY] = [fingerprint, request.meta.get("retry_times", 0)]
        if judged.dropped:
            response.request = request
        ends = judged.dropped and not verdict.audited
        orphan = orphaned_page(request) if ends else None
        self.lifecycle.judged(judged)
        if orphan is not None:
            await close(orphan)
        if ends:
            raise NearDuplicate(response, verdict)
        return response

    async def verdict_on(self, request: Request, response: Response) -> Verdict:
        """Return the verdict for those who need it before the response has come here.

        Raises `NearDuplicate` for a page that is dropped.
        """
        if VERDICT_KEY not in request.meta:
            await self.process_response(request, response)
            self._early.add(request)
        verdict: Verdict = request.meta[VERDICT_KEY]
        return verdict

    async def _judged(self, request: Request, response: Response) -> Judged:
        """Return the response with its verdict; that of one that is not judged is `skipped`."""
        site = self.settings.policies.site_of(response.url)
        start = time.perf_counter()
        unfetched = self.revalidation and self.revalidation.verdict_of_304(request, response)
        reason = "" if unfetched else self._why_not(request, response)
        if reason:
            if response.status in GONE:
                note_gone(self._store, self._page_keys, request, self.settings.policies)
            page = await self._recovered_page(response) if reason == "recovered" else None
            verdict = Verdict("skipped", reason.replace("_", " "), page=page)
            return Judged(request, response, verdict, site.domain, skipped=reason)
        verdict, fingerprint = unfetched or await self._verdict(request, response, site)
        verdict = self._yields.given(verdict)
        if self._audit is not None:
            verdict = self._audit.choose(request, verdict)
        if self._new_links is not None:
            verdict = self._new_links.given(verdict, request, site.domain)
        return Judged(
            request,
            response,
            verdict,
            site.domain,
            action="tag" if self._only_looks else verdict.action,
            fingerprint=fingerprint,
            skipped="empty" if verdict.outcome == "skipped" else "",
            seconds=time.perf_counter() - start,
            cb_kwargs=self._sent.get(request),
        )

    async def _recovered_page(self, response: Response) -> Page | None:
        try:
            return await self.reader.page(response)
        except ReadError as error:
            url = without_credentials(response.url)
            logger.warning("Recovered %s without its Markdown: %s", url, printable(str(error)))
            return None

    def _why_not(self, request: Request, response: Response) -> str:
        """Return why a response is none of the gate's business; "" if it is judged."""
        if request.callback is NO_CALLBACK:
            return "no_callback"
        if RECOVERED_KEY in request.meta:
            return "recovered"
        wanted = request.meta.get(META_KEY)
        if wanted is False:
            return "meta"
        if wanted is None and INLINE_KEY in request.meta:
            return "inline"
        if blocking_service(response.status, response.headers.get):
            return ""
        return why_ineligible(
            status=response.status,
            html=isinstance(response, HtmlResponse),
            body=response.body,
            max_bytes=self.settings.max_bytes,
            flags=response.flags,
        )

    async def _verdict(
        self, request: Request, response: Response, site: Site
    ) -> tuple[Verdict, str]:
        """Return the verdict, and the key of the page.

        If anything fails on the way the verdict is "error", and the page passes.
        """
        page, fingerprint = None, ""
        not_compared: NotCompared = ""
        policy = site.policy
        try:
            fingerprint = self.crawler.request_fingerprinter.fingerprint(request).hex()
            policy = overridden(site.policy, request, self.settings, links=self._links)
            if service := blocking_service(response.status, response.headers.get):
                reason = f"status {response.status}, {service} has blocked the request"
                return Verdict("blocked", reason, policy), fingerprint
            moved = moved_from(self._page_keys, request, site.scope)
            page = await self.reader.page(response)
            at = time_of_visit(request)
            retry = is_retry(request, fingerprint)
            key = self._page_keys.of_page(request, response, page, site.scope, at)
            fingerprint = key.key
            own = self._page_keys.of_request(request, site.scope)
            rendition = key.by == "canonical" and key.key != own.key
            variant = self._variants.of(request, response)
            asked = self._asked_for.of(request)._replace(gives=not self.lifecycle.sees_end)
            ask = partial(
                Gate.judge,
                page=page,
                policy=policy,
                url=response.url,
                scope=site.scope,
                request=fingerprint,
                retry=retry,
                at=at,
                sent=Sent(validators_in(response), variant, moved, rendition, walled_from(request)),
                asked=asked,
            )
            names = site.scope, fingerprint, asked.by
            verdict = await self._judge.verdict(ask, *names, page.fingerprint)
            return replace(verdict, canonical_url=key.url), fingerprint
        except StoreError as error:
            reason = str(error)
            self._store_failures.page_passed(error)
        except (ReadError, SettingsError) as error:
            reason = printable(str(error))
            not_compared = "unreadable" if isinstance(error, ReadError) else ""
            logger.warning("Passed %s unjudged: %s", without_credentials(response.url), reason)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            logger.exception("Passed %s unjudged", without_credentials(response.url))
        verdict = Verdict("error", reason, policy, page, not_compared=not_compared)
        return verdict, fingerprint

    def _open(self, spider: Spider) -> None:
        settings = self.settings
        url, reads = self._url, settings.reads_only
        remembers = not url.startswith("memory:")
        mark_inline(self.crawler, self.lifecycle.awaits)
        self.lifecycle.sees_end = sees_pages_end(self.crawler.settings)
        self.lifecycle.settles = remembers
        self.lifecycle.opened(spider)
        takes = (getattr(addon, "take_processes", list) for addon in self.crawler.addons.addons)
        self.reader.open(process for take in takes for process in take())
        self._read = without_password(url) if reads and remembers else ""
        only = ", which is only read" if self._read else ""
        if not remembers:
            only = f" for this crawl ({PREFIX}STORE = 'sqlite:' remembers its pages for the next)"
        where = without_password(url) if remembers else "memory"
        logger.info("Kept pages are remembered in %s%s", where, only)

    def _item_failed(self, response: Response | None) -> None:
        self.lifecycle.item_done(response, well=False)

    def _item_scraped(self, response: Response | None) -> None:
        self.lifecycle.item_done(response, well=self._deliveries.item_scraped(), given=True)

    async def _closed(self, spider: Spider, reason: str) -> None:
        self.reader.close()
        await self.lifecycle.closed(spider, paused=reason != "finished")
        if self._read:
            logger.info("Later crawls won't know of this one: %s was only read", self._read)

    async def _stopped(self) -> None:
        missing = self._deliveries.missing()
        if missing:
            why = "; ".join(missing)
            logger.error("%s: later crawls won't take these pages as seen", why)
        await self._store_failures.close(ended=not missing)
