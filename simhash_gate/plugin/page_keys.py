"""The keys of requests and of pages in a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.common.urls import without_credentials
from simhash_gate.identity.canonical import canonical_of
from simhash_gate.identity.keys import PageKey
from simhash_gate.plugin.requests import PAGE_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from simhash_gate.identity.keys import Keys
    from simhash_gate.page import Page


class PageKeys:
    """Tells which page a request is for, and which one came.

    A request that is no plain GET is a page of its own: its key is its fingerprint in hex.
    """

    def __init__(self, crawler: Crawler, keys: Keys) -> None:
        self._crawler = crawler
        self._keys = keys

    def of_request(self, request: Request, scope: str, url: str = "") -> PageKey:
        """Return the key of a request, or of the same one for another URL."""
        if request.method != "GET" or request.body:
            if url:
                request = request.replace(url=url)
            name = self._crawler.request_fingerprinter.fingerprint(request).hex()
            return PageKey(name, "url", without_credentials(request.url))
        word = request.meta.get(PAGE_KEY)
        word = "" if word is None else str(word)
        return self._keys.of(scope, without_credentials(url or request.url), word=word)

    def of_page(
        self, request: Request, response: Response, page: Page, scope: str, at: float
    ) -> PageKey:
        """Return the key of a page that came; a canonical link may tell it."""
        key = self.of_request(request, scope)
        if key.by == "spider" or page.fingerprint is None or request.method != "GET":
            return key
        url = without_credentials(request.url)
        header = b",".join(response.headers.getlist("Link")).decode("latin-1")
        named = canonical_of(response.body, response.url, header)
        target = self._keys.named(scope, url, named, page.fingerprint, at)
        return self._keys.of(scope, url, canonical=target) if target else key


def moved_from(keys: PageKeys, request: Request, scope: str) -> str:
    """Return the key of the request that was redirected to this one for good."""
    urls, reasons = request.meta.get("redirect_urls"), request.meta.get("redirect_reasons")
    if not urls or not reasons or not _FOR_GOOD.issuperset(reasons):
        return ""
    return keys.of_request(request, scope, urls[0]).key


_FOR_GOOD = frozenset({301, 308})
