"""The runs of all crawlers on a Redis server: who lives, by a lease that its crawler renews."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from simhash_gate.stores.redis.codec import Run, run_digest
from simhash_gate.stores.values import as_bytes, as_text

if TYPE_CHECKING:
    from collections.abc import Callable


class Runs:
    """The runs of this store, which it keeps alive, and what it knows of those of others.

    `ask` runs `runs.lua`. Runs have keys of their own, so that in a cluster a scope can lie
    on another server: whether the run of a page lives is asked apart, for others' pages only.
    """

    def __init__(self, ask: Callable[..., object], lease: float) -> None:
        self._ask = ask
        self._lease = lease
        self._owner = os.urandom(8)
        self._renewed: dict[str, tuple[int, float]] = {}
        # Those of this store that live, and whichever have ended: nothing to ask about.
        self._known: dict[bytes, Run] = {}

    @property
    def live(self) -> list[str]:
        """The runs that were begun here and have not ended."""
        return list(self._renewed)

    def is_live(self, run: str) -> bool:
        """Tell whether a run was begun here and has not ended."""
        return run in self._renewed

    def begin(self, run: str, connection: int) -> bool:
        """Announce a run; False if another one has its name, or had it and ended."""
        return self._announce("begin", run, connection)

    def renew(self, run: str, connection: int) -> None:
        """Renew the lease of a run; announce it again if the server lost it."""
        self._announce("renew", run, connection)

    def must_renew(self, run: str, connection: int) -> bool:
        """Tell whether the server may have lost the run: it was connected to anew, or long ago."""
        renewed, asked = self._renewed[run]
        return renewed != connection or time.monotonic() - asked > self._lease / 2

    def end(self, run: str) -> None:
        """Close a run normally."""
        self._ask("end", run_digest(run), self._owner, as_bytes(run))
        self._forget(run)

    def release(self, run: str) -> None:
        """Let a run be dead from here on."""
        self._forget(run)
        self._ask("release", run_digest(run))

    def dead(self) -> list[bytes]:
        """Return the digests of runs that nobody renews."""
        found = self._ask("dead", b"")
        assert isinstance(found, list)
        return found

    def bury(self, run: bytes, *, durable: bool) -> None:
        """Forget a dead run; as long as it has durable pages it counts as ended."""
        self._ask("bury", run, int(durable))

    def find(self, digest: bytes) -> Run:
        """Return the run with a digest; asks about the runs of others until they have ended."""
        if digest in self._known:
            return self._known[digest]
        found = self._ask("find", digest)
        assert isinstance(found, list)
        state, named = found
        name = as_text((named or b"")[len(self._owner) :])
        run = Run(name, state.decode())
        if run.state == "ended":
            self._known[digest] = run
        return run

    def _announce(self, operation: str, run: str, connection: int) -> bool:
        asked = time.monotonic()
        milliseconds = int(self._lease * 1000)
        done = self._ask(operation, run_digest(run), self._owner, as_bytes(run), milliseconds)
        if done:
            self._renewed[run] = (connection, asked)
            self._known[run_digest(run)] = Run(run, "live")
        return bool(done)

    def _forget(self, run: str) -> None:
        self._renewed.pop(run, None)
        self._known.pop(run_digest(run), None)
