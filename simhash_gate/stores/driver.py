"""What a store asks of a server or a file, in a few verbs; and the one that asks nobody: memory.

A scope is a list of pages, numbered in the order in which they came. Whoever adds one says in which
state they know the scope, and learns what others have added since. Should their page be like one of
these, they take it out again: so of two copies that come at once exactly one is kept, the one with
the lower number, and the rule by which pages are compared is written in one place, `store.py`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, TypeAlias

from simhash_gate.common.encoded import as_bytes, as_text, signed
from simhash_gate.stores.base import HEAD_BYTES, Blob, Record, address_of, hash64

SETTLED, DURABLE, GAVE = 1, 2, 4
"""Marks of a page, bits: it is settled; it counts whatever becomes of its run; it gave an item."""
ROW_BYTES = 8 + HEAD_BYTES
_EACH_BY_ITSELF: AbstractContextManager[None] = nullcontext()


class State(NamedTuple):
    """A scope at one time: the last number that was given, and how often pages were removed.

    Pages that fall out of the window are not counted: they go when another comes.
    """

    scope: str
    last: int = 0
    removals: int = 0

    def continues(self, known: State) -> bool:
        """Tell whether nothing but new pages, and what they displaced, is between two states."""
        return self.removals == known.removals and self.last >= known.last


class News(NamedTuple):
    """What is new to one who knew a scope in an earlier state.

    `heads` are those of pages that are new to them: the number of each, 8 bytes, big-endian, and
    what `head_of` packs. Pages before number `first` are gone. Unless the state continues that of
    the caller, there are no other pages than these. `number` is that of the page that they added
    themselves, 0 for none.
    """

    state: State
    first: int = 0
    heads: bytes = b""
    number: int = 0


class Row(NamedTuple):
    """A page as a driver has it; `seen` goes before what `body` says, which `pack` made.

    `life` is what is kept of its run, if it lives; None if that was not read.
    """

    scope: str
    mark: int
    seen: float
    body: bytes
    life: bytes | None = None


Loaded: TypeAlias = "tuple[News | None, list[Row | None]]"


class Driver(Protocol):
    """What `Store` asks. Everything raises `StoreError`; `Store` sees to it that one thread asks.

    `lease` are the seconds for which a run lives without being renewed, None where its death is
    seen at once; `connections` grows with each new connection to a server, which may have lost
    what it was told before. `most_mirrored` bounds what a process remembers of scopes, in pages.
    """

    name: str
    lease: float | None = None
    connections: int = 0
    most_mirrored: float = 400_000

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """Do what is asked in the block in one step, where the driver can."""
        return _EACH_BY_ITSELF

    def append(self, known: State, record: Record, through: int, seconds: float | None) -> News:
        """Add a page; return what is new, with this page.

        To who knows nothing of a scope that has pages, it only tells what is there. If the page
        alone is new, all pages up to number `through` are removed. Its number is higher than any
        that was given before. The scope may vanish when nothing has been added for `seconds`.
        """

    def news(self, known: State) -> News:
        """Return what is new."""

    def trim(self, scope: str, through: int) -> None:
        """Remove all pages up to number `through`."""

    def load(self, known: State, numbers: Sequence[int]) -> Loaded:
        """Return the pages with these numbers, None for those gone, and what is new, if any."""

    def change(self, scope: str, numbers: Sequence[int], mark: int, seen: float) -> None:
        """Add marks to those of pages, and raise the time when they were seen last to `seen`."""

    def remove(self, scope: str, numbers: Sequence[int]) -> State:
        """Remove pages; return the state of the scope, a new one if no page is left."""

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages of a scope, in order, or of all; read in parts, so others can go on."""

    def pages_of(self, run: int) -> Iterable[tuple[str, Sequence[int]]]:
        """Return scopes and the numbers of pages there that run has, but for durable ones."""

    def claim(self) -> int:
        """Get ready for runs of here; return by which number others know whose they are."""

    def is_there(self, owner: int) -> bool:
        """Tell whether the owner of a run may live; where there are leases, these tell."""
        return True

    def clock(self) -> float:
        """Return the Unix time, by one clock for all who know the store."""
        return time.time()

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what is kept, empty for nothing."""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Put the data of a blob in place of `old`, or of whatever is there with None.

        Empty data are none. Returns None when that is done, else what is there instead of `old`.
        What is known of runs is on disk then, if the server keeps anything there.
        """

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield all of a kind, of a scope or of all, in any order; their data only if asked."""

    def close(self) -> None:
        """Let go of what is held, once."""


_PAGES = """
SELECT page.id, name, mark, last_seen, body FROM page JOIN scope ON scope.id = page.scope
"""
_ROWS = f"{_PAGES} WHERE page.id > %(after)s ORDER BY page.id LIMIT 1000"
_ROWS_OF_SCOPE = f"""
{_PAGES} WHERE (page.scope, page.id) > (%(id)s, %(after)s)
AND (page.scope, page.id) < (%(id)s, {2**62})
ORDER BY page.scope, page.id LIMIT 1000
"""
_PAGES_OF_RUN = """
SELECT page.id, name FROM page JOIN scope ON scope.id = page.scope
WHERE run = %(run)s AND mark & 2 = 0 ORDER BY page.scope, page.id
"""
_SAME = "(blob.data = %(old)s OR %(whatever)s)"
_PUT = f"""
INSERT INTO blob VALUES (%(address)s, %(kind)s, %(scope)s, %(key)s, %(at)s, %(data)s)
ON CONFLICT (address) DO UPDATE SET at = excluded.at, data = excluded.data WHERE {_SAME}
"""
_REPLACE = f"UPDATE blob SET at = %(at)s, data = %(data)s WHERE address = %(address)s AND {_SAME}"
_DELETE = f"DELETE FROM blob WHERE address = %(address)s AND {_SAME}"
_BLOBS = """
SELECT address, scope, key, at, length(data), CASE WHEN %(read)s THEN data END FROM blob
WHERE kind = %(kind)s AND address > %(after)s AND address < %(end)s
    AND (scope = %(scope)s OR %(every)s)
ORDER BY address LIMIT 1000
"""


class SQLDriver(Driver):
    """What two databases are asked in the same words, those of psycopg."""

    _cursor: Any

    @abstractmethod
    def _rows(self, query: str, args: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Ask the database."""

    def rows(self, scope: str | None) -> Iterator[Row]:
        query = _ROWS if scope is None else _ROWS_OF_SCOPE
        for _, name, *row in self._in_parts(query, 0, {"id": number_of(scope or "")}):
            yield Row(as_text(name), *row)

    def pages_of(self, run: int) -> Iterable[tuple[str, Sequence[int]]]:
        found: dict[str, list[int]] = {}
        for number, name in self._rows(_PAGES_OF_RUN, {"run": signed(run)}):
            found.setdefault(as_text(name), []).append(number)
        return found.items()

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        args = {"address": address_of(kind, scope, key)}
        rows = self._rows("SELECT data FROM blob WHERE address = %(address)s", args)
        return rows[0][0] if rows else b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        args = {
            "address": address_of(blob.kind, blob.scope, blob.key),
            "kind": blob.kind,
            "scope": as_bytes(blob.scope),
            "key": as_bytes(blob.key),
            "at": float(blob.at),
            "data": blob.data,
            "old": old or b"",
            "whatever": old is None,
        }
        self._rows(_DELETE if not blob.data else _REPLACE if old else _PUT, args)
        if self._cursor.rowcount or old is None:
            return None
        there = self.blob(blob.kind, blob.scope, blob.key)
        return None if there == old else there

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        args = {"kind": kind, "scope": as_bytes(scope or ""), "every": scope is None, "read": data}
        start = b"" if scope is None else address_of(kind, scope, "")[:8]
        args["end"] = start + b"\xff" * 24
        for _, name, key, at, size, read in self._in_parts(_BLOBS, start, args):
            yield Blob(kind, as_text(name), as_text(key), read or b"", at, size=size)

    def _in_parts(self, query: str, after: Any, args: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield rows, read in parts: those whose first column is after that of the last one."""
        while some := self._rows(query, args | {"after": after}):
            yield from some
            after = some[-1][0]


def mark_of(record: Record) -> int:
    """Return the marks of a page that is added."""
    return SETTLED * record.settled | GAVE * record.gave


def number_of(name: str) -> int:
    """Return the number that stands for the name of a scope or a run in a database."""
    return signed(hash64(name))
