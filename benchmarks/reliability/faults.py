"""What befalls a round: kills, stops, wrong clocks, full disks, stores that are slow or away."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.reliability.stores import LEASE

if TYPE_CHECKING:
    from random import Random

    from benchmarks.reliability.process import Process
    from benchmarks.reliability.stores import Memory

ENDS = ("kill", "term", "twice")
LOOKS = ("info", "list", "pairs")
NETWORK, SERVER = ("slow", "cut", "hang"), ("down", "crash")
JUMPS = (60, 3600, 7 * 3600, 86400, 40 * 86400)
"""Seconds by which clocks go wrong, forward or back."""
LOCKER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
time.sleep(float(sys.argv[2]))
db.execute("ROLLBACK")
"""


@dataclass
class Fault:
    """Something that happens `delay` seconds after a crawl has had so many answers.

    Of a crawl: `kill`, `term` (a clean close), `twice` (Ctrl-C, and again), `stop` for `seconds`;
    `stop readers`, `kill readers`: those that read pages for it; `clock`: it jumps by `seconds`;
    `full`: its disk, for `seconds`. Of the store: `slow`, `cut`, `hang`, `lock` for `seconds`;
    `down` and `crash`: the server is stopped or killed, and comes back after `seconds`; `server
    clock`. `info`, `list` and `pairs` are commands that look into it.
    """

    kind: str
    crawl: str
    answers: int
    delay: float
    seconds: float = 0.0


def jump(rng: Random) -> float:
    """Return by how much a clock jumps."""
    return rng.choice([-1, 1]) * rng.choice(JUMPS)


def pause(rng: Random, store: str) -> float:
    """Return how long a crawl is stopped: at times until a server takes it for dead."""
    is_long = store in ("redis", "postgresql") and rng.random() < 0.25
    return rng.uniform(LEASE + 0.5, LEASE + 3) if is_long else rng.uniform(0.2, 2)


def of_store(rng: Random, store: str) -> tuple[str, float]:
    """Return what befalls a store, and for how long."""
    if store == "sqlite":
        return "lock", rng.choice([1, 1, 7]) * rng.uniform(0.3, 1)
    kind = rng.choice([*NETWORK, *SERVER, "server clock"])
    return kind, jump(rng) if kind == "server clock" else rng.uniform(0.2, 3)


def random_faults(rng: Random, store: str, crawls: list[str], pages: int) -> list[Fault]:
    """Return what befalls these crawls, of a site with so many pages."""

    def at(kind: str, crawl: str, seconds: float = 0.0) -> Fault:
        # Some beyond the last answer: when all is fetched, and the crawl is about to close.
        return Fault(kind, crawl, rng.randint(1, round(1.1 * pages)), rng.random() / 2, seconds)

    faults = []
    for crawl in crawls:
        if rng.random() < 0.55:
            faults.append(at(rng.choices(ENDS, [5, 3, 1])[0], crawl))
        if rng.random() < 0.25:
            faults.append(at("stop", crawl, pause(rng, store)))
        if rng.random() < 0.25:
            faults.append(at("clock", crawl, jump(rng)))
        if rng.random() < 0.1:
            faults.append(at(rng.choice(["stop readers", "kill readers"]), crawl))
    if store != "memory" and rng.random() < 0.4:
        kind, seconds = of_store(rng, store)
        faults.append(at(kind, rng.choice(crawls), seconds))
    if store != "memory" and rng.random() < 0.5:
        faults += [at(rng.choice(LOOKS), rng.choice(crawls)) for _ in range(rng.randint(1, 3))]
    return faults


def befall(fault: Fault, crawl: Process, memory: Memory) -> None:
    """Let it happen to a crawl or its store; return when all is as before, but for clocks."""
    kind, seconds = fault.kind, fault.seconds
    happens: dict[str, Callable[[], object]] = {
        "kill": lambda: crawl.signal(signal.SIGKILL),
        "term": lambda: crawl.signal(signal.SIGTERM),
        "pause": lambda: crawl.signal(signal.SIGINT),
        "twice": lambda: _twice(crawl),
        "stop": lambda: crawl.stop(seconds),
        "stop readers": lambda: crawl.signal_readers(signal.SIGSTOP),
        "kill readers": lambda: crawl.signal_readers(signal.SIGKILL),
        "clock": lambda: crawl.clock.jump(seconds),
        "full": lambda: _fill(memory.place, seconds),
        "lock": lambda: _lock(memory.path, seconds),
        "server clock": lambda: memory.jump(seconds),
        **dict.fromkeys(NETWORK, lambda: memory.disturb(kind, seconds)),
        **dict.fromkeys(SERVER, lambda: memory.restart(kind, seconds)),
    }
    happens[kind]()


def _twice(crawl: Process) -> None:
    crawl.signal(signal.SIGINT)
    time.sleep(0.3)
    crawl.signal(signal.SIGINT)


def _lock(path: Path | None, seconds: float) -> None:
    if path is not None and path.exists():
        command = [sys.executable, "-S", "-c", LOCKER, str(path), str(seconds)]
        subprocess.run(command, stderr=subprocess.DEVNULL, check=False, timeout=120)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[bool]:
    """Make a disk of so many bytes at a folder, while the block runs; yield whether it is there."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            # Lazily: a process that was killed may not be gone yet.
            subprocess.run(["umount", "-l", str(folder)], check=False)


def _fill(folder: Path, seconds: float) -> None:
    """Leave no room on the disk of a folder for a while."""
    ballast = folder / "ballast"
    until = time.monotonic() + seconds
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while file.write(bytes(1 << 20)):
            pass
    time.sleep(max(0.0, until - time.monotonic()))
    ballast.unlink()
