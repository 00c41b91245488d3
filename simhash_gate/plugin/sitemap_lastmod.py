"""For spiders of sitemaps: each request says when its page changed, as its sitemap has it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.spiders import SitemapSpider

from simhash_gate.plugin.requests import LASTMOD_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable


class LastmodSitemapSpider(SitemapSpider):
    """A `SitemapSpider` that remembers the `lastmod` of each address until it is asked for.

    A `sitemap_filter` of your own calls `super().sitemap_filter(entries)`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lastmods: dict[str, str] = {}

    def sitemap_filter(self, entries: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        """Yield the entries."""
        for entry in super().sitemap_filter(entries):
            if lastmod := entry.get("lastmod"):
                for url in (entry.get("loc"), *entry.get("alternate", ())):
                    with suppress(TypeError, ValueError):  # no address: there will be no request
                        self.lastmods[Request(url).url] = lastmod
            yield entry


def note_lastmod(spider: object, request: Request) -> None:
    """Note on a request what its spider knows of it, unless it says so itself."""
    if isinstance(spider, LastmodSitemapSpider):
        lastmod = spider.lastmods.pop(request.url, None)
        if lastmod is not None:
            request.meta.setdefault(LASTMOD_KEY, lastmod)
