"""Threads beside that of the event loop: waiting for their results, and writing lines."""

from __future__ import annotations

import asyncio
import logging
import queue
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Thread, get_ident
from typing import Any, Generic, TypeVar

from scrapy.utils.asyncio import is_asyncio_available
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from simhash_gate.common.wording import how_many

logger = logging.getLogger(__name__)

T = TypeVar("T")

MOST_WAITING = 10_000
"""Lines that may wait. Further ones are left out: a disk that hangs must not fill the memory."""
LONGEST_CLOSING = 60.0
"""Seconds after which a crawl ends even if a disk or a store hangs."""


async def result(future: Future[T]) -> T:
    """Return the result of a future of another thread, or raise its exception."""
    if future.done():
        return future.result()
    if is_asyncio_available():
        return await _on_loop(future)
    from twisted.internet import reactor

    arrived: Deferred[None] = Deferred()
    future.add_done_callback(lambda _: reactor.callFromThread(arrived.callback, None))
    await arrived
    return future.result()


async def _on_loop(future: Future[T]) -> T:
    """Wait as `asyncio.wrap_future` does, which wakes the loop up even from its own thread."""
    loop, here = asyncio.get_running_loop(), get_ident()
    arrived: asyncio.Future[None] = loop.create_future()

    def arrive(_: Future[T]) -> None:
        if arrived.done():  # the wait was cancelled
            return
        if get_ident() == here:
            arrived.set_result(None)
        else:
            loop.call_soon_threadsafe(arrive, future)

    future.add_done_callback(arrive)
    try:
        await arrived
    except asyncio.CancelledError:
        future.cancel()
        raise
    return future.result()


async def done_in_time(future: Future[Any]) -> bool:
    """Wait for a future of another thread, but not for ever. Return whether it is done."""
    deadline = time.monotonic() + LONGEST_CLOSING
    while not future.done() and time.monotonic() < deadline:
        await pause(0.01)
    return future.done()


async def pause(seconds: float) -> None:
    """Let the event loop go on for some time."""
    if is_asyncio_available():
        await asyncio.sleep(seconds)
        return
    from twisted.internet import reactor

    await deferLater(reactor, seconds)


class LineThread(Generic[T]):
    """Runs `work` on a thread, with an iterator of the lines that are put.

    `what` is the word for a line. `missed` counts the lines that were left out. Only the thread of
    the event loop may call the methods. A disk that hangs does not stop the crawl.
    """

    def __init__(self, what: str, work: Callable[[Iterator[T]], None]) -> None:
        self.missed = 0
        self._what = what
        self._work = work
        self._lines: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._done: Future[None] | None = None

    def start(self) -> None:
        """Start the thread unless it runs already."""
        if self._done is None:
            self._done = Future()
            name = f"simhash_gate-{self._what.replace(' ', '-')}s"
            Thread(target=self._run, args=(self._done,), name=name, daemon=True).start()

    def put(self, line: T) -> bool:
        """Pass a line to the thread. Return False if too many wait."""
        if self._lines.qsize() >= MOST_WAITING:
            self.missed += 1
            return False
        self._lines.put(line)
        return True

    async def close(self) -> None:
        """Wait until all lines are written, but not for ever. Log the lines that are not.

        Do nothing if the thread was never started.
        """
        if self._done is None:
            return
        self._lines.put(None)
        if not await done_in_time(self._done):
            logger.error(
                "The crawl ends without all of its %ss written: the disk hangs", self._what
            )
        if self.missed:
            missed = how_many(self.missed, self._what)
            logger.error("Not written down: %s; the disk was too slow", missed)

    def _run(self, done: Future[None]) -> None:
        try:
            self._work(iter(self._lines.get, None))
        except Exception:
            logger.exception("The crawl's %ss could not be written down", self._what)
        finally:
            done.set_result(None)
