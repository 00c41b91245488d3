"""What a SQLite store keeps of a scope in one piece, whatever pages the scope has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.stores.values import as_bytes

if TYPE_CHECKING:
    import sqlite3


class Blobs:
    """A table with one blob for each scope, written and read inside the store's transactions."""

    def __init__(self, table: str, column: str) -> None:
        self._get = f"SELECT {column} FROM {table} WHERE scope = CAST(? AS TEXT)"
        self._keep = f"INSERT OR REPLACE INTO {table} VALUES (CAST(? AS TEXT), ?)"
        self._forget = f"DELETE FROM {table} WHERE scope = CAST(? AS TEXT)"
        self._all = f"SELECT scope, {column} FROM {table} ORDER BY scope"

    def get(self, db: sqlite3.Cursor, scope: str) -> bytes:
        """Return the blob of a scope; empty for none."""
        row = db.execute(self._get, (as_bytes(scope),)).fetchone()
        return bytes(row[0]) if row else b""

    def keep(self, db: sqlite3.Cursor, scope: str, blob: bytes) -> None:
        """Write it in place of what was there; an empty one removes it."""
        if blob:
            db.execute(self._keep, (as_bytes(scope), blob))
        else:
            db.execute(self._forget, (as_bytes(scope),))

    def all(self, db: sqlite3.Cursor) -> list[tuple[str, bytes]]:
        """Return each scope that has one, and what it has."""
        return [(scope, bytes(blob)) for scope, blob in db.execute(self._all).fetchall()]


URL_RULES = Blobs("url_rules", "rules")
SITE_NOTES = Blobs("site_notes", "notes")
