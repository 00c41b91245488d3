"""The transactions of a SQLite store: one at a time, all of it or nothing."""

from __future__ import annotations

import sqlite3
from threading import RLock
from typing import TYPE_CHECKING

from simhash_gate.stores.base import StoreError
from simhash_gate.stores.sqlite.file import failure

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from simhash_gate.stores.sqlite.mirror import Mirror


class Transaction:
    """`with` it, a block has the database alone, among threads and processes, or raises StoreError.

    What the block does is done as a whole, or not at all. One object serves all blocks of a store,
    with one cursor: to make them anew for each page would take as long as to look for it.
    While `batched` is set, inside a block, further blocks are parts of that one.
    """

    def __init__(self, db: sqlite3.Connection, path: Path, mirror: Mirror) -> None:
        self.lock = RLock()
        self.batched = False
        self._db = db
        self._cursor = db.cursor()
        self._path = path
        self._mirror = mirror
        self._closed = False

    def __enter__(self) -> sqlite3.Cursor:
        self.lock.acquire()
        try:
            if self._closed or self.batched:
                self.require_open()
                self.require_whole()
            else:
                self._mirror.begin()
                self._cursor.execute("BEGIN IMMEDIATE")
        except BaseException as error:
            self._fail(error)
            raise
        return self._cursor

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        if error is None:
            try:
                if not self.batched:
                    self._cursor.execute("COMMIT")
            except BaseException as refused:
                self._fail(refused)
                raise
            self.lock.release()
        else:
            self._fail(error)

    def close(self) -> None:
        """Let go of the database; further blocks raise StoreError."""
        self._closed = True
        self._db.close()

    def error(self, what: str) -> StoreError:
        """Return what is to be raised when a call can't be answered."""
        return StoreError(f"SQLite store {self._path}: {what}")

    def require_open(self) -> None:
        """Raise StoreError once the database is closed."""
        if self._closed:
            raise self.error("it is closed")

    def require_whole(self) -> None:
        """Raise StoreError if a part of the block has failed."""
        if not self._db.in_transaction:
            raise self.error("a call of this batch failed, and all were taken back")

    def _fail(self, error: BaseException) -> None:
        """Take all back; raise what the database or the disk reports as StoreError."""
        try:
            self._mirror.clear()
            # SQLite itself may have rolled back already, as it does when the disk is full.
            if not self._closed and self._db.in_transaction:
                self._cursor.execute("ROLLBACK")
        finally:
            self.lock.release()
        # A damaged file can hold text that is none.
        if isinstance(error, (sqlite3.Error, UnicodeError, OSError)):
            raise failure(self._path, error) from error
