"""Check whether the items of a crawl have arrived in its feeds.

Scrapy counts an item as scraped before it is exported, and goes on when an exporter or a feed
fails. So the number of scraped items is compared with the numbers that each feed has taken and,
batch by batch, stored. Failures of pipelines and of signal handlers are found in the log.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any
from weakref import WeakSet

from pydispatch.dispatcher import getAllReceivers, liveReceivers
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter, FeedSlot

_SIGNALS = (
    signals.item_scraped,
    signals.spider_closed,
    signals.feed_slot_closed,
    signals.feed_exporter_closed,
)
_WATCHED = tuple(map(logging.getLogger, ("scrapy.utils.signal", "scrapy.core.engine")))
_PIPELINES_FAILED = "Scraper close failure"
# Failures of these say nothing about items. Items in feeds are counted.
_HARMLESS = ("simhash_gate.", "scrapy.extensions.")


class Deliveries:
    """Follows the items of one crawl from the pipelines to its feeds."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._scraped = 0
        self._refused: Counter[str] = Counter()  # items, by the URI of the feed
        self._stored: Counter[str] = Counter()
        self._open: dict[int, FeedSlot] = {}
        self._closed: WeakSet[FeedSlot] = WeakSet()
        self._doubts: dict[str, None] = {}
        self._half = False  # a feed may end with half an item
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._slot_closed, signals.feed_slot_closed)

    def item_scraped(self) -> bool:
        """Count an item that has gone to the feeds. Return False if a feed did not take it.

        An item after half an item does not count, either: when a disk is full, only half of a large
        item is written, and the next one is on the same line. Call this in a handler of
        `item_scraped` that was connected after those of the extensions.
        """
        self._scraped += 1
        taken = self._stored.copy()
        self._note_slots()
        for slot in self._open.values():
            taken[slot.uri_template] += slot.itemcount
        refused = [uri for uri in self._feeds if taken[uri] + self._refused[uri] < self._scraped]
        self._refused.update(refused)
        if refused:
            return False
        follows_half, self._half = self._half, False
        return not follows_half

    def missing(self) -> list[str]:
        """Return in words why items may not be stored at the end of a crawl, empty if all are."""
        for logger in _WATCHED:
            logger.removeFilter(self._watch)
        self._note_slots()
        counted = self._crawler.stats.get_stats()
        lost = any(name.startswith("feedexport/failed_count") for name in counted)
        if self._scraped:
            stored = self._stored + self._refused
            lost = lost or any(stored[uri] < self._scraped for uri in self._feeds)
            left = self._open.values()
            lost = lost or any(s.itemcount or (s.store_empty and s.batch_id == 1) for s in left)
        return [*self._doubts, *["A feed was not stored"] * lost]

    @property
    def _feeds(self) -> list[str]:
        """The URIs of the feeds that take all items. Items that pass a filter are not counted."""
        exporter = self._crawler.get_extension(FeedExporter)
        filtered = ("item_classes", "item_filter")
        feeds = exporter.feeds.items() if exporter else ()
        return [uri for uri, feed in feeds if not any(map(feed.get, filtered))]

    def _opened(self) -> None:
        self._note_slots()
        for logger in _WATCHED:
            # With a handler, `logging` would not print the error by its last resort any more.
            logger.addFilter(self._watch)

    def _note_slots(self) -> None:
        exporter = self._crawler.get_extension(FeedExporter)
        for slot in exporter.slots if exporter else ():
            if slot not in self._closed:
                self._open[id(slot)] = slot

    def _slot_closed(self, slot: FeedSlot) -> None:
        self._stored[slot.uri_template] += slot.itemcount
        self._open.pop(id(slot), None)
        self._closed.add(slot)

    def _watch(self, record: logging.LogRecord) -> bool:
        """Note an error that Scrapy logs. Let every record pass."""
        # Several crawls may run in this process. Some records don't name their spider.
        ours = getattr(record, "spider", None) in (None, self._crawler.spider)
        if record.levelno >= logging.ERROR and ours:
            receiver = record.args.get("receiver") if isinstance(record.args, dict) else None
            error = record.exc_info[1] if record.exc_info else None
            message = f"{type(error).__name__}: {error}" if error else "unknown"
            if isinstance(error, OSError):
                self._half |= isinstance(getattr(receiver, "__self__", None), FeedExporter)
            if record.msg == _PIPELINES_FAILED:
                self._doubts[f"An item pipeline failed to close: {message}"] = None
            elif receiver is not None and self._listens(receiver):
                where = getattr(receiver, "__module__", "")
                name = f"{where}.{getattr(receiver, '__qualname__', receiver)}"
                self._doubts[f"{name} failed: {message}"] = None
        return True

    def _listens(self, receiver: Any) -> bool:
        """Tell whether a handler gets signals of this crawl about its items."""
        if getattr(receiver, "__module__", "").startswith(_HARMLESS):
            return False
        return any(
            receiver in liveReceivers(getAllReceivers(self._crawler, signal)) for signal in _SIGNALS
        )
