"""The page of a request: its key, the time of the visit, and whether it is gone."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from hashlib import sha1
from urllib.parse import parse_qsl, unquote, urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.request import RequestFingerprinter

from simhash_gate.common.times import unix_time
from simhash_gate.common.urls import without_credentials
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policies
from simhash_gate.gate.visit import Visit
from simhash_gate.identity.address import address_of, without_sessions
from simhash_gate.identity.keys import Keys, PageKey, canonical_of
from simhash_gate.page import Page
from simhash_gate.plugin.requests import PAGE_KEY, TIME_KEY
from simhash_gate.plugin.spider_middleware import settings_of
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.values import SettingsError

GONE = (404, 410)
"""The statuses of answers for pages that do not exist any more."""
_FOR_GOOD = frozenset({301, 308})


class PageKeys:
    """Returns the keys of pages, by their requests and by their responses.

    The key of a request that is not a plain GET is its fingerprint in hex.
    """

    def __init__(self, crawler: Crawler, keys: Keys) -> None:
        self._crawler = crawler
        self._keys = keys

    def of_request(self, request: Request, url: str = "") -> PageKey:
        """Return the key of a request, or of the same request for another `url`."""
        if request.method != "GET" or request.body:
            if url:
                request = request.replace(url=url)
            name = self._crawler.request_fingerprinter.fingerprint(request).hex()
            return PageKey(name, "url", without_credentials(request.url))
        word = request.meta.get(PAGE_KEY)
        word = "" if word is None else str(word)
        return self._keys.of(without_credentials(url or request.url), word=word)

    def of_page(
        self, key: PageKey, request: Request, response: Response, page: Page, scope: str, at: float
    ) -> PageKey:
        """Return the key of a fetched page, by its canonical link if that can be believed.

        `key` is that of its request.
        """
        if key.by == "spider" or page.fingerprint is None or request.method != "GET":
            return key
        url = without_credentials(request.url)
        header = b",".join(response.headers.getlist("Link")).decode("latin-1")
        named = canonical_of(page.canonical.splitlines(), response.url, header)
        target = self._keys.named(scope, url, named, page.fingerprint, at)
        return self._keys.of(url, canonical=target) if target else key

    def moved_from(self, request: Request) -> str:
        """Return the key of the first request if all redirects to this one are permanent, or ""."""
        urls, reasons = request.meta.get("redirect_urls"), request.meta.get("redirect_reasons")
        if not urls or not reasons or not _FOR_GOOD.issuperset(reasons):
            return ""
        return self.of_request(request, urls[0]).key

    def note_gone(self, store: StoreThread, request: Request, policies: Policies) -> None:
        """Tell the store that a page is gone, and those that were redirected to it.

        The next copy of it is new then. Failures are ignored.
        """
        with suppress(Exception):
            at = time_of_visit(request)
            for url in (request.url, *request.meta.get("redirect_urls", ())):
                scope = policies.site_of(url).scope
                visit = Visit(url, scope, self.of_request(request, url).key, at)
                store.submit(partial(Gate.found_gone, visit=visit))


def walled_from(request: Request) -> str:
    """Return the first URL of a request if it was redirected to one with it in its query, else "".

    Pages that ask for a login or for consent have such URLs, to lead back afterwards.
    """
    asked, *_ = request.meta.get("redirect_urls") or [""]
    path = unquote(urlsplit(asked).path)
    queries = (value for _, value in parse_qsl(urlsplit(request.url).query))
    carried = (urlsplit(unquote(value)).path for value in queries)
    return without_credentials(asked) if len(path) > 1 and path in carried else ""


def time_of_visit(request: Request) -> float:
    """Return the Unix time of the visit to a page. Raises `SettingsError` for a wrong one."""
    given = request.meta.get(TIME_KEY)
    if given is None:
        return time.time()
    at = unix_time(given)
    if at is None:
        raise SettingsError(f"meta[{TIME_KEY!r}] = {given!r}: expected a Unix time or ISO 8601")
    return at


class PageKeyFingerprinter(RequestFingerprinter):
    """Gives requests one fingerprint by the spider's word, and without names that track visitors.

    Sessions are left out, too. Canonical links are not used: a fingerprint must never change.
    Requests that it drops are not tested, and never sent again. Other fingerprinters that rewrite
    URLs, such as that of duplicate-url-discarder, take it as their fallback.
    """

    def __init__(self, crawler: Crawler | None = None) -> None:
        super().__init__(crawler)
        self._plain = Keys(settings_of(crawler).tracking if crawler else ())

    def fingerprint(self, request: Request) -> bytes:
        """Return the fingerprint of a request, 20 bytes."""
        word = request.meta.get(PAGE_KEY)
        if request.method == "GET" and not request.body and word is not None:
            return sha1(f"simhash_gate {word}".encode("utf-8", "replace")).digest()
        plain = without_sessions(self._plain.address(request.url))
        if plain != address_of(request.url):
            return super().fingerprint(request.replace(url=plain.url))
        return super().fingerprint(request)
