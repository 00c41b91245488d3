"""Kept pages in a SQLite file: each call is one transaction, among threads and processes."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from functools import cache, partial
from os.path import samestat
from pathlib import Path
from typing import TYPE_CHECKING

from simhash_gate.stores.base import Answer, Lookup, Match, Record, Store
from simhash_gate.stores.nearby import best_match
from simhash_gate.stores.sqlite import histories, texts
from simhash_gate.stores.sqlite.blobs import SITE_NOTES, URL_RULES
from simhash_gate.stores.sqlite.file import connect, failure
from simhash_gate.stores.sqlite.locks import RunLocks
from simhash_gate.stores.sqlite.mirror import Mirror, scope_number
from simhash_gate.stores.sqlite.rows import (
    ADD_RUN,
    BURY,
    CLOSE_RUN,
    DROP_RUN,
    DURABLE,
    EMPTY_RUNS,
    FORGET,
    IDENTICAL,
    INSERT,
    LAST,
    LIVES,
    MARK,
    NUMBER,
    ONE,
    PAGE,
    PAGE_OF_SCOPE,
    RUN,
    RUN_LIVES,
    RUN_NAME,
    RUN_NUMBER,
    SEE,
    SETTLE,
    SETTLED,
    SITE_MEMORIES,
    SITE_MEMORY,
    SWEEP_SCOPES,
    SWEEP_SITE_MEMORIES,
    VERSIONS,
    to_record,
    to_row,
)
from simhash_gate.stores.values import as_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from simhash_gate.stores.base import KeptText, PageHistory


class SQLiteStore(Store):
    """Remembers kept pages in the SQLite file at `path`, made with its folders if there is none.

    Crawlers on one machine share it: one at a time writes, and waits up to `timeout` seconds for
    the others. A live run holds a lock file beside the database; a run whose lock is free without
    its having ended is dead, and its records are removed by the next `begin` or `sweep`, or when
    one of them would match. Until then they take up places in the window.
    """

    def __init__(self, path: str | Path, *, timeout: float = 10.0, create: bool = True) -> None:
        self.path = Path(path).absolute()
        super().__init__(f"SQLite store {self.path}")
        self._timeout = timeout
        self._connect(create=create)
        self._locks = RunLocks(self.path)
        self._mirror = Mirror()
        self._batched = False

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        with self._transaction() as db:
            numbers = self._find(db, record)
            db.executemany(FORGET, [(number,) for number in numbers])
            return bool(numbers)

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark records settled, all in one transaction."""
        mark = DURABLE if durable else SETTLED
        with self._transaction() as db:
            marked = [(mark, number) for record in records for number in self._find(db, record)]
            db.executemany(SETTLE, marked)
            for record in records if durable else ():
                histories.make_durable(db, record)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None."""
        with self._transaction() as db:
            numbers = self._find(db, record)
            return self._load(db, numbers[-1]) if numbers else None

    def see(self, record: Record, at: float) -> None:
        """Move `last_seen` of the record, if it is there."""
        with self._transaction() as db:
            db.executemany(SEE, [(at, number) for number in self._find(db, record)])

    def is_live(self, run: str) -> bool:
        """Tell whether a run has not ended, and its lock is held."""
        with self._transaction() as db:
            found = db.execute(LIVES, (as_bytes(run),)).fetchone()
            return bool(found and found[0]) and not self._is_dead(run)

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered, oldest first; read in parts, so that others can go on."""
        page, names = (PAGE, ()) if scope is None else (PAGE_OF_SCOPE, (as_bytes(scope),))
        dead = cache(self._is_dead)
        last: int | None = 0
        while last is not None:
            with self._transaction() as db:
                rows = db.execute(page, (last, *names)).fetchall()
                some = [
                    to_record(row)
                    for row in rows
                    if not row[RUN_LIVES] or row[MARK] == DURABLE or not dead(row[RUN_NAME])
                ]
            yield from some
            last = rows[-1][NUMBER] if rows else None

    def versions(self) -> Mapping[str, int]:
        """Count without writing, so that crawlers can go on; those of the dead are counted too."""
        with self._transaction("DEFERRED") as db:
            return dict(db.execute(VERSIONS).fetchall())

    def site_memory(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        with self._transaction() as db:
            row = db.execute(SITE_MEMORY, (as_bytes(scope),)).fetchone()
            return bytes(row[0]) if row else b""

    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Write it in place of what was there."""
        with self._transaction() as db:
            number = scope_number(db, scope)
            db.execute("INSERT OR REPLACE INTO site_memory VALUES (?, ?)", (number, memory))

    def site_memories(self) -> Iterator[tuple[str, bytes]]:
        """Yield them, read in parts, so that others can go on."""
        last: int | None = 0
        while last is not None:
            with self._transaction("DEFERRED") as db:
                rows = db.execute(SITE_MEMORIES, (last,)).fetchall()
            yield from ((name, bytes(memory)) for name, memory, _ in rows)
            last = rows[-1][2] if rows else None

    def url_rules(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        with self._transaction("DEFERRED") as db:
            return URL_RULES.get(db, scope)

    def keep_url_rules(self, scope: str, rules: bytes) -> None:
        """Write it in place of what was there."""
        with self._transaction() as db:
            URL_RULES.keep(db, scope, rules)

    def all_url_rules(self) -> Iterator[tuple[str, bytes]]:
        """Yield them as they were at the time of the call."""
        with self._transaction("DEFERRED") as db:
            return iter(URL_RULES.all(db))

    def site_notes(self, scope: str) -> bytes:
        """Return what was noted last."""
        with self._transaction("DEFERRED") as db:
            return SITE_NOTES.get(db, scope)

    def keep_site_notes(self, scope: str, notes: bytes) -> None:
        """Write them in place of what was there."""
        with self._transaction() as db:
            SITE_NOTES.keep(db, scope, notes)

    def all_site_notes(self) -> Iterator[tuple[str, bytes]]:
        """Yield them as they were at the time of the call."""
        with self._transaction("DEFERRED") as db:
            return iter(SITE_NOTES.all(db))

    def history(self, scope: str, request: str, run: str) -> bytes:
        """Return what counts for the run; read without writing."""
        with self._transaction("DEFERRED") as db:
            return histories.newest(db, scope, request, run)

    def forget_history(self, scope: str, request: str, run: str | None = None) -> None:
        """Remove it."""
        with self._transaction() as db:
            histories.forget(db, scope, request, run)

    def histories(self, scope: str | None = None) -> Iterator[PageHistory]:
        """Yield them, read in parts, so that others can go on."""
        last: int | None = 0
        while last is not None:
            with self._transaction("DEFERRED") as db:
                last, some = histories.counting(db, last, scope)
            yield from some

    def text(self, scope: str, digest: int) -> bytes:
        """Return it, read without writing."""
        with self._transaction("DEFERRED") as db:
            return texts.get(db, scope, digest)

    def keep_text(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep it, and let the oldest go."""
        with self._transaction() as db:
            texts.keep(db, scope, digest, data, at, budget)

    def forget_text(self, scope: str, digest: int) -> None:
        """Remove it."""
        with self._transaction() as db:
            texts.forget(db, scope, digest)

    def texts(self, scope: str | None = None) -> Iterator[KeptText]:
        """Yield which there are, read in parts, so that others can go on."""
        last: int | None = 0
        while last is not None:
            with self._transaction("DEFERRED") as db:
                last, some = texts.listed(db, last, scope)
            yield from some

    def texts_size(self) -> int:
        """Return how many bytes they have."""
        with self._transaction("DEFERRED") as db:
            return texts.size(db)

    def sweep(self) -> None:
        """Remove them; while a run lives, its store has the numbers of scopes at hand."""
        with self._transaction("DEFERRED") as db:  # others can write meanwhile
            empty = db.execute(EMPTY_RUNS).fetchall()  # an ended run gets no more pages
        with self._transaction() as db:
            db.execute(SWEEP_SITE_MEMORIES)
            db.executemany("DELETE FROM run WHERE id = ?", empty)
            if not self._reap(db):
                db.execute(SWEEP_SCOPES)
                self._mirror.clear()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make one transaction of all calls in the block: if one fails, all are taken back."""
        with self._transaction():
            self._batched = True
            try:
                yield
            finally:
                self._batched = False
            self._require_whole()

    def _begin(self, run: str) -> bool:
        """Take the lock of a run; remove what dead runs left, their lock files too."""
        with self._transaction() as db:
            self._mirror.clear()  # scopes may have been swept
            self._locks.sweep(self._reap(db))
            if db.execute(RUN_NUMBER, (as_bytes(run),)).fetchone() or not self._locks.take(run):
                return False
            db.execute(ADD_RUN, (as_bytes(run),))
        return True

    def _renew(self, run: str) -> None:
        """Write, to see that it can be done; the lock speaks for the run."""
        self._follow()
        with self._transaction() as db:
            db.execute("UPDATE run SET live = 1 WHERE id = ?", (self._number(db, run),))

    def _end(self, run: str) -> None:
        """Commit that the records of a run count, then let go of its lock."""
        self._follow()
        with self._transaction() as db:
            db.execute(CLOSE_RUN, (self._number(db, run),))
        self._locks.release(run)

    def _look_up(self, lookup: Lookup) -> Answer:
        """Look and add in one transaction."""
        record = lookup.record
        with self._transaction() as db:
            run = self._number(db, record.run)  # first: with it the scopes are lost
            scope = self._mirror.scope(db, record.scope)
            found = None
            if lookup.radius is not None:
                candidates = scope.candidates(db, lookup)
                if candidates:
                    found = best_match(lookup, candidates, partial(self._load, db))
                if found and found[1].distance <= lookup.radius:
                    number, (other, distance) = found
                    seen = lookup.seen(other)
                    if seen is not other:
                        db.execute(SEE, (seen.last_seen, number))
                    return Answer(False, Match(seen, distance))
            number = db.execute(LAST).fetchone()[0] + 1
            db.execute(INSERT, to_row(number, record, scope.number, run))
            scope.add(number, record.pipeline, record.fingerprint)
            scope.evict(db, lookup.window, record)
            return Answer(True, found[1] if found else None)

    def _keep_history(self, history: PageHistory) -> None:
        """Write it in one transaction."""
        with self._transaction() as db:
            histories.keep(db, history, self._number(db, history.run))

    def _close(self) -> None:
        """Let go of the file and of the locks of all runs."""
        self._locks.drop()
        self._db.close()

    def _connect(self, *, create: bool = True) -> None:
        self._db = connect(self.path, self._timeout, create=create)
        self._cursor = self._db.cursor()
        self._file = self.path.stat()

    def _follow(self) -> None:
        """Leave a file that was removed or replaced: what is written there, nobody ever reads."""
        before = self._db
        if not (self.path.exists() and samestat(self._file, self.path.stat())):
            self._connect()
            before.close()

    @contextmanager
    def _transaction(self, kind: str = "IMMEDIATE") -> Iterator[sqlite3.Cursor]:
        """Have the database alone for a block, which is done completely or not at all.

        Blocks inside a batch are parts of one transaction.
        """
        with self._lock:
            self._require_open()
            try:
                if self._batched:
                    self._require_whole()
                else:
                    self._cursor.execute(f"BEGIN {kind}")
                yield self._cursor
                if not self._batched:
                    self._cursor.execute("COMMIT")
            except BaseException as error:
                self._take_back()
                # A damaged file can hold text that is none.
                if isinstance(error, (sqlite3.Error, UnicodeError, OSError)):
                    raise failure(self.path, error) from error
                raise

    def _take_back(self) -> None:
        self._mirror.clear()
        # SQLite itself may have rolled back already, as it does when the disk is full.
        if self._db.in_transaction:
            self._cursor.execute("ROLLBACK")

    def _require_whole(self) -> None:
        """Raise StoreError if a part of the batch has failed."""
        if not self._db.in_transaction:
            raise self._error("a call of this batch failed, and all were taken back")

    def _number(self, db: sqlite3.Cursor, run: str) -> int:
        """Return the number of a run that is live here. One that somebody removed begins anew."""
        row = db.execute(RUN_NUMBER, (as_bytes(run),)).fetchone()
        if row is None:
            self._lost.add(run)
            self._mirror.clear()
            self._locks.release(run)  # its file may be gone, too
            self._locks.take(run)
            return db.execute(ADD_RUN, (as_bytes(run),)).lastrowid or 0
        return int(row[0])

    def _is_dead(self, run: str) -> bool:
        return run not in self._live and self._locks.is_dead(run)

    def _reap(self, db: sqlite3.Cursor) -> list[str]:
        """Remove the records of runs found dead; return the names of those that live."""
        live = []
        for number, name in db.execute("SELECT id, name FROM run WHERE live").fetchall():
            if self._is_dead(name):
                _bury(db, number)
            else:
                live.append(name)
        return live

    def _load(self, db: sqlite3.Cursor, number: int) -> Record | None:
        """Return a record, or None if it is gone, or died with its run."""
        row = db.execute(ONE, (number,)).fetchone()
        if row is not None and row[RUN_LIVES] and self._is_dead(row[RUN_NAME]):
            _bury(db, row[RUN])
            row = db.execute(ONE, (number,)).fetchone()
        return to_record(row) if row is not None else None

    def _find(self, db: sqlite3.Cursor, record: Record) -> list[int]:
        """Return the numbers of the records with this identity, in order."""
        scope = self._mirror.scope(db, record.scope)
        names = (scope.number, as_bytes(record.run), as_bytes(record.request))
        return [
            number
            for number in scope.nearby.numbers(record.fingerprint)
            if db.execute(IDENTICAL, (number, *names)).fetchone()
        ]


def _bury(db: sqlite3.Cursor, run: int) -> None:
    """Remove a dead run and its records but the durable ones; with these it counts as ended."""
    db.execute(BURY, (run, DURABLE))
    histories.bury(db, run)
    db.execute(CLOSE_RUN, (run,))
    db.execute(DROP_RUN, (run,))
