"""Nothing is lost to a failure: a failed page is forgotten, and a dropped copy is sent for.

A page is kept when the gate passes it, long before its callback and its items are done. Copies that
come meanwhile are dropped against it. If it fails after all, its record is taken back and the first
of its dropped copies is scheduled again; should that one not arrive either, the next.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simhash_gate.addresses import without_credentials
from simhash_gate.plugin.names import VERDICT_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.judging import Judge
    from simhash_gate.stores import Record

logger = logging.getLogger(__name__)

Identity = tuple[str, str, str, int]

COPIES = 16
"""Dropped requests that are remembered of each kept page."""
# The least size that Scrapy counts for a response it works on (scrapy.core.scraper.Slot).
MIN_RESPONSE_SIZE = 1024


@dataclass(slots=True)
class KeptPage:
    """A page that may still fail, and the dropped requests that it stands for.

    It is `announced` once Scrapy has it from the downloader middlewares, `entering` while it is
    between the outermost spider middleware and its callback, and `finished` once the callback has
    said all it has to say; `left` once the last output is out, and `items` of these are not yet
    scraped or dropped.
    """

    record: Record
    copies: list[Request] = field(default_factory=list)
    announced: bool = False
    entering: bool = False
    finished: bool = False
    left: bool = False
    items: int = 0


class Recovery:
    """Follows the kept pages of one crawl until they can fail no more."""

    def __init__(self, crawler: Crawler, judge: Judge) -> None:
        self._crawler = crawler
        self._judge = judge
        self._kept: OrderedDict[Identity, KeptPage] = OrderedDict()
        self._forgotten: OrderedDict[Identity, None] = OrderedDict()
        self._awaited: dict[str, list[Request]] = {}
        self.settles = False
        """Whether to tell the store when a page can fail no more."""
        settings = crawler.settings
        # Scrapy fetches no more while the responses it works on exceed this size: a page that has
        # so many kept after it can't be among them.
        self._in_progress = (
            1000
            + 4 * settings.getint("CONCURRENT_REQUESTS")
            + (settings.getint("SCRAPER_SLOT_MAX_ACTIVE_SIZE") // MIN_RESPONSE_SIZE)
        )

    def was_forgotten(self, record: Record) -> bool:
        """Tell whether the page of a record has failed since it was kept."""
        return record.identity in self._forgotten

    def judged(self, request: Request, fingerprint: str, verdict: Verdict, *, held: bool) -> None:
        """Take note of a verdict; `held` tells that nothing of the page reaches the feeds."""
        followers = self._awaited.pop(fingerprint, [])
        if held:
            assert verdict.match is not None
            kept = self._kept.get(verdict.match.record.identity)
            if kept is not None:
                kept.copies += [_again(request), *followers][: max(0, COPIES - len(kept.copies))]
        elif verdict.record is not None:
            record = verdict.record
            self._forgotten.pop(record.identity, None)
            kept = self._kept.setdefault(record.identity, KeptPage(record))
            kept.announced = kept.entering = kept.finished = kept.left = False
            kept.copies += followers
            self._kept.move_to_end(record.identity)
            while len(self._kept) > self._in_progress:
                _, oldest = self._kept.popitem(last=False)
                if _swallowed(oldest):
                    self._give_up(oldest)
        else:
            self._send(followers)

    def announced(self, request: Request) -> None:
        """Take note that Scrapy has received the page: no downloader middleware swallowed it."""
        if kept := self._of(request):
            kept.announced = True

    def entering(self, request: Request) -> None:
        """Take note that the page is on its way to the callback, through spider middlewares."""
        if kept := self._of(request):
            kept.entering = True

    def entered(self, request: Request) -> None:
        """Take note that the page has reached its callback."""
        if kept := self._of(request):
            kept.entering = False

    def finished(self, request: Request) -> None:
        """Take note that the callback has said all it has to say."""
        if kept := self._of(request):
            kept.finished = True

    def left(self, request: Request) -> None:
        """Take note that the last output is out; a callback that was cut short has failed."""
        if not (kept := self._of(request)):
            return
        if kept.finished:
            kept.left = True
            self._settle(kept)
        else:
            self.failed(request)

    def item_out(self, request: Request) -> None:
        """Take note that an item is on its way to the pipelines."""
        if self.settles and (kept := self._of(request)):
            kept.items += 1

    def item_done(self, response: Response | None) -> None:
        """Take note that an item was scraped or dropped."""
        request = response.request if response is not None else None
        if self.settles and request is not None and (kept := self._of(request)):
            kept.items -= 1
            self._settle(kept)

    def failed(self, request: Request) -> None:
        """Take the page back: its callback, or an item of it, failed."""
        if kept := self._of(request):
            del self._kept[kept.record.identity]
            self._give_up(kept)

    def idle(self) -> None:
        """Look for what got lost on its way, now that nothing is on its way any more."""
        awaited, self._awaited = self._awaited, {}
        for followers in awaited.values():
            self._send(followers)
        for kept in [kept for kept in self._kept.values() if _swallowed(kept)]:
            del self._kept[kept.record.identity]
            self._give_up(kept)

    def forget_swallowed(self) -> None:
        """Forget the pages that never reached their callback, at the end of the crawl."""
        for kept in self._kept.values():
            if _swallowed(kept):
                self._judge.forget(kept.record)

    def _of(self, request: Request) -> KeptPage | None:
        verdict: Verdict | None = request.meta.get(VERDICT_KEY)
        record = verdict.record if verdict is not None else None
        return self._kept.get(record.identity) if record is not None else None

    def _settle(self, kept: KeptPage) -> None:
        if self.settles and kept.left and kept.items <= 0:
            del self._kept[kept.record.identity]
            self._judge.settle(kept.record)

    def _give_up(self, kept: KeptPage) -> None:
        self._forgotten[kept.record.identity] = None
        if len(self._forgotten) > self._in_progress:
            self._forgotten.popitem(last=False)
        self._judge.forget(kept.record)
        self._count("forgotten")
        self._send(kept.copies)

    def _send(self, copies: list[Request]) -> None:
        engine = self._crawler.engine
        if not copies or engine is None or engine.spider is None:
            return
        request, *followers = copies
        if followers:
            fingerprint = self._crawler.request_fingerprinter.fingerprint(request).hex()
            self._awaited.setdefault(fingerprint, []).extend(followers)
        logger.info(
            "Fetching %s again: the page that it was dropped for failed",
            without_credentials(request.url),
        )
        self._count("rescheduled")
        engine.crawl(request)

    def _count(self, what: str) -> None:
        self._crawler.stats.inc_value(f"simhash_gate/{what}")


def _swallowed(kept: KeptPage) -> bool:
    return kept.entering or not kept.announced


def _again(request: Request) -> Request:
    meta = {key: value for key, value in request.meta.items() if key != VERDICT_KEY}
    return request.replace(meta=meta, dont_filter=True)
