"""Kept pages in a SQLite file that several crawlers of one machine share."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.hamming import require_distance, require_fingerprint
from simhash_gate.stores.base import (
    DEFAULT_WINDOW,
    Answer,
    Match,
    Record,
    Store,
    StoreError,
    Window,
)
from simhash_gate.stores.ranking import best_match, reach
from simhash_gate.stores.run_locks import RunLocks
from simhash_gate.stores.sqlite_file import connect, failure
from simhash_gate.stores.sqlite_lookup import as_bytes, candidates, signed, unsigned

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


_RECORD = """
SELECT scope.name, url, request, fingerprint, digest, words, title, pipeline, run.name,
    first_seen, last_seen, sketch, settled OR NOT live, record.id, run, live
FROM record JOIN scope ON scope.id = scope JOIN run ON run.id = run
"""
_PAGE = f"{_RECORD} WHERE record.id > ? ORDER BY record.id LIMIT 1000"
_PAGE_OF_SCOPE = f"""{_RECORD}
WHERE record.id > ? AND scope = (SELECT id FROM scope WHERE name = CAST(? AS TEXT))
ORDER BY record.id LIMIT 1000
"""
_ADD = """
INSERT INTO record
    (scope, run, url, request, fingerprint, digest, words, title, pipeline, first_seen, last_seen,
    sketch, settled)
VALUES
    (?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?)
"""
_FIRST_OF_WINDOW = "SELECT id FROM record WHERE scope = ? ORDER BY id DESC LIMIT 1 OFFSET ?"
_EVICT_OVERFLOW = """
DELETE FROM record WHERE id IN (
    SELECT id FROM record WHERE scope = ?1 ORDER BY id
    LIMIT max((SELECT kept FROM scope WHERE id = ?1) - ?2, 0)
)
"""
_EVICT_AGED = """
DELETE FROM record WHERE scope = ?1 AND id <
    (SELECT id FROM record WHERE scope = ?1 AND first_seen >= ?2 ORDER BY id LIMIT 1)
"""
_IDENTICAL = """
record.scope = (SELECT id FROM scope WHERE name = CAST(?1 AS TEXT))
    AND run = (SELECT id FROM run WHERE name = CAST(?2 AS TEXT))
    AND request = CAST(?3 AS TEXT) AND fingerprint = ?4 AND block0 = (?4 & 65535)
"""
_FORGET = f"DELETE FROM record WHERE {_IDENTICAL}"
_SETTLE = f"UPDATE record SET settled = max(settled, ?5) WHERE {_IDENTICAL}"
_FIND = f"SELECT max(id) FROM record WHERE {_IDENTICAL}"

# Where a row of _RECORD has the record's number.
_NUMBER = 13
# What the column `settled` says.
_SETTLED, _DURABLE = 1, 2
_AFTER_ALL = (1 << 63) - 1


class SQLiteStore(Store):
    """Remembers kept pages in the SQLite file at `path`, made with its folders if there is none.

    Crawlers on one machine share it: one at a time writes, and waits up to `timeout` seconds for
    the others. A live run holds a lock file beside the database; a run whose lock is free without
    its having ended is dead, and its records are removed by the next `begin` or `records`, or when
    one of them would match. Until then they take up places in the window.
    """

    def __init__(self, path: str | Path, *, timeout: float = 30.0) -> None:
        self.path = Path(path).absolute()
        self._db = connect(self.path, timeout)
        self._lock = Lock()
        self._locks = RunLocks(self.path)
        self._runs: dict[str, int] = {}
        self._closed = False

    def begin(self, run: str) -> None:
        """Open a run and take its lock; remove what dead runs left, their lock files too."""
        with self._transaction() as db:
            self._locks.sweep(self._reap(db))
            known = "SELECT 1 FROM run WHERE name = CAST(? AS TEXT)"
            if db.execute(known, (as_bytes(run),)).fetchone() or not self._locks.take(run):
                raise self._error(f"run {run!r} was begun before; take a new name")
            add = "INSERT INTO run (name, live) VALUES (CAST(? AS TEXT), 1)"
            number = db.execute(add, (as_bytes(run),)).lastrowid
        self._runs[run] = number or 0

    def renew(self, run: str) -> None:
        """Nothing to do: the lock speaks for the run."""
        self._number(run)

    def end(self, run: str) -> None:
        """Close a run: commit that its records count, then let go of its lock."""
        with self._transaction() as db:
            db.execute("UPDATE run SET live = 0 WHERE id = ?", (self._number(run),))
        with self._lock:
            self._runs.pop(run, None)
            self._locks.release(run)

    def check_and_add(
        self,
        record: Record,
        radius: int | None,
        dismissed: Collection[Record] = (),
        *,
        near: int = 0,
        exact: bool = False,
        window: Window = DEFAULT_WINDOW,
    ) -> Answer:
        """Look and add in one transaction; see `Store.check_and_add`."""
        require_fingerprint(record.fingerprint)
        if radius is not None:
            require_distance(radius)
        run = self._number(record.run)
        with self._transaction() as db:
            scope, kept = _scope(db, record.scope)
            first = _first(db, scope, kept, window.pages)
            since = window.since(record)
            found = None
            if radius is not None:
                near_ones = partial(candidates, db, scope, record, reach(radius, near))
                visited = near_ones(since, first, exact=exact)
                found = best_match(visited, partial(self._load, db), radius, near, dismissed)
                if found and found[1].distance <= radius:
                    number, (other, distance) = found
                    return Answer(False, Match(_see(db, number, other, record.last_seen), distance))
            db.execute(_ADD, (scope, run, *_columns(record)))
            if kept >= window.pages:
                db.execute(_EVICT_OVERFLOW, (scope, window.pages))
            if window.seconds is not None:
                db.execute(_EVICT_AGED, (scope, since))
            return Answer(True, found[1] if found else None)

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        with self._transaction() as db:
            return db.execute(_FORGET, _identity(record)).rowcount > 0

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark records settled, all in one transaction."""
        mark = _DURABLE if durable else _SETTLED
        with self._transaction() as db:
            db.executemany(_SETTLE, [(*_identity(record), mark) for record in records])

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None."""
        with self._transaction() as db:
            number = db.execute(_FIND, _identity(record)).fetchone()[0]
            return None if number is None else self._load(db, number)

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered, oldest first; read in parts, so that others can go on."""
        with self._transaction() as db:
            self._reap(db)
        page, names = (_PAGE, ()) if scope is None else (_PAGE_OF_SCOPE, (as_bytes(scope),))
        last: int | None = 0
        while last is not None:
            with self._transaction() as db:
                rows = db.execute(page, (last, *names)).fetchall()
            yield from map(_as_record, rows)
            last = rows[-1][_NUMBER] if rows else None

    def close(self) -> None:
        """Let go of the file and of the locks of all runs; who was not ended is dead now."""
        with self._lock:
            self._closed = True
            self._runs.clear()
            self._locks.drop()
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Have the database alone, among threads and processes; do all of it, or nothing."""
        with self._lock:
            self._require_open()
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                self._db.execute("COMMIT")
            # A damaged file can hold text that is none.
            except (sqlite3.Error, UnicodeError, OSError) as error:
                raise failure(self.path, error) from error
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _error(self, what: str) -> StoreError:
        return StoreError(f"SQLite store {self.path}: {what}")

    def _require_open(self) -> None:
        if self._closed:
            raise self._error("it is closed")

    def _number(self, run: str) -> int:
        self._require_open()
        number = self._runs.get(run)
        if number is None:
            raise self._error(f"run {run!r} is not live here; begin it first")
        return number

    def _is_dead(self, run: str) -> bool:
        return run not in self._runs and self._locks.is_dead(run)

    def _reap(self, db: sqlite3.Connection) -> list[str]:
        """Remove the records of runs found dead; return the names of those that live."""
        live = []
        for number, name in db.execute("SELECT id, name FROM run WHERE live").fetchall():
            if self._is_dead(name):
                _bury(db, number)
            else:
                live.append(name)
        return live

    def _load(self, db: sqlite3.Connection, number: int) -> Record | None:
        """Return a record, or None if it died with its run: a match is looked at closely."""
        row = db.execute(f"{_RECORD} WHERE record.id = ?", (number,)).fetchone()
        if row is None:
            return None
        *_, run, live = row
        record = _as_record(row)
        if live and self._is_dead(record.run):
            _bury(db, run)
            return self._load(db, number)
        return record


def _scope(db: sqlite3.Connection, name: str) -> tuple[int, int]:
    """Return the number of a scope, and how many records it keeps."""
    row: tuple[int, int] | None = db.execute(
        "SELECT id, kept FROM scope WHERE name = CAST(? AS TEXT)", (as_bytes(name),)
    ).fetchone()
    if row:
        return row
    add = "INSERT INTO scope (name) VALUES (CAST(? AS TEXT))"
    return db.execute(add, (as_bytes(name),)).lastrowid or 0, 0


def _first(db: sqlite3.Connection, scope: int, kept: int, pages: int) -> int:
    """Return the number of the first record among the last `pages` of a scope."""
    if kept <= pages:
        return 0
    return (
        db.execute(_FIRST_OF_WINDOW, (scope, pages - 1)).fetchone()[0] if pages > 0 else _AFTER_ALL
    )


def _see(db: sqlite3.Connection, number: int, record: Record, last_seen: float) -> Record:
    seen = replace(record, last_seen=max(record.last_seen, last_seen))
    db.execute("UPDATE record SET last_seen = ? WHERE id = ?", (seen.last_seen, number))
    return seen


def _bury(db: sqlite3.Connection, run: int) -> None:
    """Remove a dead run and its records but the durable ones; with these it counts as ended."""
    db.execute("DELETE FROM record WHERE run = ? AND settled < ?", (run, _DURABLE))
    db.execute("UPDATE run SET live = 0 WHERE id = ?", (run,))
    db.execute("DELETE FROM run WHERE id = ?1 AND ?1 NOT IN (SELECT run FROM record)", (run,))


def _identity(record: Record) -> tuple[Any, ...]:
    names = (as_bytes(name) for name in (record.scope, record.run, record.request))
    return (*names, signed(record.fingerprint))


def _columns(record: Record) -> tuple[Any, ...]:
    return (
        as_bytes(record.url),
        as_bytes(record.request),
        signed(record.fingerprint),
        signed(record.digest),
        record.words,
        as_bytes(record.title),
        as_bytes(record.pipeline),
        record.first_seen,
        record.last_seen,
        record.sketch,
        _SETTLED if record.settled else 0,
    )


def _as_record(row: tuple[Any, ...]) -> Record:
    values = list(row[:_NUMBER])
    values[3:5] = map(unsigned, values[3:5])
    values[-1] = bool(values[-1])
    return Record(*values)
