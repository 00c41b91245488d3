"""Responses -> pages: from memory, or read in the workers, and always off the event loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from w3lib.encoding import http_content_type_encoding

from simhash_gate.plugin.awaiting import result
from simhash_gate.plugin.demand import MarkdownDemand
from simhash_gate.plugin.repeats import RecentPages
from simhash_gate.workers.pool import InlineReader, ReadError, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterable
    from subprocess import Popen

    from scrapy.http import Response

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.pages import Page
    from simhash_gate.plugin.stats import GateStats
    from simhash_gate.settings import Settings


class PageReader:
    """Reads the pages of one crawl; no body twice, and no Markdown that nobody wants."""

    def __init__(self, settings: Settings, stats: GateStats) -> None:
        self.demand = MarkdownDemand()
        self._settings = settings
        self._stats = stats
        self._recent = RecentPages(settings.options)
        self._reader: InlineReader | WorkerPool = InlineReader(settings.options)

    @property
    def pids(self) -> list[int]:
        """The process ids of the page-reading processes."""
        return self._reader.pids if isinstance(self._reader, WorkerPool) else []

    def open(self, started: Iterable[Popen[bytes]] = ()) -> None:
        """Start the processes but those that are `started`, which are the reader's from now on."""
        settings = self._settings
        if settings.workers:
            self._reader = WorkerPool(
                settings.options,
                settings.workers,
                settings.timeout,
                settings.worker_memory,
                _event_loop(),
                started,
            )

    def close(self) -> None:
        """End the processes; pages that still wait fail."""
        self._reader.close()

    async def page(self, response: Response) -> Page:
        """Return what the response says; raises `ReadError`."""
        body = (response.body, response.url, _charset(response))
        key = self._recent.key(*body)
        page = self._recent.find(key, *body)
        if page is not None:
            self._stats.repeated()
            return page
        page = await self._read(*body)
        self._recent.add(key, response.url, page)
        return page

    async def for_callback(self, verdict: Verdict, response: Response) -> Verdict:
        """Return the verdict with Markdown that was made off the event loop, if any is wanted."""
        page = verdict.page
        if page is None:
            return verdict
        if not page.is_rendered and self.demand.wanted and self._settings.workers:
            with suppress(ReadError):
                page = await self._read(response.body, response.url, _charset(response))
        return replace(verdict, page=self.demand.watch(page))

    async def _read(self, body: bytes, url: str, encoding: str | None) -> Page:
        page = await result(self._reader.read(body, url, encoding, markdown=self.demand.wanted))
        if page.unreadable:
            raise ReadError(page.reason)
        return page


def _event_loop() -> asyncio.AbstractEventLoop | None:
    """Return the asyncio event loop that runs the crawl, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _charset(response: Response) -> str | None:
    """Return the encoding that was declared for a response: when it was made, else in its header.

    What Scrapy guesses from the body alone is no declaration: that is told from the page.
    """
    if declared := getattr(response, "_encoding", None):
        return str(declared)
    header = response.headers.get(b"Content-Type") or b""
    return http_content_type_encoding(header.decode("latin-1"))
