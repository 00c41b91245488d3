"""`python -m benchmarks.speed.crawl`: what a crawl loses to the gate, in one table.

Real crawls of a site on loopback that has a process of its own, in turn without the gate, with it,
and with a callback that reads the Markdown. Each has a process of its own, and Scrapy's default
settings but for its log; duplicates are tagged, so that as many callbacks run as without the gate.
A heartbeat takes how long the event loop stands still.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.speed.measure import options_of, say, table
from benchmarks.speed.pages import running

ROOT = Path(__file__).parents[2]
BEAT = 0.001  # seconds between two heartbeats
BEATS = {"off, beat": "Without the gate", "on, beat": "With the gate"}
TITLES = {
    "off": "no gate",
    "on": "gate",
    "markdown": "gate, callback reads the Markdown",
}
OWN, OF_WORKERS = "CPU of the crawl, ms/page", "of workers"
COLUMNS = (
    *("pages/s", "of no gate", OWN, "its CPU, of no gate", OF_WORKERS),
    *("start, ms", "first page, ms", "end, ms"),
)
GATED = ("on", "markdown", "on, beat")
RATES = (30, 100)


class Spider(scrapy.Spider):
    """Fetches so many pages of the site."""

    name = "speed"

    def __init__(self, url: str, kind: str, pages: int) -> None:
        super().__init__()
        self.start_urls = [f"{url}/page/{number}" for number in range(pages)]
        self.reads = kind == "markdown"
        self.called = 0
        self.first = 0.0

    def parse(self, response: Response) -> None:
        """Do nothing, or read the Markdown."""
        self.called += 1
        self.first = self.first or time.perf_counter()
        if self.reads:
            _ = response.meta["simhash_gate_verdict"].markdown


async def beat(late: list[float]) -> None:
    """Note by how many milliseconds each heartbeat is late, for ever."""
    while True:
        due = time.perf_counter() + BEAT
        await asyncio.sleep(BEAT)
        late.append(max(0.0, time.perf_counter() - due) * 1000)


def settings_of(kind: str) -> dict[str, Any]:
    """Return the settings of a kind of crawl."""
    settings: dict[str, Any] = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False}
    if kind in GATED:
        settings |= {"ADDONS": {"simhash_gate.Addon": 0}, "SIMHASH_GATE_ACTION": "tag"}
    return settings


def crawl(url: str, kind: str, pages: int) -> dict[str, Any]:
    """Crawl in this process, and return what was measured."""
    process = CrawlerProcess(settings_of(kind))
    crawler = process.create_crawler(Spider)
    times = {"begun": time.perf_counter()}
    late: list[float] = []
    beating: list[asyncio.Task[None]] = []

    def opened() -> None:
        times.update(opened=time.perf_counter(), cpu=time.process_time())
        if kind in BEATS:
            beating.append(asyncio.ensure_future(beat(late)))

    def closed() -> None:
        times.update(closed=time.perf_counter(), cpu_closed=time.process_time())

    def stopped() -> None:
        times.update(stopped=time.perf_counter())
        for task in beating:
            task.cancel()

    crawler.signals.connect(opened, signals.spider_opened)
    crawler.signals.connect(closed, signals.spider_closed)
    crawler.signals.connect(stopped, signals.engine_stopped)
    process.crawl(crawler, url=url, kind=kind, pages=pages)
    process.start()
    spider = crawler.spider
    assert isinstance(spider, Spider)
    assert crawler.stats
    fetched = crawler.stats.get_value("simhash_gate/fetched", 0)
    if (spider.called, fetched) != (pages, pages if kind in GATED else 0):
        raise RuntimeError(f"{spider.called} of {pages} pages came through, {fetched} by the gate")
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "pages/s": pages / (times["closed"] - times["opened"]),
        "start, ms": 1000 * (times["opened"] - times["begun"]),
        "first page, ms": 1000 * (spider.first - times["opened"]),
        "end, ms": 1000 * (times["stopped"] - times["closed"]),
        OWN: (times["cpu_closed"] - times["cpu"]) / pages * 1000,
        OF_WORKERS: (workers.ru_utime + workers.ru_stime) / pages * 1000,
        "late, ms": late,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table; 2 where there are no pages."""
    flags: dict[str, tuple[Any, ...]] = {
        "--pages": (Path, "a folder of .html files to serve (generated pages)"),
        "--count": (1000, "pages a crawl"),
        "--rounds": (5, "crawls of each kind"),
        "--crawl": (str, argparse.SUPPRESS, {"nargs": 3}),
    }
    options = options_of(__doc__, arguments, flags)
    count = options.count
    if options.crawl:
        url, kind, pages = options.crawl
        print(json.dumps(crawl(url, kind, int(pages))))
        return 0
    runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in (*TITLES, *BEATS)}
    try:
        with running(options.pages) as (url, size):
            for number in range(options.rounds):
                for kind, own in runs.items():
                    command = [sys.executable, "-m", "benchmarks.speed.crawl", "--crawl", url, kind]
                    command.append(str(count))
                    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
                    own.append(json.loads(done.stdout))
                    bare = runs["off"][number]
                    own[-1]["of no gate"] = own[-1]["pages/s"] / bare["pages/s"]
                    own[-1]["its CPU, of no gate"] = own[-1][OWN] / bare[OWN]
                    say(f"round {number + 1}, {kind}: {own[-1]['pages/s']:.0f} pages/s")
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        say(f"not measured: {error}")
        return 2
    summary = {
        kind: {name: median(run[name] for run in runs[kind]) for name in COLUMNS} for kind in TITLES
    }
    print(table({"": TITLES[kind], **row} for kind, row in summary.items()))
    for rate in RATES:
        its, plain = (f"{summary[kind][OWN] * rate / 10:.0f} %" for kind in ("on", "off"))
        print(
            f"\nAt {rate} pages a second the crawl takes {its} of a core, {plain} without the gate."
        )
    for kind, title in BEATS.items():
        late = [ms for run in runs[kind] for ms in run["late, ms"]]
        cut, most = quantiles(late, n=1000)[-1], max(late)
        print(f"{title}, the event loop stands still for {cut:.1f} ms (p99.9), {most:.1f} at most.")
    print(f"{count} pages a crawl, {size:,} bytes the median one.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
