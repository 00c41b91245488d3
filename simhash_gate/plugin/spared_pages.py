"""Requests whose pages were not fetched for what was said of them, as long as there is room."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from simhash_gate.plugin.requests import CONDITION_KEY, PLAIN_KEY, VERDICT_KEY
from simhash_gate.plugin.resend_dropped import weight

if TYPE_CHECKING:
    from scrapy import Request

    from simhash_gate.plugin.validator_trust import Site

MOST_BYTES = 16 << 20
"""What all of them take, roughly. Of others, the next crawl fetches the pages."""
_OBJECTS = 1024  # bytes of a request without its contents
_ADDED = (VERDICT_KEY, CONDITION_KEY)


class SparedPages:
    """Requests by what was believed, the oldest first."""

    def __init__(self) -> None:
        self._requests: OrderedDict[int, tuple[Site, Request, int]] = OrderedDict()
        self._bytes = self._last = 0

    def add(self, site: Site, request: Request) -> None:
        """Remember a request as it can be sent again."""
        again = plainly(request)
        size = _OBJECTS + weight([again.url, dict(again.headers), again.meta, again.cb_kwargs])
        self._last += 1
        self._requests[self._last] = (site, again, size)
        self._bytes += size
        while self._bytes > MOST_BYTES:
            _, (_, _, freed) = self._requests.popitem(last=False)
            self._bytes -= freed

    def pop(self, site: Site) -> list[Request]:
        """Return the requests of a site that are remembered, and forget them."""
        found = [number for number, (of, _, _) in self._requests.items() if of == site]
        taken = [self._requests.pop(number) for number in found]
        self._bytes -= sum(size for _, _, size in taken)
        return [request for _, request, _ in taken]


def plainly(request: Request) -> Request:
    """Return a request that is sent again, whatever is said of its page."""
    meta = {name: value for name, value in request.meta.items() if name not in _ADDED}
    return request.replace(dont_filter=True, meta={**meta, PLAIN_KEY: True})
