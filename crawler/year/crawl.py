"""The crawl of one day: pages that are known already, and those that they lead to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from typing_extensions import Self

from crawler.pages import Links, article_of, serve_of, site_of
from crawler.year.score import GONE, Day
from simhash_gate.gate.verdict import VERDICT_KEY
from simhash_gate.plugin.requests import TIME_KEY
from simhash_gate.plugin.signals import near_duplicate_dropped


class DaySpider(Spider):
    """Fetches home pages and all `known` ones at a Unix time, and what they show that is new.

    `found` are the pages that are there, and `gone` those that are not, or lead elsewhere.
    """

    name = "demo-year-day"
    handle_httpstatus_list = list(GONE)  # noqa: RUF012 - Scrapy's own way

    def __init__(
        self, homes: Sequence[str], known: Iterable[str], at: float, day: Day, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
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
            yield self.request(url)

    def request(self, url: str) -> Request:
        """Return a request at the time of the day's crawl."""
        return Request(url, meta={TIME_KEY: self.at})

    def parse(self, response: Response) -> Iterator[dict[str, Any] | Request]:
        """Yield the page as the gate found it and as the site knows it, and its new links."""
        self.gone.update(response.meta.get("redirect_urls", ()))
        if response.status in GONE:
            self.gone.add(response.url)
            return
        self.found[response.url] = None
        if not isinstance(response, HtmlResponse):
            return
        verdict = response.meta.get(VERDICT_KEY)
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
            yield self.request(url)

    def dropped(self, response: Response, verdict: Any) -> None:
        """Note what the gate called a page that it dropped."""
        self.found[response.url] = None
        self.day.outcomes[serve_of(response)] = verdict.outcome

    def scraped(self, item: dict[str, Any]) -> None:
        """Note that a page was delivered."""
        self.day.delivered.add(item["serve"])
