"""`scrapy crawl articles -a url=https://example.com`: the pages of a site as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response

from crawler.pages import Links, page_item, positive, site_of
from simhash_gate.common.urls import host_of

USAGE = "scrapy crawl articles -a url=https://example.com [-a max_pages=100]"


class ArticlesSpider(Spider):
    """Crawls the sites of its start URLs, and yields every page that the gate lets through.

    `url` holds one URL or more, with commas or blanks between them; `max_pages` ends the crawl
    after so many pages.
    """

    name = "articles"

    def __init__(self, url: str = "", max_pages: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = url.replace(",", " ").split()
        if not self.start_urls:
            raise SystemExit(f"url is missing. Usage: {USAGE}")
        for start in self.start_urls:
            if not (re.match("(?i)https?://", start) and host_of(start)):
                raise SystemExit(f"url={start!r} is not an http or https URL. Usage: {USAGE}")
        self.pages_left = positive("max_pages", max_pages) if max_pages else None
        self.links = Links({site_of(start) for start in self.start_urls})

    def parse(self, response: Response) -> Iterator[dict[str, Any] | Request]:
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
