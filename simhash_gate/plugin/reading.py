"""Responses -> pages: read by the page-reading processes, or taken from a cache."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import replace
from subprocess import Popen
from typing import Generic, TypeVar

from mmh3 import hash_bytes
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from simhash_gate.common.encoded import charset_in
from simhash_gate.common.urls import without_credentials
from simhash_gate.page import Page
from simhash_gate.plugin.threads import result
from simhash_gate.settings import Settings
from simhash_gate.workers import PROCESSES
from simhash_gate.workers.pool import InlineReader, ReadError, WorkerPool

logger = logging.getLogger(__name__)
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """A cache of the values used last: at most `most` values, and at most `most_bytes` together."""

    def __init__(self, most_bytes: int, most: float = float("inf")) -> None:
        self._most_bytes = most_bytes
        self._most = most
        self._bytes = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return a value, which now counts as used last, or None."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of `size` bytes in place of an earlier one."""
        self._bytes += size - self._values.pop(key, (None, 0))[1]
        self._values[key] = value, size
        while self._bytes > self._most_bytes or len(self._values) > self._most:
            _, (_, freed) = self._values.popitem(last=False)
            self._bytes -= freed


MOST_PAGES = 1_000
MOST_BYTES = 32 * 1024 * 1024
_ENTRY_BYTES = 1024  # bytes of a page's objects and its key, without their contents


class PageReader:
    """Reads the pages of one crawl. Recent pages are cached, and not read again.

    A repeat has the same body and the same path, since relative links depend on the path. With
    anchors, it has the same URL.
    """

    def __init__(self, settings: Settings, stats: StatsCollector) -> None:
        self._settings = settings
        self._stats = stats
        self._recent: Bounded[tuple[bytes, str, str], Page] = Bounded(MOST_BYTES, MOST_PAGES)
        self._reader: InlineReader | WorkerPool = InlineReader(settings.options)

    def open(self, started: Iterable[Popen[bytes]] = ()) -> None:
        """Start the processes. Those that are `started` already now belong to the reader."""
        settings, loop = self._settings, None
        with suppress(RuntimeError):  # no event loop of asyncio runs the crawl
            loop = asyncio.get_running_loop()
        if not PROCESSES:
            logger.info(
                "Pages are read in the crawl's own process, without limits of time and memory: "
                "here no other can be started"
            )
        if settings.workers:
            self._reader = WorkerPool(
                settings.options,
                settings.workers,
                memory=settings.worker_memory,
                loop=loop,
                started=started,
            )

    def close(self) -> None:
        """End the processes. Pages that still wait fail."""
        self._reader.close()

    async def page(self, response: Response) -> Page:
        """Read a response. Raises `ReadError`."""
        body, url = response.body, response.url
        header = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        # The argument of the response's class comes first.
        charset = getattr(response, "_encoding", None) or charset_in(header)
        where = url if self._settings.options.anchors else url.partition("?")[0]
        key = hash_bytes(body), charset or "", where  # a site that forges hashes harms only itself
        repeat = self._recent.get(key)
        if repeat is not None:
            self._stats.inc_value("simhash_gate/repeated")  # a body that is not parsed again
            return replace(repeat, url=without_credentials(url))
        page: Page = await result(self._reader.read(body, url, charset))
        if page.unreadable:
            raise ReadError(page.reason)
        size = _ENTRY_BYTES + page.weight
        if size <= MOST_BYTES:
            self._recent.put(key, replace(page), size)  # a copy, which never holds Markdown
        return page
