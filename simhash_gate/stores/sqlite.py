"""A SQLite file, or SQLite in memory. Each call is one transaction.

Only SQLite may open the file. On POSIX, a process that closes any descriptor of a file loses all
its `fcntl` locks on it, those of SQLite, too. Then another process believes that nobody uses the
database, and removes its write-ahead log (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from glob import escape
from importlib.resources import files
from os.path import samestat
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import TYPE_CHECKING, Any

from simhash_gate.common.encoded import as_bytes
from simhash_gate.common.files import is_locked, open_database, private_folder, private_lock
from simhash_gate.stores import base
from simhash_gate.stores.base import Record, StoreError, StoreMissing, StoreUnavailable
from simhash_gate.stores.driver import Loaded, News, Row, SQLDriver, State, mark_of, number_of

if TYPE_CHECKING:
    from filelock import FileLock


MOST_SCOPES, _AT_ONCE = 100_000, 1_000  # in memory; checked after this many new scopes
APPLICATION_ID = 0x53484754  # "SHGT"
VERSION = 13
"""The version of the tables in `sqlite.sql`."""

_PASSING = {errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
# SQLITE_BUSY, _FULL, _IOERR, _CANTOPEN. Before Python 3.11, only their texts tell them apart.
_PASSING_TEXTS = ("locked", "is full", "disk I/O error", "unable to open")
_ELSEWHERE = "name another file, or move this one away to start afresh"

_SESSION = """
PRAGMA synchronous = NORMAL;
-- In KiB: about 100,000 records without sketches.
PRAGMA cache_size = -32000;
-- Deleted data are overwritten. Most builds of SQLite leave them in the file.
PRAGMA secure_delete = ON;
-- Each checkpoint waits for the disk. This makes fewer of them, with a log of at most 20 MB.
PRAGMA wal_autocheckpoint = 10000;
"""
_OPTIONS: dict[str, Any] = {"isolation_level": None, "check_same_thread": False}
_STATE = """
SELECT coalesce((SELECT max(page.id) FROM page WHERE page.scope = scope.id), 0), removals
FROM scope WHERE id = ?
"""
_NEW = "SELECT id, head FROM page WHERE scope = ? AND id > ? ORDER BY id"
_FIRST = "SELECT coalesce(min(id), 0) FROM page WHERE scope = ?"
_TRIM = "DELETE FROM page WHERE scope = ? AND id <= ?"
# The number is the time in microseconds: so none comes twice, even if its page is gone.
_APPEND = """
INSERT INTO page (id, scope, run, mark, last_seen, head, body)
VALUES ((SELECT max(?, coalesce(max(id), 0) + 1) FROM page), ?, ?, ?, ?, ?, ?)
"""
_LOAD = "SELECT mark, last_seen, body FROM page WHERE id = ?"
_CHANGE = "UPDATE page SET mark = mark | ?, last_seen = max(last_seen, ?) WHERE id = ?"
_EMPTY = "DELETE FROM scope WHERE id = ? AND NOT EXISTS (SELECT 1 FROM page WHERE scope = scope.id)"
_LEFT_SCOPES = """
SELECT scope.id, name FROM page JOIN scope ON scope.id = page.scope
GROUP BY scope ORDER BY max(page.id) DESC LIMIT -1 OFFSET ?
"""
_LEAVE_SCOPE = (
    "DELETE FROM page WHERE scope = :id",
    "DELETE FROM scope WHERE id = :id",
    "DELETE FROM blob WHERE scope = :name",
)


def driver_opener(url: str, *, create: bool = True) -> Callable[[], MemoryDriver]:
    """Return a function that opens `memory:` or `sqlite:///path`. Raises ValueError for others."""
    scheme, _, rest = url.partition(":")
    path = rest.removeprefix("///")
    if scheme.lower() == "memory":
        if rest.strip("/"):
            raise ValueError("a memory store takes no path")
        return MemoryDriver
    if not rest.strip("/"):
        raise ValueError("it needs the path of a file")
    if path == rest:
        raise ValueError("a path follows three slashes, an absolute one four")
    if "=" in path.partition("?")[2]:
        raise ValueError(f"unknown parameter {path.partition('?')[2].partition('=')[0]!r}")
    if path == ":memory:":
        raise ValueError("it names no file; memory: keeps pages in memory")
    return partial(SQLiteDriver, path, create=create)


class MemoryDriver(SQLDriver):
    """Keeps pages in a SQLite database in memory, which is gone with the process.

    It remembers `MOST_SCOPES` scopes. Those that got no page for the longest time are forgotten.
    """

    name = "memory store"
    _cursor: sqlite3.Cursor
    _depth = _new_scopes = 0

    def __init__(self) -> None:
        self._use(open_database(":memory:", **_OPTIONS))
        self._cursor.executescript(_tables())

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        """Use the database alone in a block, which is done completely or not at all.

        A block inside another one is part of it: if one fails, all is rolled back.
        """
        self._depth += 1
        try:
            if self._depth == 1:
                self._cursor.execute("BEGIN IMMEDIATE" if write else "BEGIN DEFERRED")
            self._require_transaction()
            yield
            if self._depth == 1:
                self._require_transaction()
                self._cursor.execute("COMMIT")
        except BaseException as error:
            # SQLite itself may have rolled back already, as it does when the disk is full.
            if self._db.in_transaction:
                self._cursor.execute("ROLLBACK")
            # A damaged file can hold text that can't be decoded: ValueError.
            if isinstance(error, (sqlite3.Error, ValueError, OSError)):
                raise failure(self.name, error) from error
            raise
        finally:
            self._depth -= 1

    def append(self, earlier: State, record: Record, through: int, seconds: float | None) -> News:
        scope, current, earlier_heads = number_of(earlier.scope), self._state(earlier.scope), b""
        if current != earlier:
            if current.last and not earlier.last:
                return self.news(earlier)
            earlier_heads, through = self.news(earlier).heads, 0
        if not current.last:
            self._ask("INSERT INTO scope VALUES (?, ?, 0)", scope, as_bytes(earlier.scope))
            self._new_scopes += 1
            if self._new_scopes % _AT_ONCE == 0:
                self._bound_scopes()
        mark, head = mark_of(record), base.head_of(record)
        values = (time_ns() // 1000, scope, number_of(record.run), mark, record.last_seen, head)
        number = self._cursor.execute(_APPEND, (*values, base.pack(record))).lastrowid or 0
        if through:
            self.trim(earlier.scope, through)
        first = (
            through + 1 if not earlier_heads and current.last else self._ask(_FIRST, scope)[0][0]
        )
        heads = earlier_heads + number.to_bytes(8, "big") + head
        return News(State(earlier.scope, number, current.removals), first, heads, number)

    def news(self, earlier: State) -> News:
        scope, current = number_of(earlier.scope), self._state(earlier.scope)
        rows = self._ask(_NEW, scope, earlier.last if current.continues(earlier) else 0)
        heads = b"".join(number.to_bytes(8, "big") + head for number, head in rows)
        return News(current, self._ask(_FIRST, scope)[0][0], heads)

    def trim(self, scope: str, through: int) -> None:
        self._ask(_TRIM, number_of(scope), through)

    def load(self, earlier: State, numbers: Sequence[int]) -> Loaded:
        rows = (self._cursor.execute(_LOAD, (number,)).fetchone() for number in numbers)
        pages = [row and Row(earlier.scope, *row) for row in rows]
        return None if self._state(earlier.scope) == earlier else self.news(earlier), pages

    def change(self, scope: str, numbers: Sequence[int], mark: int, seen: float) -> None:
        self._cursor.executemany(_CHANGE, [(mark, seen, number) for number in numbers])

    def remove(self, scope: str, numbers: Sequence[int]) -> State:
        self._cursor.executemany("DELETE FROM page WHERE id = ?", [(number,) for number in numbers])
        self._ask("UPDATE scope SET removals = removals + 1 WHERE id = ?", number_of(scope))
        self._ask(_EMPTY, number_of(scope))
        return self._state(scope)

    def claim(self) -> int:
        return 1

    def close(self) -> None:
        self._db.close()

    def _rows(self, query: str, args: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        return self._cursor.execute(_named(query), args or {}).fetchall()

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        return self._cursor.execute(statement, values).fetchall()

    def _state(self, scope: str) -> State:
        return State(scope, *(self._cursor.execute(_STATE, (number_of(scope),)).fetchone() or ()))

    def _require_transaction(self) -> None:
        if not self._db.in_transaction:
            raise StoreError(f"{self.name}: a call of this batch failed, and all were taken back")

    def _bound_scopes(self) -> None:
        for number, name in self._ask(_LEFT_SCOPES, MOST_SCOPES):
            for statement in _LEAVE_SCOPE:
                self._cursor.execute(statement, {"id": number, "name": name})

    def _use(self, db: sqlite3.Connection) -> None:
        self._db, self._cursor = db, db.cursor()


class SQLiteDriver(MemoryDriver):
    """Keeps pages in the SQLite file at `path`. The file and its folders are made if needed.

    Crawlers on one machine share the file. One writes at a time; the others wait up to `timeout`
    seconds. A store that has begun a run holds a lock file beside the database. If the lock is
    free, its runs are dead, unless they have ended. If the file was removed or replaced, the driver
    opens the new one: nobody would read what is written to the old one.
    """

    def __init__(self, path: str | Path, *, timeout: float = 10.0, create: bool = True) -> None:
        self.path = Path(path).absolute()
        self.name = _name(self.path)
        self._timeout = timeout
        self._connect(create=create)
        self._lock = StoreLock(self.path)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        """Make all calls of a block one step, in the file that is at the path now."""
        if write and not self._depth:
            self._leave_what_is_gone()
        with super().transaction(write=write):
            yield

    def claim(self) -> int:
        return self._lock.take()

    def is_there(self, owner: int) -> bool:
        """Tell whether the store that began a run is still open."""
        return self._lock.is_held(owner)

    def close(self) -> None:
        self._lock.let_go()
        super().close()

    def _bound_scopes(self) -> None:
        pass  # a file has room

    def _leave_what_is_gone(self) -> None:
        with suppress(OSError):  # `_connect` reports the problem
            if samestat(self._file, os.stat(self.path)):  # noqa: PTH116 - takes half the time
                return
        before = self._db
        self._lock.let_go()  # the file of the lock may be gone, too
        self._connect()
        self.connections += 1
        before.close()

    def _connect(self, *, create: bool = True) -> None:
        self._use(connect(self.path, self._timeout, create=create))
        self._file = self.path.stat()


@cache
def _named(query: str) -> str:
    return re.sub(r"%\((\w+)\)s", r":\1", query)


# The locks that this process holds, by path. An entry changes only while its database is locked.
_held: dict[Path, FileLock] = {}


class StoreLock:
    """A lock file of a store, beside its database. The lock dies with the process.

    The operating system frees a lock when its process ends, however it ends. Child processes don't
    inherit it. With `fcntl` locks, a process that closes any descriptor of a file frees its lock on
    it. So a process never opens a lock file that one of its stores holds. Call `take` and `is_held`
    only while the database is locked for writing: then the store of a live run holds its lock.
    """

    def __init__(self, database: Path) -> None:
        self._database = database.resolve()
        self._own = 0

    def take(self) -> int:
        """Hold the lock of this store until `let_go`. Return the number of the lock."""
        if not self._own:
            pattern = f"{escape(self._database.name)}-store-*.lock"
            for path in self._database.parent.glob(pattern):
                self.is_held(int(path.stem.rpartition("-")[2], 16))  # removes files of dead stores
            number = secrets.randbits(63)
            path = self._path(number)
            # Another thread may let go of the lock.
            lock = private_lock(path, mode_of=self._database, thread_local=False)
            lock.acquire(blocking=False)  # fails if there is no room for its file
            _held[path] = lock
            self._own = number
        return self._own

    def is_held(self, number: int) -> bool:
        """Tell whether a process holds a lock. If none does, remove the file of the lock."""
        path = self._path(number)
        if path in _held or is_locked(path):
            return True
        path.unlink(missing_ok=True)
        return False

    def let_go(self) -> None:
        """Free the lock, and remove its file."""
        if self._own:
            path = self._path(self._own)
            path.unlink(missing_ok=True)
            _held.pop(path).release()
            self._own = 0

    def _path(self, number: int) -> Path:
        return self._database.with_name(f"{self._database.name}-store-{number:016x}.lock")


def connect(path: Path, timeout: float, *, create: bool) -> sqlite3.Connection:
    """Open the database at `path`, or make it. Wait up to `timeout` seconds for locks.

    Raises StoreError, and changes nothing, if the file can't be opened, is no store or has another
    version; and StoreMissing without `create` if there is no file.
    """
    try:
        if not create and not (path.exists() and path.stat().st_size):
            what = "an empty file" if path.exists() else "there is no such file"
            raise StoreMissing(f"{_name(path)}: {what}")
        private_folder(path.parent)
        # SQLite itself would only say that it can't open the file, or say so later.
        place = path if path.exists() else path.parent
        if path.is_dir() or not os.access(place, os.R_OK | os.W_OK):
            problem = errno.EISDIR if path.is_dir() else errno.EACCES
            raise OSError(problem, os.strerror(problem))
        db = open_database(path, timeout=timeout, **_OPTIONS)
        try:
            _prepare(db, path, timeout)
        except BaseException:
            db.close()
            raise
        return db
    except (OSError, sqlite3.Error) as error:
        raise failure(_name(path), error) from error


def failure(name: str, error: Exception) -> StoreError:
    """Return an error that says in one line what went wrong with the database, and what to do."""
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


def _name(path: Path) -> str:
    return f"SQLite store {path}"


def _tables() -> str:
    return files(__package__).joinpath("sqlite.sql").read_text("utf-8")


def _prepare(db: sqlite3.Connection, path: Path, timeout: float) -> None:
    """Recognise a database of ours, or make one in an empty file, completely or not at all."""
    # For a new database. A commit writes whole pages: small ones take less time.
    db.execute("PRAGMA page_size = 2048")
    if not _is_ours(db, path):
        marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
        _write_ahead(db, timeout)
        db.executescript(f"BEGIN IMMEDIATE; {_tables()} {marks} COMMIT;")
    # Nothing is written before this check: a damaged file stays as it is for repair.
    (health,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if health != "ok":
        raise sqlite3.DatabaseError(" ".join(health.split()))
    db.execute("SELECT 1 FROM scope, page, blob LIMIT 0")
    db.executescript(_SESSION)


def _write_ahead(db: sqlite3.Connection, timeout: float) -> None:
    """Turn on the write-ahead log: one writer and many readers. A power cut can only lose the last
    commits. SQLite itself does not wait for other connections here."""
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
    """Return True for a database of ours, False for an empty one. Raises StoreError for others."""
    try:
        is_empty = not db.execute("SELECT 1 FROM sqlite_master").fetchone()
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        raise StoreError(f"{_name(path)}: this is no SQLite database; {_ELSEWHERE}") from error
    if is_empty and not application:
        return False
    if application != APPLICATION_ID:
        raise StoreError(f"{_name(path)}: this database is another program's; name another")
    if version != VERSION:
        what = f"its schema has version {version}, this simhash-gate knows {VERSION}"
        raise StoreError(f"{_name(path)}: {what}; update simhash-gate, or name another file")
    return True
