"""`scrapy crawl demo-year`: a simulated year of daily crawls, against what the newspapers did."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import SETTINGS_PRIORITIES, Settings
from scrapy.utils.project import get_project_settings
from typing_extensions import Self

from crawler.pages import Links, SiteHosts, article_of, positive, serve_of, site_of
from crawler.site.process import SiteError, SiteProcess, serve_number, set_time, truth
from crawler.site.year_plan import ARTICLES, DAYS, Year, unix
from crawler.year_score import GONE, Day, report, score, visits_of, week
from simhash_gate.gate.verdict import verdict_of
from simhash_gate.plugin.crawl_settings import store_url
from simhash_gate.plugin.requests import TIME_KEY
from simhash_gate.plugin.signals import near_duplicate_dropped

CMDLINE = SETTINGS_PRIORITIES["cmdline"]
STORE = "SIMHASH_GATE_STORE"
QUIET = {
    "LOG_LEVEL": "WARNING",
    "LOGSTATS_INTERVAL": 0,
    "MEMUSAGE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "CONCURRENT_ITEMS": 2,  # Scrapy makes that many tasks for each response
    "SIMHASH_GATE_WORKERS": 0,
}
"""What the crawls of the days have, unless the command line says otherwise.

Page-reading processes would start every day, and take longer to load than the pages to read.
"""
HOUR = 0.25
"""When a day's crawl begins, as a part of the day: at six."""
STARTING = 0.01
"""Seconds between two looks at whether a crawl runs yet."""


class DaySpider(Spider):
    """Fetches home pages and all `known` ones at a Unix time, and what they show that is new.

    `found` are the pages that are there, and `gone` those that are not, or lead elsewhere. The
    class has no name, so that `scrapy crawl` doesn't know it: it needs more than a command line.
    """

    handle_httpstatus_list = list(GONE)  # noqa: RUF012 - Scrapy's own way

    def __init__(
        self, homes: Sequence[str], known: Iterable[str], at: float, day: Day, **kwargs: Any
    ) -> None:
        super().__init__("demo-year-day", **kwargs)
        self.first = list(dict.fromkeys([*homes, *known]))
        self.at, self.day = at, day
        self.links = Links({site_of(home) for home in homes})
        self.links.seen |= {*self.first}
        self.found: dict[str, None] = {}
        self.gone: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider, which hears what becomes of pages."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.dropped, near_duplicate_dropped)
        crawler.signals.connect(spider.scraped, signals.item_scraped)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the home pages, and the pages that are known."""
        for url in self.first:
            yield Request(url, meta={TIME_KEY: self.at})

    def parse(self, response: Response) -> Iterator[dict[str, Any] | Request]:
        """Yield the page as the gate found it and as the site knows it, and its new links."""
        self.gone.update(response.meta.get("redirect_urls", ()))
        if response.status in GONE:
            self.gone.add(response.url)
            return
        self.found[response.url] = None
        if not isinstance(response, HtmlResponse):
            return
        verdict = verdict_of(response)
        outcome = verdict.outcome if verdict else None
        self.day.outcomes[serve_of(response)] = outcome or ""
        item = {
            "day": self.day.number,
            "url": response.url,
            "title": verdict.page.title if verdict and verdict.page else None,
            "outcome": outcome,
            **article_of(response),
            "serve": serve_of(response),
        }
        yield item
        if item["article_id"] and outcome == "unchanged":
            return  # its copies are known; what is new is on the lists
        for url in self.links.of(response):
            yield Request(url, meta={TIME_KEY: self.at})

    def dropped(self, response: Response, verdict: Any) -> None:
        """Note what the gate called a page that it dropped."""
        self.found[response.url] = None
        self.day.outcomes[serve_of(response)] = verdict.outcome

    def scraped(self, item: dict[str, Any]) -> None:
        """Note that a page was delivered."""
        self.day.delivered.add(item["serve"])


class DemoYearSpider(Spider):
    """Runs one crawl for each day, one after the other, on one store; prints the closing figures.

    `articles`, `seed` and `days` make the year. `visits` names a file that gets a line of JSON for
    each response. With `begin=homes` a day begins with the home pages alone, and not with all known
    ones too: it finds what the lists lead to.
    """

    name = "demo-year"
    # The gate belongs to the crawls of the days.
    custom_settings = {"ADDONS": {}, "LOG_LEVEL": "WARNING"}  # noqa: RUF012 - Scrapy's own way

    def __init__(
        self,
        articles: str = str(ARTICLES),
        seed: str = "1",
        days: str = str(DAYS),
        visits: str = "",
        begin: str = "known",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        made_of = positive("articles", articles), positive("seed", seed)
        self.year = Year(*made_of, positive("days", days))
        if begin not in ("known", "homes"):
            raise SystemExit(f"begin={begin!r} is neither known nor homes")
        self.visits, self.begin = visits, begin
        self.homes = [f"http://{host}/" for host in self.year.papers]
        self.chosen: dict[str, Any] = {}
        self.known: dict[str, None] = {}
        self.days: list[Day] = []
        self.today: Crawler | None = None
        self.running: asyncio.Future[None] | None = None
        self.started = time.monotonic()
        self.folder = TemporaryDirectory(prefix="demo-year-")
        try:
            self.process = SiteProcess(*made_of, days=self.year.days)
        except SiteError as error:
            raise SystemExit(str(error)) from error

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider; feeds are those of the days."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.chosen = {
            name: attribute.value
            for name, attribute in crawler.settings.attributes.items()
            if attribute.priority >= CMDLINE
        }
        crawler.settings.set("FEEDS", {}, priority="cmdline")
        if STORE in spider.chosen:
            url = store_url(spider.chosen[STORE], crawler.settings, spider.name)
            if url.startswith("memory:"):
                spider.process.stop()
                raise SystemExit(f"{STORE}={url}: a year needs a store that outlives a crawl")
            spider.chosen[STORE] = url
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Crawl day by day; nothing is left for this spider's own crawl."""
        for number in range(self.year.days):
            await self.crawl(number)
            if number % 7 == 6 or number == self.year.days - 1:
                print(week(self.days[number // 7 * 7 :]), flush=True)
        return
        yield

    async def crawl(self, number: int) -> None:
        """Run the crawl of one day."""
        moment = number + HOUR
        set_time(self.process.url, moment)
        day = Day(number, moment, serve_number(self.process.url))
        self.days.append(day)
        self.today = Crawler(DaySpider, self.settings_of(number))
        known = self.known if self.begin == "known" else ()
        crawl = self.today.crawl_async(self.homes, known, unix(moment), day)
        self.running = asyncio.ensure_future(crawl)
        await asyncio.shield(self.running)  # a year that is stopped ends its day in order
        spider = self.today.spider
        assert isinstance(spider, DaySpider)
        self.known |= spider.found
        for url in spider.gone:
            self.known.pop(url, None)
        day.stats = dict(self.today.stats.get_stats())

    def settings_of(self, number: int) -> Settings:
        """Return the settings of a day's crawl: the project's, and those of the command line."""
        settings = get_project_settings()
        store = f"sqlite:///{self.folder.name}/year.sqlite"
        settings.setdict({STORE: store, **QUIET, **self.chosen}, priority="cmdline")
        SiteHosts.install(settings, "example", self.process.url)
        if number:
            for feed in settings.getdict("FEEDS").values():
                feed["overwrite"] = False
        return settings

    async def stop_today(self) -> None:
        """Stop the crawl of the day in order, and wait for its end.

        One that is told to stop while it starts would go on, and then never end (Scrapy 2.19).
        """
        crawler, running = self.today, self.running
        if not crawler or not running or running.done():
            return
        while not (running.done() or (crawler.crawling and crawler.engine.running)):
            await asyncio.sleep(STARTING)
        await crawler.stop_async()
        await running

    async def closed(self, reason: str) -> None:
        """Print the figures, those of a year that was stopped too."""
        await self.stop_today()
        try:
            known = truth(self.process.url)
        except SiteError as error:
            self.logger.error("no figures: %s", error)
            return
        finally:
            self.process.stop()
            self.folder.cleanup()
        if not self.days:
            return
        met = list(visits_of(known.log, self.days))
        if self.visits:
            lines = [json.dumps(visit._asdict()) + "\n" for visit in met]
            Path(self.visits).write_text("".join(lines), encoding="utf-8")
        figures = score(self.year, met, self.days, time.monotonic() - self.started)
        print(report(figures))
        print(json.dumps(figures), flush=True)
