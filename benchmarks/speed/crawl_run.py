"""One crawl in a process of its own: `python -m benchmarks.speed.crawl_run URL KIND PAGES`.

Prints what it measured as one line of JSON. The crawl has Scrapy's default settings but for its
log; duplicates are tagged, so that as many callbacks run as without the gate.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

    from scrapy.http import Response

    from simhash_gate import SimhashGateMiddleware
    from simhash_gate.plugin.reading import RecentPages

KINDS = ("off", "on", "markdown", "probe", "repeat")
"""Without and with the gate, with a callback that reads the Markdown; the last two are timed."""

GATE = {
    "ADDONS": {"simhash_gate.Addon": 0},
    "SIMHASH_GATE_ACTION": "tag",
}


class Spider(scrapy.Spider):
    """Fetches so many pages of the site."""

    name = "speed"

    def __init__(self, url: str, kind: str, pages: int) -> None:
        super().__init__()
        folder = "same" if kind == "repeat" else "page"
        self.start_urls = [f"{url}/{folder}/{number}" for number in range(pages)]
        self.reads = kind == "markdown"
        self.called = 0
        self.characters = 0
        self.first = 0.0

    def parse(self, response: Response) -> None:
        """Do nothing, or read the Markdown."""
        self.called += 1
        self.first = self.first or time.perf_counter()
        if self.reads:
            self.characters += len(response.meta["simhash_gate_verdict"].markdown)


class Stopwatch:
    """Milliseconds that the gate holds the event loop, in processor time of the loop's thread.

    `pages` has a sum for each response, over the steps of `process_response`; `lookups` what of it
    went into looking for the body among those read before; `callbacks` each other callback of the
    gate's that the event loop ran.
    """

    def __init__(self) -> None:
        self.pages: list[float] = []
        self.lookups: list[float] = []
        self.callbacks: list[float] = []

    def install(self) -> None:
        """Time the gate from now on."""
        from simhash_gate import SimhashGateMiddleware
        from simhash_gate.plugin.reading import RecentPages

        stopwatch = self
        judged = SimhashGateMiddleware.process_response
        key, find = RecentPages.key, RecentPages.find
        run = asyncio.Handle._run

        async def process_response(
            gate: SimhashGateMiddleware, request: scrapy.Request, response: Response
        ) -> Response:
            return await _Steps(judged(gate, request, response), stopwatch.pages)

        def timed_key(recent: RecentPages, *body: Any) -> Any:
            start = time.thread_time()
            found = key(recent, *body)
            stopwatch.lookups.append((time.thread_time() - start) * 1000)
            return found

        def timed_find(recent: RecentPages, *body: Any) -> Any:
            start = time.thread_time()
            found = find(recent, *body)
            stopwatch.lookups[-1] += (time.thread_time() - start) * 1000
            return found

        def timed_run(handle: asyncio.Handle) -> None:
            callback = handle._callback  # type: ignore[attr-defined]
            if not (getattr(callback, "__module__", "") or "").startswith("simhash_gate"):
                return run(handle)
            start = time.thread_time()
            run(handle)
            return stopwatch.callbacks.append((time.thread_time() - start) * 1000)

        SimhashGateMiddleware.process_response = process_response  # type: ignore[assignment, method-assign]
        RecentPages.key = timed_key  # type: ignore[assignment, method-assign]
        RecentPages.find = timed_find  # type: ignore[assignment, method-assign]
        asyncio.Handle._run = timed_run  # type: ignore[assignment, method-assign]


class _Steps:
    """Awaits a coroutine, and adds up the time of its steps."""

    def __init__(self, coroutine: Coroutine[Any, Any, Response], sums: list[float]) -> None:
        self._steps = coroutine.__await__()
        self._sums = sums

    def __await__(self) -> Generator[Any, Any, Response]:
        sent: Any = None
        seconds = 0.0
        while True:
            start = time.thread_time()
            try:
                awaited = self._steps.send(sent)
            except StopIteration as stop:
                self._sums.append((seconds + time.thread_time() - start) * 1000)
                return stop.value
            seconds += time.thread_time() - start
            sent = yield awaited


def run(url: str, kind: str, pages: int) -> dict[str, Any]:
    """Crawl, and return what was measured."""
    settings = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False}
    process = CrawlerProcess(settings if kind == "off" else {**settings, **GATE})
    crawler = process.create_crawler(Spider)
    times = {"begun": time.perf_counter()}

    def opened() -> None:
        times.update(opened=time.perf_counter(), cpu=time.process_time())

    def closed() -> None:
        times.update(closed=time.perf_counter(), cpu_closed=time.process_time())

    crawler.signals.connect(opened, signals.spider_opened)
    crawler.signals.connect(closed, signals.spider_closed)
    stopwatch = Stopwatch()
    if kind in ("probe", "repeat"):
        stopwatch.install()
    process.crawl(crawler, url=url, kind=kind, pages=pages)
    process.start()
    spider = crawler.spider
    assert isinstance(spider, Spider)
    assert crawler.stats is not None
    if spider.called != pages:
        raise RuntimeError(f"{spider.called} of {pages} pages came through")
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "kind": kind,
        "pages": pages,
        "seconds": times["closed"] - times["opened"],
        "start": times["opened"] - times["begun"],
        "first": spider.first - times["opened"],
        "cpu_ms": (times["cpu_closed"] - times["cpu"]) / pages * 1000,
        "workers_cpu_ms": (workers.ru_utime + workers.ru_stime) / pages * 1000,
        "blocked_ms": stopwatch.pages,
        "lookups_ms": stopwatch.lookups,
        "callbacks_ms": stopwatch.callbacks,
        "stats": {
            name: count
            for name, count in crawler.stats.get_stats().items()
            if name.startswith("simhash_gate/")
        },
    }


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
