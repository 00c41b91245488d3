"""Sends dropped requests again when the page that they were dropped for fails.

The first request that was dropped for the page is fetched again, and the others wait for its page.
Those that are duplicates of it stay dropped, for the new page. The first one of the rest is
fetched, and so on. Each request is fetched at most once for a failure.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from scrapy import Request

from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.judge import is_duplicate_of
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import VERDICT_KEY
from simhash_gate.page import Page
from simhash_gate.plugin.followed import FollowedPage, Stage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.parked import Belief, Parked
from simhash_gate.plugin.requests import DROPPED_KEY, ROOM_KEY
from simhash_gate.stores import Record

logger = logging.getLogger(__name__)

PAGE_FAILED = "the page that it was dropped for failed"


@dataclass(eq=False)
class Dropped(Parked):
    """A dropped request with its page. It waits for the end of a kept page, or for an answer."""

    key: str
    page: Page
    policy: Policy
    scope: str

    @property
    def size(self) -> int:
        return super().size + self.page.weight


class Resending(Listener):
    """Remembers the requests that were dropped for each page that may still fail."""

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Remember a dropped request. Decide on those that waited for this page."""
        if judged.skipped:
            return
        awaiting: list[Dropped] = self._parked.take(("answer", judged.key))
        stands_for: Record | None = None
        copies: list[Dropped] = []
        verdict = judged.verdict
        if verdict.match is not None and (judged.held or verdict.unpaid):
            stands_for = verdict.match.record
            tried = page is not None and page.pays  # it would wait for itself
            if judged.held and not tried and stands_for.identity in self._crawl.followed:
                assert verdict.page is not None
                # A comparison needs none of these.
                read = replace(verdict.page, article=b"", anchors=b"", targets="")
                request, policy = to_send_again(judged), verdict.policy
                copies.append(Dropped((), request, judged.key, read, policy, stands_for.scope))
        elif judged.verdict.record is not None:
            stands_for = judged.verdict.record
        others = []
        for copy in awaiting:
            if stands_for is None or not is_duplicate_of(
                stands_for, copy.page, copy.policy, copy.scope
            ):
                others.append(copy)
            elif stands_for.identity in self._crawl.followed:
                copies.append(copy)
        if stands_for is not None:
            self._park(copies, ("copy", stands_for.identity))
        self._send(others, PAGE_FAILED)

    def moved(self, page: FollowedPage) -> None:
        """Send dropped requests again if their page failed or is not ready. Else forget them."""
        record = page.decides
        if record is None or record.identity in self._crawl.followed:
            return
        why = f"{record.url} failed" if page.stage is Stage.FAILED else ""
        if page.polls and not page.given:
            why = f"the callback asks for {record.url} again"
        copies = self._parked.take(("copy", record.identity), why)
        if why:
            self._send(copies, why)

    def idle(self) -> None:
        """Send the requests that wait for an answer that never came."""
        for belief in self._parked.beliefs("answer"):
            self._send(self._parked.take(belief, PAGE_FAILED), PAGE_FAILED)

    def _park(self, copies: list[Dropped], belief: Belief) -> None:
        for copy in copies:
            copy.belief = belief
            self._parked.add(copy)

    def _send(self, copies: list[Dropped], why: str) -> None:
        """Fetch the first of some dropped pages again. The others wait for its answer."""
        if copies:
            first, *others = copies
            send_again(self._crawl, first.request, why)
            self._park(others, ("answer", first.key))


def send_again(crawl: Crawl, request: Request, why: str) -> None:
    """Fetch a dropped page again."""
    logger.info("Fetching %s again: %s", without_credentials(request.url), why)
    crawl.crawler.stats.inc_value("simhash_gate/rescheduled")
    crawl.parked.send(request)


def to_send_again(judged: Judged) -> Request:
    """Return the request of a dropped page in a form that can be sent again."""
    request, sent_with = judged.request, judged.cb_kwargs  # middlewares may have added to these
    cb_kwargs = request.cb_kwargs if sent_with is None else sent_with
    meta = {key: value for key, value in request.meta.items() if key not in (VERDICT_KEY, ROOM_KEY)}
    meta[DROPPED_KEY] = False  # its errback hears of it
    return request.replace(meta=meta, cb_kwargs=cb_kwargs, dont_filter=True)
