"""`python -m benchmarks.speed.crawl`: what a crawl loses to the gate, in one table.

Real crawls of a site on loopback that has a process of its own, in turn without the gate, with it,
and with a callback that reads the Markdown; then without the gate, with a callback that reads the
page by another program, which compares nothing; then one in which the time is taken that the gate
holds the event loop. Each has a process of its own, and Scrapy's default settings but for its log;
duplicates are tagged, so that as many callbacks run as without the gate.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Coroutine, Generator, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.speed.measure import OUT, options_of, say, table, those_there, write_json
from benchmarks.speed.page import PEERS
from benchmarks.speed.pages import running

ROOT = Path(__file__).parents[2]
PAGES, ROUNDS = 1000, 5
PEER_PAGES = 100  # of each crawl in which a callback reads by another program
QUICK_PAGES, QUICK_ROUNDS = 150, 1
PROBE = "probe"
TITLES = {
    "off": "no gate",
    "on": "gate, empty callback",
    "markdown": "gate, callback reads the Markdown",
}
READERS = {name: f"no gate, callback reads by {name}" for name in PEERS if "alone" not in name}
COLUMNS = (
    *("pages/s", "of no gate", "start, ms", "first page, ms"),
    *("CPU of the crawl, ms/page", "of workers"),
)


class Spider(scrapy.Spider):
    """Fetches so many pages of the site."""

    name = "speed"

    def __init__(self, url: str, kind: str, pages: int) -> None:
        super().__init__()
        self.start_urls = [f"{url}/page/{number}" for number in range(pages)]
        self.reads = kind == "markdown"
        self.read = PEERS[kind]() if kind in PEERS else None
        self.called = 0
        self.first = 0.0

    def parse(self, response: Response) -> None:
        """Do nothing, or read the Markdown."""
        self.called += 1
        self.first = self.first or time.perf_counter()
        if self.reads:
            _ = response.meta["simhash_gate_verdict"].markdown
        elif self.read:
            self.read(response.body)


class Steps:
    """Awaits a coroutine, and adds up the processor time of its steps, in milliseconds."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], sums: list[float]) -> None:
        self._steps = coroutine.__await__()
        self._sums = sums

    def __await__(self) -> Generator[Any, Any, Any]:
        sent, seconds = None, 0.0
        while True:
            start = time.thread_time()
            try:
                awaited = self._steps.send(sent)
            except StopIteration as stop:
                self._sums.append((seconds + time.thread_time() - start) * 1000)
                return stop.value
            seconds += time.thread_time() - start
            sent = yield awaited


def crawl(url: str, kind: str, pages: int) -> dict[str, Any]:
    """Crawl in this process, and return what was measured."""
    settings: dict[str, Any] = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False}
    if kind in ("on", "markdown", PROBE):
        settings |= {"ADDONS": {"simhash_gate.Addon": 0}, "SIMHASH_GATE_ACTION": "tag"}
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Spider)
    times = {"begun": time.perf_counter()}

    def opened() -> None:
        times.update(opened=time.perf_counter(), cpu=time.process_time())

    def closed() -> None:
        times.update(closed=time.perf_counter(), cpu_closed=time.process_time())

    crawler.signals.connect(opened, signals.spider_opened)
    crawler.signals.connect(closed, signals.spider_closed)
    held: list[float] = []
    if kind == PROBE:
        from simhash_gate import SimhashGateMiddleware

        judged = SimhashGateMiddleware.process_response

        async def timed(gate: Any, request: scrapy.Request, response: Response) -> Any:
            return await Steps(judged(gate, request, response), held)

        SimhashGateMiddleware.process_response = timed  # type: ignore[assignment, method-assign]
    process.crawl(crawler, url=url, kind=kind, pages=pages)
    process.start()
    spider = crawler.spider
    assert isinstance(spider, Spider)
    assert crawler.stats
    if spider.called != pages:
        raise RuntimeError(f"{spider.called} of {pages} pages came through")
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    stats = crawler.stats.get_stats().items()
    return {
        "pages/s": pages / (times["closed"] - times["opened"]),
        "start, ms": 1000 * (times["opened"] - times["begun"]),
        "first page, ms": 1000 * (spider.first - times["opened"]),
        "CPU of the crawl, ms/page": (times["cpu_closed"] - times["cpu"]) / pages * 1000,
        "of workers": (workers.ru_utime + workers.ru_stime) / pages * 1000,
        "held": held,
        "stats": {name: count for name, count in stats if name.startswith("simhash_gate/")},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write what it rests on; 2 where there are no pages."""
    flags: dict[str, tuple[Any, ...]] = {
        "--pages": (Path, "a folder of .html files to serve (generated pages)"),
        "--count": (int, f"pages a crawl ({PAGES})"),
        "--rounds": (int, f"crawls of each kind ({ROUNDS})"),
        "--quick": (False, "less of all, in under a minute"),
        "--no-peers": (False, "without other programs"),
        "--out": OUT,
        "--crawl": (str, argparse.SUPPRESS, {"nargs": 3}),
    }
    options = options_of(__doc__, arguments, flags)
    count = options.count or (QUICK_PAGES if options.quick else PAGES)
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    if options.crawl:
        url, kind, pages = options.crawl
        print(json.dumps(crawl(url, kind, int(pages))))
        return 0
    peers = {} if options.no_peers or options.quick else {name: PEERS[name] for name in READERS}
    titles = TITLES | {name: READERS[name] for name, _ in those_there(peers)}
    runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in (*titles, PROBE)}
    try:
        with running(options.pages) as (url, size):
            for number in range(rounds):
                for kind, own in runs.items():
                    command = [sys.executable, "-m", "benchmarks.speed.crawl", "--crawl", url, kind]
                    command.append(str(min(count, PEER_PAGES) if kind in READERS else count))
                    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
                    own.append(json.loads(done.stdout))
                    own[-1]["of no gate"] = own[-1]["pages/s"] / runs["off"][number]["pages/s"]
                    say(f"round {number + 1}, {kind}: {own[-1]['pages/s']:.0f} pages/s")
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        say(f"not measured: {error}")
        return 2
    summary = {
        kind: {name: median(run[name] for run in runs[kind]) for name in COLUMNS} for kind in titles
    }
    print(table({"": titles[kind], **row} for kind, row in summary.items()))
    cuts = quantiles([ms for run in runs[PROBE] for ms in run["held"]], n=100, method="inclusive")
    print(f"\nA page holds the event loop for {cuts[49]:.2f} ms (p50) to {cuts[98]:.2f} ms (p99).")
    print(f"{count} pages a crawl, {size:,} bytes the median one.")
    write_json(options.out / "crawl.json", {"summary": summary, "runs": runs}, ("scrapy",))
    return 0


if __name__ == "__main__":
    sys.exit(main())
