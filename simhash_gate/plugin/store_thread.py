"""The store of a crawl on a thread of its own: it may wait for a disk, the event loop may not.

One that waits for nothing is asked on the spot: to hand a page to a thread and back costs more.
A failure of the store is reported, and ends the crawl if the settings say so. What was learned of
scopes and is kept in the store is asked once of each, and merged into it.
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
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_from_coro

from simhash_gate.gate.judge import Gate
from simhash_gate.history.notes import note_in, with_note
from simhash_gate.plugin.store_run import Call, StoreRun
from simhash_gate.plugin.threads import done_in_time
from simhash_gate.stores import Blob, Record, StoreError, StoreUnavailable
from simhash_gate.stores.base import SITE_NOTES
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

RENEW_INTERVAL = 20.0
SETTLE_INTERVAL = 0.1
LONGEST_LEAVING = 2.0
"""Seconds that a process that ends without closing its crawl waits for the store."""
MOST_AT_ONCE = 64
"""How many calls share one commit."""

STORE_FAILED = "simhash_gate_store_failed"
"""The reason why a spider is closed when its store fails and must not."""

_NEVER = float("inf")


class StoreThread:
    """Asks the store of a crawl, call after call, on one thread.

    Calls that wait together share one commit, and get their answers after it. All methods are for
    one thread, that of the event loop.
    """

    def __init__(self, pipeline: str, *, durable: bool = False, reads: bool = False) -> None:
        self.run = StoreRun(pipeline, durable=durable, reads=reads)
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._settled: deque[Record] = deque()
        self._settle_at = self._renew_at = _NEVER
        self._opened: Future[None] = Future()
        self._closed: Future[None] = Future()
        self._ended: bool | None = None
        self._at_once = True  # until a thread is there to ask

    def open(self, url: str, *, at_once: bool = False) -> Future[None]:
        """Open the store, and begin the run, before anything that is submitted later.

        With `at_once` the calling thread is the one that asks, and every future is done when it is
        returned: for a store that never waits. The future raises `StoreError` if the first attempt
        fails.
        """
        self._at_once = at_once
        if at_once:
            self._begin(url)
            return self._opened
        # A shell ends without closing anything, and SQLite would leave its files behind.
        atexit.register(self._leave)
        Thread(target=self._work, args=(url,), name="simhash_gate-store", daemon=True).start()
        return self._opened

    def submit(self, ask: Callable[[Gate], Any], *, doubtful: Record | None = None) -> Future[Any]:
        """Return the answer as a future. It may raise `StoreError`; in an outage it does at once.

        `doubtful` has the identity of what the call may add; see `Call`.
        """
        call = Call(ask, Future(), doubtful)
        closed = None if self._ended is None else StoreError("the store is closed")
        if (failure := self.run.failure or closed) is not None:
            call.future.set_exception(failure)
        elif self._at_once:
            self.run.answer([call])
        else:
            self._calls.put(call)
        return call.future

    def forget(self, record: Record) -> None:
        """Take a record back before anything that is submitted later."""
        call = Call(lambda gate: gate.take_back(record), Future(), record, forget=True)
        if self._at_once:
            self.run.answer([call])
        else:
            self._calls.put(call)

    def settle(self, record: Record) -> None:
        """Mark a record settled, together with others that come soon after."""
        self._settled.append(record)
        if not self._at_once:
            self._calls.put(None)

    def close(self, *, ended: bool) -> Future[None]:
        """End the run, if it `ended` normally, and close the store, after all submitted before."""
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
        try:
            self.run.close(self._settled, ended=bool(self._ended))
        finally:
            while not self._calls.empty():  # where the thread broke down, nobody else answers
                if (call := self._calls.get()) is not None:
                    call.future.set_exception(StoreError("the store is closed"))
            self._closed.set_result(None)

    def _waiting(self) -> list[Call]:
        """Return the calls that wait; none if something else is due first."""
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
                self._settled.extend(records)
        if self._settled and self._settle_at == _NEVER:
            self._settle_at = now + SETTLE_INTERVAL


class StoreFailures:
    """Reports the failures of a store; they end the crawl if `closes`."""

    def __init__(self, crawler: Crawler, store: StoreThread, *, closes: bool) -> None:
        self._crawler = crawler
        self._store = store
        self._closes = closes
        self._reported: set[str | int] = set()
        self._closing = False

    def page_passed(self, error: StoreError) -> None:
        """Count a page that passed unjudged, and say why, once for each outage and each reason."""
        self._crawler.stats.inc_value("simhash_gate/store_failed")
        reason, run = str(error), self._store.run
        is_outage = isinstance(error, StoreUnavailable)
        if (about := run.outages if is_outage else reason) not in self._reported:
            self._reported.add(about)
            until = " until the store works again" if is_outage else ""
            logger.error("Pages can't be judged%s: %s", until, reason)
        self._close_spider(reason)

    async def close(self, *, ended: bool) -> None:
        """Close the store, and wait for it, but not for ever: a run that is not ended is dead."""
        if not await done_in_time(self._store.close(ended=ended)):
            logger.error(
                "The crawl ends before its store, which hangs, has ended its run: "
                "its pages may not count as seen"
            )

    def _close_spider(self, reason: str) -> None:
        engine = self._crawler.engine
        if not self._closes or engine is None or self._closing:
            return
        self._closing = True
        logger.error("Closing the spider (%sSTORE_FAILURE = 'close'): %s", PREFIX, reason)
        deferred_from_coro(engine.close_spider_async(reason=STORE_FAILED))


MOST_SCOPES = 10_000
"""That are known to be asked; one that comes again after so many others is asked again."""


class Learned:
    """Calls `take` with each scope and what the store has of it of a kind, once it has answered."""

    def __init__(self, store: StoreThread, kind: str, take: Callable[[str, bytes], None]) -> None:
        self._store = store
        self._kind = kind
        self._take = take
        self._asked: dict[str, Future[bytes] | None] = {}

    def has(self, scope: str) -> bool:
        """Tell whether what the store knows of a scope was taken; ask, if nobody has."""
        if scope not in self._asked:
            self._asked[scope] = self._store.submit(lambda gate: gate.store.get(self._kind, scope))
            if len(self._asked) > MOST_SCOPES:
                del self._asked[next(iter(self._asked))]
        answer = self._asked[scope]
        if answer is None or not answer.done():
            return answer is None
        try:
            self._take(scope, answer.result())
        except StoreError:  # the crawl says that its store fails
            self.forget(scope)
            return False
        self._asked[scope] = None
        return True

    def forget(self, scope: str) -> None:
        """Ask again when the scope comes again."""
        self._asked.pop(scope, None)


class LearnedNotes(Learned):
    """What was learned of the domains of scopes: a JSON value for each, under a key in the notes.

    `take` is called with a scope and the values by domain.
    """

    def __init__(
        self, store: StoreThread, key: str, take: Callable[[str, dict[str, Any]], None]
    ) -> None:
        super().__init__(store, SITE_NOTES, lambda scope, notes: take(scope, note_in(notes, key)))
        self._key = key

    def merge(self, scope: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change what the store has by then: other crawls may have written meanwhile."""

        def merge(gate: Gate) -> None:
            notes = gate.store.get(SITE_NOTES, scope)
            note = note_in(notes, self._key)
            change(note)
            gate.store.put(Blob(SITE_NOTES, scope, "", with_note(notes, self._key, note)))

        self._store.submit(merge)
