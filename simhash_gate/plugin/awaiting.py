"""Waiting without blocking the event loop, whichever one runs."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from threading import Timer
from typing import Any, TypeVar

from scrapy.utils.asyncio import is_asyncio_available
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

T = TypeVar("T")

LONGEST_CLOSING = 60.0
"""Seconds after which a crawl ends without what is not written yet: a disk hangs, or a store."""


async def result(future: Future[T]) -> T:
    """Return the result of a future of another thread, or raise its exception."""
    if future.done():
        return future.result()
    if is_asyncio_available():
        return await asyncio.wrap_future(future)
    from twisted.internet import reactor

    arrived: Deferred[None] = Deferred()
    future.add_done_callback(lambda _: reactor.callFromThread(arrived.callback, None))
    await arrived
    return future.result()


async def done_within(future: Future[Any], seconds: float) -> bool:
    """Wait until a future of another thread is done, or time is up; tell whether it is done."""
    in_time: Future[bool] = Future()

    def end(done: bool) -> None:
        with suppress(InvalidStateError):  # whoever is first
            in_time.set_result(done)

    limit = Timer(seconds, end, [False])
    limit.daemon = True
    limit.start()
    future.add_done_callback(lambda _: end(True))
    try:
        return await result(in_time)
    finally:
        limit.cancel()


async def pause(seconds: float) -> None:
    """Let others go on for some time."""
    if is_asyncio_available():
        await asyncio.sleep(seconds)
        return
    from twisted.internet import reactor

    await deferLater(reactor, seconds)
