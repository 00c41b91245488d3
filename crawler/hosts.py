"""Hosts that the demonstration site has names for, and no name server knows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

SETTING = "DEMO_SITE_HOSTS"
"""A host, and the URL of the site that answers for it and for its subdomains."""


class SiteHosts:
    """A downloader middleware that sends requests for a site's own names to the site, as a proxy.

    So the names need no entry anywhere, `https` included: the site answers like a proxy that has
    all of them behind it.
    """

    order = 700
    """Before HttpProxyMiddleware, which makes what a proxy needs of the key in `meta`."""

    def __init__(self, host: str, site: str) -> None:
        self.host = host
        self.site = site

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(*crawler.settings.getlist(SETTING))

    def process_request(self, request: Request) -> None:
        """Name the site as the proxy of a request for one of its names."""
        host = urlsplit(request.url).hostname or ""
        if host == self.host or host.endswith(f".{self.host}"):
            request.meta["proxy"] = self.site
