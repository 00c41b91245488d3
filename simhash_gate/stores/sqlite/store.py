"""Kept pages in a SQLite file that several crawlers of one machine share."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.fingerprints.hamming import require_distance, require_fingerprint
from simhash_gate.stores.base import (
    DEFAULT_WINDOW,
    Answer,
    Match,
    Record,
    Store,
    Window,
)
from simhash_gate.stores.ranking import best_match, reach
from simhash_gate.stores.sqlite.file import connect, failure
from simhash_gate.stores.sqlite.locks import RunLocks
from simhash_gate.stores.sqlite.mirror import Mirror, MirroredScope
from simhash_gate.stores.sqlite.rows import (
    DURABLE,
    INSERT,
    NUMBER,
    RUN,
    RUN_LIVES,
    RUN_NAME,
    SCOPE,
    SELECT,
    SELECT_ONE,
    SETTLED,
    Run,
    to_record,
    to_row,
)
from simhash_gate.stores.sqlite.transaction import Transaction
from simhash_gate.stores.sqlite.window import Inside, evict
from simhash_gate.stores.values import as_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


_PAGE = f"{SELECT} WHERE record.id > ? ORDER BY record.id LIMIT 1000"
_PAGE_OF_SCOPE = f"""{SELECT}
WHERE record.id > ? AND scope = (SELECT id FROM scope WHERE name = CAST(? AS TEXT))
ORDER BY record.id LIMIT 1000
"""
_VERSIONS = "SELECT pipeline, count(*) FROM record GROUP BY pipeline"
_SEE = "UPDATE record SET last_seen = ? WHERE id = ?"
_IDENTICAL = """
SELECT id FROM record
WHERE id = ? AND scope = ? AND run = (SELECT id FROM run WHERE name = CAST(? AS TEXT))
    AND request = CAST(? AS TEXT)
"""
_LIVES = "SELECT live FROM run WHERE name = CAST(? AS TEXT)"
_SITE_MEMORY = """
SELECT repeated FROM site_memory JOIN scope ON scope.id = scope WHERE name = CAST(? AS TEXT)
"""
_FORGET = "DELETE FROM record WHERE id = ?"
_SETTLE = "UPDATE record SET settled = max(settled, ?) WHERE id = ?"


class SQLiteStore(Store):
    """Remembers kept pages in the SQLite file at `path`, made with its folders if there is none.

    Crawlers on one machine share it: one at a time writes, and waits up to `timeout` seconds for
    the others. A live run holds a lock file beside the database; a run whose lock is free without
    its having ended is dead, and its records are removed by the next `begin` or `records`, or when
    one of them would match. Until then they take up places in the window.
    """

    def __init__(self, path: str | Path, *, timeout: float = 10.0, create: bool = True) -> None:
        self.path = Path(path).absolute()
        self._db = connect(self.path, timeout, create=create)
        self._locks = RunLocks(self.path)
        self._mirror = Mirror()
        self._transaction = Transaction(self._db, self.path, self._mirror)
        self._runs: dict[str, int] = {}

    def begin(self, run: str) -> None:
        """Open a run and take its lock; remove what dead runs left, their lock files too."""
        with self._transaction as db:
            self._locks.sweep(self._reap(db))
            known = "SELECT 1 FROM run WHERE name = CAST(? AS TEXT)"
            if db.execute(known, (as_bytes(run),)).fetchone() or not self._locks.take(run):
                raise self._transaction.error(f"run {run!r} was begun before; take a new name")
            add = "INSERT INTO run (name, live) VALUES (CAST(? AS TEXT), 1)"
            number = db.execute(add, (as_bytes(run),)).lastrowid
        self._runs[run] = number or 0

    def renew(self, run: str) -> None:
        """Write, to see that it can be done; the lock speaks for the run."""
        with self._transaction as db:
            db.execute("UPDATE run SET live = 1 WHERE id = ?", (self._number(run),))

    def end(self, run: str) -> None:
        """Close a run: commit that its records count, then let go of its lock."""
        with self._transaction as db:
            db.execute("UPDATE run SET live = 0 WHERE id = ?", (self._number(run),))
            self._mirror.outdate()
        with self._transaction.lock:
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
        with self._transaction as db:
            scope = self._mirror.scope(db, record.scope)
            found = None
            if radius is not None:
                limit = near if near > radius else radius
                met = scope.near(record, reach(radius, near), limit)
                if met:
                    inside = Inside(scope, record, window, exact)
                    load = partial(self._compared, db, inside)
                    found = best_match(inside.candidates(db, met), load, radius, dismissed)
                if found and found[1].distance <= radius:
                    number, (other, distance) = found
                    return Answer(False, Match(_see(db, number, other, record.last_seen), distance))
            number = self._mirror.next_number(db)
            db.execute(INSERT, to_row(number, record, scope.number, run))
            scope.add(number, record)
            evict(db, scope, window, record)
            return Answer(True, found[1] if found else None)

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        with self._transaction as db:
            numbers = self._find(db, record)
            db.executemany(_FORGET, [(number,) for number in numbers])
            self._mirror.outdate()
            return bool(numbers)

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark records settled, all in one transaction."""
        mark = DURABLE if durable else SETTLED
        with self._transaction as db:
            marked = [(mark, number) for record in records for number in self._find(db, record)]
            db.executemany(_SETTLE, marked)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None."""
        with self._transaction as db:
            numbers = self._find(db, record)
            scope = self._mirror.scope(db, record.scope)
            return self._load(db, scope, numbers[-1]) if numbers else None

    def is_live(self, run: str) -> bool:
        """Tell whether a run has not ended, and its lock is held."""
        with self._transaction as db:
            found = db.execute(_LIVES, (as_bytes(run),)).fetchone()
            return bool(found and found[0]) and not self._is_dead(run)

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered, oldest first; read in parts, so that others can go on."""
        with self._transaction as db:
            self._reap(db)
        page, names = (_PAGE, ()) if scope is None else (_PAGE_OF_SCOPE, (as_bytes(scope),))
        last: int | None = 0
        while last is not None:
            with self._transaction as db:
                rows = db.execute(page, (last, *names)).fetchall()
            for row in rows:
                run = Run(row[RUN_NAME], bool(row[RUN_LIVES]))
                yield to_record(row[SCOPE], run, row)
            last = rows[-1][NUMBER] if rows else None

    def versions(self) -> Mapping[str, int]:
        """Count without writing, so that crawlers can go on; those of the dead are counted too."""
        with self._transaction.lock:
            self._transaction.require_open()
            try:
                return dict(self._db.execute(_VERSIONS).fetchall())
            except sqlite3.Error as error:
                raise failure(self.path, error) from error

    def site_memory(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        with self._transaction as db:
            row = db.execute(_SITE_MEMORY, (as_bytes(scope),)).fetchone()
            return bytes(row[0]) if row else b""

    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Write it in place of what was there."""
        with self._transaction as db:
            number = self._mirror.scope(db, scope).number
            db.execute("INSERT OR REPLACE INTO site_memory VALUES (?, ?)", (number, memory))

    def close(self) -> None:
        """Let go of the file and of the locks of all runs; who was not ended is dead now."""
        with self._transaction.lock:
            self._runs.clear()
            self._locks.drop()
            self._transaction.close()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make one transaction of all calls in the block: if one fails, all are taken back."""
        with self._transaction:
            self._transaction.batched = True
            try:
                yield
            finally:
                self._transaction.batched = False
            self._transaction.require_whole()

    def _number(self, run: str) -> int:
        number = self._runs.get(run)
        if number is None:
            self._transaction.require_open()
            raise self._transaction.error(f"run {run!r} is not live here; begin it first")
        return number

    def _is_dead(self, run: str) -> bool:
        return run not in self._runs and self._locks.is_dead(run)

    def _reap(self, db: sqlite3.Cursor) -> list[str]:
        """Remove the records of runs found dead; return the names of those that live."""
        live = []
        for number, name in db.execute("SELECT id, name FROM run WHERE live").fetchall():
            if self._is_dead(name):
                self._bury(db, number)
            else:
                live.append(name)
        return live

    def _load(self, db: sqlite3.Cursor, scope: MirroredScope, number: int) -> Record | None:
        """Return a record, or None if it died with its run: a match is looked at closely."""
        row = db.execute(SELECT_ONE, (number, scope.number)).fetchone()
        if row is None:
            return None
        run = self._mirror.run(db, row[RUN])
        if run.live and self._is_dead(run.name):
            self._bury(db, row[RUN])
            return self._load(db, scope, number)
        return to_record(scope.name, run, row)

    def _compared(self, db: sqlite3.Cursor, inside: Inside, number: int) -> Record | None:
        """Return a record that `inside` came across, or None if it isn't to be compared."""
        other = self._load(db, inside.scope, number)
        return other if other is not None and inside.holds(db, number, other) else None

    def _bury(self, db: sqlite3.Cursor, run: int) -> None:
        """Remove a dead run and its records but the durable ones; with these it counts as ended."""
        db.execute("DELETE FROM record WHERE run = ? AND settled < ?", (run, DURABLE))
        db.execute("UPDATE run SET live = 0 WHERE id = ?", (run,))
        db.execute("DELETE FROM run WHERE id = ? AND id NOT IN (SELECT run FROM record)", (run,))
        self._mirror.outdate()

    def _find(self, db: sqlite3.Cursor, record: Record) -> list[int]:
        """Return the numbers of the records with this identity, in order."""
        scope = self._mirror.scope(db, record.scope)
        names = (scope.number, as_bytes(record.run), as_bytes(record.request))
        return [
            number
            for number in scope.numbers(record.fingerprint)
            if db.execute(_IDENTICAL, (number, *names)).fetchone()
        ]


def _see(db: sqlite3.Cursor, number: int, record: Record, last_seen: float) -> Record:
    if last_seen <= record.last_seen:
        return record
    db.execute(_SEE, (last_seen, number))
    return record.seen(last_seen)
