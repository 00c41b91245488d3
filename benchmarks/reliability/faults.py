"""What befalls a round from outside: kills, stops, stores that are slow or away, onlookers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from benchmarks.reliability.crawls import Running
    from benchmarks.reliability.stores import Memory

ENDS = ("kill", "term", "twice")
LOOKS = ("info", "list", "pairs")
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

    `kill`, `term` (a clean close), `twice` (Ctrl-C, and again), `stop` for `seconds`; of the store:
    `slow`, `cut`, `hang`, `lock` for `seconds`; `info`, `list` and `pairs` are commands that look
    into it.
    """

    kind: str
    crawl: str
    answers: int
    delay: float
    seconds: float = 0.0


def random_faults(rng: Random, store: str, crawls: list[str], pages: int) -> list[Fault]:
    """Return what befalls these crawls, of a site with so many pages."""

    def at(kind: str, crawl: str, seconds: float = 0.0) -> Fault:
        # Some beyond the last answer: when all is fetched, and the crawl is about to close.
        return Fault(kind, crawl, rng.randint(1, round(1.1 * pages)), rng.random() / 2, seconds)

    faults = []
    for crawl in crawls:
        if rng.random() < 0.55:
            faults.append(at(rng.choices(ENDS, [5, 3, 1])[0], crawl))
        if rng.random() < 0.2:
            faults.append(at("stop", crawl, rng.uniform(0.2, 2)))
    ways = {"sqlite": ["lock"], "redis": ["slow", "cut", "hang"]}
    ways["postgresql"] = ways["redis"]
    if store in ways and rng.random() < 0.3:
        way = rng.choice(ways[store])
        seconds = rng.uniform(0.5, 7) if way == "lock" else rng.uniform(0.2, 3)
        faults.append(at(way, rng.choice(crawls), seconds))
    if store != "memory" and rng.random() < 0.5:
        faults += [at(rng.choice(LOOKS), rng.choice(crawls)) for _ in range(rng.randint(1, 3))]
    return faults


class Faults:
    """Lets the faults of a round happen when their time has come."""

    def __init__(self, faults: list[Fault], memory: Memory, folder: Path) -> None:
        self.waiting = list(faults)
        self.happened: list[Fault] = []
        self.complaints: list[str] = []
        self._due: dict[int, float] = {}
        self._memory = memory
        self._folder = folder
        self._threads: list[threading.Thread] = []

    def look(self, crawls: dict[str, Running], answered: dict[str, int]) -> None:
        """Let happen what is due."""
        for fault in list(self.waiting):
            crawl = crawls.get(fault.crawl)
            if crawl is None:
                continue
            if crawl.ended:
                self.waiting.remove(fault)
            elif answered[fault.crawl] >= fault.answers or crawl.closing:
                due = self._due.setdefault(id(fault), time.monotonic() + fault.delay)
                if time.monotonic() >= due:
                    self.waiting.remove(fault)
                    self.happened.append(fault)
                    thread = threading.Thread(target=self._happen, args=(fault, crawl), daemon=True)
                    thread.start()
                    self._threads.append(thread)

    def join(self) -> None:
        """Wait until everything is as before."""
        for thread in self._threads:
            thread.join()

    def _happen(self, fault: Fault, crawl: Running) -> None:
        try:
            if fault.kind == "stop":
                crawl.stop(fault.seconds)
            elif fault.kind in LOOKS:
                self._look_into(fault.kind)
            elif fault.kind == "lock":
                self._lock(fault.seconds)
            elif fault.kind in ("slow", "cut", "hang"):
                self._memory.disturb(fault.kind, fault.seconds)
            else:
                _end(fault.kind, crawl)
        except Exception as error:  # a fault that can't happen must not pass for one that did
            self.complaints.append(f"{fault}: {type(error).__name__}: {error}")

    def _look_into(self, kind: str) -> None:
        words = ["pairs"] if kind == "pairs" else ["store", kind]
        code = "from simhash_gate.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words, self._memory.direct_url],
            capture_output=True, text=True, timeout=120, check=False, cwd=self._folder,
        )  # fmt: skip
        if "Traceback" in done.stderr or done.returncode not in (0, 1):
            self.complaints.append(f"simhash-gate {' '.join(words)}: {done.stderr[-2000:]}")

    def _lock(self, seconds: float) -> None:
        path = self._memory.path
        if path is not None and path.exists():
            command = [sys.executable, "-S", "-c", LOCKER, str(path), str(seconds)]
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False, timeout=120)


def _end(kind: str, crawl: Running) -> None:
    crawl.ended_by = kind
    if kind == "kill":
        crawl.signal(signal.SIGKILL)
    elif kind == "term":
        crawl.signal(signal.SIGTERM)
    else:
        crawl.signal(signal.SIGINT)
        time.sleep(0.3)
        crawl.signal(signal.SIGINT)


def workers_of(token: str) -> list[int]:
    """Return the processes with this word in their environment."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - processes come and go
        with suppress(OSError):
            if name.isdigit() and int(name) != os.getpid():
                with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                    if token.encode() in file.read():
                        found.append(int(name))
    return found
