"""Runs: which live, which have ended, and what becomes of those that died.

What is kept of a run is one blob: in the scope `LIVE` who began it and until when it lives, unless
it is renewed; in the scope `ENDED` once it has ended. Of a run that died there is none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from simhash_gate.stores.base import ENDED, LIVE, RUN, Blob, StoreError, hash64

if TYPE_CHECKING:
    from simhash_gate.stores.driver import Driver

_NOBODY = b"0 0.0"  # owns what died, until its pages are removed

Life: TypeAlias = Literal["live", "ended", "dead"]


class _Lease(NamedTuple):
    """What is known of a run of here: over which connection it was renewed last, and when."""

    connection: int
    at: float
    data: bytes


class Runs:
    """The runs of a store. `live` are those that were begun here, and have not ended.

    `lost` are those of them that had to be begun anew: others took them for dead, or the store was
    emptied. `on_doubt` is called when what was read before may not be so.
    """

    def __init__(self, driver: Driver, on_doubt: Callable[[], None]) -> None:
        self.live: dict[str, _Lease] = {}
        self.lost: set[str] = set()
        self._driver, self._on_doubt = driver, on_doubt
        self._ended: set[str] = set()  # nothing need be asked of them
        self._clock = (-1, 0.0)  # of which connection, and how far its clock is ahead of ours

    def begin(self, run: str) -> bool:
        """Let a run live that is new or dead; False if it lives elsewhere, or has ended."""
        owner, key, there = self._driver.claim(), _key(run), None
        while there is None or not self._write(run, there):
            there = self._driver.blob(RUN, LIVE, key)
            if there and not there.startswith(b"%d " % owner) and self._lives(there):
                return False
            if self._driver.blob(RUN, ENDED, key):
                return False
        return True

    def renew(self, run: str) -> None:
        """Prolong the life of a run of here; begin it anew, if it is gone."""
        own, there = b"%d " % self._driver.claim(), self.live[run].data
        self._clock = (-1, 0.0)
        while not self._write(run, there):
            there = self._driver.blob(RUN, LIVE, _key(run))
            if not there.startswith(own):
                if not self._driver.blob(RUN, ENDED, _key(run)):  # else its end was not heard of
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
                self._on_doubt()  # the server may have lost what it had told
            elif time.monotonic() - at < lease / 2:
                return
            self.renew(run)

    def end(self, run: str) -> None:
        """Let the pages of a run of here count for good."""
        self.renew(run)
        self._driver.swap(Blob(RUN, ENDED, _key(run), b"1"), None)
        self._driver.swap(Blob(RUN, LIVE, _key(run), b""), None)
        self._ended.add(run)
        del self.live[run]

    def life(self, run: str, there: bytes | None = None) -> Life:
        """Return what is known of a run; one that nobody knows is dead.

        `there` is what is kept of a live one, where that was just read.
        """
        if run in self.live:
            return "live"
        if run not in self._ended:
            there = there or self._driver.blob(RUN, LIVE, _key(run))
            if there and self._lives(there):
                return "live"
            if not self._driver.blob(RUN, ENDED, _key(run)):
                return "dead"
            self._ended.add(run)
        return "ended"

    def bury(self) -> None:
        """Remove the pages of runs that have died, but for durable ones, and forget these runs."""
        own = {_key(run) for run in self.live}
        for blob in [*self._driver.blobs(RUN, LIVE, data=True)]:
            if blob.key in own or self._lives(blob.data):
                continue
            if self._driver.blob(RUN, ENDED, blob.key):  # how it ended was not heard of
                self._driver.swap(Blob(RUN, LIVE, blob.key, b""), blob.data)
            elif self._driver.swap(Blob(RUN, LIVE, blob.key, _NOBODY), blob.data) is None:
                for scope, numbers in self._driver.pages_of(int(blob.key, 16)):
                    self._driver.remove(scope, numbers)
                self._driver.swap(Blob(RUN, LIVE, blob.key, b""), _NOBODY)

    def close(self) -> None:
        """Let the runs of here die that have not ended."""
        if self._driver.lease is not None:
            with suppress(StoreError):  # leases run out by themselves
                for run, lease in self.live.items():
                    self._driver.swap(Blob(RUN, LIVE, _key(run), _NOBODY), lease.data)
        self.live.clear()

    def _write(self, run: str, there: bytes | None) -> bool:
        """Let a run live for a lease, if `there` is what is kept of it."""
        driver, at = self._driver, time.monotonic()
        until = float("inf") if driver.lease is None else self._now() + driver.lease
        data, connection = b"%d %r" % (driver.claim(), until), driver.connections
        if driver.swap(Blob(RUN, LIVE, _key(run), data), there) is not None:
            return False
        self.live[run] = _Lease(connection, at, data)
        return True

    def _lives(self, there: bytes) -> bool:
        owner, until = there.split()
        return self._driver.is_there(int(owner)) and (
            self._driver.lease is None or float(until) > self._now()
        )

    def _now(self) -> float:
        """Return the time of the clock that all go by, without asking each time."""
        if self._clock[0] != self._driver.connections:
            ahead = self._driver.clock() - time.monotonic()
            self._clock = (self._driver.connections, ahead)
        return time.monotonic() + self._clock[1]


def _key(run: str) -> str:
    return f"{hash64(run):016x}"
