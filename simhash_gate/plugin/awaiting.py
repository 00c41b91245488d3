"""Waiting without blocking the event loop, whichever one runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from scrapy.utils.asyncio import is_asyncio_available
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


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


async def pause(seconds: float) -> None:
    """Let others go on for some time."""
    if is_asyncio_available():
        await asyncio.sleep(seconds)
        return
    from twisted.internet import reactor

    await deferLater(reactor, seconds)
