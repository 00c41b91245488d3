"""The file under a SQLite store: made, recognised, never harmed.

Only SQLite opens the file. On POSIX, a process that closes any descriptor of a file gives up all
`fcntl` locks that it holds on it, SQLite's too: another process then believes that nobody uses the
database, and removes its write-ahead log (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING

from filelock import Timeout

from simhash_gate.common.files import open_database, private_folder, private_lock
from simhash_gate.stores.base import StoreError, StoreMissing, StoreUnavailable
from simhash_gate.stores.values import as_text

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION_ID = 0x53484754  # "SHGT"
VERSION = 6
"""Of the tables in `schema.sql`."""

_PASSING = {errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
_ELSEWHERE = "name another file, or move this one away to start afresh"


def connect(path: Path, timeout: float, *, create: bool) -> sqlite3.Connection:
    """Open the database at `path`, made if there is none; waits up to `timeout` s for its locks.

    Raises StoreError if it can't be opened, is no such database, or is of a newer version, or if
    there is none and none is to be made; nothing is changed then.
    """
    try:
        if not _exists(path):
            if not create:
                what = "an empty file" if path.exists() else "there is no such file"
                raise StoreMissing(f"SQLite store {path}: {what}")
            private_folder(path.parent)
            _make(path, timeout)
        _require_writable(path)
        return _open(path, timeout)
    except (OSError, sqlite3.Error) as error:
        raise failure(path, error) from error


def failure(path: Path, error: Exception) -> StoreError:
    """Say in one line what went wrong with the database, and what to do."""
    kind = StoreUnavailable if _may_pass(error) else StoreError
    if "locked" in str(error):
        advice = "another process holds it for too long"
    elif isinstance(error, (sqlite3.OperationalError, OSError)):
        advice = "see that the file can be written and its disk has room"
    else:
        advice = f"the file may be damaged: {_ELSEWHERE}"
    what = getattr(error, "strerror", None) or error
    return kind(f"SQLite store {path}: {what}; {advice}")


def _may_pass(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno in _PASSING
    # SQLITE_BUSY, _FULL, _IOERR, _CANTOPEN: before Python 3.11 the text alone tells them apart.
    passing = ("locked", "is full", "disk I/O error", "unable to open")
    return isinstance(error, sqlite3.OperationalError) and any(
        text in str(error) for text in passing
    )


def _exists(path: Path) -> bool:
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def _make(path: Path, timeout: float) -> None:
    """Make the database aside and move it into place whole: no one ever sees half of it."""
    aside = path.with_name(f"{path.name}-new")
    lock = path.with_name(f"{path.name}-new.lock")
    try:
        with private_lock(lock, timeout=timeout):
            if not _exists(path):
                for leftover in ("", "-journal", "-wal", "-shm"):
                    aside.with_name(aside.name + leftover).unlink(missing_ok=True)
                with closing(_open(aside, timeout, new=True)):
                    pass
                aside.replace(path)
            # Only who finds no database takes this lock, so that from here on nobody needs it.
            lock.unlink(missing_ok=True)
    except Timeout as error:
        raise StoreUnavailable(
            f"SQLite store {path}: another process has been making it for {timeout:g} s; "
            f"if there is none, remove {lock}"
        ) from error


def _require_writable(path: Path) -> None:
    """Raise OSError where SQLite would only say that it can't open the file, or that later."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _recognise(db: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError unless the database is ours; nothing is written to it before."""
    try:
        (application,) = db.execute("PRAGMA application_id").fetchone()
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        raise StoreError(
            f"SQLite store {path}: this is no SQLite database; {_ELSEWHERE}"
        ) from error
    if application != APPLICATION_ID:
        raise StoreError(f"SQLite store {path}: this database is another program's; name another")


def _open(path: Path, timeout: float, *, new: bool = False) -> sqlite3.Connection:
    db = open_database(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        db.text_factory = as_text
        if not new:
            _recognise(db, path)
        # Of a new database: a commit writes whole pages, smaller ones sooner.
        db.execute("PRAGMA page_size = 2048")
        # Before anything is written: a damaged file stays as it is, for who can mend it.
        (health,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if health != "ok":
            raise sqlite3.DatabaseError(" ".join(health.split()))
        if new:
            _make_tables(db)
        _require_tables(db, path)
        # One writer, many readers; after a power cut the last commits may be missing, no more.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        # Of records that come up again, 100,000 or so without sketches; in KiB.
        db.execute("PRAGMA cache_size = -32000")
        # What is forgotten is overwritten: most builds of SQLite leave it in the file.
        db.execute("PRAGMA secure_delete = ON")
        # Each checkpoint waits for the disk: fewer of them, for a log of 20 MB at most.
        db.execute("PRAGMA wal_autocheckpoint = 10000")
    except BaseException:
        db.close()
        raise
    return db


def _make_tables(db: sqlite3.Connection) -> None:
    script = files(__package__).joinpath("schema.sql").read_text("utf-8")
    marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
    db.executescript(f"BEGIN; {marks} {script} COMMIT;")


def _require_tables(db: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError if the database has another version, sqlite3.Error if tables are missing."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        raise StoreError(
            f"SQLite store {path}: its schema has version {version}, this simhash-gate knows "
            f"{VERSION}; update simhash-gate, or name another file"
        )
    db.execute("SELECT 1 FROM run, scope, record LIMIT 0")
