"""Responses -> verdicts: choose the responses to judge, read them, and ask the gate."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import mmh3
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import printable
from simhash_gate.gate.answers import blocking_service
from simhash_gate.gate.eligibility import why_ineligible
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy, Site
from simhash_gate.gate.verdict import VERDICT_KEY, NotCompared, Verdict
from simhash_gate.gate.visit import Visit
from simhash_gate.page import Page
from simhash_gate.plugin.asked_for import AskedFor, validators_in
from simhash_gate.plugin.crawl_settings import overridden
from simhash_gate.plugin.lifecycle import Lifecycle
from simhash_gate.plugin.listeners import Crawl, Judged
from simhash_gate.plugin.page_keys import GONE, PageKeys, time_of_visit, walled_from
from simhash_gate.plugin.reading import PageReader
from simhash_gate.plugin.requests import (
    ASKED_KEY,
    DROPPED_KEY,
    INLINE_KEY,
    KEPT_KEY,
    META_KEY,
    ROOM_KEY,
    is_retry,
)
from simhash_gate.plugin.spider_middleware import is_installed, only_looks
from simhash_gate.plugin.store_thread import StoreFailures
from simhash_gate.plugin.threads import pause, result
from simhash_gate.stores import Record, StoreError
from simhash_gate.stores.base import UNKNOWN_GAVE
from simhash_gate.values import SettingsError
from simhash_gate.workers.pool import ReadError

logger = logging.getLogger(__name__)

LONGEST_WAIT = 5.0
"""Seconds that a copy waits until another crawl has finished the page that it matches."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.5

UNKNOWN = "another crawl is still working on that page"


class PageJudge:
    """Judges the responses of a crawl. If anything fails, the page passes."""

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
        ignored, codes = self._settings.ignore, crawl.yields.codes
        self._asked_for = AskedFor(crawler, ignored, codes, anybody=self._only_looks)
        self._settled = SettledJudge(crawl, lifecycle)
        # The `cb_kwargs` with which requests were sent: other components may change them.
        self._sent: WeakKeyDictionary[Request, dict[str, Any]] = WeakKeyDictionary()
        self.reader = PageReader(self._settings, crawler.stats)

    def sent(self, request: Request) -> None:
        """Note what a request is for that is sent. Remove from it the notes on another request."""
        request.meta.pop(VERDICT_KEY, None)
        self._sent[request] = dict(request.cb_kwargs)
        if kept := request.meta.pop(KEPT_KEY, None):
            with suppress(Exception):  # a project's own fingerprinter may fail: judging reports it
                if kept[0] == self._fingerprinter.fingerprint(request).hex():
                    request.meta[KEPT_KEY] = kept
        self._asked_for.note(request)

    async def judged(self, request: Request, response: Response) -> Judged:
        """Return the response with its verdict, which is `skipped` if it is not to be judged."""
        if request not in self._sent:  # a middleware nearer to the engine has answered it
            self.sent(request)
        self._asked_for.note_added(request)
        site = self._site_of(response.url)
        start = time.perf_counter()
        answers = self._listeners.tell("verdict_on", request, response)
        known_verdict = next(filter(None, answers), None)
        blocker = "" if known_verdict else blocking_service(response.status, response.headers.get)
        reason = "" if known_verdict else self._why_not(request, response, blocker)
        if reason:
            if response.status in GONE:
                self._page_keys.note_gone(self._store, request, self._settings.policies)
            verdict = Verdict("skipped", reason.replace("_", " "))
            return Judged(request, response, verdict, site.domain, skipped=reason.partition(":")[0])
        verdict, page_key = known_verdict or await self._verdict(request, response, site, blocker)
        if verdict.held and request.meta.get(DROPPED_KEY):
            request.meta[DROPPED_KEY] = False
            reason = f"{verdict.reason}; but its errback has sent it again"
            verdict = replace(verdict, unpaid="errback", reason=reason)
        elif self._lifecycle.sees_end:  # else nobody knows what came of pages
            (callback, _), *_ = request.meta.get(ROOM_KEY) or [("", "")]
            url = without_credentials(response.url)
            verdict = self._yields.given(verdict, url, let_out=bool(callback))
        verdict = self._listeners.given(verdict, request, site.domain)
        if verdict.record is not None:
            fingerprint = self._fingerprinter.fingerprint(request).hex()
            request.meta[KEPT_KEY] = [fingerprint, request.meta.get("retry_times", 0)]
        return Judged(
            request,
            response,
            verdict,
            site.domain,
            action="tag" if self._only_looks else verdict.action,
            key=page_key,
            skipped="empty" if verdict.outcome == "skipped" else "",
            seconds=time.perf_counter() - start,
            cb_kwargs=self._sent.get(request),
        )

    async def awaited(self, request: Request, answer: Response) -> None:
        """Note what the callback of a page has awaited: of a page, its text."""
        digest = mmh3.hash64(answer.body, signed=False)[0]
        if isinstance(answer, HtmlResponse):
            with suppress(ReadError):
                digest = (await self.reader.page(answer)).digest
        self._lifecycle.awaited(request, digest)

    def _why_not(self, request: Request, response: Response, blocker: str) -> str:
        if request.callback is NO_CALLBACK:
            return "no_callback"
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
        """Return the verdict, and the key of the page or, if it is unknown, its fingerprint.

        If anything fails, the verdict is "error", and the page passes.
        """
        page, page_key = None, ""
        not_compared: NotCompared = ""
        policy = site.policy
        try:
            fingerprint = page_key = self._fingerprinter.fingerprint(request).hex()
            policy = overridden(site.policy, request, self._settings, links=self._links)
            if blocker:
                reason = f"status {response.status}, {blocker} has blocked the request"
                return Verdict("blocked", reason, policy), page_key
            moved = self._page_keys.moved_from(request)
            page = await self.reader.page(response)
            at = time_of_visit(request)
            of_request = self._page_keys.of_request(request)
            key = self._page_keys.of_page(of_request, request, response, page, site.scope, at)
            page_key = key.key
            asker, carries = request.meta.get(ASKED_KEY, ("", ""))
            visit = Visit(
                response.url,
                site.scope,
                page_key,
                at,
                asker,
                carries,
                gave=0 if self._lifecycle.sees_end else UNKNOWN_GAVE,
                retry=is_retry(request, fingerprint),
                validators=validators_in(response),
                variant=self._variants.of(request, response),
                moved_from=moved,
                rendition=key.by == "canonical" and page_key != of_request.key,
                walled_from=walled_from(request),
            )
            verdict = await self._settled.verdict(page, visit, policy)
            return replace(verdict, canonical_url=key.url), page_key
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
        return Verdict("error", reason, policy, page, not_compared=not_compared), page_key


class SettledJudge:
    """Judges pages, and drops none for a match that may still fail.

    A match that this crawl has taken back is dismissed. If another crawl still works on the match,
    the copy waits. It may be dropped when the match is settled, and is judged again when the match
    is gone. If neither happens in time, the copy passes.
    """

    def __init__(self, crawl: Crawl, lifecycle: Lifecycle) -> None:
        self._store = crawl.store
        self._followed, self._yields = crawl.followed, crawl.yields
        self._lifecycle = lifecycle
        self._stats = crawl.crawler.stats

    async def verdict(self, page: Page, visit: Visit, policy: Policy) -> Verdict:
        """Return the verdict on a page that a visit found. Raises `StoreError`."""
        dismissed: list[Record] = []
        deadline: float | None = None

        def judge(gate: Gate) -> Verdict:
            verdict = gate.judge(page, policy, visit, dismissed=dismissed)
            if verdict.record is not None:  # now: the event loop may hear of a copy before
                self._followed.add(verdict.record.identity)
            return verdict

        while True:
            verdict: Verdict = await result(self._store.submit(judge))
            # The match is checked after this: while the page waits, its match may fail.
            verdict = await self._lifecycle.listeners.matched(verdict)
            if verdict.match is None or verdict.record is not None:
                return verdict  # a second question would make a kept page a copy of itself
            other = verdict.match.record
            if self._lifecycle.was_forgotten(other):
                dismissed.append(other)
                continue
            if not verdict.held or other.settled or other.run == self._store.run.name:
                return verdict  # nothing of the page is held back for one that may still fail
            if deadline is None:
                deadline = time.monotonic() + LONGEST_WAIT
                self._yields.was_live(other.run)  # now: it may end meanwhile
                self._stats.inc_value("simhash_gate/waited")
            current = await self._current(other, deadline)
            if current is not None and current.settled:  # now it is known whether it gave items
                return replace(verdict, match=verdict.match._replace(record=current))
            if current is not None:
                self._stats.inc_value("simhash_gate/unsettled")
                return replace(verdict, outcome="near", reason=f"{verdict.reason}; {UNKNOWN}")

    async def _current(self, other: Record, deadline: float) -> Record | None:
        """Return a record when it is settled or time is up, None when it is gone."""
        current: Record | None = other
        seconds = FIRST_PAUSE
        while time.monotonic() < deadline:
            await pause(seconds)
            current = await result(self._store.submit(lambda gate: gate.store.current(other)))
            if current is None or current.settled:
                break
            seconds = min(1.5 * seconds, LONGEST_PAUSE)
        return current
