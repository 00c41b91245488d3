"""A request fingerprinter by which Scrapy itself drops requests for one page: off by default."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING

from scrapy.utils.request import RequestFingerprinter

from simhash_gate.identity.keys import Keys
from simhash_gate.plugin.requests import PAGE_KEY
from simhash_gate.plugin.spider_middleware import settings_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class PageKeyFingerprinter(RequestFingerprinter):
    """Gives requests one fingerprint by what the spider says, and by names that track visitors.

    What pages have shown, and canonical links, are no part of it: a fingerprint must never change.
    What it drops is not tested, and not sent again.
    """

    def __init__(self, crawler: Crawler | None = None) -> None:
        super().__init__(crawler)
        self._plain = Keys(settings_of(crawler).tracking if crawler else ()).host("")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings. Raises `SettingsError`."""
        return cls(crawler)

    def fingerprint(self, request: Request) -> bytes:
        """Return the fingerprint of a request: 20 bytes."""
        word = request.meta.get(PAGE_KEY)
        if request.method == "GET" and not request.body and word is not None:
            return sha1(f"simhash_gate {word}".encode("utf-8", "replace")).digest()
        if "?" in request.url:
            url = self._plain.address(request.url).url
            if url != request.url:
                return super().fingerprint(request.replace(url=url))
        return super().fingerprint(request)
