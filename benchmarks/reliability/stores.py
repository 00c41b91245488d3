"""The memory of a round: a fresh one on any store, with a network between that can be disturbed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.proxy import Proxy
from benchmarks.reliability.plan import AnyPlan
from benchmarks.servers import postgres_server, redis_server
from simhash_gate.stores import open_store

LEASE = 8.0
"""Seconds after which a crawl on a server that was killed is dead."""
TIMEOUT = 2.0


class Servers:
    """The servers of a run of rounds, each started when it is first needed, unless it is given."""

    def __init__(self, folder: Path, **urls: str) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._urls = urls
        self._lock = threading.Lock()

    def url(self, kind: str) -> str:
        """Return the URL of a server, `redis` or `postgresql`. OSError if there is none."""
        with self._lock:
            if kind not in self._urls:
                start = {"redis": redis_server, "postgresql": postgres_server}[kind]
                self._urls[kind] = self._stack.enter_context(start(self._folder / kind))
            return self._urls[kind]

    def close(self) -> None:
        """End them."""
        self._stack.close()


class Memory:
    """The store of one round: `url` is for its crawls, `direct_url` for who is never disturbed."""

    def __init__(self, plan: AnyPlan, folder: Path, servers: Servers) -> None:
        self.kind = plan.store
        self.path: Path | None = None
        self._proxy: Proxy | None = None
        self._name = f"round{plan.seed}x{plan.number}"
        if self.kind == "memory":
            self.url = self.direct_url = "memory:"
        elif self.kind == "sqlite":
            self.path = folder / "store.sqlite"
            self.url = self.direct_url = f"sqlite:///{self.path}"
        else:
            server = servers.url(self.kind)
            own = f"schema={self._name}" if self.kind == "postgresql" else f"prefix={self._name}:"
            own += f"&lease={LEASE}&timeout={TIMEOUT}"
            parts = urlsplit(server)
            assert parts.port
            self._proxy = Proxy(parts.port)
            self.direct_url = f"{server}{'&' if parts.query else '?'}{own}"
            self.url = self.direct_url.replace(f":{parts.port}/", f":{self._proxy.port}/")

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
        """Wait until who was killed is known to be dead."""
        if self._proxy:
            time.sleep(LEASE + 0.5)

    def faults(self) -> list[str]:
        """Return what is wrong with the store, now that no crawl is on it."""
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
        """Remove what the round left on a server."""
        if self._proxy:
            self._proxy.close()
        if self.kind == "postgresql":
            with self._connect() as connection:
                connection.execute(f'DROP SCHEMA IF EXISTS "{self._name}" CASCADE')
        elif self.kind == "redis":
            with self._client() as client:
                for key in client.scan_iter(f"{self._name}:*"):
                    client.delete(key)

    def _wrong_info(self, counted: Counter[str]) -> list[str]:
        code = "from simhash_gate.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, "store", "info", self.direct_url],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        if done.returncode:
            return [f"store info: exit status {done.returncode}: {done.stderr[-1000:]}"]
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        said = {line["scope"]: line["pages"] for line in lines}
        return [] if said == dict(counted) else [f"store info: {said}, but there are {counted}"]

    def _sqlite(self) -> list[str]:
        assert self.path
        found = []
        with closing(sqlite3.connect(self.path)) as db:
            (health,) = db.execute("PRAGMA integrity_check").fetchone()
            if health != "ok":
                found.append(f"integrity: {health}")
            kept = db.execute("SELECT data FROM blob WHERE kind = 'run' AND scope = x'6c697665'")
            found += _still_live(kept.fetchall())
        left = [path.name for path in self.path.parent.glob(f"{self.path.name}*.lock")]
        return [*found, *([f"lock files: {left}"] if left else [])]

    def _redis(self) -> list[str]:
        with self._client() as client:
            return _still_live((value,) for value in client.hvals(f"{self._name}:run:{{live}}"))

    def _postgresql(self) -> list[str]:
        with self._connect() as connection:
            connection.execute(f'SET search_path = "{self._name}"')
            ask = "SELECT data FROM blob WHERE kind = 'run' AND scope = 'live'"
            return _still_live(connection.execute(ask).fetchall())

    def _connect(self):
        import psycopg

        return psycopg.connect(self.direct_url.partition("&")[0], autocommit=True)

    def _client(self):
        from redis import Redis

        return Redis.from_url(self.direct_url.partition("?")[0])


def _still_live(kept: Iterable[tuple[bytes]]) -> list[str]:
    """Return what is wrong with what is kept of runs: who owns each, and until when it lives."""
    live = [lease for (lease,) in kept if float(lease.split()[1]) > time.time()]
    return [f"runs that live on: {live}"] if live else []
