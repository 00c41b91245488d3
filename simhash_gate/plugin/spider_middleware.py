"""The spider middlewares: they report how far each page has come after its verdict.

They also hold back the items of duplicates.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from twisted.logger import globalLogBeginner

from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin.followed import Stage
from simhash_gate.plugin.lifecycle import Lifecycle
from simhash_gate.plugin.listeners import Listeners
from simhash_gate.plugin.requests import CALLED_WITH, forget_page
from simhash_gate.settings import Settings, read_settings
from simhash_gate.values import PREFIX, SettingsError

logger = logging.getLogger(__name__)
_settings: WeakKeyDictionary[Crawler, Settings] = WeakKeyDictionary()


@contextmanager
def refusing() -> Iterator[None]:
    """Log a `SettingsError` in one line, and raise it.

    If nobody awaits the crawl, asyncio and Twisted would log it, too: that is suppressed.
    """
    try:
        yield
    except SettingsError as error:
        logger.error("The crawl does not start. %s", error)
        for name in ("asyncio", "twisted"):
            logging.getLogger(name).addFilter(_is_news)
        globalLogBeginner.beginLoggingTo([], discardBuffer=True, redirectStandardIO=False)
        raise


def _is_news(record: logging.LogRecord) -> bool:
    if record.exc_info:
        return not isinstance(record.exc_info[1], SettingsError)
    return record.getMessage() != "Unhandled error in Deferred:"


def settings_of(crawler: Crawler) -> Settings:
    """Return the gate's settings of a crawl, read once. Raises `SettingsError`."""
    settings = _settings.get(crawler)
    if settings is None:
        settings = read_settings(crawler.settings)
        if only_looks(crawler):
            settings = replace(settings, durable="never", verdicts="", report="", journal="")
        _settings[crawler] = settings
    return settings


def only_looks(crawler: Crawler) -> bool:
    """Tell whether a command only looks at pages: `scrapy fetch`, `shell`, `parse`, `view`, ...

    These commands have requests of their own in place of the spider's. The shell has no crawl.
    """
    start = getattr(crawler.spidercls, "start", None)
    return not crawler.crawling or getattr(start, "__module__", "").startswith("scrapy.commands.")


class CrawlGate:
    """The gate of one crawl, for the other components of the plugin."""

    lifecycle: Lifecycle
    listeners: Listeners

    async def verdict_on(self, request: Request, response: Response) -> Verdict:
        """Return the verdict on a response that has not come to the gate yet."""
        raise NotImplementedError  # no ABC: by its types, Scrapy looks up concrete classes only


class GateComponent:
    """Finds the gate of its crawl, if there is one."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._gate: CrawlGate | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GateComponent:
        """Return the component for this crawl."""
        with refusing():
            if not settings_of(crawler).enabled:
                raise NotConfigured(f"{PREFIX}ENABLED is False")
            return cls(crawler)

    @property
    def gate(self) -> CrawlGate | None:
        """The downloader middleware that judges this crawl's pages, None if there is none."""
        if self._gate is None:
            with suppress(RuntimeError):  # there is no engine, or not yet
                self._gate = self._crawler.get_downloader_middleware(CrawlGate)
        return self._gate


class ConditionalRequests(GateComponent):
    """Stands near the downloader (order 840), so that no other middleware sees a 304.

    Only Scrapy's own stats (850) count the 304 as it came.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GateComponent:
        """Return the middleware if the settings of a domain, or listeners, may need it."""
        component, settings = super().from_crawler(crawler), settings_of(crawler)
        if not (settings.revalidates or settings.listeners):
            raise NotConfigured
        return component

    async def process_request(self, request: Request) -> None:
        """Let listeners add a condition to a request."""
        if self.gate:
            await self.gate.listeners.ask("ask_store", request)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Return the response, or the answer of a listener in place of it."""
        answers = self.gate.listeners.tell("answered", request, response) if self.gate else []
        return next((answer for answer in answers if answer is not response), response)


class OutputFilter(GateComponent):
    """A spider middleware that sees the outputs of callbacks, and may let only some pass."""

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Tell the gate that the page failed, even if a middleware handles the exception."""
        if self.gate:
            self.gate.lifecycle.failed(response)

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Yield the outputs that may pass."""
        yield from (output for output in result if self._goes_on(response, output))
        yield from self._last(response)
        self._left(response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield the outputs that may pass."""
        async for output in result:
            if self._goes_on(response, output):
                yield output
        for output in self._last(response):
            yield output
        self._left(response)

    def _goes_on(self, response: Response, output: Any) -> bool:
        return True

    def _last(self, response: Response) -> list[Any]:
        """Return the outputs that waited for the end of the callback."""
        return []

    def _left(self, response: Response) -> None:
        """Note that all outputs have passed."""


class SimhashGateSpiderMiddleware(OutputFilter):
    """Stands nearest to the engine (order -10000): Scrapy gets exactly its outputs.

    It holds back the items of duplicates that reached their callback, removes the verdict from
    requests, and tells the gate if a page failed in any spider middleware. The spider `is_starting`
    until its last start request.
    """

    is_starting = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._sees_callbacks = is_installed(crawler.settings, SimhashGateInnerSpiderMiddleware)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield the start requests, and note their end."""
        async for output in start:
            yield output
        self.is_starting = False

    def process_spider_input(self, response: Response) -> None:
        """Note that the page is on its way to its callback."""
        if self.gate and self._sees_callbacks and response.request:
            self.gate.lifecycle.reached(response.request, Stage.ENTERING)

    def _last(self, response: Response) -> list[Any]:
        return self.gate.lifecycle.items_left(response) if self.gate else []

    def _left(self, response: Response) -> None:
        if self.gate and self._sees_callbacks and response.request:
            self.gate.lifecycle.left(response.request)

    def _goes_on(self, response: Response, output: Any) -> bool:
        if isinstance(output, Request):
            forget_page(output, response)
            if self.gate is None or output is response.request:
                return True
            return self.gate.lifecycle.found(output, response)
        return self.gate is None or self.gate.lifecycle.item_out(response, output)


class SimhashGateInnerSpiderMiddleware(OutputFilter):
    """Stands nearest to the spider (order 10000), to see callbacks begin, end and fail."""

    def process_spider_input(self, response: Response) -> None:
        """Note that the page has reached its callback."""
        CALLED_WITH.set(response.request)
        if self.gate and response.request:
            self.gate.lifecycle.reached(response.request, Stage.IN_CALLBACK)

    def _left(self, response: Response) -> None:
        if self.gate:
            self.gate.lifecycle.finished(response.request)


def is_installed(settings: BaseSettings, middleware: type = SimhashGateSpiderMiddleware) -> bool:
    """Tell whether the settings enable a spider middleware of the gate."""
    return middleware in enabled(settings, "SPIDER_MIDDLEWARES")


def enabled(settings: BaseSettings, kind: str) -> list[type]:
    """Return the components of a kind that the settings enable, such as `SPIDER_MIDDLEWARES`."""
    paths = build_component_list(settings.get_component_priority_dict_with_base(kind))
    return [load_object(path) for path in paths]


def sees_pages_end(settings: BaseSettings) -> bool:
    """Tell whether the settings enable the middlewares that see callbacks and items end."""
    return is_installed(settings) and is_installed(settings, SimhashGateInnerSpiderMiddleware)
