"""Texts of pages in a SQLite store, within a budget; inside the store's transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.stores.base import KeptText
from simhash_gate.stores.values import as_bytes, signed, unsigned

if TYPE_CHECKING:
    import sqlite3

_GET = "SELECT data FROM kept_text WHERE scope = CAST(? AS TEXT) AND digest = ?"
_BEFORE = "SELECT at FROM kept_text WHERE scope = CAST(? AS TEXT) AND digest = ?"
_REMOVE = "DELETE FROM kept_text WHERE scope = CAST(? AS TEXT) AND digest = ?"
_INSERT = """
INSERT INTO kept_text (scope, digest, at, size, data) VALUES (CAST(? AS TEXT), ?, ?, ?, ?)
"""
_OLDEST = "DELETE FROM kept_text WHERE id = (SELECT id FROM kept_text ORDER BY at, id LIMIT 1)"
_SIZE = "SELECT bytes FROM texts_size"
_LIST = """
SELECT id, scope, digest, at, size FROM kept_text
WHERE id > ?1 AND (?2 IS NULL OR scope = CAST(?2 AS TEXT)) ORDER BY id LIMIT 1000
"""


def get(db: sqlite3.Cursor, scope: str, digest: int) -> bytes:
    """Return a text; empty for none."""
    row = db.execute(_GET, _key(scope, digest)).fetchone()
    return bytes(row[0]) if row else b""


def keep(db: sqlite3.Cursor, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
    """Keep a text; the oldest go until all are `budget` bytes or less."""
    key = _key(scope, digest)
    before = db.execute(_BEFORE, key).fetchone()
    if before:
        at = max(at, before[0])
        db.execute(_REMOVE, key)
    db.execute(_INSERT, (*key, at, len(data), data))
    while size(db) > budget:
        db.execute(_OLDEST)


def forget(db: sqlite3.Cursor, scope: str, digest: int) -> None:
    """Remove a text, if it is there."""
    db.execute(_REMOVE, _key(scope, digest))


def listed(db: sqlite3.Cursor, after: int, scope: str | None) -> tuple[int | None, list[KeptText]]:
    """Return some of the texts, and the number after which there may be more."""
    rows = db.execute(_LIST, (after, None if scope is None else as_bytes(scope))).fetchall()
    some = [KeptText(name, unsigned(digest), at, size) for _, name, digest, at, size in rows]
    return rows[-1][0] if rows else None, some


def size(db: sqlite3.Cursor) -> int:
    """Return how many bytes all of them have."""
    return int(db.execute(_SIZE).fetchone()[0])


def _key(scope: str, digest: int) -> tuple[bytes, int]:
    return as_bytes(scope), signed(digest)
