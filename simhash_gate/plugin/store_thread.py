"""The store of a crawl on a thread of its own, because it may wait for a disk.

A store in memory never waits, and is called directly: passing calls to a thread costs more. A
failure of the store is reported, and ends the crawl if the settings say so. Facts about a scope
that crawls have learned are read once, and merged into the store at the end.
"""

from __future__ import annotations

import atexit
import logging
import queue
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread
from typing import Any

from scrapy.crawler import Crawler
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.defer import deferred_from_coro

from simhash_gate.gate.judge import Gate
from simhash_gate.history.notes import note_in, with_note
from simhash_gate.identity.keys import PLAIN, Keys
from simhash_gate.plugin.store_run import Call, StoreRun
from simhash_gate.plugin.threads import done_in_time
from simhash_gate.stores import Blob, Record, StoreError, StoreUnavailable
from simhash_gate.stores.base import SITE_NOTES
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

RENEW_INTERVAL = 20.0
SETTLE_INTERVAL = 0.1
LONGEST_LEAVING = 2.0
"""Seconds that a process waits for the store if it ends without closing its crawl."""
MOST_AT_ONCE = 64
"""Calls that share one commit."""

STORE_FAILED = "simhash_gate_store_failed"
"""The reason of closing a spider when its store fails (STORE_FAILURE = 'close')."""

_NEVER = float("inf")


class StoreThread:
    """Calls the store of a crawl on one thread, one call after the other.

    Calls that wait together share one commit, and get their answers after it. Only the thread of
    the event loop may call the methods.
    """

    def __init__(
        self, pipeline: str, *, durable: bool = False, reads: bool = False, keys: Keys = PLAIN
    ) -> None:
        self.run = StoreRun(pipeline, durable=durable, reads=reads, keys=keys)
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._settled: deque[Record] = deque()
        self._settle_at = self._renew_at = _NEVER
        self._opened: Future[None] = Future()
        self._closed: Future[bool] = Future()
        self._ended: bool | None = None
        self._at_once = True  # until the thread is started

    def open(self, url: str, *, at_once: bool = False) -> Future[None]:
        """Open the store and begin the run, before all calls that are submitted later.

        With `at_once`, for a store that never waits, the calling thread makes all calls itself: all
        futures are done when they are returned. It raises `StoreError` if the first attempt fails.
        """
        self._at_once = at_once
        if at_once:
            self._begin(url)
        else:
            # A shell ends without closing anything, and SQLite would leave its files behind.
            atexit.register(self._leave)
            Thread(target=self._work, args=(url,), name="simhash_gate-store", daemon=True).start()
        return self._opened

    def submit(self, ask: Callable[[Gate], Any]) -> Future[Any]:
        """Return a future of what a function of the gate returns; it may raise `StoreError`."""
        call = Call(ask, Future())
        closed = None if self._ended is None else StoreError("the store is closed")
        if (failure := self.run.failure or closed) is not None:
            call.future.set_exception(failure)
        elif self._at_once:
            self.run.answer([call])
        else:
            self._calls.put(call)
        return call.future

    def forget(self, record: Record) -> None:
        """Take a record back before all calls that are submitted later."""
        call = Call(lambda gate: gate.take_back(record), Future(), record)
        if self._at_once:
            self.run.answer([call])
        else:
            self._calls.put(call)

    def settle(self, record: Record) -> None:
        """Mark a record as settled, together with others that come soon after."""
        self._settled.append(record)
        if not self._at_once:
            self._calls.put(None)

    def close(self, *, ended: bool) -> Future[bool]:
        """Close the store after all submitted calls. End the run if the crawl `ended` normally.

        The future has the result of `StoreRun.close`.
        """
        self._ended = ended
        if self._at_once:
            self._end()
        else:
            self._calls.put(None)
        return self._closed

    def _leave(self) -> None:
        wait([self.close(ended=bool(self._ended))], LONGEST_LEAVING)

    def _begin(self, url: str) -> None:
        try:
            self.run.open(url)
        except StoreError as error:
            self._opened.set_exception(error)
        else:
            self._opened.set_result(None)

    def _work(self, url: str) -> None:
        try:
            self._begin(url)
            self._renew_at = time.monotonic() + RENEW_INTERVAL
            while self._ended is None or not self._calls.empty():
                self.run.answer(self._waiting())
                try:
                    self._keep_up()
                except Exception:
                    logger.exception("The gate's store failed")
        finally:
            self._end()

    def _end(self) -> None:
        atexit.unregister(self._leave)
        well = False
        try:
            well = self.run.close(self._settled, ended=bool(self._ended))
        finally:
            while not self._calls.empty():  # if the thread broke down, calls are left
                if (call := self._calls.get()) is not None:
                    call.future.set_exception(StoreError("the store is closed"))
            self._closed.set_result(well)

    def _waiting(self) -> list[Call]:
        """Wait for calls, and return those that wait together; none if other work is due first."""
        due = min(self._settle_at, self._renew_at, self.run.retry_at)
        calls: list[Call | None] = []
        with suppress(queue.Empty):
            calls.append(self._calls.get(timeout=max(0.0, due - time.monotonic())))
            while len(calls) < MOST_AT_ONCE:
                calls.append(self._calls.get_nowait())
        return [call for call in calls if call is not None]

    def _keep_up(self) -> None:
        now = time.monotonic()
        if now >= self.run.retry_at:
            self.run.retry()
        if now >= self._renew_at:
            self._renew_at = now + RENEW_INTERVAL
            self.run.renew()
        if now >= self._settle_at:
            self._settle_at = _NEVER
            records = [self._settled.popleft() for _ in range(len(self._settled))]
            if not self.run.settle(records):
                self._settled.extendleft(reversed(records))
        if self._settled and self._settle_at == _NEVER:
            self._settle_at = now + SETTLE_INTERVAL


class StoreFailures:
    """Reports the failures of a store. With `closes`, they end the crawl."""

    def __init__(self, crawler: Crawler, store: StoreThread, *, closes: bool) -> None:
        self._crawler = crawler
        self._store = store
        self._closes = closes
        self._reported: set[str | int] = set()
        self._closing = False

    def page_passed(self, error: StoreError) -> None:
        """Count a page that passed unjudged. Log why, once for each outage and each reason."""
        self._crawler.stats.inc_value("simhash_gate/store_failed")
        reason, run = str(error), self._store.run
        is_outage = isinstance(error, StoreUnavailable)
        if (about := run.outages if is_outage else reason) not in self._reported:
            self._reported.add(about)
            until = " until the store works again" if is_outage else ""
            logger.error("Pages can't be judged%s: %s", until, reason)
        engine = self._crawler.engine
        if self._closes and engine is not None and not self._closing:
            self._closing = True
            logger.error("Closing the spider (%sSTORE_FAILURE = 'close'): %s", PREFIX, reason)
            deferred_from_coro(engine.close_spider_async(reason=STORE_FAILED))

    async def close(self, *, ended: bool) -> bool:
        """Close the store, and wait for it, but not for ever. A run that did not end is dead.

        Return whether the store has ended the run if asked to, and has not closed the spider.
        """
        closed = self._store.close(ended=ended)
        if not await done_in_time(closed):
            logger.error(
                "The crawl ends before its store, which hangs, has ended its run: "
                "its pages may not count as seen"
            )
            return False
        return closed.result() and not self._closing


MOST_SCOPES = 10_000
"""Scopes that are remembered as read. If there are more, the oldest are read again."""


class LearnedNotes:
    """Keeps what was learned of domains: a JSON value for each, under a key of the notes.

    The notes of each scope are read once. `take` is called with the scope and the values by domain.
    """

    def __init__(
        self, store: StoreThread, key: str, take: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self._store = store
        self._key = key
        self._take = take
        self._asked: LocalCache[str, Future[bytes] | None] = LocalCache(MOST_SCOPES)

    def has(self, scope: str) -> bool:
        """Tell whether the notes on a scope were taken. Ask the store at the first call."""
        if scope not in self._asked:
            self._asked[scope] = self._store.submit(lambda gate: gate.store.get(SITE_NOTES, scope))
        answer = self._asked[scope]
        if answer is None or not answer.done():
            return answer is None
        try:
            self._take(scope, note_in(answer.result(), self._key))
        except StoreError:  # `StoreFailures` reports it
            self.forget(scope)
            return False
        self._asked[scope] = None
        return True

    def forget(self, scope: str) -> None:
        """Read the notes on a scope again when they are needed."""
        self._asked.pop(scope, None)

    def merge(self, scope: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Let `change` update the current values in the store, to which other crawls also write."""

        def merge(gate: Gate) -> None:
            notes = gate.store.get(SITE_NOTES, scope)
            note = note_in(notes, self._key)
            change(note)
            gate.store.put(Blob(SITE_NOTES, scope, "", with_note(notes, self._key, note)))

        self._store.submit(merge)
