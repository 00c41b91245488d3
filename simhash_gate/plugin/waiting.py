"""Waiting for other threads and processes, whichever event loop runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from scrapy.utils.asyncio import is_asyncio_available
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


async def result(future: Future[T]) -> T:
    """Wait for a future without blocking the event loop."""
    if future.done():
        return future.result()
    if is_asyncio_available():
        return await asyncio.wrap_future(future)
    from twisted.internet import reactor

    arrived: Deferred[None] = Deferred()
    future.add_done_callback(lambda _: reactor.callFromThread(arrived.callback, None))
    await arrived
    return future.result()
