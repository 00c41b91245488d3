"""The scopes of a SQLite store: fingerprints in the memory of each process, and their window.

An index of blocks in the file makes SQLite change pages all over it for every record. So the file
holds the records in order of insertion, and a process the fingerprints of the scopes that it meets,
brought up to date inside the transaction with what others have added.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from simhash_gate.stores.nearby import Candidate, Nearby
from simhash_gate.stores.values import as_bytes, unsigned

if TYPE_CHECKING:
    import sqlite3

    from simhash_gate.stores.base import Lookup, Record, Window

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
_COMPARED = """
SELECT digest, last_seen, request, coalesce(substr(sketch, 1, 8), x'') FROM record WHERE id = ?
"""
_FIRST_OF_WINDOW = "SELECT id FROM record WHERE scope = ? ORDER BY id DESC LIMIT 1 OFFSET ?"
_AFTER_ALL = (1 << 63) - 1
_OVERFLOW = "SELECT id, fingerprint, pipeline FROM record WHERE scope = ? ORDER BY id LIMIT ?"
_AGED = """
SELECT id, fingerprint, pipeline FROM record WHERE scope = ?1 AND id > ?2 AND id <
    (SELECT id FROM record WHERE scope = ?1 AND id > ?2 AND last_seen >= ?3 ORDER BY id LIMIT 1)
ORDER BY id
"""
_EVICT = "DELETE FROM record WHERE scope = ? AND id <= ?"
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

    def candidates(self, db: sqlite3.Cursor, lookup: Lookup) -> list[Candidate]:
        """Return the records that are near a page and are to be compared with it."""
        near = self.nearby.near(lookup)
        first = self._first(db, lookup.window.pages) if near else 0
        candidates = []
        for number, distance in near:
            row = db.execute(_COMPARED, (number,)).fetchone() if number >= first else None
            if row is not None:
                digest, last_seen, request, sketch = row
                if lookup.admits(unsigned(digest), last_seen):
                    unlike = lookup.unlikeness(request, sketch)
                    candidates.append(Candidate(number, distance, unlike))
        return candidates

    def evict(self, db: sqlite3.Cursor, window: Window, added: Record) -> None:
        """Remove what falls out of the window, oldest first."""
        overflow = self._overflow(db, window.pages)
        gone = db.execute(_OVERFLOW, (self.number, overflow)).fetchall() if overflow > 0 else []
        if window.seconds is not None:
            last = gone[-1][0] if gone else 0  # it may have been seen after what came after it
            gone += db.execute(_AGED, (self.number, last, window.since(added))).fetchall()
        if gone:
            db.execute(_EVICT, (self.number, gone[-1][0]))
        for number, fingerprint, pipeline in gone:
            self.nearby.remove(number, pipeline, unsigned(fingerprint))
        self.size -= len(gone)

    def add(self, number: int, pipeline: str, fingerprint: int) -> None:
        """Take in a record that is new in the database."""
        self.nearby.add(number, pipeline, fingerprint)
        self.size += 1
        self._last = number

    def _first(self, db: sqlite3.Cursor, pages: int) -> int:
        """Return the number of the first of the last `pages` records."""
        if self._overflow(db, pages) <= 0:
            return 0
        if pages <= 0:
            return _AFTER_ALL
        return int(db.execute(_FIRST_OF_WINDOW, (self.number, pages - 1)).fetchone()[0])

    def _overflow(self, db: sqlite3.Cursor, pages: int) -> int:
        """Return how many records the scope has more than `pages`; negative for fewer."""
        most = self.size - pages  # what others have removed is still in it
        return most if most <= 0 else self._kept(db) - pages

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
