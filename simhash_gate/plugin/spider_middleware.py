"""The spider middleware: sees what becomes of a passed page, and holds items back for `links`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from simhash_gate.plugin.follower import GateFollower
from simhash_gate.plugin.names import VERDICT_KEY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.follower import CrawlGate


class SimhashGateSpiderMiddleware(GateFollower):
    """Stands nearest to the engine (order -10000): what leaves it is what Scrapy gets.

    Holds back the items of duplicates that reached their callback for their links or for the audit,
    takes the verdict out of the requests that go out, and tells the gate when a page failed in any
    spider middleware.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._witnessed = is_installed(crawler.settings, CallbackWitness)

    def process_spider_input(self, response: Response) -> None:
        """Note that the page is on its way to its callback."""
        if self.gate and self._witnessed and response.request:
            self.gate.recovery.entering(response.request)

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Yield what may go on."""
        for output in result:
            if self._goes_on(response, output):
                yield output
        self._left(response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield what may go on."""
        async for output in result:
            if self._goes_on(response, output):
                yield output
        self._left(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Tell the gate that the page failed, whoever may handle the exception."""
        _tell_failure(self.gate, response)

    def _left(self, response: Response) -> None:
        if self.gate and self._witnessed and response.request:
            self.gate.recovery.left(response.request)
            if self.gate.audit:
                self.gate.audit.left(response.request)

    def _goes_on(self, response: Response, output: Any) -> bool:
        request = response.request
        if isinstance(output, Request):
            if output is not request:
                output.meta.pop(VERDICT_KEY, None)
            return True
        verdict: Verdict | None = request.meta.get(VERDICT_KEY) if request else None
        if self.gate and self.gate.audit and output is not None:
            self.gate.audit.item(response, output)
        if self.gate and verdict and verdict.rejected and self.gate.action(verdict) != "tag":
            self.gate.stats.item_held()
            return False
        if self.gate and request and output is not None:
            self.gate.recovery.item_out(request)
        return True


class CallbackWitness(GateFollower):
    """Stands nearest to the spider (order 10000): sees callbacks begin and fail first."""

    def process_spider_input(self, response: Response) -> None:
        """Note that the page has reached its callback."""
        if self.gate and response.request:
            self.gate.recovery.entered(response.request)
            if self.gate.audit:
                self.gate.audit.entered(response.request)

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Yield everything, and count the seconds it took."""
        outputs = iter(result)
        seconds = 0.0
        while True:
            start = time.perf_counter()
            try:
                output = next(outputs)
            except StopIteration:
                break
            finally:
                seconds += time.perf_counter() - start
            yield output
        self._finished(response, seconds)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield everything, and count the seconds it took."""
        seconds = 0.0
        start = time.perf_counter()
        async for output in result:
            seconds += time.perf_counter() - start
            yield output
            start = time.perf_counter()
        self._finished(response, seconds + time.perf_counter() - start)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Tell the gate that the callback failed, whoever may handle the exception."""
        _tell_failure(self.gate, response)

    def _finished(self, response: Response, seconds: float) -> None:
        if self.gate:
            self.gate.stats.called_back(seconds)
            if response.request:
                self.gate.recovery.finished(response.request)
                if self.gate.audit:
                    self.gate.audit.finished(response.request)


def _tell_failure(gate: CrawlGate | None, response: Response) -> None:
    request = getattr(response, "request", None)
    if gate and request is not None:
        gate.recovery.failed(request)
        if gate.audit:
            gate.audit.failed(request)


def is_installed(settings: BaseSettings, middleware: type = SimhashGateSpiderMiddleware) -> bool:
    """Tell whether the settings enable a spider middleware of the gate."""
    enabled = build_component_list(
        settings.get_component_priority_dict_with_base("SPIDER_MIDDLEWARES")
    )
    return any(load_object(component) is middleware for component in enabled)


def sees_pages_end(settings: BaseSettings) -> bool:
    """Tell whether the settings enable all that sees callbacks and items end."""
    return is_installed(settings) and is_installed(settings, CallbackWitness)
