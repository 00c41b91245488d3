"""What a crawl does when its store fails: it says so, and ends if that is asked for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.utils.defer import deferred_from_coro

from simhash_gate.plugin.awaiting import LONGEST_CLOSING, done_within, result
from simhash_gate.stores import StoreError, StoreUnavailable
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from concurrent.futures import Future

    from scrapy.crawler import Crawler

    from simhash_gate.plugin.store_run import StoreRun

logger = logging.getLogger(__name__)

STORE_FAILED = "simhash_gate_store_failed"
"""The reason why a spider is closed when its store fails and must not."""


class StoreFailures:
    """Reports the failures of a store; they end the crawl if `closes`."""

    def __init__(self, crawler: Crawler, run: StoreRun, *, closes: bool) -> None:
        self._crawler = crawler
        self._run = run
        self._closes = closes
        self._reported: set[str] = set()
        self._closing = False

    def page_passed(self, error: StoreError) -> None:
        """Count a page that passed unjudged, and say why, once for each reason."""
        self._crawler.stats.inc_value("simhash_gate/store_failed")
        reason = str(error)
        told = error is self._run.failure or isinstance(error, StoreUnavailable)
        if not told and reason not in self._reported:
            self._reported.add(reason)
            logger.error("Passing pages unjudged: %s", reason)
        self._close_spider(reason)

    def started(self, opening: Future[None] | None) -> None:
        """Close the spider, now that its engine can, should the store not open."""
        if self._closes and opening is not None:
            deferred_from_coro(self._close_unless_open(opening))

    async def closed(self, closing: Future[None]) -> None:
        """Wait until the store is closed, but not for ever: a run that is not ended is dead."""
        if not await done_within(closing, LONGEST_CLOSING):
            logger.error(
                "The crawl ends before its store, which hangs, has ended its run: "
                "its pages may not count as seen"
            )

    async def _close_unless_open(self, opening: Future[None]) -> None:
        try:
            await result(opening)
        except StoreError as error:
            self._close_spider(str(error))

    def _close_spider(self, reason: str) -> None:
        engine = self._crawler.engine
        if not self._closes or engine is None or self._closing:
            return
        self._closing = True
        logger.error("Closing the spider (%sSTORE_FAILURE = 'close'): %s", PREFIX, reason)
        deferred_from_coro(engine.close_spider_async(reason=STORE_FAILED))
