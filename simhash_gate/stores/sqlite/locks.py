"""Locks that die with their process: how crawlers on one machine see that another one died.

Where a file system has `fcntl` locks only, a process that closes any descriptor of a file lets go
of its lock on it. So a process never opens the file of a lock that it holds, whichever of its
stores took it.
"""

from __future__ import annotations

from glob import escape
from hashlib import sha256
from typing import TYPE_CHECKING

from filelock import Timeout

from simhash_gate.common.files import private_lock
from simhash_gate.stores.values import as_bytes

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from filelock import FileLock


# All that this process holds, by real path; each is changed while its database is locked.
_held: dict[Path, FileLock] = {}


class RunLocks:
    """A lock file for each live run, beside a database.

    The operating system lets go of a lock when its process ends, however it ends; child processes
    don't inherit it. Take, ask and sweep only while the database is locked for writing: so a run
    that it calls live has taken its lock, or is dead.
    """

    def __init__(self, database: Path) -> None:
        self._database = database.resolve()
        self._own: set[Path] = set()

    def take(self, run: str) -> bool:
        """Hold the lock of a run until it is released; False if someone else holds it."""
        path = self._path(run)
        if path in _held:
            return path in self._own
        # Runs may begin and end in different threads.
        lock = private_lock(path, beside=self._database, thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return False
        _held[path] = lock
        self._own.add(path)
        return True

    def is_dead(self, run: str) -> bool:
        """Tell whether nobody holds the lock of a run; its file is removed then."""
        path = self._path(run)
        if path in _held:
            return False
        try:
            with private_lock(path, beside=self._database).acquire(blocking=False):
                path.unlink(missing_ok=True)
                return True
        except Timeout:
            return False

    def release(self, run: str) -> None:
        """Let go of the lock of a run that ended, and remove its file."""
        path = self._path(run)
        if path in self._own:
            path.unlink(missing_ok=True)
            self._let_go(path)

    def drop(self) -> None:
        """Let go of all locks; their runs are dead from here on."""
        while self._own:
            self._let_go(next(iter(self._own)))

    def sweep(self, live: Collection[str]) -> None:
        """Remove what processes that were killed left behind."""
        keep = {self._path(run) for run in live}
        for path in self._database.parent.glob(f"{escape(self._database.name)}-run-*.lock"):
            if path not in keep and path not in _held:
                path.unlink(missing_ok=True)

    def _let_go(self, path: Path) -> None:
        self._own.discard(path)
        _held.pop(path).release()

    def _path(self, run: str) -> Path:
        # Run names are any strings: a digest fits a file name.
        digest = sha256(as_bytes(run)).hexdigest()[:16]
        return self._database.with_name(f"{self._database.name}-run-{digest}.lock")
