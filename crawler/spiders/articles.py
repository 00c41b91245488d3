"""`scrapy crawl articles -a url=https://example.com`: the articles of a real site, each once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from simhash_gate import verdict_of
from simhash_gate.common.urls import host_of


class ArticlesSpider(CrawlSpider):
    """Follows the links of the host of `url`. Yields what is no list of others, by one address."""

    name = "articles"
    custom_settings = {"LOG_LEVEL": "INFO"}  # noqa: RUF012 - Scrapy's own way
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

    def __init__(self, url: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not (url.startswith(("http://", "https://")) and host_of(url)):
            raise SystemExit(f"url={url!r} is no URL; write one such as https://example.com")
        self.start_urls, self.allowed_domains = [url], [host_of(url).removeprefix("www.")]

    def parse_item(self, response: Response) -> Iterator[dict[str, Any]]:
        """Yield the item of a page, unless it could not be read, or is a list of links."""
        verdict = verdict_of(response)
        if verdict and (page := verdict.page) and not page.listing:
            item = {name: getattr(page, name) for name in ("title", "author", "date", "markdown")}
            yield {"url": verdict.canonical_url, **{k: v for k, v in item.items() if v}}
