"""A SQLite file: each call is one transaction, among the threads and processes of a machine.

Only SQLite opens the file. On POSIX, a process that closes any descriptor of a file gives up all
`fcntl` locks that it holds on it, SQLite's too: another process then believes that nobody uses the
database, and removes its write-ahead log (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import contextmanager
from glob import escape
from importlib.resources import files
from os.path import samestat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import Timeout

from simhash_gate.common.encoded import as_bytes, as_text, signed
from simhash_gate.common.files import open_database, private_folder, private_lock
from simhash_gate.stores import base
from simhash_gate.stores.base import Blob, Record, StoreError, StoreMissing, StoreUnavailable
from simhash_gate.stores.driver import DEAD, SETTLED, Driver, News, Row, Run, State, row_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from filelock import FileLock

    from simhash_gate.stores.driver import Loaded

APPLICATION_ID = 0x53484754  # "SHGT"
VERSION = 7
"""Of the tables in `sqlite.sql`."""

_PASSING = {errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
# SQLITE_BUSY, _FULL, _IOERR, _CANTOPEN: before Python 3.11 the text alone tells them apart.
_PASSING_TEXTS = ("locked", "is full", "disk I/O error", "unable to open")
_ELSEWHERE = "name another file, or move this one away to start afresh"

_SESSION = """
-- One writer, many readers; after a power cut the last commits may be missing, no more.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
-- Of records that come up again, 100,000 or so without sketches; in KiB.
PRAGMA cache_size = -32000;
-- What is forgotten is overwritten: most builds of SQLite leave it in the file.
PRAGMA secure_delete = ON;
-- Each checkpoint waits for the disk: fewer of them, for a log of 20 MB at most.
PRAGMA wal_autocheckpoint = 10000;
"""
_STATE = """
SELECT id, coalesce((SELECT max(id) FROM page WHERE scope = scope.id), 0), epoch
FROM scope WHERE name = ?
"""
_NEW = "SELECT id, head FROM page WHERE scope = ? AND id > ? ORDER BY id"
_FIRST = "SELECT coalesce(min(id), 0) FROM page WHERE scope = ?"
_TRIM = "DELETE FROM page WHERE scope = (SELECT id FROM scope WHERE name = ?) AND id <= ?"
_APPEND = """
INSERT INTO page (id, scope, run, mark, last_seen, head, body)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM page), ?, ?, ?, ?, ?, ?)
"""
_LOAD = "SELECT mark, last_seen, body FROM page WHERE id = ?"
_CHANGE = "UPDATE page SET mark = max(mark, ?), last_seen = max(last_seen, ?) WHERE id = ?"
_ROWS = """
SELECT page.id, name, mark, last_seen, body FROM page JOIN scope ON scope.id = scope
WHERE page.id > ?1 AND (?2 IS NULL) ORDER BY page.id LIMIT 1000
"""
_ROWS_OF_SCOPE = _ROWS.replace("(?2 IS NULL)", "scope = (SELECT id FROM scope WHERE name = ?2)")
_TOUCH_SCOPES = """
UPDATE scope SET epoch = ?2 WHERE id IN (SELECT scope FROM page WHERE run = ?1 AND mark < 2)
"""
_EMPTY_SCOPES = "DELETE FROM scope WHERE NOT EXISTS (SELECT 1 FROM page WHERE scope = scope.id)"
_BLOBS = """
SELECT address, scope, key, at, size, iif(?4, data, x'') FROM blob
WHERE kind = ?1 AND address > ?2 AND (?3 IS NULL OR scope = ?3) ORDER BY address LIMIT 1000
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
        self._over: list[int] = []  # runs whose locks are let go with the commit

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        """Have the database alone for a block, which is done completely or not at all.

        Blocks inside another one are parts of it: if one fails, all is taken back.
        """
        self._depth += 1
        try:
            if self._depth == 1:
                if write:
                    self._leave_what_is_gone()
                self._cursor.execute("BEGIN IMMEDIATE" if write else "BEGIN DEFERRED")
            self._require_transaction()
            yield
            if self._depth == 1:
                self._require_transaction()
                self._cursor.execute("COMMIT")
                while self._over:
                    self._locks.let_go(self._over.pop())
        except BaseException as error:
            self._over.clear()
            # SQLite itself may have rolled back already, as it does when the disk is full.
            if self._db.in_transaction:
                self._cursor.execute("ROLLBACK")
            # A damaged file can hold text that is none.
            if isinstance(error, (sqlite3.Error, ValueError, OSError)):
                raise failure(self.path, error) from error
            raise
        finally:
            self._depth -= 1

    def append(self, known: State, record: Record, through: int, seconds: float | None) -> News:
        scope, here = self._state(known.scope)
        if here != known:
            return self.news(known)
        if scope is None:
            here = here._replace(epoch=base.new_epoch())
            make = "INSERT INTO scope (name, epoch) VALUES (?, ?)"
            scope = self._cursor.execute(make, (as_bytes(known.scope), here.epoch)).lastrowid
        run, mark = _id(record.run), SETTLED if record.settled else 0
        values = (scope, run, mark, record.last_seen, base.head_of(record), base.pack(record))
        number = self._cursor.execute(_APPEND, values).lastrowid or 0
        if through:
            self.trim(known, through)
        row = row_of(number, record)
        return News(here._replace(last=number), through + 1, row, number)

    def news(self, known: State) -> News:
        scope, here = self._state(known.scope)
        rows = self._ask(_NEW, scope, known.last if here.continues(known) else 0)
        heads = b"".join(its.to_bytes(8, "big") + head for its, head in rows)
        return News(here, self._ask(_FIRST, scope)[0][0], heads)

    def trim(self, known: State, through: int) -> None:
        self._ask(_TRIM, as_bytes(known.scope), through)

    def load(self, known: State, numbers: Sequence[int], runs: Sequence[int] = ()) -> Loaded:
        rows = (self._cursor.execute(_LOAD, (wanted,)).fetchone() for wanted in numbers)
        found = [row and Row.read(known.scope, *row) for row in rows]
        return None if self._state(known.scope)[1] == known else self.news(known), found

    def change(self, known: State, numbers: Sequence[int], mark: int, seen: float) -> bool:
        if self._state(known.scope)[1].epoch != known.epoch:
            return False
        self._cursor.executemany(_CHANGE, [(mark, seen, changed) for changed in numbers])
        return True

    def remove(self, known: State, numbers: Sequence[int]) -> State | None:
        scope, here = self._state(known.scope)
        if here.epoch != known.epoch:
            return None
        self._cursor.executemany("DELETE FROM page WHERE id = ?", [(gone,) for gone in numbers])
        self._ask("UPDATE scope SET epoch = ? WHERE id = ?", base.new_epoch(), scope)
        _, here = self._state(known.scope)
        if here.last:
            return here._replace(last=min(here.last, known.last))
        self._ask("DELETE FROM scope WHERE id = ?", scope)
        return State(known.scope)

    def rows(self, scope: str | None) -> Iterator[Row]:
        ask, name = (_ROWS, None) if scope is None else (_ROWS_OF_SCOPE, as_bytes(scope))
        for _, its, *row in self._in_parts(lambda after: self._ask(ask, after, name), 0):
            yield Row.read(as_text(its), *row)

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        if anew:
            self._locks.let_go(_id(run))  # its file may be gone, too
        elif self.run(run).state == "ended":
            return False
        if not self._locks.take(_id(run)):
            return False
        self._ask("INSERT OR REPLACE INTO run VALUES (?, 0, ?)", _id(run), at)
        return True

    def renew(self, run: str) -> bool:
        # The lock speaks for the run; this sees that the file can be written.
        return self._mark_run(run, ended=False)

    def end(self, run: str) -> bool:
        self._over.append(_id(run))
        return self._mark_run(run, ended=True)

    def run(self, run: str) -> Run:
        known = self._ask("SELECT ended, begun FROM run WHERE id = ?", _id(run))
        if not known or not (known[0][0] or self._locks.is_held(_id(run))):
            return DEAD
        ended, begun = known[0]
        return Run("ended" if ended else "live", begun)

    def bury(self) -> None:
        live = {number for (number,) in self._ask("SELECT id FROM run WHERE NOT ended")}
        dead = {number for number in live if not self._locks.is_held(number)}
        for number in dead:
            self._ask(_TOUCH_SCOPES, number, base.new_epoch())
            self._ask("DELETE FROM page WHERE run = ? AND mark < 2", number)
            self._ask("DELETE FROM run WHERE id = ?", number)
        if dead:
            self._ask(_EMPTY_SCOPES)
        self._locks.sweep(live - dead)

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        rows = self._ask(
            "SELECT data FROM blob WHERE address = ?", base.address_of(kind, scope, key)
        )
        return rows[0][0] if rows else b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        if old is not None and (there := self.blob(blob.kind, blob.scope, blob.key)) != old:
            return there
        address, data = base.address_of(blob.kind, blob.scope, blob.key), blob.data
        self._ask("DELETE FROM blob WHERE address = ?", address)
        if data:
            names = (blob.kind, as_bytes(blob.scope), as_bytes(blob.key))
            put = "INSERT INTO blob VALUES (?, ?, ?, ?, ?, ?, ?)"
            self._ask(put, address, *names, blob.at, len(data), data)
        return None

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        name = None if scope is None else as_bytes(scope)
        rows = self._in_parts(lambda after: self._ask(_BLOBS, kind, after, name, data), b"")
        for _, its, key, at, size, read in rows:
            yield Blob(kind, as_text(its), as_text(key), read, at, size=size)

    def close(self) -> None:
        self._locks.drop()
        self._db.close()

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        return self._cursor.execute(statement, values).fetchall()

    def _mark_run(self, run: str, *, ended: bool) -> bool:
        self._cursor.execute("UPDATE run SET ended = ? WHERE id = ?", (ended, _id(run)))
        return self._cursor.rowcount > 0

    def _state(self, scope: str) -> tuple[int | None, State]:
        """Return the number of a scope, None if there is none, and its state."""
        row = self._cursor.execute(_STATE, (as_bytes(scope),)).fetchone()
        return (row[0], State(scope, *row[1:])) if row else (None, State(scope))

    def _require_transaction(self) -> None:
        if not self._db.in_transaction:
            raise StoreError(f"{self.name}: a call of this batch failed, and all were taken back")

    def _leave_what_is_gone(self) -> None:
        try:
            if samestat(self._file, os.stat(self.path)):  # noqa: PTH116 - half the time
                return
        except FileNotFoundError:
            pass
        before = self._db
        self._connect()
        self.connections += 1
        before.close()

    def _connect(self, *, create: bool = True) -> None:
        self._db = connect(self.path, self._timeout, create=create)
        self._cursor = self._db.cursor()
        self._file = self.path.stat()


def _id(run: str) -> int:
    return signed(base.hash64(run))


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
        """Hold the lock of a run until it is let go; False if someone else holds it."""
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

    def let_go(self, run: int) -> None:
        """Let go of the lock of a run that has ended, and remove its file."""
        path = self._path(run)
        if path in self._own:
            path.unlink(missing_ok=True)
            self._own.remove(path)
            _held.pop(path).release()

    def drop(self) -> None:
        """Let go of all locks; their files stay until someone sees that these runs died."""
        while self._own:
            _held.pop(self._own.pop()).release()

    def sweep(self, live: Collection[int]) -> None:
        """Remove what processes that were killed left behind."""
        keep = _held.keys() | {self._path(run) for run in live}
        for path in self._database.parent.glob(f"{escape(self._database.name)}-run-*.lock"):
            if path not in keep:
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
                raise _error(path, what, StoreMissing)
            private_folder(path.parent)
            _make(path, timeout)
        # SQLite would only say that it can't open the file, or that later.
        if path.is_dir() or not os.access(path, os.R_OK | os.W_OK):
            problem = errno.EISDIR if path.is_dir() else errno.EACCES
            raise OSError(problem, os.strerror(problem))
        return _open(path, timeout)
    except (OSError, sqlite3.Error) as error:
        raise failure(path, error) from error


def failure(path: Path, error: Exception) -> StoreError:
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
    return _error(path, f"{what}; {advice}", StoreUnavailable if passing else StoreError)


def _error(path: Path, what: str, kind: type[StoreError] = StoreError) -> StoreError:
    return kind(f"SQLite store {path}: {what}")


def _exists(path: Path) -> bool:
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def _make(path: Path, timeout: float) -> None:
    """Make the database aside and move it into place whole: no one ever sees half of it."""
    aside, lock = path.with_name(f"{path.name}-new"), path.with_name(f"{path.name}-new.lock")
    try:
        with private_lock(lock, timeout=timeout):
            if not _exists(path):
                for leftover in ("", "-journal", "-wal", "-shm"):
                    aside.with_name(aside.name + leftover).unlink(missing_ok=True)
                _open(aside, timeout, new=True).close()
                aside.replace(path)
            # Only who finds no database takes this lock, so that from here on nobody needs it.
            lock.unlink(missing_ok=True)
    except Timeout as error:
        what = f"another process has been making it for {timeout:g} s; if there is none, remove"
        raise _error(path, f"{what} {lock}", StoreUnavailable) from error


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
            script = files(__package__).joinpath("sqlite.sql").read_text("utf-8")
            marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
            db.executescript(f"BEGIN; {marks} {script} COMMIT;")
        db.execute("SELECT 1 FROM run, scope, page, blob LIMIT 0")
        db.executescript(_SESSION)
    except BaseException:
        db.close()
        raise
    return db


def _recognise(db: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError unless the database is ours; nothing is written to it before."""
    try:
        (application,) = db.execute("PRAGMA application_id").fetchone()
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        raise _error(path, f"this is no SQLite database; {_ELSEWHERE}") from error
    if application != APPLICATION_ID:
        raise _error(path, "this database is another program's; name another")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        what = f"its schema has version {version}, this simhash-gate knows {VERSION}"
        raise _error(path, f"{what}; update simhash-gate, or name another file")
