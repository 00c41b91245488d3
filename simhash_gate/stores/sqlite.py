"""Stores of pages in SQLite: in memory, and in a file that crawlers of a machine share.

Each call is one transaction, among the threads and processes of a machine.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from os.path import samestat
from pathlib import Path
from time import time_ns
from typing import Any

from simhash_gate.common.encoded import as_bytes
from simhash_gate.common.files import open_database
from simhash_gate.stores import base
from simhash_gate.stores.base import Record, StoreError, number_of
from simhash_gate.stores.driver import SETTLED, Loaded, News, Row, SQLDriver, State
from simhash_gate.stores.sqlite_file import StoreLock, connect, failure, name_of, tables

MOST_SCOPES, _AT_ONCE = 100_000, 1_000  # in memory; checked after this many new scopes
_STATE = """
SELECT coalesce((SELECT max(page.id) FROM page WHERE page.scope = scope.id), 0), removals
FROM scope WHERE id = ?
"""
_NEW = "SELECT id, head FROM page WHERE scope = ? AND id > ? ORDER BY id"
_FIRST = "SELECT coalesce(min(id), 0) FROM page WHERE scope = ?"
_TRIM = "DELETE FROM page WHERE scope = ? AND id <= ?"
# The number is the time in microseconds: so none comes twice, even if its page is gone.
_APPEND = """
INSERT INTO page (id, scope, run, mark, last_seen, gave, head, body)
VALUES ((SELECT max(?, coalesce(max(id), 0) + 1) FROM page), ?, ?, ?, ?, ?, ?, ?)
"""
_LOAD = "SELECT mark, last_seen, gave, body FROM page WHERE id = ?"
_CHANGE = """
UPDATE page SET mark = mark | ?, last_seen = max(last_seen, ?), gave = coalesce(?, gave)
WHERE id = ?
"""
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
        db = open_database(":memory:", isolation_level=None, check_same_thread=False)
        self._cursor = db.cursor()
        self._cursor.executescript(tables())

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
            if self._cursor.connection.in_transaction:
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
        mark, head = SETTLED * record.settled, base.head_of(record)
        place = (time_ns() // 1000, scope, number_of(record.run))
        page = (mark, record.last_seen, record.gave, head, base.pack(record))
        number = self._cursor.execute(_APPEND, place + page).lastrowid or 0
        if through:
            self.trim(earlier.scope, through)
        is_known = not earlier_heads and current.last
        first = through + 1 if is_known else self._ask(_FIRST, scope)[0][0]
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

    def change(
        self, scope: str, numbers: Sequence[int], mark: int, seen: float, gave: int | None = None
    ) -> None:
        self._cursor.executemany(_CHANGE, [(mark, seen, gave, number) for number in numbers])

    def remove(self, scope: str, numbers: Sequence[int]) -> State:
        self._cursor.executemany("DELETE FROM page WHERE id = ?", [(number,) for number in numbers])
        self._ask("UPDATE scope SET removals = removals + 1 WHERE id = ?", number_of(scope))
        self._ask(_EMPTY, number_of(scope))
        return self._state(scope)

    def claim(self) -> int:
        return 1

    def close(self) -> None:
        self._cursor.connection.close()

    def _rows(self, query: str, args: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        return self._cursor.execute(_named(query), args or {}).fetchall()

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        return self._cursor.execute(statement, values).fetchall()

    def _state(self, scope: str) -> State:
        return State(scope, *(self._cursor.execute(_STATE, (number_of(scope),)).fetchone() or ()))

    def _require_transaction(self) -> None:
        if not self._cursor.connection.in_transaction:
            raise StoreError(f"{self.name}: a call of this batch failed, and all were taken back")

    def _bound_scopes(self) -> None:
        for number, name in self._ask(_LEFT_SCOPES, MOST_SCOPES):
            for statement in _LEAVE_SCOPE:
                self._cursor.execute(statement, {"id": number, "name": name})


class SQLiteDriver(MemoryDriver):
    """Keeps pages in the SQLite file at `path`. The file and its folders are made if needed.

    Crawlers on one machine share the file. One writes at a time; the others wait up to `timeout`
    seconds. A store that has begun a run holds a lock file beside the database. If the lock is
    free, its runs are dead, unless they have ended. If the file was removed or replaced, the driver
    opens the new one: nobody would read what is written to the old one.
    """

    def __init__(self, path: str | Path, *, timeout: float = 10.0, create: bool = True) -> None:
        self.path = Path(path).absolute()
        self.name = name_of(self.path)
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
        before = self._cursor.connection
        self._lock.let_go()  # the file of the lock may be gone, too
        self._connect()
        self.connections += 1
        before.close()

    def _connect(self, *, create: bool = True) -> None:
        self._cursor = connect(self.path, self._timeout, create=create).cursor()
        self._file = self.path.stat()


@cache
def _named(query: str) -> str:
    return re.sub(r"%\((\w+)\)s", r":\1", query)
