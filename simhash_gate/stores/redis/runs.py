"""The runs of all crawlers on a Redis server: who lives, by a lease that its crawler renews."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from simhash_gate.stores.redis.codec import Run, run_digest
from simhash_gate.stores.values import as_bytes, as_text

if TYPE_CHECKING:
    from collections.abc import Callable

_ANEW = 2  # what `runs.lua` says of a run that it did not know


class Runs:
    """The runs of this store, which it keeps alive, and what it knows of those of others.

    `ask` runs `runs.lua`. Runs have keys of their own, so that in a cluster a scope can lie
    on another server: whether the run of a page lives is asked apart, for others' pages only.
    Runs that the server had lost are put in `lost`.
    """

    def __init__(self, ask: Callable[..., Any], lease: float, lost: set[str]) -> None:
        self._ask = ask
        self._lease = lease
        self._lost = lost
        self._owner = os.urandom(8)
        self._connections = 0
        self._renewed: dict[str, tuple[int, float]] = {}
        # Those of this store that live, and whichever have ended: nothing to ask about.
        self._known: dict[bytes, Run] = {}

    def connected(self) -> None:
        """Take note of a new connection: the server may have lost what it was told before."""
        self._connections += 1

    def begin(self, run: str) -> bool:
        """Announce a run; False if another one has its name, or had it and ended."""
        return self._announce("begin", run) > 0

    def renew(self, run: str) -> None:
        """Renew the lease of a run; announce it again if the server lost it."""
        if self._announce("renew", run) == _ANEW:
            self._lost.add(run)

    def keep_alive(self, run: str) -> None:
        """Renew the lease of a run that the server may have lost, or that is half over."""
        connection, asked = self._renewed[run]
        if connection != self._connections or time.monotonic() - asked > self._lease / 2:
            self.renew(run)

    def end(self, run: str) -> None:
        """Close a run normally."""
        if not self._ask("end", run_digest(run), self._owner, as_bytes(run)):
            self._lost.add(run)
        self._known.pop(run_digest(run), None)

    def release(self, run: str) -> None:
        """Let a run be dead from here on."""
        self._known.pop(run_digest(run), None)
        self._ask("release", run_digest(run))

    def dead(self) -> list[bytes]:
        """Return the digests of runs that nobody renews."""
        found: list[bytes] = self._ask("dead", b"")
        return found

    def bury(self, run: bytes, *, durable: bool) -> None:
        """Forget a dead run; as long as it has durable pages it counts as ended."""
        self._ask("bury", run, int(durable))

    def ended(self) -> list[bytes]:
        """Return the digests of runs that have ended."""
        found: list[bytes] = self._ask("ended", b"")
        return found

    def forget(self, run: bytes) -> None:
        """Forget an ended run that has no pages left."""
        self._known.pop(run, None)
        self._ask("forget", run)

    def find(self, digest: bytes) -> Run:
        """Return the run with a digest; asks about the runs of others until they have ended."""
        if digest in self._known:
            return self._known[digest]
        state, named = self._ask("find", digest)
        name = as_text((named or b"")[len(self._owner) :])
        run = Run(name, state.decode())
        if run.state == "ended":
            self._known[digest] = run
        return run

    def _announce(self, operation: str, run: str) -> int:
        asked = (self._connections, time.monotonic())
        milliseconds = int(self._lease * 1000)
        done: int = self._ask(operation, run_digest(run), self._owner, as_bytes(run), milliseconds)
        if done:
            self._renewed[run] = asked
            self._known[run_digest(run)] = Run(run, "live")
        return done
