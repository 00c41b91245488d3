"""The URLs that a crawl fetched, so that a request for another URL of a page finds it.

They are kept in a SQLite file: of a job its own, which goes on where it ended; else a temporary one
that SQLite removes by itself. What a part of a job fetched that was killed does not count: nobody
knows what became of its pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mmh3

from simhash_gate.common.files import open_database, temporary_database
from simhash_gate.urls.fetched import Fetched, content_of
from simhash_gate.urls.parts import parts_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SCHEMA = """
CREATE TABLE IF NOT EXISTS visit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL, url TEXT NOT NULL,
    key INTEGER NOT NULL, address INTEGER NOT NULL, answered INTEGER NOT NULL DEFAULT 0,
    content INTEGER, fingerprint INTEGER, said BLOB
);
CREATE INDEX IF NOT EXISTS visit_key ON visit (key);
CREATE INDEX IF NOT EXISTS visit_address ON visit (address);
CREATE INDEX IF NOT EXISTS visit_place ON visit (place, id);
CREATE TABLE IF NOT EXISTS ended (visit INTEGER NOT NULL);
"""
_SLICE = 200
_COMMIT_EVERY = 1_000
_SIGN = 1 << 63


class Visit(NamedTuple):
    """A URL that was requested. What it brought is None as long as that is not known."""

    id: int
    url: str
    content: int | None
    fingerprint: int | None
    said: bytes = b""


class Visits:
    """Every method raises `sqlite3.Error`, and opening `OSError`, if the file can't be used."""

    def __init__(self, path: str = "") -> None:
        self._db = (
            open_database(path, isolation_level=None)
            if path
            else temporary_database(isolation_level=None)
        )
        self._db.execute("PRAGMA cache_size = -4000")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.executescript(_SCHEMA)
        self._db.execute(
            "DELETE FROM visit"
            " WHERE NOT answered OR id > (SELECT coalesce(max(visit), 0) FROM ended)"
        )
        self._db.execute("BEGIN")
        self._written = 0
        self._behind: dict[tuple[str, str], int] = {}

    def add(self, scope: str, shape: str, url: str, canonical: str) -> int:
        """Note a URL that is requested, and its shape; return its number."""
        self._written += 1
        if self._written % _COMMIT_EVERY == 0:
            self._db.execute("COMMIT")
            self._db.execute("BEGIN")
        row = (key_of(scope, whole(shape)), url, key_of(scope, canonical), key_of("", url))
        number = self._db.execute(
            "INSERT INTO visit (place, url, key, address) VALUES (?, ?, ?, ?)", row
        ).lastrowid
        assert number is not None
        return number

    def find(self, scope: str, canonical: str) -> Iterator[Visit]:
        """Yield the visits whose URL may have this canonical one, the first one first."""
        found = self._db.execute(
            "SELECT id, url, content, fingerprint FROM visit WHERE key = ? ORDER BY id",
            (key_of(scope, canonical),),
        )
        for number, url, content, fingerprint in found:
            yield Visit(number, url, _unsigned(content), _unsigned(fingerprint))

    def of(self, urls: Iterable[str]) -> set[int]:
        """Return the numbers of the visits to URLs."""
        found = set()
        for url in urls:
            asked = "SELECT id FROM visit WHERE address = ? AND url = ?"
            found |= {number for (number,) in self._db.execute(asked, (key_of("", url), url))}
        return found

    def get(self, number: int) -> Visit | None:
        """Return a visit by its number."""
        row = self._db.execute(
            "SELECT id, url, content, fingerprint, said FROM visit WHERE id = ?", (number,)
        ).fetchone()
        if row is None:
            return None
        number, url, content, fingerprint, said = row
        return Visit(number, url, _unsigned(content), _unsigned(fingerprint), said or b"")

    def tell(
        self,
        number: int,
        content: int | None,
        fingerprint: int | None,
        said: bytes = b"",
    ) -> None:
        """Note that a visit was answered, and what it brought."""
        self._db.execute(
            "UPDATE visit SET answered = 1, content = ?, fingerprint = ?, said = ? WHERE id = ?",
            (_signed(content), _signed(fingerprint), said, number),
        )

    def remove(self, number: int) -> None:
        """Forget a visit that brought nothing."""
        self._db.execute("DELETE FROM visit WHERE id = ?", (number,))

    def latest(self, count: int) -> Iterator[str]:
        """Yield the URLs that were requested last, in their order."""
        found = self._db.execute(
            "SELECT url FROM (SELECT id, url FROM visit ORDER BY id DESC LIMIT ?) ORDER BY id",
            (count,),
        )
        return (url for (url,) in found)

    def rules_changed(self, scope: str, shape: str) -> None:
        """Note that URLs of a shape have other canonical ones now."""
        self._behind[scope, whole(shape)] = 0

    def catch_up(self, place: Callable[[str, str], tuple[str, str]]) -> None:
        """Work out the canonical URLs of some visits anew, if rules have changed.

        `place` returns the shape of a URL in its scope, and its canonical URL.
        """
        if not self._behind:
            return
        (scope, shape), last = next(iter(self._behind.items()))
        rows = self._db.execute(
            "SELECT id, url FROM visit WHERE place = ? AND id > ? ORDER BY id LIMIT ?",
            (key_of(scope, shape), last, _SLICE),
        ).fetchall()
        self._db.executemany(
            "UPDATE visit SET key = ? WHERE id = ?",
            [(key_of(scope, place(scope, url)[1]), number) for number, url in rows],
        )
        if len(rows) < _SLICE:
            del self._behind[scope, shape]
        else:
            self._behind[scope, shape] = rows[-1][0]

    def close(self) -> None:
        """Write what is left, and let go of the file: what it has counts from now on."""
        self._db.execute("INSERT INTO ended SELECT coalesce(max(id), 0) FROM visit")
        self._db.execute("COMMIT")
        self._db.close()


def fetched(visit: Visit | None) -> Fetched | None:
    """Return the page of a visit, if it has brought one.

    It may be unknown whether an earlier page has the same content. Then it has a content of its
    own, which later pages can have too.
    """
    if visit is None or (visit.content is None and visit.fingerprint is None):
        return None
    content = content_of(visit.url) if visit.content is None else visit.content
    return Fetched(visit.url, parts_of(visit.url), content, visit.fingerprint, visit.said)


def key_of(scope: str, canonical: str) -> int:
    """Return a signed 64-bit hash of a canonical URL in its scope."""
    return int(mmh3.hash64(f"{scope} {canonical}")[0])


def _signed(number: int | None) -> int | None:
    return number if number is None or number < _SIGN else number - 2 * _SIGN


def _unsigned(number: int | None) -> int | None:
    return number if number is None or number >= 0 else number + 2 * _SIGN
