"""The window of a scope in a SQLite store: what a lookup compares, and what falls out of it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.stores.ranking import Candidate, unlikeness
from simhash_gate.stores.values import signed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from simhash_gate.stores.base import Record, Window
    from simhash_gate.stores.sqlite.mirror import MirroredScope

_INSIDE = """
SELECT id, request, coalesce(substr(sketch, 1, 8), x'') FROM record
WHERE +scope = ? AND id >= ? AND first_seen >= ? AND digest = coalesce(?, digest) AND id IN ({})
"""
_FIRST_OF_WINDOW = "SELECT id FROM record WHERE scope = ? ORDER BY id DESC LIMIT 1 OFFSET ?"
_OVERFLOW = "SELECT id, fingerprint, pipeline FROM record WHERE scope = ? ORDER BY id LIMIT ?"
_AGED = """
SELECT id, fingerprint, pipeline FROM record WHERE scope = ?1 AND id > ?2 AND id <
    (SELECT id FROM record WHERE scope = ?1 AND id > ?2 AND first_seen >= ?3 ORDER BY id LIMIT 1)
ORDER BY id
"""
_EVICT = "DELETE FROM record WHERE scope = ? AND id <= ?"

_AFTER_ALL = (1 << 63) - 1
# SQLite before 3.32 takes 999 parameters.
_MOST_AT_ONCE = 500


class Inside(NamedTuple):
    """What a lookup compares: the records of a scope that are inside the window of `record`."""

    scope: MirroredScope
    record: Record
    window: Window
    exact: bool

    def candidates(self, db: sqlite3.Cursor, near: Sequence[tuple[int, int]]) -> list[Candidate]:
        """Return those of `near`, numbers and distances, that are to be compared.

        One alone is left to `holds`, once it is read: most often it is the match.
        """
        if len(near) == 1:
            ((number, distance),) = near
            return [Candidate(number, distance, 0)]  # alone, it has no need of a rank
        distances = dict(near)
        numbers = list(distances)
        parameters = (
            self.scope.number,
            self._first(db),
            self.window.since(self.record),
            signed(self.record.digest) if self.exact else None,
        )
        return [
            Candidate(number, distances[number], unlikeness(self.record, request, key))
            for start in range(0, len(numbers), _MOST_AT_ONCE)
            for some in [numbers[start : start + _MOST_AT_ONCE]]
            for number, request, key in db.execute(_inside(len(some)), (*parameters, *some))
        ]

    def holds(self, db: sqlite3.Cursor, number: int, other: Record) -> bool:
        """Tell whether a record with this number is to be compared."""
        _, record, window, exact = self
        if exact and other.digest != record.digest:
            return False
        if window.seconds is not None and other.first_seen < window.since(record):
            return False
        return number >= self._first(db)

    def _first(self, db: sqlite3.Cursor) -> int:
        """Return the number of the first record of the window."""
        pages = self.window.pages
        if self.scope.kept(db) <= pages:
            return 0
        if pages <= 0:
            return _AFTER_ALL
        return int(db.execute(_FIRST_OF_WINDOW, (self.scope.number, pages - 1)).fetchone()[0])


@lru_cache(_MOST_AT_ONCE)
def _inside(count: int) -> str:
    return _INSIDE.format(", ".join("?" * count))


def evict(db: sqlite3.Cursor, scope: MirroredScope, window: Window, added: Record) -> None:
    """Remove what falls out of the window, oldest first."""
    overflow = scope.kept(db) - window.pages
    gone = db.execute(_OVERFLOW, (scope.number, overflow)).fetchall() if overflow > 0 else []
    if window.seconds is not None:
        last = gone[-1][0] if gone else 0  # it may be younger than what came after it
        gone += db.execute(_AGED, (scope.number, last, window.since(added))).fetchall()
    if gone:
        db.execute(_EVICT, (scope.number, gone[-1][0]))
        scope.remove(gone)
    scope.count(db)
