"""The working file of `simhash-gate dedupe`: each page is read once, also after an interruption."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from simhash_gate.common.encoded import as_bytes, as_text
from simhash_gate.common.files import open_database
from simhash_gate.common.times import unix_time
from simhash_gate.options import Options, pipeline_version
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry
from simhash_gate.workers.pool import ReadError

_SCHEMA = 6
_NAMES = tuple(name for name in Entry.__dataclass_fields__ if name not in ("body", "known"))
_TABLES = """
CREATE TABLE IF NOT EXISTS page (
    number INTEGER PRIMARY KEY, key BLOB NOT NULL,
    entry TEXT NOT NULL, scope BLOB NOT NULL, time REAL, size INTEGER NOT NULL,
    words INTEGER, page TEXT, lines BLOB, failure TEXT, markdown BLOB
);
CREATE TABLE IF NOT EXISTS verdict (
    number INTEGER PRIMARY KEY, kept INTEGER NOT NULL, original INTEGER, line TEXT NOT NULL
);
"""
_LEVEL = 1  # of zlib: higher ones take a fifth less room, and three times as long
_TOGETHER = 100
"""Pages that are written at once. After an interruption, no more are read again."""
_INSERT = f"INSERT OR REPLACE INTO page VALUES ({','.join('?' * 11)})"
_PAGE = "entry, size, page, lines, failure"
_FIELDS = "title words fingerprint digest listing reason author dated language site description"
ORDERS = {
    "first": "scope, number",
    "longest": "scope, words DESC, number",
    "newest": "scope, time DESC, number",
}
"""Which pages are judged first, and so are kept rather than their copies."""


class WholePage(NamedTuple):
    """A page as a working file keeps it, and its Markdown, compressed."""

    page: Page
    markdown: bytes


def read_whole(body: bytes, url: str, encoding: str | None, options: Options) -> WholePage:
    """Read a page, and write its Markdown, in a page-reading process."""
    page = read_page(body, url=url, encoding=encoding, options=options)
    markdown = zlib.compress(as_bytes(page.markdown), _LEVEL)
    return WholePage(replace(page, article=b""), markdown)


class NumberedEntry(NamedTuple):
    """An entry, by its place among all, and its page, or why it has none; None if skipped."""

    number: int
    entry: Entry
    size: int
    page: Page | ReadError | None


class KeptVerdict(NamedTuple):
    """The verdict on a page: whether it is kept, what it is a copy of, and its line."""

    number: int
    kept: bool
    original: int | None
    line: dict[str, Any]


class WorkFile:
    """A SQLite file of the pages of some sources, by their place in the order, and of verdicts.

    `known` is how many pages an earlier command has read, `count` how many there are, once reading
    has finished. Every method raises `sqlite3.Error` where the disk fails, or the file is none of
    these.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        options = settings.options
        made_by = (_SCHEMA, settings.scope, pipeline_version(options), options.compare)
        self._salt = as_bytes(f"{made_by} {options.without}")
        self._db = open_database(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.executescript(_TABLES)
        (last,) = self._db.execute("SELECT max(number) FROM page").fetchone()
        self.known = 0 if last is None else last + 1
        self.count = 0
        self._held: list[tuple[Any, ...]] = []

    def key_of(self, entry: Entry) -> bytes:
        """Return what tells an entry from every other, its bytes and its names: 16 bytes."""
        digest = hashlib.blake2b(self._salt, digest_size=16)
        for part in (as_bytes(_encode(entry)), entry.body):
            digest.update(b"%d:" % len(part))
            digest.update(part)
        return digest.digest()

    def has(self, number: int, key: bytes) -> bool:
        """Tell whether the entry of this number and key was read before."""
        found = self._db.execute("SELECT key FROM page WHERE number = ?", (number,))
        return bool(found.fetchone() == (key,))

    def keep(
        self, number: int, key: bytes, entry: Entry, scope: str, read: WholePage | ReadError | None
    ) -> None:
        """Keep a page that was read, or why it could not be read; None if it was skipped."""
        values: tuple[Any, ...] = (None,) * 5
        time = entry.time
        if isinstance(read, WholePage):
            page = read.page
            known = [*(getattr(page, name) for name in _FIELDS.split()), page.sketch.hex()]
            values = (page.words, json.dumps(known), page.lines, None, read.markdown)
            time = unix_time(page.date) if time is None else time
        elif read is not None:
            # It is read again by the next command: a process may have been ended by chance.
            key, values = b"", (None, None, None, json.dumps(str(read)), None)
        names = (_encode(entry), as_bytes(scope), time, len(entry.body))
        self._held.append((number, key, *names, *values))
        if len(self._held) >= _TOGETHER:
            self._write()

    def finish(self, number: int) -> None:
        """Note that there are so many pages, and no more, though sources once had more of them."""
        self.count = number
        self._write()
        self._db.execute("DELETE FROM page WHERE number >= ?", (number,))

    def _write(self) -> None:
        with self.together():
            self._db.executemany(_INSERT, self._held)
        self._held.clear()

    def pages(self, order: str) -> Iterator[NumberedEntry]:
        """Yield all entries, scope by scope, in one of `ORDERS`; their pages have no Markdown."""
        self._db.execute("DELETE FROM verdict")
        # With an index, SQLite need not sort pages, which may be more than fit in memory.
        self._db.execute(f"CREATE INDEX IF NOT EXISTS {order} ON page ({ORDERS[order]})")
        for number, *row in self._db.execute(
            f"SELECT number, {_PAGE} FROM page ORDER BY {ORDERS[order]}"
        ):
            yield NumberedEntry(number, *_read_row(row))

    def judged(self, verdicts: Iterable[KeptVerdict]) -> None:
        """Keep some verdicts."""
        rows = [(*found[:-1], json.dumps(found.line)) for found in verdicts]
        self._db.executemany("INSERT INTO verdict VALUES (?, ?, ?, ?)", rows)

    def verdicts(self) -> Iterator[tuple[Entry, bool, Entry | None, dict[str, Any]]]:
        """Yield each entry, in order, if it is kept, what it is a copy of, and its line."""
        for entry, kept, original, line in self._db.execute(
            "SELECT page.entry, kept, first.entry, line FROM verdict"
            " JOIN page USING (number) LEFT JOIN page AS first ON first.number = original"
            " ORDER BY verdict.number"
        ):
            original_entry = None if original is None else _decode(original)
            yield _decode(entry), bool(kept), original_entry, json.loads(line)

    def kept(self) -> Iterator[tuple[Entry, Page, str]]:
        """Yield each kept page, in order, with its entry and its Markdown."""
        for markdown, *row in self._db.execute(
            f"SELECT markdown, {_PAGE} FROM verdict JOIN page USING (number) WHERE kept"
            " ORDER BY number"
        ):
            entry, _, page = _read_row(row)
            assert isinstance(page, Page)
            yield entry, page, _unpack(markdown)

    def texts_of(self, names: Collection[str]) -> dict[str, str]:
        """Return the Markdown of the first page of each of these names or ids that there is."""
        numbers: dict[str, int] = {}
        found = "SELECT markdown FROM page WHERE number = ? AND markdown IS NOT NULL"
        for number, names_of in self._db.execute("SELECT number, entry FROM page"):
            entry = _decode(names_of)
            for name in {entry.name, str(entry.id)} & set(names):
                numbers.setdefault(name, number)
        rows = {name: self._db.execute(found, (n,)).fetchone() for name, n in numbers.items()}
        return {name: _unpack(row[0]) for name, row in rows.items() if row}

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write all that the block keeps at once, which is cheaper."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Write what has been read, and close the file."""
        with closing(self._db):
            self._write()


def _encode(entry: Entry) -> str:
    return json.dumps({name: getattr(entry, name) for name in _NAMES}, default=str)


def _decode(entry: str) -> Entry:
    return Entry(**json.loads(entry))


def _read_row(row: list[Any]) -> tuple[Entry, int, Page | ReadError | None]:
    names, size, known, lines, failure = row
    entry = _decode(names)
    if known is None:
        return entry, size, None if failure is None else ReadError(json.loads(failure))
    *fields, sketch = json.loads(known)
    values = dict(zip(_FIELDS.split(), fields, strict=True))
    page = Page(**values, sketch=bytes.fromhex(sketch), lines=lines, url=entry.url)
    return entry, size, ReadError(page.reason) if page.unreadable else page


def _unpack(markdown: bytes) -> str:
    return as_text(zlib.decompress(markdown))
