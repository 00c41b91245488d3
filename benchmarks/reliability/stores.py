"""The memory of a round: a fresh one on any store, with a network between that can be disturbed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.proxy import Proxy
from benchmarks.reliability.process import Clock
from benchmarks.servers import postgres_server, redis_server
from simhash_gate.stores import open_store

LEASE = 8.0
"""Seconds after which a crawl on a server that was killed is dead."""
TIMEOUT = 2.0


def run_command(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of simhash-gate in a process of its own."""
    command = [sys.executable, "-c", "from simhash_gate.cli import main; main()", *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=folder
    )


class Memory:
    """The store of one round: `url` is for its crawls, `direct_url` for who is never disturbed.

    A file goes to `place`. A server is the round's own, with a `clock` of its own. OSError if there
    is none.
    """

    def __init__(self, kind: str, folder: Path, place: Path | None = None) -> None:
        self.kind = kind
        self.place = place or folder
        self.path: Path | None = None
        self.clock: Clock | None = None
        self._furthest = 0
        self._proxy: Proxy | None = None
        self._server: Any = None
        if self.kind == "memory":
            self.url = self.direct_url = "memory:"
        elif self.kind == "sqlite":
            self.path = self.place / "store.sqlite"
            self.url = self.direct_url = f"sqlite:///{self.path}"
        else:
            self.clock = Clock(folder / "server-clock")
            place = folder / "server"
            if self.kind == "redis":
                self._server = redis_server(place, self.clock.environ, appendonly="yes")
            else:
                self._server = postgres_server(place, self.clock.environ)
            parts = urlsplit(self._server.url)
            assert parts.port
            self._proxy = Proxy(parts.port)
            own = f"lease={LEASE}&timeout={TIMEOUT}"
            self.direct_url = f"{self._server.url}{'&' if parts.query else '?'}{own}"
            self.url = self.direct_url.replace(f":{parts.port}/", f":{self._proxy.port}/")

    def restart(self, way: str, seconds: float) -> None:
        """Stop the server as who serves it would, or let it crash; and start it after a while."""
        (self._server.stop if way == "down" else self._server.kill)()
        time.sleep(seconds)
        self._server.start()

    def jump(self, seconds: float) -> None:
        """Move the clock of the server."""
        assert self.clock
        self.clock.jump(seconds)
        self._furthest = max(self._furthest, self.clock.wrong)

    def disturb(self, way: str, seconds: float) -> None:
        """Let the network be slow, cut off or without an answer for a while."""
        assert self._proxy
        if way == "slow":
            self._proxy.delay = 0.2
            time.sleep(seconds)
            self._proxy.delay = 0.0
        elif way == "hang":
            self._proxy.swallow = True
            time.sleep(seconds)
            self._proxy.swallow = False
            # An answer that was lost is never made up for.
            self._proxy.cut()
        else:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                self._proxy.cut()
                time.sleep(0.05)

    def wait_for_leases(self) -> None:
        """Wait until who was killed is known to be dead, whatever became of the clock."""
        if self.clock is None:
            return
        if self.clock.environ:
            self.jump(self._furthest - self.clock.wrong + LEASE + 1)
        else:
            time.sleep(LEASE + 0.5)

    def faults(self) -> list[str]:
        """Return what is wrong with the store, now that no crawl is on it."""
        try:
            return [f"the store: {what}" for what in self._faults()]
        except Exception as error:  # whatever it is: the store can't be read
            return [f"the store: {type(error).__name__}: {error}"]

    def _faults(self) -> list[str]:
        if self.kind == "memory" or (self.path and not self.path.exists()):
            return []
        found = []
        with closing(open_store(self.direct_url, create=False)) as store:
            counted = Counter(record.scope for record in store.records())
            for scope, pages in counted.items():
                listed = sum(1 for _ in store.records(scope))
                if listed != pages:
                    found.append(f"scope {scope}: {pages} pages among all, {listed} by itself")
        found += self._wrong_info(counted)
        look = {"sqlite": self._sqlite, "redis": self._redis, "postgresql": self._postgresql}
        return found + look[self.kind]()

    def close(self) -> None:
        """End the server."""
        if self._proxy:
            self._proxy.close()
        if self._server:
            self._server.kill()

    def _wrong_info(self, counted: Counter[str]) -> list[str]:
        done = run_command(["store", "info", self.direct_url], self.place)
        if done.returncode:
            return [f"store info: exit status {done.returncode}: {done.stderr[-1000:]}"]
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        said = {line["scope"]: line["pages"] for line in lines if line["pages"]}
        return [] if said == dict(counted) else [f"store info: {said}, but there are {counted}"]

    def _sqlite(self) -> list[str]:
        assert self.path
        found = []
        with closing(sqlite3.connect(self.path)) as db:
            (health,) = db.execute("PRAGMA integrity_check").fetchone()
            if health != "ok":
                found.append(f"integrity: {health}")
            kept = db.execute("SELECT data FROM blob WHERE kind = 'run' AND scope = x'6c697665'")
            found += self._still_live(kept.fetchall())
        left = [path.name for path in self.path.parent.glob(f"{self.path.name}*.lock")]
        return [*found, *([f"lock files: {left}"] if left else [])]

    def _redis(self) -> list[str]:
        from redis import Redis

        with Redis.from_url(self.direct_url.partition("?")[0]) as client:
            return self._still_live((value,) for value in client.hvals("simhash_gate:run:{live}"))

    def _postgresql(self) -> list[str]:
        ask = "SELECT data FROM simhash_gate.blob WHERE kind = 'run' AND scope = 'live'"
        return self._still_live(self._server.admin(ask))

    def _still_live(self, kept: Iterable[tuple[bytes]]) -> list[str]:
        """Return what is wrong with what is kept of runs: of each, its owner and its end."""
        now = time.time() + (self.clock.wrong if self.clock else 0)
        live = [lease for (lease,) in kept if float(lease.split()[1]) > now]
        return [f"runs that live on: {live}"] if live else []
