"""Pages that were read before, by what they are: bytes, URL, encoding and pipeline version.

So a command that was ended goes on where it was, and a page that changed is read anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

from simhash_gate.common.files import open_database, private_folder
from simhash_gate.options import pipeline_version
from simhash_gate.page.page import Page
from simhash_gate.stores.values import signed, unsigned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simhash_gate.options import Options
    from simhash_gate.workers.pool import InlineReader, WorkerPool

_SCHEMA = 1
_COMMIT_INTERVAL = 1.0  # seconds: a kill loses no more work than that
_PATIENCE = 10.0  # seconds for another command that writes
_COLUMNS = "title, words, fingerprint, digest, listing, reason"


class PageCache:
    """A SQLite file of pages that were read. Raises OSError if it can't be opened.

    When it fails later, `say` is told once, and pages are read without it.
    """

    def __init__(self, path: Path, options: Options, say: Callable[[str], object]) -> None:
        self._path = path
        self._say = say
        self._salt = f"{_SCHEMA} {pipeline_version(options)}".encode()
        self._unwritten: deque[tuple[bytes, Page]] = deque()
        self._written_at = time.monotonic()
        try:
            private_folder(path.parent)
            self._db: sqlite3.Connection | None = open_database(path, timeout=_PATIENCE)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS page (key BLOB PRIMARY KEY, title TEXT, words INTEGER,"
                " fingerprint INTEGER, digest INTEGER, listing INTEGER, reason TEXT) WITHOUT ROWID"
            )
        except sqlite3.Error as error:
            raise OSError(
                f"not a file of pages that were read: {error}; move it away, or name another by "
                "--cache"
            ) from None

    def key(self, body: bytes, url: str, encoding: str | None) -> bytes:
        """Return what a page is known by: a digest of 16 bytes."""
        digest = hashlib.blake2b(self._salt, digest_size=16)
        for part in (url.encode("utf-8", "surrogatepass"), (encoding or "").encode(), body):
            digest.update(b"%d:" % len(part))
            digest.update(part)
        return digest.digest()

    def get(self, key: bytes) -> Page | None:
        """Return a page that was read before, without its Markdown."""
        if self._db is None:
            return None
        try:
            row = self._db.execute(f"SELECT {_COLUMNS} FROM page WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            self._fail(error)
            return None
        if row is None:
            return None
        title, words, fingerprint, digest, listing, reason = row
        bits = None if fingerprint is None else unsigned(fingerprint)
        return Page(title, words, bits, unsigned(digest), bool(listing), reason)

    def keep(self, key: bytes, page: Page) -> None:
        """Remember a page, soon. It may be called from any thread."""
        if not page.unreadable:
            self._unwritten.append((key, page))

    def write(self, *, at_once: bool = False) -> None:
        """Write what is remembered, now and then, or at once."""
        now = time.monotonic()
        if self._db is None or not (at_once or now - self._written_at > _COMMIT_INTERVAL):
            return
        self._written_at = now
        rows = []
        while self._unwritten:
            rows.append(_row(*self._unwritten.popleft()))
        try:
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO page VALUES (?,?,?,?,?,?,?)", rows)
        except sqlite3.Error as error:
            self._fail(error)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self.write(at_once=True)
        if self._db is not None:
            self._db.close()
            self._db = None

    def _fail(self, error: sqlite3.Error) -> None:
        self._say(f"{self._path}: pages that were read are not kept any more: {error}")
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
        self._db = None


class CachingReader:
    """Reads pages by another reader, but for those that a cache has."""

    def __init__(self, reader: WorkerPool | InlineReader, cache: PageCache) -> None:
        self._reader = reader
        self._cache = cache

    def read(self, body: bytes, url: str, encoding: str | None) -> Future[Page]:
        """Return the page as a future; it raises `ReadError` for one that could not be read."""
        self._cache.write()
        key = self._cache.key(body, url, encoding)
        page = self._cache.get(key)
        if page is not None:
            known: Future[Page] = Future()
            known.set_result(page)
            return known
        future = self._reader.read(body, url, encoding)

        def keep(done: Future[Page]) -> None:
            if not done.cancelled() and done.exception() is None:
                self._cache.keep(key, done.result())

        future.add_done_callback(keep)
        return future

    def close(self) -> None:
        """End what reads, and write what was read."""
        self._reader.close()
        self._cache.write(at_once=True)


def _row(key: bytes, page: Page) -> tuple[object, ...]:
    # SQLite has no unsigned numbers, and no lone surrogates.
    title = page.title.encode("utf-8", "replace").decode("utf-8")
    return (
        key,
        title,
        page.words,
        None if page.fingerprint is None else signed(page.fingerprint),
        signed(page.digest),
        page.listing,
        page.reason,
    )
