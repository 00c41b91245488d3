"""Which links a spider follows, and where the hosts are that no name server knows."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

from parsel import Selector
from tldextract import TLDExtract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import HtmlResponse
    from typing_extensions import Self

EXTRACT = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def site_of(url: str) -> str:
    """Return the registered domain of a URL, or its host where there is none. Raises ValueError."""
    return _site_of_host((urlsplit(url).hostname or "").rstrip("."))


@lru_cache(maxsize=4096)
def _site_of_host(host: str) -> str:
    return EXTRACT(host).top_domain_under_public_suffix or host


class Links:
    """Finds the links of pages; each URL is given once."""

    def __init__(self, sites: set[str]) -> None:
        self.sites = sites
        self.seen: set[str] = set()

    def of(self, response: HtmlResponse) -> Iterator[str]:
        """Yield the absolute URLs not given before that are on one of the sites."""
        # Not response.xpath, which fails where the page has a broken <base>.
        page = Selector(text=response.text)
        base = _join(response.url, page.xpath("string(//base/@href)").get() or "")
        for href in dict.fromkeys(page.xpath("//a/@href").getall()):
            url = _join(base or response.url, href)
            if url and url not in self.seen and site_of(url) in self.sites:
                self.seen.add(url)
                yield url


def _join(base: str, href: str) -> str:
    """Return the absolute URL of a link without its fragment; blank if it can't be followed."""
    try:
        url = urldefrag(urljoin(base, href.strip())).url
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:  # like http://[
        return ""


SITE_HOSTS = "DEMO_SITE_HOSTS"
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
        return cls(*crawler.settings.getlist(SITE_HOSTS))

    def process_request(self, request: Request) -> None:
        """Name the site as the proxy of a request for one of its names."""
        host = urlsplit(request.url).hostname or ""
        if host == self.host or host.endswith(f".{self.host}"):
            request.meta["proxy"] = self.site
