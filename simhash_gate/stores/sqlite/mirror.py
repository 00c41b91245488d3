"""The fingerprints of a SQLite store, indexed in the memory of each process that uses it.

An index of blocks in the file makes SQLite change pages all over it for every record. So the file
holds the records in order of insertion, and a process the fingerprints of the scopes that it meets,
brought up to date inside the transaction with what others have added.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING

from simhash_gate.stores.shelf import Shelf
from simhash_gate.stores.sqlite.rows import Run
from simhash_gate.stores.values import as_bytes, unsigned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.stores.base import Record

MOST_MIRRORED = 1_000_000
"""More fingerprints than these, at some 500 bytes each, and the longest unused scopes go."""

# What others remove is noticed when it would match. Beyond so many left over, all is read afresh.
_LEFT_OVER = 1_000

# So many records of a scope are counted one by one before their count is written down.
_UNCOUNTED = 256

_NEWER = "SELECT id, fingerprint, pipeline FROM record WHERE scope = ? AND id > ? ORDER BY id"
_KEPT = """
SELECT kept, (SELECT count(*) FROM record WHERE record.scope = here.id AND record.id > counted)
FROM scope AS here WHERE id = ?
"""
_COUNTED = "UPDATE scope SET kept = ?, counted = ? WHERE id = ?"
_LAST = "SELECT max(last, coalesce((SELECT max(id) FROM record), 0)) FROM sequence"
_MAKE = "INSERT INTO scope (name) VALUES (CAST(? AS TEXT))"
_NUMBER = "SELECT id FROM scope WHERE name = CAST(? AS TEXT)"
_RUN = "SELECT name, live FROM run WHERE id = ?"


class MirroredScope:
    """The fingerprints of one scope: of all its records, and maybe of some that are gone."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.size = self.counted = 0
        self.version: int | None = None
        self._kept: int | None = None
        self._uncounted = 0
        self._last = 0
        self._shelves: defaultdict[str, Shelf] = defaultdict(Shelf)

    def refresh(self, db: sqlite3.Cursor, version: int) -> None:
        """Take in what other processes have added until this version of the database."""
        self.version, self._kept = version, None
        if self.size > 2 * self.kept(db) + _LEFT_OVER:
            self.size = self._last = 0
            self._shelves.clear()
        for number, fingerprint, pipeline in db.execute(_NEWER, (self.number, self._last)):
            self._put(number, pipeline, unsigned(fingerprint))

    def outdate(self) -> None:
        """Count the records anew when asked next."""
        self._kept = None

    def kept(self, db: sqlite3.Cursor) -> int:
        """Return how many records the scope has."""
        if self._kept is None:
            counted, self._uncounted = db.execute(_KEPT, (self.number,)).fetchone()
            self._kept = int(counted + self._uncounted)
        return self._kept

    def count(self, db: sqlite3.Cursor) -> None:
        """Write down how many records the scope has, if there are many to count."""
        if self._kept is not None and self._uncounted >= _UNCOUNTED:
            db.execute(_COUNTED, (self._kept, self._last, self.number))
            self._uncounted = 0

    def add(self, number: int, record: Record) -> None:
        """Take in a record that this process has added."""
        self._put(number, record.pipeline, record.fingerprint)
        if self._kept is not None:
            self._kept += 1
            self._uncounted += 1

    def remove(self, rows: Iterable[tuple[int, int, str]]) -> None:
        """Let go of records that this process has removed: number, column fingerprint, pipeline."""
        for number, fingerprint, pipeline in rows:
            self._shelves[pipeline].remove(number, unsigned(fingerprint))
            if not self._shelves[pipeline]:
                del self._shelves[pipeline]
            self.size -= 1
            if self._kept is not None:
                self._kept -= 1

    def near(self, record: Record, radius: int, limit: int) -> list[tuple[int, int]]:
        """Return number and distance of records near to another one; see `Shelf.near`."""
        shelf = self._shelves.get(record.pipeline)
        return shelf.near(record.fingerprint, radius, limit) if shelf is not None else []

    def numbers(self, fingerprint: int) -> list[int]:
        """Return the numbers of the records with exactly this fingerprint, in order."""
        return sorted(
            number for shelf in self._shelves.values() for number in shelf.numbers(fingerprint)
        )

    def _put(self, number: int, pipeline: str, fingerprint: int) -> None:
        self._shelves[pipeline].add(number, fingerprint)
        self.size += 1
        self._last = number


class Mirror:
    """The scopes of a store that this process has met, the ones met longest ago first; its runs.

    `begin` goes before a transaction, `scope` inside it, and before `run`.
    """

    def __init__(self, most: int = MOST_MIRRORED) -> None:
        self._most = most
        self._total = 0
        self._scopes: OrderedDict[str, MirroredScope] = OrderedDict()
        self._version: int | None = None
        self._last: tuple[int, int | None] = (0, None)
        self._runs: dict[int, Run] = {}
        self._runs_version: int | None = None

    def begin(self) -> None:
        """Take note that other processes may have changed the database."""
        self._version = None

    def scope(self, db: sqlite3.Cursor, name: str) -> MirroredScope:
        """Return a scope as it is now in the database; made if there is none."""
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = MirroredScope(name, _number(db, name))
        else:
            self._scopes.move_to_end(name)
        if self._version is None:
            # Changes when another connection has changed the database.
            (self._version,) = db.execute("PRAGMA data_version").fetchone()
        if scope.version != self._version:
            scope.refresh(db, self._version)
        self._total += scope.size - scope.counted
        scope.counted = scope.size
        while self._total > self._most and len(self._scopes) > 1:
            _, oldest = self._scopes.popitem(last=False)
            self._total -= oldest.counted
        return scope

    def next_number(self, db: sqlite3.Cursor) -> int:
        """Return a number for a record, greater than any before."""
        last, version = self._last
        if version is None or version != self._version:
            last = int(db.execute(_LAST).fetchone()[0])
        self._last = (last + 1, self._version)
        return last + 1

    def run(self, db: sqlite3.Cursor, number: int) -> Run:
        """Return a run that has records."""
        if self._runs_version != self._version:
            self._runs_version = self._version
            self._runs.clear()
        run = self._runs.get(number)
        if run is None:
            row = db.execute(_RUN, (number,)).fetchone()
            if row is None:
                raise sqlite3.DatabaseError(f"records of run {number}, but no such run")
            run = self._runs[number] = Run(row[0], bool(row[1]))
        return run

    def outdate(self) -> None:
        """Take note that this process changed runs, or removed records: they are left over here."""
        self._runs.clear()
        for scope in self._scopes.values():
            scope.outdate()

    def clear(self) -> None:
        """Let go of everything: a transaction was rolled back."""
        self._scopes.clear()
        self._runs.clear()
        self._total = 0
        self._last = (0, None)


def _number(db: sqlite3.Cursor, name: str) -> int:
    row = db.execute(_NUMBER, (as_bytes(name),)).fetchone()
    return int(row[0]) if row else db.execute(_MAKE, (as_bytes(name),)).lastrowid or 0
