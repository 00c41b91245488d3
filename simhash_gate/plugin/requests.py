"""Requests: the keys in their meta, and retries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextvars import ContextVar
from inspect import isawaitable
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.misc import arg_to_iter

from simhash_gate.gate.verdict import VERDICT_KEY

META_KEY = "simhash_gate"
"""The spider's wishes for a request: False, or a mapping of policy values."""
PAGE_KEY = "simhash_gate_page"
"""The spider's own key of the page: all requests with the same word are for one page."""
TIME_KEY = "simhash_gate_time"
"""The time of the visit, for archives and simulations: a Unix time, or ISO 8601. Default: now."""
CONDITION_KEY = "simhash_gate_condition"
"""The names of the headers that make a condition: the page is sent only if it has changed."""
PLAIN_KEY = "simhash_gate_plain"
"""True for a request that is sent without a condition."""
KEPT_KEY = "simhash_gate_kept"
"""The fingerprint of the request whose page was kept, and its retries: to recognise a retry."""
ROOM_KEY = "simhash_gate_room"
"""The kind and the distance of a request that was let out of the waiting room; see `Room`."""
DROPPED_KEY = "simhash_gate_dropped"
"""True for a request that the errback of a drop sends: it passes. False if it must not be called
any more, since it has heard of the drop."""
ASKED_KEY = "simhash_gate_asked"
"""What a request is for. Its redirects and retries are for the same."""
ADDED_KEY = "simhash_gate_added"
"""The values that middlewares added to a request. Its copies have them, too."""
AGAIN_KEY = "simhash_gate_again"
"""True if a callback sends a request again: of its own page, or of the page that led to it."""
STORED_FLAG = "simhash_gate_stored"
"""The flag of a response that was made from a stored page."""
INLINE_KEY = "simhash_gate_inline"
"""True if a callback awaits the page itself."""


def forget_page(request: Request, response: Response) -> None:
    """Remove from a request the notes on the page that it was found on.

    The spider may have copied the page's meta. Note a request for the same page again.
    """
    page = response.request
    if page is None:
        return
    if request is not page:
        for key in (VERDICT_KEY, ASKED_KEY, INLINE_KEY, AGAIN_KEY, DROPPED_KEY):
            request.meta.pop(key, None)
    if request.headers and ADDED_KEY in page.meta:  # the spider may have copied the headers
        request.meta.setdefault(ADDED_KEY, page.meta[ADDED_KEY])
    own = (response.url, page.url, *page.meta.get("redirect_urls", ()))
    led_here = (page.headers.get("Referer") or b"").decode("latin-1")
    if request.dont_filter and request.url in (*own, led_here):
        request.meta[AGAIN_KEY] = True
    word = page.meta.get(PAGE_KEY)
    if request.url not in own and word is not None and request.meta.get(PAGE_KEY) == word:
        del request.meta[PAGE_KEY]


def mark_from_errback(request: Request, errback: Callable[[Any], Any]) -> None:
    """Let the errback of a request that is dropped mark each request that it yields."""

    async def called(failure: Any) -> AsyncIterator[Any]:
        request.errback = errback  # a copy of the request gets it, and JOBDIR can write that
        outputs = errback(failure)
        if isawaitable(outputs):
            outputs = await outputs
        if not hasattr(outputs, "__aiter__"):
            outputs = arg_to_iter(outputs)
        async for output in as_async_generator(outputs):
            if isinstance(output, Request):
                output.meta[DROPPED_KEY] = True
            yield output

    request.errback = called


CALLED_WITH: ContextVar[Request | None] = ContextVar("called_with", default=None)
"""The request whose page the running callback got, for everything that the callback awaits."""


def mark_inline(
    crawler: Crawler, awaited: Callable[[Request, Response], Coroutine[Any, Any, None]]
) -> None:
    """Mark the requests that a callback awaits itself. Nothing else shows them.

    `awaited` is called with the request of the page that the callback got, and with the answer.
    """
    engine: Any = crawler.engine
    download = engine.download_async

    async def marked(request: Request) -> Response:
        request.meta[INLINE_KEY] = True
        answer: Response = await download(request)
        if (called_with := CALLED_WITH.get()) is not None:
            await awaited(called_with, answer)
        return answer

    engine.download_async = marked


def is_retry(request: Request, fingerprint: str) -> bool:
    """Tell whether a request was sent again, by its callback or as a retry, after it was kept."""
    if AGAIN_KEY in request.meta:
        return True
    kept, times = request.meta.get(KEPT_KEY) or ("", 0)
    return bool(kept == fingerprint and request.meta.get("retry_times", 0) > times)
