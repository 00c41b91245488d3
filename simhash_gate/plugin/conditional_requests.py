"""A downloader middleware that lets requests ask for known pages only if they have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from simhash_gate.plugin.middleware import SimhashGateMiddleware
from simhash_gate.plugin.spider_middleware import settings_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from simhash_gate.plugin.revalidation import Revalidation


class ConditionalRequests:
    """Stands near the downloader (order 840): no other middleware sees a 304 in place of a page.

    What it counts is counted before by Scrapy's own stats (850), as it came.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware, if any domain asks for it."""
        settings = settings_of(crawler)
        if not settings.enabled or not settings.revalidates:
            raise NotConfigured
        return cls(crawler)

    async def process_request(self, request: Request) -> Response | None:
        """Add a condition to a request, or answer it. Raise `NotSent` for a needless one."""
        asking = self._asking
        return await asking.ask(request) if asking is not None else None

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Return the page, if the server says that it is as it was."""
        asking = self._asking
        return response if asking is None else asking.answered(request, response)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Take the condition out of a request that has no answer."""
        if self._asking is not None:
            self._asking.unanswered(request)

    @property
    def _asking(self) -> Revalidation | None:
        gate = self._crawler.get_downloader_middleware(SimhashGateMiddleware)
        return gate.revalidation if gate is not None else None
