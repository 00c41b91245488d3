"""The downloader middleware: every response comes through here, and leaves with a verdict."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import SettingsError, registered_domain, scope_of
from simhash_gate.gate.verdict import Verdict
from simhash_gate.options import pipeline_version
from simhash_gate.plugin.audit import NOT_REMEMBERED, audit_of
from simhash_gate.plugin.collapse import Collapses
from simhash_gate.plugin.completeness import is_complete
from simhash_gate.plugin.deliveries import Deliveries
from simhash_gate.plugin.fate import Fate
from simhash_gate.plugin.follower import CrawlGate
from simhash_gate.plugin.head_start import taken
from simhash_gate.plugin.judging import Judge
from simhash_gate.plugin.names import META_KEY, RECOVERED_KEY, VERDICT_KEY
from simhash_gate.plugin.places import store_url
from simhash_gate.plugin.reading import PageReader
from simhash_gate.plugin.recovery import Recovery
from simhash_gate.plugin.retries import forget_others, is_retry, mark_kept
from simhash_gate.plugin.selectors import SelectorWatch
from simhash_gate.plugin.signals import near_duplicate_dropped
from simhash_gate.plugin.spider_middleware import is_installed, sees_pages_end
from simhash_gate.plugin.stats import GateStats
from simhash_gate.plugin.store_failures import StoreFailures
from simhash_gate.plugin.verdict_log import VerdictLog
from simhash_gate.settings import PREFIX, read_settings
from simhash_gate.stores import StoreError
from simhash_gate.stores.urls import without_password
from simhash_gate.workers.pool import ReadError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure
    from typing_extensions import Self

    from simhash_gate.gate.policy import Action, Policy
    from simhash_gate.gate.verdict import NotCompared
    from simhash_gate.settings import Settings

logger = logging.getLogger(__name__)

DONE = {"drop": "Dropped", "tag": "Tagged", "links": "Held back the items of"}
VERIFY_ALONE = (
    f"a request asks to compare texts, but no page keeps a sketch: set {PREFIX}VERIFY = 'text', "
    f"or 'verify': 'text' in {PREFIX}DOMAINS, and 'names' where it is not wanted"
)
LINKS_ALONE = (
    f"{PREFIX}ACTION = 'links' needs the spider middleware: install the add-on, "
    "ADDONS = {'simhash_gate.Addon': 0}, or add simhash_gate.SimhashGateSpiderMiddleware "
    "to SPIDER_MIDDLEWARES at -10000 and simhash_gate.CallbackWitness at 10000"
)
DURABLE_ALONE = (
    f"{PREFIX}DURABLE = 'page' needs the spider middlewares, to see callbacks and items end: "
    "install the add-on, ADDONS = {'simhash_gate.Addon': 0}"
)


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
        self._opening: Future[None] | None = None
        pipeline = pipeline_version(settings.options)
        self.judge = Judge(pipeline, durable=settings.durable == "page")
        closes = settings.store_failure == "close"
        self._store_failures = StoreFailures(crawler, self.judge.session, closes=closes)
        self.recovery = Recovery(crawler, self.judge)
        self.deliveries = Deliveries(crawler)
        self.fate = Fate(self.judge, self.recovery, crawler.stats)
        self.stats = GateStats(crawler.stats, self.judge.session)
        self.collapses = Collapses(crawler.stats, self.recovery)
        self.selectors = SelectorWatch()
        self.audit = audit_of(crawler, settings)
        self.reader = PageReader(settings, self.stats)
        self.verdict_log = VerdictLog(crawler, settings)
        if settings.journal:
            from simhash_gate.plugin.journal import Journal

            self.journal = Journal(crawler, settings, pipeline)
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._started, signals.engine_started)
        crawler.signals.connect(self.recovery.announced, signals.response_received)
        crawler.signals.connect(self._failed, signals.spider_error)
        crawler.signals.connect(self._failed, signals.item_error)
        crawler.signals.connect(self._item_scraped, signals.item_scraped)
        crawler.signals.connect(self.recovery.item_done, signals.item_dropped)
        crawler.signals.connect(self.recovery.idle, signals.spider_idle)
        crawler.signals.connect(self._closed, signals.spider_closed)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings. Raises `SettingsError`, which stops the crawl before it starts."""
        settings = read_settings(crawler.settings)
        if not settings.enabled:
            raise NotConfigured(f"{PREFIX}ENABLED is False")
        links = any(policy.action == "links" for policy in settings.policies.all)
        if links and not is_installed(crawler.settings):
            raise SettingsError(LINKS_ALONE)
        if settings.durable == "page" and not sees_pages_end(crawler.settings):
            raise SettingsError(DURABLE_ALONE)
        if settings.recover:
            from simhash_gate.plugin.recover_mode import check, without_records

            check(settings.recover, crawler.settings)
            settings = without_records(settings)
        return cls(crawler, settings)

    def process_request(self, request: Request) -> None:
        """Let no verdict travel from one request to the next."""
        request.meta.pop(VERDICT_KEY, None)
        forget_others(request, self.crawler.request_fingerprinter)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Leave the verdict in the request's meta; return the response or raise `NearDuplicate`."""
        domain = registered_domain(host_of(response.url))
        reason = self._why_not(request, response)
        if reason:
            verdict = request.meta[VERDICT_KEY] = Verdict("skipped", reason.replace("_", " "))
            self.stats.skipped(domain, reason)
            self.verdict_log.add(response, verdict)
            return response

        start = time.perf_counter()
        verdict, fingerprint = await self._judge(request, response)
        if verdict.record is not None:
            mark_kept(request, fingerprint)
        if self.audit is not None:
            run = self.judge.session.run
            verdict = self.audit.judged(request, response, verdict, fingerprint, run)
        request.meta[VERDICT_KEY] = verdict
        seconds = time.perf_counter() - start
        if verdict.outcome == "skipped":
            self.stats.skipped(domain, "empty")
            self.verdict_log.add(response, verdict)
            return response

        action = self.action(verdict)
        dropped = verdict.rejected and action == "drop"
        self.recovery.judged(
            request, fingerprint, verdict, held=verdict.rejected and action != "tag"
        )
        self.stats.judged(
            domain, verdict, dropped=dropped, size=len(response.body), seconds=seconds
        )
        self.collapses.judged(domain, request, fingerprint, verdict, dropped=dropped)
        self.selectors.judged(domain, verdict)
        self.verdict_log.add(response, verdict, dropped=dropped)
        if verdict.rejected:
            _log(response, verdict, action)
        if dropped:
            response.request = request
            self.crawler.signals.send_catch_log(
                near_duplicate_dropped,
                request=request,
                response=response,
                verdict=verdict,
                spider=self.crawler.spider,
            )
            if not verdict.audited:
                raise NearDuplicate(response, verdict)
        return response

    def _why_not(self, request: Request, response: Response) -> str | None:
        """Return why a response is none of the gate's business, or None."""
        if request.callback is NO_CALLBACK:
            return "no_callback"
        if RECOVERED_KEY in request.meta:
            return "recovered"
        if request.meta.get(META_KEY) is False:
            return "meta"
        if not 200 <= response.status < 300:
            return "status"
        if not is_complete(response):
            return "incomplete"
        if not isinstance(response, HtmlResponse):
            return "not_html"
        if len(response.body) > self.settings.max_bytes:
            return "too_large"
        return None

    async def _judge(self, request: Request, response: Response) -> tuple[Verdict, str]:
        """Return the verdict, and the request's fingerprint in hex.

        If anything fails on the way the verdict is "error", and the page passes.
        """
        page, fingerprint = None, ""
        not_compared: NotCompared = ""
        policy = self.settings.policies.default
        try:
            fingerprint = self.crawler.request_fingerprinter.fingerprint(request).hex()
            policy = self._policy(request, response)
            page = await self.reader.page(response)
            scope = scope_of(response.url, self.settings.scope)
            ask = partial(
                Gate.judge,
                page=page,
                policy=policy,
                url=response.url,
                scope=scope,
                request=fingerprint,
                retry=is_retry(request, fingerprint),
            )
            verdict = await self.fate.verdict(ask, scope, fingerprint, page.fingerprint)
            return verdict, fingerprint
        except StoreError as error:
            reason = str(error)
            self._store_failures.page_passed(error)
        except (ReadError, SettingsError) as error:
            reason = str(error)
            not_compared = "unreadable" if isinstance(error, ReadError) else ""
            logger.warning("Passed %s unjudged: %s", without_credentials(response.url), reason)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            logger.exception("Passed %s unjudged", without_credentials(response.url))
        verdict = Verdict("error", reason, policy, page, not_compared=not_compared)
        return verdict, fingerprint

    def _policy(self, request: Request, response: Response) -> Policy:
        policy = self.settings.policies.of(response.url)
        overrides = request.meta.get(META_KEY)
        if overrides is None or overrides is True:
            return policy
        policy = policy.override(overrides, f"meta[{META_KEY!r}]")
        for name in ("window", "ttl"):
            if name in overrides:
                raise SettingsError(f"meta[{META_KEY!r}][{name!r}]: is a scope's, not a request's")
        if policy.action == "links" and not self._links:
            raise SettingsError(LINKS_ALONE)
        if policy.verify == "text" and not self.settings.options.sketch:
            raise SettingsError(VERIFY_ALONE)
        if policy.audit and self.audit is None:
            raise SettingsError(NOT_REMEMBERED)
        return policy

    def _started(self) -> None:
        # Before its engine starts, a spider can't be closed.
        self._store_failures.started(self._opening)

    def _open(self, spider: Spider) -> None:
        settings = self.settings
        passes = settings.store_failure == "pass"
        url = store_url(settings.store, self.crawler.settings, spider.name, falls_back=passes)
        remembers = not url.startswith("memory:")
        # To compare sketches takes its time too.
        self._opening = self.judge.open(url, at_once=not (remembers or settings.options.sketch))
        self.recovery.sees_end = sees_pages_end(self.crawler.settings)
        self.recovery.settles = remembers
        self.reader.open(taken(self.crawler.addons.addons))
        logger.info("Near-duplicates are looked for in %s", without_password(url))

    def _failed(self, response: Response | Failure | None) -> None:
        request = getattr(response, "request", None)
        if request is not None:
            self.recovery.failed(request)

    def _item_scraped(self, response: Response | None) -> None:
        self.recovery.item_done(response, well=self.deliveries.item_scraped())

    async def _closed(self) -> None:
        self.reader.close()
        figures = self.audit.close() if self.audit is not None else None
        self.stats.close(figures)
        for row in figures.rows() if figures else ():
            self.verdict_log.add_line(row.as_line())
        await self.verdict_log.close()
        if self.audit is not None:
            await self.audit.log.close()

    async def _stopped(self) -> None:
        self.recovery.forget_swallowed()
        missing = self.deliveries.missing()
        if missing:
            why = "; ".join(missing)
            logger.error("%s: later crawls won't take these pages as seen", why)
        await self._store_failures.closed(self.judge.close(ended=not missing))


def _log(response: Response, verdict: Verdict, action: Action) -> None:
    assert verdict.match is not None
    assert verdict.page is not None
    record = verdict.match.record
    logger.info(
        "%s %s: %s of %s (%s; %d and %s)%s",
        DONE[action],
        without_credentials(response.url),
        "near-duplicate" if verdict.outcome == "duplicate" else "unchanged since an earlier crawl",
        record.url,
        verdict.reason,
        verdict.page.words,
        how_many(record.words, "word"),
        "; audited" if verdict.audited else "",
    )
