"""The contract of drivers: the few things that a store asks of a server, a file or memory.

A scope is a list of pages, numbered in the order in which they came. A process that adds a page
names the state of the scope that it knows, and learns what others have added since. If its page
matches one of these, it removes its own page again. So exactly one of two copies that come at once
is kept, the one with the lower number. The rules of comparing are in one place, `store.py`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from simhash_gate.common.encoded import as_bytes, as_text, signed
from simhash_gate.stores.base import HEAD_BYTES, Blob, Record, address_of, number_of

SETTLED, DURABLE = 1, 2
"""Marks of a page, as bits: it is settled; it counts even if its run dies."""
ROW_BYTES = 8 + HEAD_BYTES


class State(NamedTuple):
    """A scope at one time: the last number that was given, and how often pages were removed.

    Pages that fall out of the window do not count as removals.
    """

    scope: str
    last: int = 0
    removals: int = 0

    def continues(self, earlier: State) -> bool:
        """Tell whether pages were only added since an earlier state, or fell out of the window."""
        return self.removals == earlier.removals and self.last >= earlier.last


class News(NamedTuple):
    """The news of a scope, for a caller that knew it in an earlier state.

    `heads` has a row for each page that is new to the caller: its number (8 bytes, big-endian) and
    the result of `head_of`. Pages before number `first` are gone. If the state does not continue
    that of the caller, the scope has no other pages. `number` is that of the page that the caller
    added itself, 0 for none.
    """

    state: State
    first: int = 0
    heads: bytes = b""
    number: int = 0


class Row(NamedTuple):
    """A page as a driver keeps it. `body` comes from `pack`; `seen` replaces its `last_seen`.

    `life` is the data of the blob of its live run, None if that was not read.
    """

    scope: str
    mark: int
    seen: float
    gave: int
    body: bytes
    life: bytes | None = None


Loaded: TypeAlias = "tuple[News | None, list[Row | None]]"


@runtime_checkable
class Driver(Protocol):
    """Keeps the pages and blobs of a store. `Store` calls it from one thread at a time.

    Every method can raise `StoreError`. `lease` is the number of seconds for which a run lives
    without being renewed, None where its death is seen at once. `connections` grows with each new
    connection to a server, which may have lost data since. `most_mirrored` bounds the pages that a
    process remembers, of all scopes together.
    """

    name: str
    lease: float | None = None
    connections: int = 0
    most_mirrored: float = 400_000

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """Make all calls of a block one step, if the driver can."""
        return nullcontext()

    def append(self, earlier: State, record: Record, through: int, seconds: float | None) -> News:
        """Add a page to its scope. Return the news since an earlier state, with this page.

        The number of the page is higher than any that was given before. If no other page is new,
        all pages up to number `through` are removed. If the caller knows nothing of a scope that
        has pages, nothing is added: only the news are returned. The scope may vanish when nothing
        was added for `seconds`.
        """

    def news(self, earlier: State) -> News:
        """Return the news of a scope since an earlier state."""

    def trim(self, scope: str, through: int) -> None:
        """Remove all pages up to number `through`."""

    def load(self, earlier: State, numbers: Sequence[int]) -> Loaded:
        """Return the news or None, and the pages with these numbers, None for each that is gone."""

    def change(
        self, scope: str, numbers: Sequence[int], mark: int, seen: float, gave: int | None = None
    ) -> None:
        """Add marks to pages, and set the time when they were seen last to `seen` if later.

        `gave` replaces what they gave, unless it is None.
        """

    def remove(self, scope: str, numbers: Sequence[int]) -> State:
        """Remove pages. Return the state of the scope, a new one if no page is left."""

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages of a scope in order, or of all scopes. Other calls may come between."""

    def pages_of(self, run: int) -> Iterable[tuple[str, Sequence[int]]]:
        """Return the pages of a run that are not durable: scopes with the numbers of pages."""

    def claim(self) -> int:
        """Get ready for runs of this store. Return the number by which others know their owner."""

    def is_there(self, owner: int) -> bool:
        """Tell whether the owner of a run may be alive. Always True for drivers with leases."""
        return True

    def clock(self) -> float:
        """Return the Unix time, by one clock for all processes that use the store."""
        return time.time()

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return the data of a blob, empty if there is none."""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Write a blob if its current data are `old`, or in any case if `old` is None.

        Empty data remove the blob. Returns None if it was written, else the current data. A blob
        about a run is on disk when this returns, if the server keeps anything on disk.
        """

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield the blobs of a kind, in one scope or all, in any order, with `data` if asked."""

    def close(self) -> None:
        """Release files, locks and connections. It is called once."""


_PAGES = """
SELECT page.id, name, mark, last_seen, gave, body FROM page JOIN scope ON scope.id = page.scope
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
    """The statements that two databases share, with parameters as psycopg writes them."""

    _cursor: Any

    @abstractmethod
    def _rows(self, query: str, args: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run a statement. Return its rows."""

    def rows(self, scope: str | None) -> Iterator[Row]:
        query = _ROWS if scope is None else _ROWS_OF_SCOPE
        for _, name, *row in self._in_parts(query, 0, {"id": number_of(scope or "")}):
            yield Row(as_text(name), *row)

    def pages_of(self, run: int) -> Iterable[tuple[str, Sequence[int]]]:
        numbers: dict[str, list[int]] = {}
        for number, name in self._rows(_PAGES_OF_RUN, {"run": signed(run)}):
            numbers.setdefault(as_text(name), []).append(number)
        return numbers.items()

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
        current = self.blob(blob.kind, blob.scope, blob.key)
        return None if current == old else current

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        args = {"kind": kind, "scope": as_bytes(scope or ""), "every": scope is None, "read": data}
        start = b"" if scope is None else address_of(kind, scope, "")[:8]
        args["end"] = start + b"\xff" * 24
        for _, name, key, at, size, data_read in self._in_parts(_BLOBS, start, args):
            yield Blob(kind, as_text(name), as_text(key), data_read or b"", at, size=size)

    def _in_parts(self, query: str, after: Any, args: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield rows, read in parts: each part begins after the first column of the last row."""
        while rows := self._rows(query, args | {"after": after}):
            yield from rows
            after = rows[-1][0]
