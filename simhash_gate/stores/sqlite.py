"""A SQLite file: each call is one transaction, among the threads and processes of a machine.

Only SQLite opens the file. On POSIX, a process that closes any descriptor of a file gives up all
`fcntl` locks that it holds on it, SQLite's too: another process then believes that nobody uses the
database, and removes its write-ahead log (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing, contextmanager
from glob import escape
from importlib.resources import files
from os.path import samestat
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import Timeout

from simhash_gate.common.encoded import as_bytes, as_text, signed
from simhash_gate.common.files import open_database, private_folder, private_lock
from simhash_gate.stores.base import (
    Blob,
    Record,
    StoreError,
    StoreMissing,
    StoreUnavailable,
    address_of,
    hash64,
    head_of,
    pack,
    unpack,
)
from simhash_gate.stores.driver import (
    DEAD,
    DURABLE,
    SETTLED,
    Driver,
    News,
    Row,
    Run,
    State,
    new_epoch,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from filelock import FileLock

    from simhash_gate.stores.driver import Mark

APPLICATION_ID = 0x53484754  # "SHGT"
VERSION = 7
"""Of the tables in `sqlite.sql`."""

_PASSING = {errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
_ELSEWHERE = "name another file, or move this one away to start afresh"
_AT_ONCE = 1_000  # rows

_STATE = """
SELECT id, epoch, coalesce((SELECT max(id) FROM page WHERE scope = scope.id), 0)
FROM scope WHERE name = ?
"""
_HEADS = "SELECT id, head FROM page WHERE scope = ? AND id > ? ORDER BY id"
_FIRST = "SELECT coalesce(min(id), 0) FROM page WHERE scope = ?"
_INSERT = """
INSERT INTO page (id, scope, run, mark, last_seen, head, body)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM page), ?, ?, ?, ?, ?, ?)
"""
_LOAD = "SELECT mark, last_seen, body FROM page WHERE id = ?"
_CHANGE = "UPDATE page SET mark = max(mark, ?), last_seen = max(last_seen, ?) WHERE id = ?"
_ROWS = """
SELECT page.id, name, mark, last_seen, body FROM page JOIN scope ON scope.id = scope
WHERE page.id > ?1 AND (?2 IS NULL OR name = ?2) ORDER BY page.id LIMIT ?3
"""
_ROWS_OF_SCOPE = """
SELECT page.id, ?2, mark, last_seen, body FROM page
WHERE scope = (SELECT id FROM scope WHERE name = ?2) AND id > ?1 ORDER BY id LIMIT ?3
"""
_TOUCH_SCOPES = """
UPDATE scope SET epoch = ?2 WHERE id IN (SELECT scope FROM page WHERE run = ?1 AND mark < ?3)
"""
_EMPTY_SCOPES = "DELETE FROM scope WHERE NOT EXISTS (SELECT 1 FROM page WHERE scope = scope.id)"
_PUT = "INSERT OR REPLACE INTO blob VALUES (?, ?, ?, ?, ?, ?, ?)"
_BLOBS = """
SELECT address, scope, key, at, size, iif(?4, data, x'') FROM blob
WHERE kind = ?1 AND address > ?2 AND (?3 IS NULL OR scope = ?3) ORDER BY address LIMIT ?5
"""


class SQLiteDriver(Driver):
    """Keeps pages in the SQLite file at `path`, made with its folders if there is none.

    Crawlers on one machine share it: one at a time writes, and waits up to `timeout` seconds for
    the others. A live run holds a lock file beside the database; a run whose lock is free without
    its having ended is dead. A file that was removed or replaced is left: what is written there,
    nobody ever reads.
    """

    def __init__(self, path: str | Path, *, timeout: float = 10.0, create: bool = True) -> None:
        self.path = Path(path).absolute()
        self.name = f"SQLite store {self.path}"
        self._timeout = timeout
        self._connect(create=create)
        self._locks = RunLocks(self.path)
        self._depth = 0
        self._over: list[str] = []  # runs whose locks are let go with the commit

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        """Have the database alone for a block, which is done completely or not at all.

        Blocks inside another one are parts of it: if one fails, all is taken back.
        """
        if self._depth == 0:
            self._begin_transaction(write=write)
        elif not self._db.in_transaction:
            raise StoreError(f"{self.name}: a call of this batch failed, and all were taken back")
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self._commit()
        except BaseException as error:
            # SQLite itself may have rolled back already, as it does when the disk is full.
            if self._db.in_transaction:
                self._cursor.execute("ROLLBACK")
            # A damaged file can hold text that is none.
            if isinstance(error, (sqlite3.Error, ValueError, OSError)):
                raise failure(self.path, error) from error
            raise
        finally:
            self._depth -= 1

    def append(
        self, scope: str, state: State, record: Record, through: int, seconds: float | None
    ) -> State | News:
        """Add a page."""
        number, here = self._state(scope)
        if here != state:
            return self._news(number, state, here)
        if number is None:
            here = State(0, new_epoch())
            make = "INSERT INTO scope (name, epoch) VALUES (?, ?)"
            number = self._cursor.execute(make, (as_bytes(scope), here.epoch)).lastrowid
        mark = SETTLED if record.settled else 0
        run = signed(hash64(record.run))
        values = (number, run, mark, record.last_seen, head_of(record), pack(record))
        last = self._cursor.execute(_INSERT, values).lastrowid
        if through:
            self._cursor.execute("DELETE FROM page WHERE scope = ? AND id <= ?", (number, through))
        return State(last or 0, here.epoch)

    def load(self, scope: str, state: State, numbers: Sequence[int]) -> list[Row | None] | News:
        """Return pages."""
        number, here = self._state(scope)
        if here != state:
            return self._news(number, state, here)
        rows = (self._cursor.execute(_LOAD, (wanted,)).fetchone() for wanted in numbers)
        return [row and _row(scope, *row) for row in rows]

    def change(
        self, scope: str, state: State, numbers: Sequence[int], mark: Mark, seen: float
    ) -> News | None:
        """Mark pages."""
        number, here = self._state(scope)
        if here != state:
            return self._news(number, state, here)
        self._cursor.executemany(_CHANGE, [(mark, seen, changed) for changed in numbers])
        return None

    def remove(self, scope: str, state: State, numbers: Sequence[int]) -> State | News:
        """Remove pages."""
        number, here = self._state(scope)
        if here != state:
            return self._news(number, state, here)
        self._cursor.executemany("DELETE FROM page WHERE id = ?", [(gone,) for gone in numbers])
        change = "UPDATE scope SET epoch = ? WHERE id = ?"
        self._cursor.execute(change, (new_epoch(), number))
        _, here = self._state(scope)
        if not here.last:
            self._cursor.execute("DELETE FROM scope WHERE id = ?", (number,))
            return State()
        return here

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield pages."""
        after, name = 0, None if scope is None else as_bytes(scope)
        ask = _ROWS if scope is None else _ROWS_OF_SCOPE
        while True:
            some = self._cursor.execute(ask, (after, name, _AT_ONCE)).fetchall()
            for _, its, *row in some:
                yield _row(as_text(its), *row)
            if len(some) < _AT_ONCE:
                return
            after = some[-1][0]

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        """Take the lock of a run."""
        number = signed(hash64(run))
        if anew:
            self._locks.release(number)  # its file may be gone, too
        elif self.run(run).state == "ended":
            return False
        if not self._locks.take(number):
            return False
        self._cursor.execute("INSERT OR REPLACE INTO run VALUES (?, 0, ?)", (number, at))
        return True

    def renew(self, run: str) -> bool:
        """Write, to see that it can be done; the lock speaks for the run."""
        ask = "UPDATE run SET ended = 0 WHERE id = ?"
        return self._cursor.execute(ask, (signed(hash64(run)),)).rowcount > 0

    def end(self, run: str) -> bool:
        """Let the pages of a run count, and then go of its lock."""
        self._over.append(run)
        ask = "UPDATE run SET ended = 1 WHERE id = ?"
        return self._cursor.execute(ask, (signed(hash64(run)),)).rowcount > 0

    def release(self, run: str) -> None:
        """Let go of the lock of a run; its file stays until someone sees that it died."""
        self._locks.let_go(signed(hash64(run)))

    def run(self, run: str) -> Run:
        """Return what is known of a run."""
        number = signed(hash64(run))
        row = self._cursor.execute(
            "SELECT ended, begun FROM run WHERE id = ?", (number,)
        ).fetchone()
        if row is None or not (row[0] or self._locks.is_held(number)):
            return DEAD
        return Run("ended" if row[0] else "live", row[1])

    def bury(self) -> None:
        """Remove the pages of dead runs, and their lock files."""
        live = self._cursor.execute("SELECT id FROM run WHERE NOT ended").fetchall()
        dead = [number for (number,) in live if not self._locks.is_held(number)]
        for number in dead:
            self._cursor.execute(_TOUCH_SCOPES, (number, new_epoch(), DURABLE))
            gone = "DELETE FROM page WHERE run = ? AND mark < ?"
            self._cursor.execute(gone, (number, DURABLE))
            self._cursor.execute("DELETE FROM run WHERE id = ?", (number,))
        if dead:
            self._cursor.execute(_EMPTY_SCOPES)
        self._locks.sweep({number for (number,) in live}.difference(dead))

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what is kept."""
        ask = "SELECT data FROM blob WHERE address = ?"
        row = self._cursor.execute(ask, (address_of(kind, scope, key),)).fetchone()
        return row[0] if row else b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Put data in place of others."""
        if old is not None and (there := self.blob(blob.kind, blob.scope, blob.key)) != old:
            return there
        address = address_of(blob.kind, blob.scope, blob.key)
        if blob.data:
            scope, key = as_bytes(blob.scope), as_bytes(blob.key)
            values = (address, blob.kind, scope, key, blob.at, len(blob.data), blob.data)
            self._cursor.execute(_PUT, values)
        else:
            self._cursor.execute("DELETE FROM blob WHERE address = ?", (address,))
        return None

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield what is kept."""
        after, of_scope = b"", None if scope is None else as_bytes(scope)
        while True:
            asked = (kind, after, of_scope, data, _AT_ONCE)
            some = self._cursor.execute(_BLOBS, asked).fetchall()
            for _, its, key, at, size, read in some:
                yield Blob(kind, as_text(its), as_text(key), read, at, size=size)
            if len(some) < _AT_ONCE:
                return
            after = some[-1][0]

    def close(self) -> None:
        """Let go of the file and of the locks of all runs."""
        self._locks.drop()
        self._db.close()

    def _state(self, scope: str) -> tuple[int | None, State]:
        """Return the number of a scope, None if there is none, and its state."""
        row = self._cursor.execute(_STATE, (as_bytes(scope),)).fetchone()
        return (row[0], State(row[2], row[1])) if row else (None, State())

    def _news(self, number: int | None, known: State, here: State) -> News:
        whole = here.epoch != known.epoch
        asked = (number, 0 if whole else known.last)
        rows = self._cursor.execute(_HEADS, asked).fetchall()
        heads = b"".join(its.to_bytes(8, "big") + head for its, head in rows)
        first = self._cursor.execute(_FIRST, (number,)).fetchone()[0]
        return News(here, first, heads, whole)

    def _begin_transaction(self, *, write: bool) -> None:
        try:
            if write and not self._is_there():
                before = self._db
                self._connect()
                self.connections += 1
                before.close()
            self._cursor.execute("BEGIN IMMEDIATE" if write else "BEGIN DEFERRED")
        except (sqlite3.Error, OSError) as error:
            raise failure(self.path, error) from error

    def _is_there(self) -> bool:
        try:
            return samestat(self._file, os.stat(self.path))  # noqa: PTH116 - half the time
        except FileNotFoundError:
            return False

    def _commit(self) -> None:
        if not self._db.in_transaction:
            raise StoreError(f"{self.name}: a call of this batch failed, and all were taken back")
        self._cursor.execute("COMMIT")
        while self._over:
            self._locks.release(signed(hash64(self._over.pop())))

    def _connect(self, *, create: bool = True) -> None:
        self._db = connect(self.path, self._timeout, create=create)
        self._cursor = self._db.cursor()
        self._file = self.path.stat()


# All locks that this process holds, by real path; each is changed while its database is locked.
_held: dict[Path, FileLock] = {}


class RunLocks:
    """A lock file for each live run, beside a database: it dies with its process.

    The operating system lets go of a lock when its process ends, however it ends; child processes
    don't inherit it. Where a file system has `fcntl` locks only, a process that closes any
    descriptor of a file lets go of its lock on it: so a process never opens the file of a lock that
    it holds, whichever of its stores took it. Take, ask and sweep only while the database is locked
    for writing: so a run that it calls live has taken its lock, or is dead.
    """

    def __init__(self, database: Path) -> None:
        self._database = database.resolve()
        self._own: set[Path] = set()

    def take(self, run: int) -> bool:
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

    def is_held(self, run: int) -> bool:
        """Tell whether somebody holds the lock of a run; if not, its file is removed."""
        path = self._path(run)
        if path in _held:
            return True
        try:
            with private_lock(path, beside=self._database).acquire(blocking=False):
                path.unlink(missing_ok=True)
                return False
        except Timeout:
            return True

    def release(self, run: int) -> None:
        """Let go of the lock of a run that ended, and remove its file."""
        path = self._path(run)
        if path in self._own:
            path.unlink(missing_ok=True)
            self.let_go(run)

    def let_go(self, run: int) -> None:
        """Let go of the lock of a run, which is dead from here on."""
        path = self._path(run)
        if path in self._own:
            self._own.remove(path)
            _held.pop(path).release()

    def drop(self) -> None:
        """Let go of all locks."""
        while self._own:
            _held.pop(self._own.pop()).release()

    def sweep(self, live: Collection[int]) -> None:
        """Remove what processes that were killed left behind."""
        keep = {self._path(run) for run in live}
        for path in self._database.parent.glob(f"{escape(self._database.name)}-run-*.lock"):
            if path not in keep and path not in _held:
                path.unlink(missing_ok=True)

    def _path(self, run: int) -> Path:
        return self._database.with_name(f"{self._database.name}-run-{run % 2**64:016x}.lock")


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
    script = files(__package__).joinpath("sqlite.sql").read_text("utf-8")
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
    db.execute("SELECT 1 FROM run, scope, page, blob LIMIT 0")


def _row(scope: str, mark: int, last_seen: float, body: bytes) -> Row:
    return Row(unpack(scope, body).seen(last_seen), mark)
