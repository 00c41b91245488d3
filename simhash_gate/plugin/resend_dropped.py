"""Sends dropped requests again when the page that they were dropped for has failed.

Of the requests that were dropped for one page, the first is fetched again. The others wait for what
it brings: those that are duplicates of its page stay dropped, for that page. Of the rest the next
one is fetched, and so on: each request at most once for a failure.
"""

from __future__ import annotations

import logging
import sys
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.gate.judge import is_duplicate_of
from simhash_gate.plugin.listeners import Listener, Stage
from simhash_gate.plugin.requests import FOUND_KEY, VERDICT_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from simhash_gate.gate.policy import Policy
    from simhash_gate.page import Page
    from simhash_gate.plugin.listeners import Crawl, FollowedPage, Identity, Judged
    from simhash_gate.stores import Record

logger = logging.getLogger(__name__)

MOST_BYTES = 32 << 20
"""What all dropped requests of a crawl that are remembered take, roughly."""
PAGE_FAILED = "the page that it was dropped for failed"

_OBJECTS = 2048  # bytes of a request and of what is known of its page, without their contents
_DEEPEST = 4
_FOLLOWED_NO_MORE = frozenset({Stage.SETTLED, Stage.FAILED, Stage.OUT_OF_SIGHT})


class Dropped(NamedTuple):
    """A request as it can be sent again, and what its page said; `size` is in bytes."""

    request: Request
    fingerprint: str
    page: Page
    policy: Policy
    scope: str
    size: int


@dataclass(slots=True)
class _Copies:
    """What was dropped for one page; `let_go` counts those that are not remembered any more."""

    dropped: list[Dropped] = field(default_factory=list)
    let_go: int = 0


class Resending(Listener):
    """Remembers what was dropped for each page that may still fail, within `MOST_BYTES`."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._crawler = crawl.crawler
        self._copies: OrderedDict[Identity, _Copies] = OrderedDict()
        self._awaiting: dict[str, list[Dropped]] = {}
        self._bytes = 0

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Remember a dropped request; decide on those that waited for this page."""
        if judged.skipped:
            return
        awaiting = self._no_longer_awaiting(judged.fingerprint)
        stands_for: Record | None = None
        copies: _Copies | None = None
        if judged.held:
            assert judged.verdict.match is not None
            stands_for = judged.verdict.match.record
            copies = self._copies.get(stands_for.identity)
            if copies is not None:
                self._remember(copies, remembered(judged))
        elif judged.verdict.record is not None:
            stands_for = judged.verdict.record
            copies = self._copies.setdefault(stands_for.identity, _Copies())
            self._copies.move_to_end(stands_for.identity)
        others = []
        for copy in awaiting:
            if stands_for is None or not is_duplicate_of(
                stands_for, copy.page, copy.policy, copy.scope
            ):
                others.append(copy)
            elif copies is not None:
                self._remember(copies, copy)
        self._send(others)

    def moved(self, page: FollowedPage) -> None:
        """Send again what was dropped for a page that failed; forget it for one that can't."""
        if page.record is None or page.stage not in _FOLLOWED_NO_MORE:
            return
        copies = self._copies.pop(page.record.identity, None)
        if copies is None:
            return
        self._bytes -= _size(copies.dropped)
        if page.stage is not Stage.FAILED:
            return
        if copies.let_go:
            logger.error(
                "%s failed, and %s that were dropped for it are not fetched again: "
                "too many were waiting",
                page.record.url,
                how_many(copies.let_go, "page"),
            )
        self._send(copies.dropped)

    def idle(self) -> None:
        """Send what waits for a request whose answer never came."""
        for fingerprint in list(self._awaiting):
            self._send(self._no_longer_awaiting(fingerprint))

    def last_chance(self) -> None:
        """Give Scrapy all that is still to be fetched again: a paused crawl goes on with it."""
        for fingerprint in list(self._awaiting):
            for copy in self._no_longer_awaiting(fingerprint):
                self._send([copy])

    def _remember(self, copies: _Copies, copy: Dropped) -> None:
        """Remember what was dropped for a page; where there is no room, let the oldest go."""
        copies.dropped.append(copy)
        self._bytes += copy.size
        while self._bytes > MOST_BYTES:
            oldest = next((each for each in self._copies.values() if each.dropped), None)
            if oldest is None:
                return
            if not self._crawler.stats.get_value("simhash_gate/copies_let_go"):
                logger.warning(
                    "More than %d MiB of dropped requests wait for what becomes of the pages that "
                    "they were dropped for: those that waited longest are not sent again, should "
                    "these pages fail",
                    MOST_BYTES >> 20,
                )
            self._crawler.stats.inc_value("simhash_gate/copies_let_go", len(oldest.dropped))
            oldest.let_go += len(oldest.dropped)
            self._bytes -= _size(oldest.dropped)
            oldest.dropped.clear()

    def _no_longer_awaiting(self, fingerprint: str) -> list[Dropped]:
        """Return what waits for the page of a request, and let it wait no longer."""
        copies = self._awaiting.pop(fingerprint, [])
        self._bytes -= _size(copies)
        return copies

    def _send(self, copies: list[Dropped]) -> None:
        """Fetch the first of some dropped pages again; the others wait for what it brings."""
        if not copies or not send_again(self._crawler, copies[0], PAGE_FAILED):
            return
        first, *others = copies
        if others:
            self._bytes += _size(others)
            self._awaiting.setdefault(first.fingerprint, []).extend(others)


def send_again(crawler: Crawler, dropped: Dropped, why: str) -> bool:
    """Fetch a dropped page again, unless the crawl has ended; tell whether it will be."""
    engine = crawler.engine
    if engine is None or engine.spider is None:
        return False
    logger.info("Fetching %s again: %s", without_credentials(dropped.request.url), why)
    crawler.stats.inc_value("simhash_gate/rescheduled")
    engine.crawl(dropped.request)
    return True


def remembered(judged: Judged) -> Dropped:
    """Return what is remembered of a request whose page was dropped."""
    request, verdict = judged.as_sent, judged.verdict
    assert verdict.page is not None
    assert verdict.match is not None
    # None of these is needed to compare it.
    page = replace(verdict.page, article=b"", anchors=b"", gist=b"", targets="")
    again = request.replace(
        # Whatever its shape has brought since, it is fetched.
        meta={k: value for k, value in request.meta.items() if k not in (VERDICT_KEY, FOUND_KEY)},
        dont_filter=True,
    )
    contents = (again.url, again.body, dict(again.headers), again.meta, again.cb_kwargs)
    size = _OBJECTS + page.weight + sum(map(weight, contents))
    scope = verdict.match.record.scope
    return Dropped(again, judged.fingerprint, page, verdict.policy, scope, size)


def weight(value: Any, depth: int = 0) -> int:
    """Return the bytes that a value takes, as far as it is made of what JSON has, and bytes."""
    size = sys.getsizeof(value, 0)
    if depth < _DEEPEST:
        if isinstance(value, dict):
            size += sum(weight(part, depth + 1) for pair in value.items() for part in pair)
        elif isinstance(value, (list, tuple, set)):
            size += sum(weight(part, depth + 1) for part in value)
    return size


def _size(copies: list[Dropped]) -> int:
    return sum(copy.size for copy in copies)
