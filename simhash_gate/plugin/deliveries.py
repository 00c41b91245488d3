"""Whether the items of a crawl have arrived where its feeds and pipelines put them.

Scrapy counts an item as scraped before it is exported, and goes on when an exporter, a feed or the
end of a pipeline fails: it logs that. So the errors that it logs are watched, and the items that
were scraped are counted against what each feed, batch by batch, has stored.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getAllReceivers, liveReceivers
from scrapy import signals
from scrapy.extensions.feedexport import FeedExporter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot

_CLOSING = (signals.spider_closed, signals.feed_slot_closed, signals.feed_exporter_closed)
_WATCHED = tuple(map(logging.getLogger, ("scrapy.utils.signal", "scrapy.core.engine")))
_PIPELINES_FAILED = "Scraper close failure"
# What these do when a crawl ends has nothing to do with its items.
_HARMLESS = ("simhash_gate.", "scrapy.extensions.")


class Deliveries:
    """Follows the items of one crawl from the pipelines to its feeds."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._scraped = self._failed = 0
        self._export_failed = False
        self._doubts: dict[str, None] = {}
        self._exported: Counter[str] = Counter()
        self._open_slots: dict[int, FeedSlot] = {}
        self._closed_slots: set[int] = set()
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._slot_closed, signals.feed_slot_closed)

    def item_scraped(self) -> bool:
        """Count an item that has gone to the feeds; False if one of them could not take it.

        To be called by a handler of `item_scraped` that was connected after the extensions'.
        """
        self._scraped += 1
        self._note_slots()
        failed, self._export_failed = self._export_failed, False
        self._failed += failed
        return not failed

    def missing(self) -> list[str]:
        """Return in words why items of a crawl that ends may not be stored; empty if all are."""
        for logger in _WATCHED:
            logger.removeFilter(self._watch)
        if self._export_failed:
            self._doubts["An item could not be exported"] = None
        return [*self._doubts, *(["A feed was not stored"] if self._feed_is_missing() else [])]

    @property
    def _exporter(self) -> FeedExporter | None:
        return self._crawler.get_extension(FeedExporter)

    def _open(self) -> None:
        self._note_slots()
        for logger in _WATCHED:
            # A handler would keep the last resort of `logging` from printing the error.
            logger.addFilter(self._watch)

    def _note_slots(self) -> None:
        """Take note of the files that are open: with batches, others each time."""
        if exporter := self._exporter:
            self._open_slots.update((id(slot), slot) for slot in exporter.slots)

    def _slot_closed(self, slot: FeedSlot) -> None:
        self._exported[slot.uri_template] += slot.itemcount
        self._open_slots.pop(id(slot), None)
        if (exporter := self._exporter) and slot in exporter.slots:
            self._closed_slots.add(id(slot))

    def _feed_is_missing(self) -> bool:
        counted = self._crawler.stats.get_stats()
        if any(name.startswith("feedexport/failed_count") for name in counted):
            return True
        exporter = self._exporter
        if exporter is None or not self._scraped:
            return False
        self._note_slots()
        if any(
            slot.itemcount or (slot.store_empty and slot.batch_id == 1)
            for number, slot in self._open_slots.items()
            if number not in self._closed_slots
        ):
            return True
        return any(
            self._exported[uri] < self._scraped - self._failed
            for uri, feed in exporter.feeds.items()
            # How many items a filter lets through, nobody counts.
            if not (feed.get("item_classes") or feed.get("item_filter"))
        )

    def _watch(self, record: logging.LogRecord) -> bool:
        """Take note of an error that Scrapy logs; let every record through."""
        # Several crawls may run in this process. Some signals don't say whose they are.
        ours = getattr(record, "spider", None) in (None, self._crawler.spider)
        if record.levelno >= logging.ERROR and ours:
            if record.msg == _PIPELINES_FAILED:
                self._doubts[f"An item pipeline failed to close: {_error(record)}"] = None
            elif isinstance(record.args, dict) and "receiver" in record.args:
                self._handler_failed(record.args["receiver"], record)
        return True

    def _handler_failed(self, receiver: Any, record: logging.LogRecord) -> None:
        module = getattr(receiver, "__module__", "")
        if self._listens(receiver, signals.item_scraped):
            if isinstance(getattr(receiver, "__self__", None), FeedExporter):
                self._export_failed = True
                # Of a file that can't be written, what was written before may be lost as well.
                if not isinstance((record.exc_info or (None, None))[1], OSError):
                    return
                self._doubts[f"A feed could not be written: {_error(record)}"] = None
            elif not module.startswith(_HARMLESS):
                self._doubts[f"{_name(receiver)} failed on an item: {_error(record)}"] = None
        elif any(self._listens(receiver, signal) for signal in _CLOSING) and (
            not module.startswith(_HARMLESS) or module == FeedExporter.__module__
        ):
            self._doubts[f"{_name(receiver)} failed at the end: {_error(record)}"] = None

    def _listens(self, receiver: Any, signal: object) -> bool:
        """Tell whether this crawl sends a signal to a handler."""
        return receiver in liveReceivers(getAllReceivers(self._crawler, signal))


def _name(receiver: Any) -> str:
    return f"{getattr(receiver, '__module__', '')}.{getattr(receiver, '__qualname__', receiver)}"


def _error(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return f"{type(error).__name__}: {error}" if error else "unknown"
