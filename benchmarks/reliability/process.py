"""A process that things befall: it can be stopped, its readers killed, its clock set wrong."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRAPY = """
import time
from twisted.internet import base
base.ReactorBase.seconds = staticmethod(time.monotonic)
from scrapy.cmdline import execute
execute()
"""
"""Scrapy, but for the timers of Twisted: they go by the wall clock, and wait for a day where that
goes back by one. What is ours must do without that."""
TOKEN = "SIMHASH_GATE_CHAOS"


@cache
def clock_library() -> Path | None:
    """Return what sets the clock of a process wrong; None where no C compiler makes it.

    libfaketime does not do: with it, `time.sleep` of Python raises an OSError at times.
    """
    folder = Path(tempfile.mkdtemp(prefix="simhash-gate-clock-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)  # a server may run as another user
    library = folder / "clock.so"
    source = Path(__file__).with_name("clock.c")
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
    with suppress(OSError):
        done = subprocess.run(command, capture_output=True, check=False)
        return None if done.returncode else library
    return None


def settings_of(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as Scrapy's command line takes them."""
    told = {k: json.dumps(v) if isinstance(v, dict) else v for k, v in settings.items()}
    return [part for name, value in told.items() for part in ("-s", f"{name}={value}")]


class Clock:
    """The wall clock of those who have `environ`: right, until it jumps."""

    def __init__(self, path: Path) -> None:
        self.wrong = 0
        self._path = path
        path.write_bytes(bytes(8))
        preload = {"LD_PRELOAD": str(clock_library()), "CHAOS_CLOCK": str(path)}
        self.environ = preload if clock_library() else {}

    def jump(self, seconds: float) -> None:
        """Move it by so many seconds, at once. Raises OSError if it can't be moved."""
        if not self.environ:
            raise OSError("no C compiler for clock.c")
        self.wrong += round(seconds)
        with self._path.open("r+b") as file:
            file.write(struct.pack("l", self.wrong))


class Process:
    """A crawl from its start on; `options` are those of `subprocess.Popen`."""

    def __init__(
        self, words: Sequence[str], folder: Path, *, environ: dict[str, str], **options: Any
    ) -> None:
        self.clock = Clock(folder / "clock")
        self.stopped = 0.0
        self._token = f"{TOKEN}={os.getpid()}-{folder.parent.name}-{folder.name}"
        name, _, value = self._token.partition("=")
        own = {"PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1", name: value}
        own |= self.clock.environ | environ
        self.popen = subprocess.Popen(
            [sys.executable, "-c", SCRAPY, *words],
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            **options,
        )

    @property
    def is_over(self) -> bool:
        """Whether the process is gone."""
        return self.popen.poll() is not None

    def signal(self, number: int) -> None:
        """Send a signal, if there is anybody to send it to."""
        with suppress(ProcessLookupError):
            self.popen.send_signal(number)

    def stop(self, seconds: float) -> None:
        """Stop the process for a while."""
        self.signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.signal(signal.SIGCONT)
        self.stopped = max(self.stopped, seconds)

    def abort(self) -> None:
        """End a process that hangs; it says on stderr where."""
        self.signal(signal.SIGABRT)
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(5)
        self.signal(signal.SIGKILL)

    def readers(self) -> list[int]:
        """Return the processes that it has started, and those of them that outlive it."""
        found = []
        for name in os.listdir("/proc"):  # noqa: PTH208 - processes come and go
            with suppress(OSError):
                if name.isdigit() and int(name) not in (os.getpid(), self.popen.pid):
                    with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                        if self._token.encode() + b"\0" in file.read():
                            found.append(int(name))
        return found

    def signal_readers(self, number: int) -> None:
        """Send a signal to them."""
        for pid in self.readers():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def leftovers(self) -> list[int]:
        """Return the processes that outlive the crawl, and end them."""
        self.signal_readers(signal.SIGCONT)  # what is stopped can't even end
        deadline = time.monotonic() + 10
        while (found := self.readers()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.signal_readers(signal.SIGKILL)
        return found

    def close(self) -> None:
        """End the process, if it runs, and all that it has started."""
        if not self.is_over:
            self.signal(signal.SIGKILL)
            self.popen.wait()
        self.signal_readers(signal.SIGKILL)
