"""What the spiders have in common: their arguments, items and links, and the names of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from parsel import Selector
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings
from typing_extensions import Self

from simhash_gate.common.urls import host_of, is_of_domain
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.policy import registered_domain
from simhash_gate.gate.verdict import verdict_of

TITLE = "normalize-space(//title)"
SITE_HOSTS = "DEMO_SITE_HOSTS"
"""A host, and the URL of the site that answers for it and for its subdomains."""


def positive(name: str, text: str) -> int:
    """Return an argument of a spider that is a number of at least 1.

    SystemExit ends `scrapy crawl` with the message alone; any other error is a traceback.
    """
    if not (text.isdecimal() and int(text)):
        raise SystemExit(f"{name}={text!r} is not a number of at least 1")
    return int(text)


def page_item(response: HtmlResponse) -> dict[str, Any]:
    """Return the item of a page as Markdown, from the verdict that the gate left on its request.

    `fingerprint` is 16 hex digits. None is what the gate did not read.
    """
    verdict = verdict_of(response)
    page = verdict.page if verdict else None
    return {
        "url": response.url,
        "canonical_url": verdict.canonical_url or None if verdict else None,
        "title": page.title if page else Selector(text=response.text).xpath(TITLE).get(),
        "markdown": page.markdown if page else None,
        "fingerprint": to_hex(page.fingerprint) if page and page.fingerprint is not None else None,
        "fetched_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def demo_header(response: Response, name: str) -> str:
    """Return what the demonstration says of a page in a header; blank if it says nothing."""
    return (response.headers.get(f"X-Demo-{name}") or b"").decode()


def serve_of(response: Response) -> int:
    """Return the number of a response of the demonstration, from 1 on; 0 for one of another."""
    return int(demo_header(response, "Serve") or 0)


def article_of(response: Response) -> dict[str, Any]:
    """Return which article and version a page shows; None for a page of something else."""
    article, _, version = demo_header(response, "Article").partition(";")
    return {"article_id": article or None, "article_version": int(version) if version else None}


def site_of(url: str) -> str:
    """Return the registered domain of a URL, or its host where there is none."""
    return registered_domain(host_of(url))


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


class SiteHosts:
    """A downloader middleware that sends requests for a site's own names to the site, as a proxy.

    So the names need no entry anywhere, `https` included: the site answers like a proxy that has
    all of them behind it.
    """

    def __init__(self, host: str, site: str) -> None:
        self.host, self.site = host, site

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
        if is_of_domain(request.url, self.host):
            request.meta["proxy"] = self.site
