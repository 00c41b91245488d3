"""The fingerprints of a SQLite store, indexed in the memory of each process that uses it.

An index of blocks in the file makes SQLite change pages all over it for every record. So the file
holds the records in order of insertion, and a process the fingerprints of the scopes that it meets,
brought up to date inside the transaction with what others have added.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from simhash_gate.stores.nearby import Nearby
from simhash_gate.stores.values import as_bytes, unsigned

if TYPE_CHECKING:
    import sqlite3

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
_NUMBER = "SELECT id FROM scope WHERE name = CAST(? AS TEXT)"
_MAKE = "INSERT INTO scope (name) VALUES (CAST(? AS TEXT))"


class MirroredScope:
    """The fingerprints of one scope: of all its records, and maybe of some that are gone."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.nearby = Nearby()
        self.size = self.counted = 0
        self._last = 0

    def refresh(self, db: sqlite3.Cursor) -> None:
        """Take in what other processes have added."""
        if self._take_newer(db) and self.size > 2 * self._kept(db) + _LEFT_OVER:
            self.nearby = Nearby()
            self.size = self._last = 0
            self._take_newer(db)

    def overflow(self, db: sqlite3.Cursor, pages: int) -> int:
        """Return how many records the scope has more than `pages`; negative for fewer."""
        most = self.size - pages  # what others have removed is still in it
        return most if most <= 0 else self._kept(db) - pages

    def add(self, number: int, pipeline: str, fingerprint: int) -> None:
        """Take in a record that is new in the database."""
        self.nearby.add(number, pipeline, fingerprint)
        self.size += 1
        self._last = number

    def remove(self, number: int, pipeline: str, fingerprint: int) -> None:
        """Let go of a record that this process has removed."""
        self.nearby.remove(number, pipeline, fingerprint)
        self.size -= 1

    def _kept(self, db: sqlite3.Cursor) -> int:
        """Return how many records the scope has in the database."""
        counted, uncounted = db.execute(_KEPT, (self.number,)).fetchone()
        kept = int(counted + uncounted)
        if uncounted >= _UNCOUNTED:
            db.execute(_COUNTED, (kept, self._last, self.number))
        return kept

    def _take_newer(self, db: sqlite3.Cursor) -> bool:
        """Take in the records after the last one that is known; tell whether there are any."""
        before = self._last
        for number, fingerprint, pipeline in db.execute(_NEWER, (self.number, before)):
            self.add(number, pipeline, unsigned(fingerprint))
        return self._last > before


class Mirror:
    """The scopes of a store that this process has met, the ones met longest ago first."""

    def __init__(self, most: int = MOST_MIRRORED) -> None:
        self._most = most
        self._total = 0
        self._scopes: OrderedDict[str, MirroredScope] = OrderedDict()

    def scope(self, db: sqlite3.Cursor, name: str) -> MirroredScope:
        """Return a scope as it is now in the database; made if there is none."""
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = MirroredScope(scope_number(db, name))
        self._scopes.move_to_end(name)
        scope.refresh(db)
        self._total += scope.size - scope.counted
        scope.counted = scope.size
        while self._total > self._most and len(self._scopes) > 1:
            _, oldest = self._scopes.popitem(last=False)
            self._total -= oldest.counted
        return scope

    def clear(self) -> None:
        """Let go of everything: a transaction was rolled back."""
        self._scopes.clear()
        self._total = 0


def scope_number(db: sqlite3.Cursor, name: str) -> int:
    """Return the number of a scope; made if there is none."""
    row = db.execute(_NUMBER, (as_bytes(name),)).fetchone()
    return int(row[0]) if row else db.execute(_MAKE, (as_bytes(name),)).lastrowid or 0
