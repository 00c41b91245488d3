"""The crawl of one day: pages that are known already, and those that they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse

from crawler.links import Links, site_of
from crawler.year.visits import GONE
from simhash_gate.gate.verdict import VERDICT_KEY
from simhash_gate.plugin.requests import TIME_KEY
from simhash_gate.plugin.signals import near_duplicate_dropped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from crawler.year.visits import Day


class DayItem(TypedDict):
    """A page of a newspaper as the gate found it, and what the site says it is; null is neither.

    `serve` is the number of the response.
    """

    day: int
    url: str
    title: str | None
    outcome: str | None
    article_id: str | None
    article_version: int | None
    serve: int


class Orders(NamedTuple):
    """What a day's crawl is to fetch: the home pages, the pages that are `due`, and what is new.

    Links to `known` pages are not followed. No more than `budget` requests are sent; 0 is no limit.
    `time` is the Unix time of the crawl.
    """

    homes: Sequence[str]
    due: Sequence[str]
    known: set[str]
    budget: int
    time: float


class DaySpider(Spider):
    """Fetches the home pages first, then what they show that is new, then what is due."""

    name = "demo-year-day"
    handle_httpstatus_list = list(GONE)  # noqa: RUF012 - Scrapy's own way

    def __init__(self, orders: Orders, day: Day, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.orders = orders
        self.day = day
        self.due = [url for url in orders.due if url not in orders.homes]
        self.links = Links({site_of(home) for home in orders.homes})
        self.links.seen |= {*orders.homes, *orders.known}
        self.left = orders.budget or 10**9
        self.found: dict[str, None] = {}
        self.gone: set[str] = set()
        self.asked: set[str] = set()
        self.waiting: dict[str, None] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider, which hears what becomes of pages."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.dropped, near_duplicate_dropped)
        crawler.signals.connect(spider.scraped, signals.item_scraped)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the home pages; without a budget, all that is due as well."""
        for url in self.orders.homes:
            yield self.request(url)
        if not self.orders.budget:
            for url in self.due:
                yield self.request(url)
            self.due = []

    def idle(self) -> None:
        """Spend what is left of the budget on what is due."""
        if not self.due or self.left <= 0:
            return
        due, self.due = self.due[: self.left], []
        for url in due:
            self.crawler.engine.crawl(self.request(url))
        raise DontCloseSpider

    def request(self, url: str) -> Request:
        """Return a request at the time of the day's crawl."""
        self.left -= 1
        self.asked.add(url)
        return Request(url, meta={TIME_KEY: self.orders.time})

    def parse(self, response: Response) -> Iterator[DayItem | Request]:
        """Yield the page, and the requests of its links that are new."""
        self.gone.update(response.meta.get("redirect_urls", ()))
        if response.status in GONE:
            self.gone.add(response.url)
        else:
            self.found[response.url] = None
        if response.status in GONE or not isinstance(response, HtmlResponse):
            return
        serve = _serve(response)
        verdict = response.meta.get(VERDICT_KEY)
        self.day.outcomes[serve] = verdict.outcome if verdict else ""
        article, _, version = (
            (response.headers.get("X-Demo-Article") or b"").decode().partition(";")
        )
        yield DayItem(
            day=self.day.number,
            url=response.url,
            title=verdict.page.title if verdict and verdict.page else None,
            outcome=verdict.outcome if verdict else None,
            article_id=article or None,
            article_version=int(version) if version else None,
            serve=serve,
        )
        if article and verdict and verdict.outcome == "unchanged":
            return  # its copies are known; what is new is on the lists
        for url in self.links.of(response):
            if self.left > 0:
                yield self.request(url)
            else:
                self.waiting[url] = None

    def dropped(self, response: Response, verdict: Any) -> None:
        """Note what the gate called a page that it dropped."""
        self.found[response.url] = None
        self.day.outcomes[_serve(response)] = verdict.outcome

    def scraped(self, item: DayItem) -> None:
        """Note that a page was delivered."""
        self.day.delivered.add(item["serve"])


def _serve(response: Response) -> int:
    return int(response.headers.get("X-Demo-Serve") or 0)
