"""Runs: which ones live, which ones have ended, and how the pages of dead ones are removed.

A run has one blob. While it lives, this is in the scope `LIVE`, and holds the owner's number and
the time until which the run lives without being renewed. Once it has ended, the blob is in the
scope `ENDED`. A dead run has none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple, TypeAlias

from simhash_gate.stores.base import ENDED, LIVE, RUN, Blob, StoreError, hash64
from simhash_gate.stores.driver import Driver

_NOBODY = b"0 0.0"  # stands for the owner of a dead run until its pages are removed

Life: TypeAlias = Literal["live", "ended", "dead"]


class _Lease(NamedTuple):
    """The last renewal of a run of this store: over which connection, when, with which data."""

    connection: int
    at: float
    data: bytes


class Runs:
    """The runs of a store. `live` are the runs that were begun here and have not ended.

    `lost` are those of them that had to be begun anew, because others took them for dead or the
    store was emptied. `on_doubt` is called when earlier answers of the server may be wrong now.
    """

    def __init__(self, driver: Driver, on_doubt: Callable[[], None]) -> None:
        self.live: dict[str, _Lease] = {}
        self.lost: set[str] = set()
        self._driver, self._on_doubt = driver, on_doubt
        self._ended: set[str] = set()
        self._clock = (-1, 0.0)  # a connection, and how far its clock is ahead of ours

    def begin(self, run: str) -> bool:
        """Begin a run that is new or dead. Return False if it lives elsewhere or has ended."""
        owner, key, stored = self._driver.claim(), _key(run), None
        while stored is None or not self._write(run, stored):
            stored = self._driver.blob(RUN, LIVE, key)
            if stored and not stored.startswith(b"%d " % owner) and self._lives(stored):
                return False
            if self._driver.blob(RUN, ENDED, key):
                return False
        return True

    def renew(self, run: str) -> None:
        """Renew the lease of a run of this store. Begin it anew if it is gone."""
        prefix, stored = b"%d " % self._driver.claim(), self.live[run].data
        self._clock = (-1, 0.0)
        while not self._write(run, stored):
            stored = self._driver.blob(RUN, LIVE, _key(run))
            if not stored.startswith(prefix):
                # A run with this blob has ended, and the answer to `end` got lost.
                if not self._driver.blob(RUN, ENDED, _key(run)):
                    self.lost.add(run)
                    self._on_doubt()
                    self._write(run, None)
                return

    def keep_alive(self, run: str) -> None:
        """Renew a run that the server may have lost, or whose lease is half over."""
        lease = self._driver.lease
        if lease is not None:
            connection, at, _ = self.live[run]
            if connection != self._driver.connections:
                self._on_doubt()  # the server may have lost data
            elif time.monotonic() - at < lease / 2:
                return
            self.renew(run)

    def end(self, run: str) -> None:
        """End a run of this store. From now on, its pages count for all runs."""
        self.renew(run)
        self._driver.swap(Blob(RUN, ENDED, _key(run), b"1"), None)
        self._driver.swap(Blob(RUN, LIVE, _key(run), b""), None)
        self._ended.add(run)
        del self.live[run]

    def life(self, run: str, stored: bytes | None = None) -> Life:
        """Tell whether a run is live or ended. A run that nobody knows is dead.

        `stored` is the data of its blob in `LIVE`, if that was just read.
        """
        if run in self.live:
            return "live"
        if run not in self._ended:
            stored = stored or self._driver.blob(RUN, LIVE, _key(run))
            if stored and self._lives(stored):
                return "live"
            if not self._driver.blob(RUN, ENDED, _key(run)):
                return "dead"
            self._ended.add(run)
        return "ended"

    def bury(self) -> None:
        """Remove the pages of dead runs that are not durable, and forget these runs."""
        keys = {_key(run) for run in self.live}
        for blob in [*self._driver.blobs(RUN, LIVE, data=True)]:
            if blob.key in keys or self._lives(blob.data):
                continue
            if self._driver.blob(RUN, ENDED, blob.key):  # it ended, but its process did not hear it
                self._driver.swap(Blob(RUN, LIVE, blob.key, b""), blob.data)
            elif self._driver.swap(Blob(RUN, LIVE, blob.key, _NOBODY), blob.data) is None:
                for scope, numbers in self._driver.pages_of(int(blob.key, 16)):
                    self._driver.remove(scope, numbers)
                self._driver.swap(Blob(RUN, LIVE, blob.key, b""), _NOBODY)

    def close(self) -> None:
        """Let all runs of this store die that have not ended."""
        if self._driver.lease is not None:
            with suppress(StoreError):  # leases run out by themselves
                for run, lease in self.live.items():
                    self._driver.swap(Blob(RUN, LIVE, _key(run), _NOBODY), lease.data)
        self.live.clear()

    def _write(self, run: str, stored: bytes | None) -> bool:
        """Let a run live for one lease if its blob is `stored`. Return False if it is another."""
        driver, at = self._driver, time.monotonic()
        until = float("inf") if driver.lease is None else self._now() + driver.lease
        data, connection = b"%d %r" % (driver.claim(), until), driver.connections
        if driver.swap(Blob(RUN, LIVE, _key(run), data), stored) is not None:
            return False
        self.live[run] = _Lease(connection, at, data)
        return True

    def _lives(self, data: bytes) -> bool:
        owner, until = data.split()
        return self._driver.is_there(int(owner)) and (
            self._driver.lease is None or float(until) > self._now()
        )

    def _now(self) -> float:
        """Return the time of the store's clock, which is asked once a connection."""
        if self._clock[0] != self._driver.connections:
            ahead = self._driver.clock() - time.monotonic()
            self._clock = (self._driver.connections, ahead)
        return time.monotonic() + self._clock[1]


def _key(run: str) -> str:
    return f"{hash64(run):016x}"
