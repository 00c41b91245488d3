"""`scrapy crawl articles -a url=https://example.com`: the pages of a site as Markdown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response

from crawler.pages import Links, PageItem, page_item, site_of

USAGE = "scrapy crawl articles -a url=https://example.com [-a max_pages=100]"


class ArticlesSpider(Spider):
    """Crawls the sites of its start URLs, and yields every page that the gate lets through.

    `url` holds one URL or more, with commas or blanks between them; `max_pages` ends the crawl
    after so many pages.
    """

    name = "articles"

    def __init__(self, url: str = "", max_pages: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # SystemExit ends `scrapy crawl` with the message alone; any other error is a traceback.
        self.start_urls = url.replace(",", " ").split()
        if not self.start_urls:
            raise SystemExit(f"url is missing. Usage: {USAGE}")
        for start in self.start_urls:
            if not _is_web_address(start):
                raise SystemExit(f"url={start!r} is not an http or https URL. Usage: {USAGE}")
        if max_pages and not (max_pages.isdecimal() and int(max_pages)):
            raise SystemExit(f"max_pages={max_pages!r} is not a number of at least 1")
        self.pages_left = int(max_pages) if max_pages else None
        self.links = Links({site_of(start) for start in self.start_urls})

    async def start(self) -> AsyncIterator[Request]:
        """Yield the start URLs."""
        for url in self.start_urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response) -> Iterator[PageItem | Request]:
        """Yield the page and the requests of its links; nothing for what is no web page."""
        if not isinstance(response, HtmlResponse):
            return
        if self.pages_left is not None:
            if not self.pages_left:
                raise CloseSpider("max_pages")
            self.pages_left -= 1
        yield page_item(response)
        for url in self.links.of(response):
            yield Request(url)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
