"""Nothing is lost to a failure: a failed page is forgotten, and what was dropped for it comes back.

A page is kept when the gate passes it, long before its callback and its items are done. Copies that
come meanwhile are dropped against it. If it fails after all, its record is taken back, and the
first of these copies is fetched again. Of the others, those that are duplicates of what has come
stay dropped, against that; of the rest the next one is fetched, and so on: each once for a failure.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.gate.judge import is_duplicate_of
from simhash_gate.plugin.dropped import MOST_BYTES, Dropped, remembered
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

# The least size that Scrapy counts for a response it works on (scrapy.core.scraper.Slot).
MIN_RESPONSE_SIZE = 1024


@dataclass(slots=True)
class KeptPage:
    """A page that may still fail, and what was dropped for it.

    It is `announced` once Scrapy has it from the downloader middlewares, `entering` while it is
    between the outermost spider middleware and its callback, and `finished` once the callback has
    said all it has to say; `left` once the last output is out, and `items` of these are not yet
    scraped or dropped. `let_go` counts the dropped pages that are not remembered any more.
    """

    record: Record
    copies: list[Dropped] = field(default_factory=list)
    let_go: int = 0
    announced: bool = False
    entering: bool = False
    finished: bool = False
    left: bool = False
    items: int = 0


class Recovery:
    """Follows the kept pages of one crawl until they can fail no more.

    `sees_end` tells whether it learns when callbacks end and items are done with; `settles`,
    whether it then tells the store.
    """

    def __init__(self, crawler: Crawler, judge: Judge) -> None:
        self.sees_end = self.settles = False
        self._crawler = crawler
        self._judge = judge
        self._kept: OrderedDict[Identity, KeptPage] = OrderedDict()
        self._forgotten: OrderedDict[Identity, None] = OrderedDict()
        self._awaiting: dict[str, list[Dropped]] = {}
        self._bytes = 0
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
        awaiting = self._no_longer_awaiting(fingerprint)
        stands_for: Record | None = None
        kept: KeptPage | None = None
        if held:
            assert verdict.match is not None
            stands_for = verdict.match.record
            kept = self._kept.get(stands_for.identity)
            if kept is not None:
                self._remember(kept, remembered(request, fingerprint, verdict))
        elif verdict.record is not None:
            stands_for = verdict.record
            kept = self._keep(stands_for)
        others = []
        for copy in awaiting:
            if stands_for is None or not is_duplicate_of(
                stands_for, copy.page, copy.policy, copy.scope
            ):
                others.append(copy)
            elif kept is not None:
                self._remember(kept, copy)
        self._send(others)

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
        """Take note that the last output is out; a callback that was cut short has failed.

        So has one that was never reached: that is the output of an errback.
        """
        if not (kept := self._of(request)):
            return
        if kept.finished and not kept.entering:
            kept.left = True
            self._settle(kept)
        else:
            self.failed(request)

    def item_out(self, request: Request) -> None:
        """Take note that an item is on its way to the pipelines."""
        if kept := self._of(request):
            kept.items += 1

    def item_done(self, response: Response | None, *, well: bool = True) -> None:
        """Take note that an item was scraped or dropped, or `well` that a feed did not take it."""
        request = response.request if response is not None else None
        if request is None or not (kept := self._of(request)):
            return
        if not well:
            self.failed(request)
            return
        kept.items -= 1
        self._settle(kept)

    def failed(self, request: Request) -> None:
        """Take the page back: its callback, or an item of it, failed."""
        if kept := self._of(request):
            self._give_up(kept)

    def idle(self) -> None:
        """Look for what got lost on its way, now that nothing is on its way any more."""
        for fingerprint in list(self._awaiting):
            self._send(self._no_longer_awaiting(fingerprint))
        for kept in [kept for kept in self._kept.values() if _swallowed(kept)]:
            self._give_up(kept)

    def hand_over(self) -> None:
        """Give Scrapy all that is still to be fetched again: a paused crawl goes on with it."""
        for fingerprint in list(self._awaiting):
            for copy in self._no_longer_awaiting(fingerprint):
                self._send([copy])

    def forget_swallowed(self) -> None:
        """Forget the pages that never reached their callback, at the end of the crawl."""
        for kept in self._kept.values():
            if _swallowed(kept):
                self._judge.forget(kept.record)

    def fetch_again(self, copies: list[Dropped], why: str) -> None:
        """Fetch dropped pages again, each to be judged by itself."""
        for copy in copies:
            self._send([copy], why)

    def _of(self, request: Request) -> KeptPage | None:
        verdict: Verdict | None = request.meta.get(VERDICT_KEY)
        record = verdict.record if verdict is not None else None
        return self._kept.get(record.identity) if record is not None else None

    def _keep(self, record: Record) -> KeptPage:
        self._forgotten.pop(record.identity, None)
        kept = self._kept.setdefault(record.identity, KeptPage(record))
        kept.announced = kept.entering = kept.finished = kept.left = False
        self._kept.move_to_end(record.identity)
        while len(self._kept) > self._in_progress:
            oldest = next(iter(self._kept.values()))
            if _swallowed(oldest):
                self._give_up(oldest)
            else:
                self._take_out(oldest)
        return kept

    def _take_out(self, kept: KeptPage) -> None:
        del self._kept[kept.record.identity]
        self._bytes -= sum(copy.size for copy in kept.copies)

    def _settle(self, kept: KeptPage) -> None:
        if self.sees_end and kept.left and kept.items <= 0:
            self._take_out(kept)
            if self.settles:
                self._judge.settle(kept.record)

    def _remember(self, kept: KeptPage, copy: Dropped) -> None:
        """Remember what was dropped for a page; where there is no room, let the oldest go."""
        kept.copies.append(copy)
        self._bytes += copy.size
        while self._bytes > MOST_BYTES:
            oldest = next((kept for kept in self._kept.values() if kept.copies), None)
            if oldest is None:
                return
            if not self._crawler.stats.get_value("simhash_gate/copies_let_go"):
                logger.warning(
                    "More than %d MiB of dropped requests wait for what becomes of the pages that "
                    "they were dropped for: those that waited longest are not sent again, should "
                    "these pages fail",
                    MOST_BYTES >> 20,
                )
            self._count("copies_let_go", len(oldest.copies))
            oldest.let_go += len(oldest.copies)
            self._bytes -= sum(copy.size for copy in oldest.copies)
            oldest.copies.clear()

    def _no_longer_awaiting(self, fingerprint: str) -> list[Dropped]:
        """Return what waits for the page of a request, and let it wait no longer."""
        copies = self._awaiting.pop(fingerprint, [])
        self._bytes -= sum(copy.size for copy in copies)
        return copies

    def _give_up(self, kept: KeptPage) -> None:
        self._take_out(kept)
        self._forgotten[kept.record.identity] = None
        if len(self._forgotten) > self._in_progress:
            self._forgotten.popitem(last=False)
        self._judge.forget(kept.record)
        self._count("forgotten")
        if kept.let_go:
            logger.error(
                "%s failed, and %s that were dropped for it are not fetched again: "
                "too many were waiting",
                kept.record.url,
                how_many(kept.let_go, "page"),
            )
        self._send(kept.copies)

    def _send(
        self, copies: list[Dropped], why: str = "the page that it was dropped for failed"
    ) -> None:
        """Fetch the first of some dropped pages again; the others wait for what it brings."""
        engine = self._crawler.engine
        if not copies or engine is None or engine.spider is None:
            return
        first, *others = copies
        if others:
            self._bytes += sum(copy.size for copy in others)
            self._awaiting.setdefault(first.fingerprint, []).extend(others)
        logger.info("Fetching %s again: %s", without_credentials(first.request.url), why)
        self._count("rescheduled")
        engine.crawl(first.request)

    def _count(self, what: str, by: int = 1) -> None:
        self._crawler.stats.inc_value(f"simhash_gate/{what}", by)


def _swallowed(kept: KeptPage) -> bool:
    return kept.entering or not kept.announced
