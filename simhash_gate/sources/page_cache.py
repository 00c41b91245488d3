"""The cache of pages that were read: a command that was ended goes on where it was.

A page is known by its bytes, URL, encoding and pipeline version, so a changed page is read again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import TYPE_CHECKING

from simhash_gate.common.files import open_database, private_folder
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simhash_gate.options import Options
    from simhash_gate.sources import Entry

_SCHEMA = 2
_PATIENCE = 10.0  # seconds to wait for another command that writes
_TABLE = "CREATE TABLE IF NOT EXISTS read (key BLOB PRIMARY KEY, page TEXT NOT NULL) WITHOUT ROWID"
_FIELDS = ("title", "words", "fingerprint", "digest", "listing", "reason")


class PageCache:
    """A SQLite file of pages that were read. Raises OSError if it can't be opened.

    If it fails later, `say` is called once, and pages are read without it.
    """

    def __init__(self, path: Path, options: Options, say: Callable[[str], object]) -> None:
        self._path = path
        self._say = say
        self._salt = f"{_SCHEMA} {pipeline_version(options)}".encode()
        self._failed = False
        try:
            private_folder(path.parent)
            # Each page is on disk at once, for a command that is killed.
            self._db = open_database(path, timeout=_PATIENCE, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(_TABLE)
        except sqlite3.Error as error:
            raise OSError(
                f"this is not a page cache: {error}. Move the file away, or name another with "
                "--cache"
            ) from None

    def key(self, entry: Entry) -> bytes:
        """Return what a page is known by: a digest of 16 bytes."""
        digest = hashlib.blake2b(self._salt, digest_size=16)
        url, encoding = entry.url.encode("utf-8", "surrogatepass"), (entry.encoding or "").encode()
        for part in (url, encoding, entry.body):
            digest.update(b"%d:" % len(part))
            digest.update(part)
        return digest.digest()

    def get(self, key: bytes) -> Page | None:
        """Return a page that was read before, without its Markdown."""
        if self._failed:
            return None
        try:
            row = self._db.execute("SELECT page FROM read WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            self._fail(error)
            return None
        return None if row is None else Page(*json.loads(row[0]))

    def keep(self, key: bytes, page: Page) -> None:
        """Keep a page that was read."""
        if self._failed or page.unreadable:
            return
        known = json.dumps([getattr(page, name) for name in _FIELDS])
        try:
            self._db.execute("INSERT OR REPLACE INTO read VALUES (?, ?)", (key, known))
        except sqlite3.Error as error:
            self._fail(error)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _fail(self, error: sqlite3.Error) -> None:
        self._say(f"{self._path}: the page cache failed: {error}. Pages are read without it")
        self._failed = True
