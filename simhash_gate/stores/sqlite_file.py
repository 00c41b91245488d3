"""The file of a SQLite store: opened or made, recognised, and locked by those who use it.

Only SQLite opens the file. On POSIX, a process that closes any descriptor of a file gives up all
`fcntl` locks that it holds on it, SQLite's too: another process then believes that nobody uses the
database, and removes its write-ahead log (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
from glob import escape
from importlib.resources import files
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from simhash_gate.common.files import is_locked, open_database, private_folder, private_lock
from simhash_gate.stores.base import StoreError, StoreMissing, StoreUnavailable

if TYPE_CHECKING:
    from filelock import FileLock

APPLICATION_ID = 0x53484754  # "SHGT"
VERSION = 14
"""Of the tables in `sqlite.sql`."""

_PASSING = {errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
# SQLITE_BUSY, _FULL, _IOERR, _CANTOPEN: before Python 3.11 the text alone tells them apart.
_PASSING_TEXTS = ("locked", "is full", "disk I/O error", "unable to open")
_ELSEWHERE = "name another file, or move this one away to start afresh"

_SESSION = """
PRAGMA synchronous = NORMAL;
-- Of records that come up again, 100,000 or so without sketches; in KiB.
PRAGMA cache_size = -32000;
-- What is forgotten is overwritten: most builds of SQLite leave it in the file.
PRAGMA secure_delete = ON;
-- Each checkpoint waits for the disk: fewer of them, for a log of 40 MB at most.
PRAGMA wal_autocheckpoint = 10000;
"""

# The locks that this process holds, by path; each is changed while its database is locked.
_held: dict[Path, FileLock] = {}


class StoreLock:
    """A lock file of a store beside a database: the lock dies with the process.

    The operating system lets go of a lock when its process ends, however it ends; child processes
    don't inherit it. Where a file system has `fcntl` locks only, a process that closes any
    descriptor of a file lets go of its lock on it: so a process never opens the file of a lock that
    it holds, whichever of its stores took it. Take, ask and sweep only while the database is locked
    for writing: so the store of a run that lives has taken its lock, or is gone.
    """

    def __init__(self, database: Path) -> None:
        self._database = database.resolve()
        self._own = 0

    def take(self) -> int:
        """Hold the lock of this store until it is let go; returns its number."""
        if not self._own:
            for path in self._database.parent.glob(f"{escape(self._database.name)}-store-*.lock"):
                self.is_held(int(path.stem.rpartition("-")[2], 16))
            number = secrets.randbits(63)
            path = self._path(number)
            lock = private_lock(path, mode_of=self._database, thread_local=False)  # for any thread
            lock.acquire(blocking=False)  # there may be no room for its file
            _held[path] = lock
            self._own = number
        return self._own

    def is_held(self, number: int) -> bool:
        """Tell whether somebody holds the lock of a store; if not, its file is removed."""
        path = self._path(number)
        if path in _held or is_locked(path):
            return True
        path.unlink(missing_ok=True)
        return False

    def let_go(self) -> None:
        """Let go of the lock, and remove its file."""
        if self._own:
            path = self._path(self._own)
            path.unlink(missing_ok=True)
            _held.pop(path).release()
            self._own = 0

    def _path(self, number: int) -> Path:
        return self._database.with_name(f"{self._database.name}-store-{number:016x}.lock")


def connect(path: Path, timeout: float, *, create: bool) -> sqlite3.Connection:
    """Open the database at `path`, made if there is none; waits up to `timeout` s for its locks.

    Raises StoreError if it can't be opened, is no such database, or is of another version, or if
    there is none and none is to be made; nothing is changed then.
    """
    try:
        if not create and not (path.exists() and path.stat().st_size):
            what = "an empty file" if path.exists() else "there is no such file"
            raise StoreMissing(f"{name_of(path)}: {what}")
        private_folder(path.parent)
        # SQLite would only say that it can't open the file, or that later.
        place = path if path.exists() else path.parent
        if path.is_dir() or not os.access(place, os.R_OK | os.W_OK):
            problem = errno.EISDIR if path.is_dir() else errno.EACCES
            raise OSError(problem, os.strerror(problem))
        db = open_database(path, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db, path, timeout)
        except BaseException:
            db.close()
            raise
        return db
    except (OSError, sqlite3.Error) as error:
        raise failure(name_of(path), error) from error


def failure(name: str, error: Exception) -> StoreError:
    """Say in one line what went wrong with the database, and what to do."""
    what = str(getattr(error, "strerror", None) or error)
    passing = any(text in what for text in _PASSING_TEXTS)
    if isinstance(error, OSError):
        passing = error.errno in _PASSING
    if "locked" in what:
        advice = "another process holds it for too long"
    elif isinstance(error, sqlite3.OperationalError | OSError):
        advice = "see that the file can be written and its disk has room"
    else:
        advice, passing = f"the file may be damaged: {_ELSEWHERE}", False
    return (StoreUnavailable if passing else StoreError)(f"{name}: {what}; {advice}")


def name_of(path: Path) -> str:
    """Return what messages call the store in a file."""
    return f"SQLite store {path}"


def tables() -> str:
    """Return the statements that make the tables."""
    return files(__package__).joinpath("sqlite.sql").read_text("utf-8")


def _prepare(db: sqlite3.Connection, path: Path, timeout: float) -> None:
    """Recognise a database of ours, or make it of an empty file, all of it or nothing."""
    if not _is_ours(db, path):
        marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
        _write_ahead(db, timeout)
        db.executescript(f"BEGIN IMMEDIATE; {tables()} {marks} COMMIT;")
    # Before anything is written: a damaged file stays as it is, for who can mend it.
    (health,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if health != "ok":
        raise sqlite3.DatabaseError(" ".join(health.split()))
    db.execute("SELECT 1 FROM scope, page, blob LIMIT 0")
    db.executescript(_SESSION)


def _write_ahead(db: sqlite3.Connection, timeout: float) -> None:
    """Have one writer and many readers: after a power cut the last commits may be missing, no more.

    SQLite itself does not wait here until other connections are done.
    """
    end = monotonic() + timeout
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() > end:
                raise
        sleep(0.01)


def _is_ours(db: sqlite3.Connection, path: Path) -> bool:
    """Tell whether the database is ours; one that has nothing is not yet. Else raise StoreError."""
    try:
        is_empty = not db.execute("SELECT 1 FROM sqlite_master").fetchone()
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        raise StoreError(f"{name_of(path)}: this is no SQLite database; {_ELSEWHERE}") from error
    if is_empty and not application:
        return False
    if application != APPLICATION_ID:
        raise StoreError(f"{name_of(path)}: this database is another program's; name another")
    if version != VERSION:
        what = f"its schema has version {version}, this simhash-gate knows {VERSION}"
        raise StoreError(f"{name_of(path)}: {what}; update simhash-gate, or name another file")
    return True
