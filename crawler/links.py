"""Which links a spider follows: those of a page that stay on the sites it was sent to."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

from parsel import Selector
from tldextract import TLDExtract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import HtmlResponse

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
