"""`scrapy crawl demo`: what the gate does to the demonstration site, against the site's truth."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.http import HtmlResponse, Response

from crawler.items import PageItem, page_item
from crawler.links import Links, site_of
from crawler.report import report
from crawler.site.process import SiteError, SiteProcess, serve_number, truth
from crawler.truth import score

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from typing_extensions import Self

STORE = "SIMHASH_GATE_STORE"


class DemoItem(PageItem):
    """A page of the demonstration site, with what the site says it is; null if it is no article."""

    article_id: str | None
    article_version: int | None


class DemoSpider(Spider):
    """Starts the demonstration site, crawls it, stops it, and prints the closing figures.

    `articles` and `seed` make the site; with `site`, the URL of a running one, that one is crawled
    and left running.
    """

    name = "demo"
    custom_settings = {  # noqa: RUF012 - Scrapy's own way
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    }

    def __init__(
        self, articles: str = "100", seed: str = "1", site: str = "", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        # SystemExit ends `scrapy crawl` with the message alone; any other error is a traceback.
        if not (articles.isdecimal() and int(articles)):
            raise SystemExit(f"articles={articles!r} is not a number of at least 1")
        if not seed.removeprefix("-").isdecimal():
            raise SystemExit(f"seed={seed!r} is not a whole number")
        try:
            self.process = None if site else SiteProcess(int(articles), int(seed))
            self.site = (self.process.url if self.process else site).rstrip("/")
            self.served_before = serve_number(self.site)
        except SiteError as error:
            raise SystemExit(str(error)) from error
        self.links = Links({site_of(self.site)})
        self.delivered: set[int] = set()
        self.started = self.ended = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider; a site of its own is one that no store has seen."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.logger.info("Crawling the demonstration site at %s", spider.site)
        if spider.process:
            asked = crawler.settings.get(STORE)
            if asked not in (None, "memory:"):
                spider.logger.warning("%s=%s is for -a site=...; not used here", STORE, asked)
            crawler.settings.set(STORE, "memory:", priority="cmdline")
        # After the feeds, which may be written to stdout too: the figures are its last line.
        crawler.signals.connect(spider.engine_stopped, signals.engine_stopped)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the site's home page."""
        self.started = time.monotonic()
        yield Request(f"{self.site}/", dont_filter=True)

    def parse(self, response: Response) -> Iterator[DemoItem | Request]:
        """Note that the page came, and yield it and the requests of its links."""
        self.delivered.add(int(_header(response, "X-Demo-Serve") or 0))
        if not isinstance(response, HtmlResponse):
            return
        article, _, version = _header(response, "X-Demo-Article").partition(";")
        yield DemoItem(
            **page_item(response),
            article_id=article or None,
            article_version=int(version) if version else None,
        )
        for url in self.links.of(response):
            yield Request(url)

    def closed(self, reason: str) -> None:
        """Stop the clock."""
        self.ended = time.monotonic()

    def engine_stopped(self) -> None:
        """Print the figures, and stop the site."""
        try:
            known = truth(self.site)
        except SiteError as error:
            self.logger.error("no figures: %s", error)
            return
        finally:
            if self.process:
                self.process.stop()
        figures = score(
            (entry for entry in known.log if entry.serve > self.served_before),
            self.delivered,
            articles=known.articles,
            products=known.products,
            changed=known.changed,
            seconds=self.ended - self.started,
        )
        print(report(figures))
        print(json.dumps(figures.as_dict()), flush=True)


def _header(response: Response, name: str) -> str:
    return (response.headers.get(name) or b"").decode()
