"""The cache of pages that were read: a command that was ended goes on where it was.

A page is known by its bytes, URL, encoding and pipeline version, so a changed page is read again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING

from simhash_gate.common.encoded import signed, unsigned
from simhash_gate.common.files import open_database, private_folder
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simhash_gate.options import Options
    from simhash_gate.sources import Entry

_SCHEMA = 1
_PATIENCE = 10.0  # seconds to wait for another command that writes
_TABLE = (
    "CREATE TABLE IF NOT EXISTS page (key BLOB PRIMARY KEY, title TEXT, words INTEGER,"
    " fingerprint INTEGER, digest INTEGER, listing INTEGER, reason TEXT) WITHOUT ROWID"
)
_SELECT = "SELECT title, words, fingerprint, digest, listing, reason FROM page WHERE key = ?"
_INSERT = "INSERT OR REPLACE INTO page VALUES (?,?,?,?,?,?,?)"


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
            row = self._db.execute(_SELECT, (key,)).fetchone()
        except sqlite3.Error as error:
            self._fail(error)
            return None
        if row is None:
            return None
        title, words, fingerprint, digest, listing, reason = row
        bits = None if fingerprint is None else unsigned(fingerprint)
        return Page(title, words, bits, unsigned(digest), bool(listing), reason)

    def keep(self, key: bytes, page: Page) -> None:
        """Keep a page that was read."""
        if self._failed or page.unreadable:
            return
        # SQLite has no unsigned numbers, and no lone surrogates.
        title = page.title.encode("utf-8", "replace").decode("utf-8")
        bits = None if page.fingerprint is None else signed(page.fingerprint)
        row = (key, title, page.words, bits, signed(page.digest), page.listing, page.reason)
        try:
            self._db.execute(_INSERT, row)
        except sqlite3.Error as error:
            self._fail(error)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _fail(self, error: sqlite3.Error) -> None:
        self._say(f"{self._path}: the page cache failed: {error}. Pages are read without it")
        self._failed = True
