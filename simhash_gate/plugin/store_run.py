"""The run of a crawl on its store: begin it, ask the store, survive outages, end the run."""

from __future__ import annotations

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any, NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.gate.judge import Gate
from simhash_gate.identity.keys import Keys
from simhash_gate.stores import Record, StoreError, StoreUnavailable, open_store, read_store
from simhash_gate.stores.store import Store

logger = logging.getLogger(__name__)

MOST_COUNTED = 10_000  # the oldest pages, which show whether there are other pipeline versions
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds between attempts in an outage
LONGEST_ENDING = 30.0  # seconds for attempts to end a run


class Call(NamedTuple):
    """A call of the gate, with the future for its answer. It may only take a record back."""

    ask: Callable[[Gate], Any]
    future: Future[Any]
    back: Record | None = None


class Outage:
    """The time from the first failure of a store until it works again.

    The store is not called before `retry_at` (`time.monotonic`). Waits get longer and longer.
    """

    def __init__(self, error: Exception) -> None:
        self.began = time.monotonic()
        self._wait = FIRST_WAIT
        self._error = str(error)
        self.retry_at = self.began + self._wait

    def goes_on(self, error: Exception) -> None:
        """Note that the store still fails, and wait twice as long."""
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        self.retry_at = time.monotonic() + self._wait
        if not isinstance(error, StoreUnavailable) and str(error) != self._error:
            self._error = str(error)
            logger.error("The store is there again, but can't be used: %s", error)


class StoreRun:
    """Opens the store, begins the run, asks the store, and ends the run, on one thread.

    Any thread may read `name`, `outages`, how many of the oldest pages are `known` to it, and
    `failure`, the error that all calls raise now, if any. A store that is unavailable is tried
    again after `retry_at`, one that can't be used for another reason is not. With `reads`, the
    store is only read.
    """

    def __init__(self, pipeline: str, *, durable: bool, reads: bool, keys: Keys) -> None:
        self.name = uuid.uuid4().hex
        self.outages = self.known = 0
        self.failure: StoreError | None = None
        self.pipeline, self._keys = pipeline, keys
        self._durable = durable
        self._open_store = read_store if reads else open_store
        self._warned_lost = False
        self._url = ""
        self._gate: Gate | None = None
        self._outage: Outage | None = None

    @property
    def retry_at(self) -> float:
        """The time (`time.monotonic`) to call `retry`, infinity if the store is not down."""
        return self._outage.retry_at if self._outage and self.failure else float("inf")

    def open(self, url: str) -> None:
        """Open the store and begin the run. Raises `StoreError`."""
        self._url = url
        try:
            self._begin()
        except StoreUnavailable as error:
            self._went_down(error)
            raise
        except StoreError as error:
            self.failure = error
            raise

    def answer(self, calls: Sequence[Call]) -> None:
        """Answer calls, several in one batch. No answer is given before the batch is committed."""
        calls = [call for call in calls if call.future.set_running_or_notify_cancel()]
        # A batch with one call pays in memory, where no other process waits for the lock.
        cheaper = len(calls) > 1 or self._url.startswith("memory:")
        results = self._together(calls) if cheaper and self._gate else None
        if results is None:
            results = [self._attempt(call) for call in calls]
        for call, result in zip(calls, results, strict=True):
            if isinstance(result, BaseException):
                call.future.set_exception(result)
            else:
                call.future.set_result(result)

    def settle(self, records: Collection[Record]) -> bool:
        """Mark records as settled. Return False if that must wait for the end of an outage."""
        if self._gate is None or self.failure:
            return False
        try:
            self._settle(self._gate.store, records)
        except StoreUnavailable as error:
            self._went_down(error)
            return False
        except StoreError as error:
            logger.error("Finished pages could not be settled: %s", error)
        return True

    def _settle(self, store: Store, records: Collection[Record]) -> None:
        by_gave: dict[int, list[Record]] = {}
        for record in {it.identity: it for it in records}.values():  # of each, the last counts
            by_gave.setdefault(record.gave, []).append(record)
        for gave, alike in by_gave.items():
            store.update(alike, settled=True, durable=self._durable, gave=gave)

    def renew(self) -> None:
        """Renew the run in the store."""
        if self._gate is None or self.failure:
            return
        try:
            self._gate.store.begin(self.name)
            self._tell_lost(self._gate.store)
        except StoreUnavailable as error:
            self._went_down(error)
        except StoreError as error:
            logger.error("The gate's store failed: %s", error)

    def _tell_lost(self, store: Store) -> None:
        if self.name in store.lost and not self._warned_lost:
            self._warned_lost = True
            logger.warning(
                "The store has lost what this crawl kept: somebody emptied it, or took the crawl "
                "for dead. Copies of its pages pass once more, here and in later crawls. "
                "Pages that are kept from now on count"
            )

    def retry(self) -> None:
        """Try whether the store works again. The next successful call ends the outage."""
        assert self._outage is not None
        try:
            if self._gate is None:
                self._begin()
            else:
                self._gate.store.begin(self.name)
                self._gate.take_back_doubtful()
        except Exception as error:
            self._outage.goes_on(error)
        else:
            self.failure = None

    def close(self, settled: Collection[Record], *, ended: bool) -> bool:
        """Settle the last records, end the run if the crawl `ended` normally, and close the store.

        If the store is unavailable, this tries again for `LONGEST_ENDING` seconds: otherwise no
        page of the crawl would count. Return False if they don't.
        """
        if self._gate is None:
            return not ended
        store, until, warned = self._gate.store, time.monotonic() + LONGEST_ENDING, False
        try:
            while True:
                try:
                    self._settle(store, settled)
                    self._gate.take_back_doubtful()
                    self._keep_memories(self._gate)
                    if ended:
                        store.end(self.name)
                        self._tell_lost(store)
                    return True
                except StoreUnavailable:
                    if time.monotonic() > until:
                        raise
                    if not warned:
                        logger.warning(
                            "The store is away. For %.0f s, the end of the crawl waits for it",
                            LONGEST_ENDING,
                        )
                    warned = True
                time.sleep(FIRST_WAIT)
        except StoreError as error:
            logger.error("The gate could not end its run: its pages won't count as seen: %s", error)
        except Exception:
            logger.exception("The gate could not end its run: its pages won't count as seen")
        finally:
            store.close()
        return False

    def _keep_memories(self, gate: Gate) -> None:
        """Keep the site memory. If that fails, later crawls learn it again, and lose nothing."""
        try:
            gate.keep_memories()
        except StoreError as error:
            logger.warning("The site memory could not be kept for later crawls: %s", error)

    def _begin(self) -> None:
        try:
            store = self._open_store(self._url)
            try:
                store.begin(self.name)
            except BaseException:
                store.close()
                self.name = uuid.uuid4().hex  # the store may have begun the old name all the same
                raise
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(f"{type(error).__name__}: {error}") from error
        self._gate = Gate(store, run=self.name, pipeline=self.pipeline, keys=self._keys)
        self._tell_ignored(store)

    def _tell_ignored(self, store: Store) -> None:
        if self._url.startswith("memory:"):
            return
        try:
            oldest = islice(store.records(), MOST_COUNTED)
            counts = Counter(record.pipeline for record in oldest)
        except Exception as error:
            logger.warning("Could not count the pages of earlier crawls: %s", error)
            return
        kept = self.known = counts.pop(self.pipeline, 0)
        if counts:
            logger.log(
                logging.INFO if kept else logging.WARNING,
                "Ignored: %s, read under another pipeline version (%s); of this one (%s): %d. They "
                "are compared with nothing: copies of them pass once, and are kept. To compare "
                "with them, take the release, the EXTRACTOR and the FEATURES that read them",
                how_many(sum(counts.values()), "remembered page"),
                ", ".join(sorted(counts)), self.pipeline, kept,
            )  # fmt: skip

    def _together(self, calls: Sequence[Call]) -> list[Any] | None:
        """Return what the calls return or raise; None if the store took all of it back."""
        assert self._gate is not None
        try:
            with self._gate.store.batch():
                return [self._attempt(call) for call in calls]
        except StoreUnavailable as error:
            self._went_down(error)
        except StoreError as error:
            logger.debug("Asking one by one: %s", error)
        except Exception:
            logger.exception("The gate's store failed")
        return None

    def _attempt(self, call: Call) -> Any:
        if self._gate is None or self.failure:
            if call.back and self._gate:
                self._gate.doubt(call.back)
            return self.failure or StoreError("the store is not open")
        try:
            value = call.ask(self._gate)
        except StoreUnavailable as error:
            self._went_down(error)
            return error
        except Exception as error:
            if call.back:
                logger.error("A page that failed could not be forgotten yet: %s", error)
            return error
        if self._outage is not None:
            seconds = time.monotonic() - self._outage.began
            logger.info("The store works again, after %.0f s", seconds)
            self._outage = None
        return value

    def _went_down(self, error: StoreUnavailable) -> None:
        self.failure = error
        if self._outage is None:
            self._outage = Outage(error)
            self.outages += 1
        else:
            self._outage.goes_on(error)
