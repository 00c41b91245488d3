"""Responses -> verdicts: what is judged, by which key, and what the store knows of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import printable
from simhash_gate.gate.answers import blocking_service
from simhash_gate.gate.eligibility import why_ineligible
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Site
from simhash_gate.gate.revisit import Sent
from simhash_gate.gate.verdict import VERDICT_KEY, NotCompared, Verdict
from simhash_gate.page import Page
from simhash_gate.plugin.asked_for import AskedFor
from simhash_gate.plugin.conditions import validators_in
from simhash_gate.plugin.crawl_settings import overridden
from simhash_gate.plugin.lifecycle import Lifecycle
from simhash_gate.plugin.listeners import Crawl, Judged
from simhash_gate.plugin.page_keys import (
    GONE,
    PageKeys,
    moved_from,
    note_gone,
    time_of_visit,
    walled_from,
)
from simhash_gate.plugin.reading import PageReader
from simhash_gate.plugin.requests import (
    INLINE_KEY,
    KEPT_KEY,
    META_KEY,
    RECOVERED_KEY,
    forget_others,
    is_retry,
)
from simhash_gate.plugin.spider_middleware import is_installed, only_looks
from simhash_gate.plugin.store_thread import StoreFailures
from simhash_gate.plugin.threads import pause, result
from simhash_gate.stores import Record, StoreError
from simhash_gate.values import SettingsError
from simhash_gate.workers.pool import ReadError

logger = logging.getLogger(__name__)

LONGEST_WAIT = 5.0
"""Seconds that a page waits for what becomes of another crawl's page."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.5

UNKNOWN = "another crawl is still working on that page"


class PageJudge:
    """Judges the responses of a crawl; whatever fails on the way, the page passes."""

    def __init__(self, crawl: Crawl, lifecycle: Lifecycle, failures: StoreFailures) -> None:
        crawler, self._settings = crawl.crawler, crawl.settings
        self._fingerprinter = crawler.request_fingerprinter
        self._site_of = self._settings.policies.site_of
        self._store, self._store_failures = crawl.store, failures
        self._lifecycle, self._listeners = lifecycle, lifecycle.listeners
        self._only_looks = only_looks(crawler)
        self._links = is_installed(crawler.settings)
        self._yields, self._variants = crawl.yields, crawl.variants
        self._page_keys = PageKeys(crawler, crawl.keys)
        self._asked_for = AskedFor(crawler, self._settings.ignore, anybody=self._only_looks)
        self._settled = SettledJudge(crawl, lifecycle)
        # Other components change requests: the arguments that callbacks were sent with.
        self._sent: WeakKeyDictionary[Request, dict[str, Any]] = WeakKeyDictionary()
        self.reader = PageReader(self._settings, crawler.stats)

    def sent(self, request: Request) -> Site:
        """Note what a request is for that goes out, and let no verdict travel on to it."""
        request.meta.pop(VERDICT_KEY, None)
        self._sent[request] = dict(request.cb_kwargs)
        forget_others(request, self._fingerprinter)
        self._asked_for.note(request)
        return self._site_of(request.url)

    async def judged(self, request: Request, response: Response) -> Judged:
        """Return the response with its verdict; that of one that is not judged is `skipped`."""
        self._asked_for.note_added(request)
        site = self._site_of(response.url)
        start = time.perf_counter()
        answers = self._listeners.tell("verdict_on", request, response)
        known = next(filter(None, answers), None)
        blocker = "" if known else blocking_service(response.status, response.headers.get)
        reason = "" if known else self._why_not(request, response, blocker)
        if reason:
            if response.status in GONE:
                note_gone(self._store, self._page_keys, request, self._settings.policies)
            page = await self._recovered_page(response) if reason == "recovered" else None
            verdict = Verdict("skipped", reason.replace("_", " "), page=page)
            return Judged(request, response, verdict, site.domain, skipped=reason)
        verdict, key = known or await self._verdict(request, response, site, blocker)
        verdict = self._listeners.given(self._yields.given(verdict), request, site.domain)
        if verdict.record is not None:
            fingerprint = self._fingerprinter.fingerprint(request).hex()
            request.meta[KEPT_KEY] = [fingerprint, request.meta.get("retry_times", 0)]
        return Judged(
            request,
            response,
            verdict,
            site.domain,
            action="tag" if self._only_looks else verdict.action,
            fingerprint=key,
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

    def _why_not(self, request: Request, response: Response, blocker: str) -> str:
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
        if blocker:
            return ""
        return why_ineligible(
            status=response.status,
            html=isinstance(response, HtmlResponse),
            body=response.body,
            max_bytes=self._settings.max_bytes,
            flags=response.flags,
        )

    async def _verdict(
        self, request: Request, response: Response, site: Site, blocker: str
    ) -> tuple[Verdict, str]:
        """Return the verdict, and the key of the page.

        If anything fails on the way the verdict is "error", and the page passes.
        """
        page, fingerprint = None, ""
        not_compared: NotCompared = ""
        policy = site.policy
        try:
            fingerprint = self._fingerprinter.fingerprint(request).hex()
            policy = overridden(site.policy, request, self._settings, links=self._links)
            if blocker:
                reason = f"status {response.status}, {blocker} has blocked the request"
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
            asked = self._asked_for.of(request)._replace(gives=not self._lifecycle.sees_end)
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
            verdict = await self._settled.verdict(ask, *names, page.fingerprint)
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


class SettledJudge:
    """Judges pages, and drops none for a match that may still fail.

    A page that this crawl took back is passed over. A page that another crawl is still working on
    is waited for: once it is settled, its copy may be dropped; once it is gone, the copy is judged
    again; where neither happens in time, the copy passes.
    """

    def __init__(self, crawl: Crawl, lifecycle: Lifecycle) -> None:
        self._store = crawl.store
        self._followed = crawl.followed
        self._lifecycle = lifecycle
        self._stats = crawl.crawler.stats

    async def verdict(
        self,
        ask: Callable[..., Verdict],
        scope: str,
        request: str,
        asker: str,
        fingerprint: int | None,
    ) -> Verdict:
        """Return the verdict of `ask(gate, dismissed=...)`. Raises `StoreError`.

        The other arguments tell the record that it may add.
        """
        trace = None
        if fingerprint is not None:
            trace = self._store.run.trace(scope, request, asker, fingerprint)
        dismissed: list[Record] = []
        deadline: float | None = None
        while True:
            asked = partial(self._asked, ask, tuple(dismissed))
            verdict: Verdict = await result(self._store.submit(asked, doubtful=trace))
            # Now: whatever is awaited later, the match may fail.
            verdict = await self._lifecycle.listeners.matched(verdict)
            if verdict.match is None or verdict.record is not None:
                return verdict  # asked again, a page that was kept would be a copy of itself
            other = verdict.match.record
            if self._lifecycle.was_forgotten(other):
                dismissed.append(other)
                continue
            held = verdict.rejected and verdict.action != "tag"
            if not held or other.settled or other.run == self._store.run.name:
                return verdict  # nothing of the page is held back for one that may still fail
            if deadline is None:
                deadline = time.monotonic() + LONGEST_WAIT
                self._stats.inc_value("simhash_gate/waited")
            current = await self._current(other, deadline)
            if current is not None and current.settled:  # only now is known if an item came of it
                return replace(verdict, match=verdict.match._replace(record=current))
            if current is not None:
                self._stats.inc_value("simhash_gate/unsettled")
                return replace(verdict, outcome="near", reason=f"{verdict.reason}; {UNKNOWN}")

    def _asked(
        self, ask: Callable[..., Verdict], dismissed: tuple[Record, ...], gate: Gate
    ) -> Verdict:
        verdict = ask(gate, dismissed=dismissed)
        if verdict.record is not None:  # the event loop may hear of a copy first
            self._followed.add(verdict.record.identity)
        return verdict

    async def _current(self, other: Record, deadline: float) -> Record | None:
        """Return a record once it is settled or time is up; None once it is gone."""
        current: Record | None = other
        seconds = FIRST_PAUSE
        while time.monotonic() < deadline:
            await pause(seconds)
            current = await result(self._store.submit(lambda gate: gate.store.current(other)))
            if current is None or current.settled:
                break
            seconds = min(1.5 * seconds, LONGEST_PAUSE)
        return current
