"""The run of a crawl on its store: through outages, to an end that leaves nothing wrong behind."""

from __future__ import annotations

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.gate.judge import Gate
from simhash_gate.stores import Record, StoreError, StoreUnavailable, open_store, read_store

if TYPE_CHECKING:
    from simhash_gate.stores import Store

logger = logging.getLogger(__name__)

MOST_COUNTED = 10_000  # pages, the oldest: those of another pipeline version are among them
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds between attempts in an outage
LONGEST_ENDING = 30.0  # seconds in which a run is tried to be ended


class Call(NamedTuple):
    """What is asked of the gate, and where the answer goes.

    Where the store breaks off, it may have added `doubtful` all the same: that is forgotten later.
    With `forget`, to forget it is all that is asked.
    """

    ask: Callable[[Gate], Any]
    future: Future[Any]
    doubtful: Record | None = None
    forget: bool = False


class Outage:
    """The time from the first failure of a store until it has worked again.

    The store is tried again after longer and longer waits. Until `retry_at` (`time.monotonic`)
    nothing is asked of it.
    """

    def __init__(self, error: Exception) -> None:
        self._began = time.monotonic()
        self._wait = FIRST_WAIT
        self._error = str(error)
        self.retry_at = self._began + self._wait

    def goes_on(self, error: Exception) -> None:
        """Note that the store still fails, and wait twice as long."""
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        self.retry_at = time.monotonic() + self._wait
        if not isinstance(error, StoreUnavailable) and str(error) != self._error:
            self._error = str(error)
            logger.error("The store is there again, but can't be used: %s", error)

    def end(self) -> None:
        """Say that the store works again."""
        logger.info("The store works again, after %.0f s", time.monotonic() - self._began)


class StoreRun:
    """Opens the store and begins the run; asks it; ends the run. All on one thread.

    Any thread may read the run's `name`, `outages`, and `failure`: what every call raises at
    present, if anything. A store that is unavailable, from the start or later, is tried again after
    `retry_at`; one that can't be used for another reason is not. With `reads` it is only read.
    """

    def __init__(self, pipeline: str, *, durable: bool, reads: bool = False) -> None:
        self.name = uuid.uuid4().hex
        self.outages = 0
        self.failure: StoreError | None = None
        self.pipeline = pipeline
        self._durable = durable
        self._open_store = read_store if reads else open_store
        self._warned_lost = False
        self._url = ""
        self._gate: Gate | None = None
        self._outage: Outage | None = None
        self._owed: list[Record] = []

    @property
    def retry_at(self) -> float:
        """When (`time.monotonic`) to call `retry`; infinity if the store is not down."""
        return self._outage.retry_at if self._outage and self.failure else float("inf")

    def trace(self, scope: str, request: str, asker: str, fingerprint: int) -> Record:
        """Return a record of this run of which nothing but its identity is known."""
        names = 0, 0, "", self.pipeline, self.name
        return Record(scope, "", request, fingerprint, *names, 0.0, 0.0, asker=asker)

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
        """Answer calls, several in one batch; none before what it rests on is committed."""
        calls = [call for call in calls if call.future.set_running_or_notify_cancel()]
        cheaper = len(calls) > 1 or self._url.startswith("memory:")  # nobody waits for its lock
        results = self._together(calls) if cheaper and self._gate else None
        if results is None:
            results = [self._attempt(call) for call in calls]
        for call, result in zip(calls, results, strict=True):
            if isinstance(result, BaseException):
                call.future.set_exception(result)
            else:
                call.future.set_result(result)

    def settle(self, records: Collection[Record]) -> bool:
        """Mark records settled; False if that has to wait for the end of an outage."""
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
        for gave in (True, False):
            if some := [record for record in records if record.gave is gave]:
                store.update(some, settled=True, durable=self._durable, gave=gave)

    def renew(self) -> None:
        """Tell the store that the run lives."""
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
        """Say once that the store has lost the run, which was begun anew."""
        if self.name in store.lost and not self._warned_lost:
            self._warned_lost = True
            logger.warning(
                "The store has lost what this crawl kept: somebody emptied it, or took the crawl "
                "for dead. Pages that are like those pass once more, here and in later crawls. "
                "What is kept from now on counts"
            )

    def retry(self) -> None:
        """Try whether the store works again; the next calls that are answered end the outage."""
        assert self._outage is not None
        try:
            if self._gate is None:
                self._begin()
            else:
                self._gate.store.begin(self.name)
                self._forget_owed(self._gate)
        except Exception as error:
            self._outage.goes_on(error)
        else:
            self.failure = None

    def close(self, settled: Collection[Record], *, ended: bool) -> None:
        """Settle what is left, end the run if it `ended` normally, and close the store.

        All pages of a crawl are worth some patience with a store that is not there just then.
        """
        if self._gate is None:
            return
        store, until, told = self._gate.store, time.monotonic() + LONGEST_ENDING, False
        try:
            while True:
                try:
                    self._settle(store, settled)
                    self._forget_owed(self._gate)
                    self._keep_memories(self._gate)
                    if ended:
                        store.end(self.name)
                        self._tell_lost(store)
                    return
                except StoreUnavailable:
                    if time.monotonic() > until:
                        raise
                    if not told:
                        logger.warning(
                            "The store is away. For %.0f s, the end of the crawl waits for it",
                            LONGEST_ENDING,
                        )
                    told = True
                time.sleep(FIRST_WAIT)
        except StoreError as error:
            logger.error("The gate could not end its run: its pages won't count as seen: %s", error)
        except Exception:
            logger.exception("The gate could not end its run: its pages won't count as seen")
        finally:
            store.close()

    def _keep_memories(self, gate: Gate) -> None:
        """Keep what sites repeat; without it later crawls learn it again, and lose nothing."""
        try:
            gate.keep_memories()
        except StoreError as error:
            logger.warning("What sites repeat could not be kept for later crawls: %s", error)

    def _begin(self) -> None:
        try:
            store = self._open_store(self._url)
            try:
                store.begin(self.name)
            except BaseException:
                store.close()
                self.name = uuid.uuid4().hex  # the store may have begun it all the same
                raise
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(f"{type(error).__name__}: {error}") from error
        self._gate = Gate(store, run=self.name, pipeline=self.pipeline)
        self._tell_ignored(store)

    def _tell_ignored(self, store: Store) -> None:
        if self._url.startswith("memory:"):
            return
        try:
            some = islice(store.records(), MOST_COUNTED)
            counts = Counter(record.pipeline for record in some)
        except Exception as error:
            logger.warning("Could not count the pages of earlier crawls: %s", error)
            return
        kept = counts.pop(self.pipeline, 0)
        if counts:
            logger.log(
                logging.INFO if kept else logging.WARNING,
                "Ignored: %s, read under another pipeline version (%s); of this one (%s): %d. They "
                "are compared with nothing: what is like them passes once more, and is compared "
                "with from then on. To compare with them, take the release that read them, and "
                "SIMHASH_GATE_EXTRACTOR as it was",
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
            if call.forget:
                self._owe(call.doubtful)
            return self.failure or StoreError("the store is not open")
        try:
            value = call.ask(self._gate)
        except StoreUnavailable as error:
            self._went_down(error)
            self._owe(call.doubtful)
            return error
        except Exception as error:
            if call.forget:
                self._owe(call.doubtful)
                logger.error("A page that failed could not be forgotten yet: %s", error)
            return error
        if self._outage is not None:
            self._outage.end()
            self._outage = None
        return value

    def _went_down(self, error: StoreUnavailable) -> None:
        self.failure = error
        if self._outage is None:
            self._outage = Outage(error)
            self.outages += 1
        else:
            self._outage.goes_on(error)

    def _owe(self, record: Record | None) -> None:
        if record is not None:
            self._owed.append(record)

    def _forget_owed(self, gate: Gate) -> None:
        while self._owed:
            gate.take_back(self._owed[-1])
            self._owed.pop()
