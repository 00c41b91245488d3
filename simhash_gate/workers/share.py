"""How many page-reading processes a crawl starts, where other crawls of this machine read too.

Each process that reads pages holds the lock of a file, in a folder that its user has for that. The
operating system lets go of a lock when its process ends, however it ends. Who starts counts the
locks that are held, and takes its part of the cores. Where that fails, it takes what it would take
alone.
"""

from __future__ import annotations

import os
import stat
import sys
import uuid
from functools import cache
from math import ceil
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from filelock import Timeout

from simhash_gate.common.files import private_folder, private_lock

if TYPE_CHECKING:
    from filelock import FileLock

_TURN = 2.0  # seconds: those who begin at the same time count one after the other
_CGROUPS, _OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")

_held: list[FileLock] = []
"""The lock by which others count this process."""


@cache
def default_workers() -> int:
    """Return how many page-reading processes run unless a setting says otherwise."""
    others, available = _others(), cores()
    return max(1, available // (others + 1)) if others else max(2, available - 1)


def join() -> None:
    """Let crawls that begin later count this process, until it ends."""
    if not _held and (folder := _folder()):
        try:
            with private_lock(folder / "turn.lock").acquire(timeout=_TURN):
                lock = private_lock(folder / f"reader-{uuid.uuid4().hex}.lock", thread_local=False)
                lock.acquire(blocking=False)
                _held.append(lock)
        except (OSError, Timeout, NotImplementedError):  # a file system without locks
            return


def cores(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> int:
    """Return how many processor cores this process may use: all, or those that it is left with."""
    if sys.platform == "linux":
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    return min(available, _quota(cgroups, own) or available)


def _quota(cgroups: Path, own: Path) -> int | None:
    """Return how many cores' time a container or service has (cgroups v2); None for no limit."""
    try:
        place = own.read_text("utf-8").partition("0::")[2].split("\n")[0].strip("/")
        allowed, period = (cgroups / place / "cpu.max").read_text("utf-8").split()
        return max(1, ceil(int(allowed) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _others() -> int:
    """Return how many other processes of this user read pages now."""
    folder = _folder()
    if folder is None:
        return 0
    own = {lock.lock_file for lock in _held}
    try:
        with private_lock(folder / "turn.lock").acquire(timeout=_TURN):
            files = [path for path in folder.glob("reader-*.lock") if str(path) not in own]
            return sum(map(_is_held, files))
    except (OSError, Timeout, NotImplementedError):
        return 0


def _is_held(path: Path) -> bool:
    """Tell whether a process holds a lock; the file of one that has ended is removed."""
    try:
        with private_lock(path).acquire(blocking=False):
            path.unlink(missing_ok=True)
            return False
    except Timeout:
        return True


def _folder() -> Path | None:
    """Return the folder of the locks, made if there is none; None if it is not this user's own."""
    folder = Path(gettempdir(), f"simhash_gate-{os.getuid()}")
    try:
        private_folder(folder)
        found = folder.lstat()
    except OSError:
        return None
    others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not others_write
    return folder if own else None
