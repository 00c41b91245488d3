"""What a spider makes of a page: an item, and the links to follow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from functools import lru_cache
from typing import TypedDict
from urllib.parse import urldefrag, urljoin, urlsplit

from parsel import Selector
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.settings import BaseSettings
from tldextract import TLDExtract
from typing_extensions import Self

TITLE = "normalize-space(//title)"
EXTRACT = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


class PageItem(TypedDict):
    """A page as Markdown; `fingerprint` is 16 hex digits. None is what the gate did not read."""

    url: str
    canonical_url: str | None
    title: str | None
    markdown: str | None
    fingerprint: str | None
    fetched_at: str


def page_item(response: HtmlResponse) -> PageItem:
    """Return the item of a page, from the verdict that the gate left on its request."""
    verdict = response.meta.get("simhash_gate_verdict")
    page = verdict.page if verdict else None
    fingerprint = page.fingerprint if page else None
    title = page.title if page else Selector(text=response.text).xpath(TITLE).get()
    return PageItem(
        url=response.url,
        canonical_url=verdict.canonical_url or None if verdict else None,
        title=title,
        markdown=page.markdown if page else None,
        fingerprint=None if fingerprint is None else f"{fingerprint:016x}",
        fetched_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


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

    def __init__(self, host: str, site: str) -> None:
        self.host = host
        self.site = site

    @classmethod
    def install(cls, settings: BaseSettings, host: str, site: str) -> None:
        """Add the middleware to a crawl."""
        # Before HttpProxyMiddleware, which makes what a proxy needs of the key in `meta`.
        middlewares = {**settings["DOWNLOADER_MIDDLEWARES"], cls: 700}
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="cmdline")
        settings.set(SITE_HOSTS, [host, site], priority="cmdline")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(*crawler.settings.getlist(SITE_HOSTS))

    def process_request(self, request: Request) -> None:
        """Name the site as the proxy of a request for one of its names."""
        host = urlsplit(request.url).hostname or ""
        if host == self.host or host.endswith(f".{self.host}"):
            request.meta["proxy"] = self.site
