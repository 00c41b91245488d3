"""A spider that makes a corpus of a site: its sitemap, its links, and each page as Markdown."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.verdict import VERDICT_KEY
from simhash_gate.options import pipeline_version
from simhash_gate.page import METADATA
from simhash_gate.plugin.addon import Addon
from simhash_gate.plugin.requests import META_KEY
from simhash_gate.plugin.sitemap_lastmod import LastmodSitemapSpider
from simhash_gate.plugin.spider_middleware import settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.settings import BaseSettings

POLITE = {
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": f"simhash-gate/{version('simhash-gate')}",
    "CONCURRENT_REQUESTS": 8,  # those that wait for their turn delay the end after Ctrl-C
    "DOWNLOAD_DELAY": 0.5,
    "AUTOTHROTTLE_ENABLED": True,
    "AUTOTHROTTLE_START_DELAY": 1.0,
    "SIMHASH_GATE_TRAPS": "limit",
    "SIMHASH_GATE_BLOCKED": "drop",
}
"""What holds unless the project, the spider or the command line says otherwise."""


class SiteSpider(LastmodSitemapSpider):
    """Crawls the hosts of its start URLs, and yields each page once, as a corpus has it.

    `url` holds one start URL or more, with blanks between them; a subclass may have `start_urls`.
    With `below`, only addresses below the start URLs are followed. To change what is followed,
    override `is_ours`; to change what is yielded, override `item`.
    """

    name = "site"
    below: bool | str = False
    link_extractor = LinkExtractor()

    def __init__(self, url: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = url.split() or list(self.start_urls)
        starts = self.start_urls
        self.sites = {(_host(url), _folder(url) if self.below else "") for url in starts}
        self.allowed_domains = sorted({host for host, _ in self.sites})  # for redirects

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Be polite, and have the gate, where nobody says otherwise."""
        for name, value in POLITE.items():
            settings.set(name, value, priority="addon")
        super().update_settings(settings)
        settings.setdefault_in_component_priority_dict("ADDONS", Addon, 0)
        # A process that is given a crawler sets the defaults of Scrapy again: above them it stays.
        settings.set("ADDONS", settings.getdict("ADDONS"), priority="addon")

    async def start(self) -> AsyncIterator[Request]:
        """Yield the start URLs, and what names the sitemaps of their hosts."""
        for url in self.start_urls:
            yield Request(url, meta={"allow_offsite": True})
        places = ("/robots.txt", "/sitemap.xml")
        found = [urljoin(url, place) for url in self.start_urls for place in places]
        self.sitemap_urls = [*self.sitemap_urls, *found]
        async for request in super().start():
            request.meta[META_KEY] = False  # "not found" may come as a page
            yield request

    def sitemap_filter(self, entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the sitemaps of an index, and the pages of the site."""
        of_sitemaps = getattr(entries, "type", "") == "sitemapindex"
        for entry in super().sitemap_filter(entries):
            if of_sitemaps or self.is_ours(entry.get("loc") or ""):
                yield entry

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield the page, and the requests of its links."""
        if not self.is_ours(response.url):
            if response.meta.get("allow_offsite"):
                first = response.meta.get("redirect_urls", [response.url])[0]
                leads = "%s leads to %s, which is another site. To crawl that, start there"
                self.logger.warning(leads, first, response.url)
        elif isinstance(response, HtmlResponse):
            item = self.item(response)
            if item is not None:
                yield item
            for link in self.link_extractor.extract_links(response):
                if self.is_ours(link.url):
                    yield Request(link.url)

    def is_ours(self, url: str) -> bool:
        """Tell whether an address is one of the site: of its hosts, whether with `www.` or not."""
        host = _host(url)  # "" for what is no URL
        places = [place for ours, place in self.sites if ours == host]
        return any(f"{urlsplit(url).path}/".startswith(f"{place}/") for place in places)

    def item(self, response: Response) -> dict[str, Any] | None:
        """Return what a corpus has of a page; None for a page without text."""
        verdict = response.meta.get(VERDICT_KEY)
        if verdict is None or not verdict.markdown:
            self.crawler.stats.inc_value("site/without_text")
            return None
        page, bits = verdict.page, verdict.fingerprint
        return {
            "url": without_credentials(response.url),
            "canonical_url": verdict.canonical_url,
            **{name: getattr(page, name) for name in ("title", *METADATA, "words")},
            "fingerprint": "" if bits is None else to_hex(bits),
            "pipeline": pipeline_version(settings_of(self.crawler).options),
            "markdown": page.markdown,
        }


def _host(url: str) -> str:
    return host_of(url).removeprefix("www.")


def _folder(url: str) -> str:
    """Return the folder of a file such as /docs/index.html, and of a folder itself: /docs."""
    folder, _, last = urlsplit(url).path.rpartition("/")
    return folder if "." in last else f"{folder}/{last}".rstrip("/")
