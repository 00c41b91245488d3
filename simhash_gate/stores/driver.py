"""What a store asks of a server or a file, in a few verbs; and the one that asks nobody: memory.

A scope is a list of pages, numbered in the order in which they came. Whoever adds one says in which
state they know the scope, and learns what others have added since. Should their page be like one of
these, they take it out again: so of two copies that come at once exactly one is kept, the one with
the lower number, and the rule by which pages are compared is written in one place, `store.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from simhash_gate.common.encoded import as_bytes, as_text
from simhash_gate.stores.base import HEAD_BYTES, Blob, address_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simhash_gate.stores.base import Record

SETTLED, DURABLE = 1, 2
"""Marks of a page: once it is settled, and if it counts whatever becomes of its run. Else 0."""
ROW_BYTES = 8 + HEAD_BYTES
_EACH_BY_ITSELF: AbstractContextManager[None] = nullcontext()


Life: TypeAlias = Literal["live", "ended", "dead"]


class State(NamedTuple):
    """A scope at one time: the last number that was given, and what goes up by one when pages go.

    Pages that fall out of the window leave it as it is: they go when another comes. A new scope
    begins with an epoch of its own.
    """

    scope: str
    last: int = 0
    epoch: int = 0

    def continues(self, known: State) -> bool:
        """Tell whether nothing but new pages, and what they displaced, is between two states."""
        return self.epoch == known.epoch and self.last >= known.last


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
    """A page as a driver has it: `body` is what `pack` made, but `seen` goes before what that says.

    `life` is that of its run, where a driver learns of it on the way.
    """

    scope: str
    mark: int
    seen: float
    body: bytes
    life: Life | None = None


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

        If it alone is new, all pages up to number `through` are removed: it stays for certain.
        Its number is higher than any that was given before, in whatever epoch. The scope may vanish
        as a whole when nothing has been added for `seconds`.
        """

    def news(self, known: State) -> News:
        """Return what is new."""

    def trim(self, scope: str, through: int) -> None:
        """Remove all pages up to number `through`."""

    def load(self, known: State, numbers: Sequence[int]) -> Loaded:
        """Return the pages with these numbers, None for those gone, and what is new, if any."""

    def change(self, scope: str, numbers: Sequence[int], mark: int, seen: float) -> None:
        """Raise the mark of pages to `mark`, and the time when they were seen last to `seen`."""

    def remove(self, known: State, numbers: Sequence[int]) -> State:
        """Remove pages; return in which state the caller knows the scope then.

        What others have added since `known` is new to them as before.
        """

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages of a scope, in order, or of all; read in parts, so others can go on."""

    def begin(self, run: str, *, anew: bool = False) -> bool:
        """Let a run live that is dead, new or of here; False if it lives elsewhere, or has ended.

        With `anew`, whatever it is: it is of here, and others took it for dead.
        """

    def renew(self, run: str) -> bool:
        """Prolong the life of a run; False if it is gone."""

    def end(self, run: str) -> bool:
        """Let the pages of a run count for good; False if it is gone."""

    def life(self, run: str) -> Life:
        """Return what is known of a run; one that nobody knows is dead."""

    def bury(self) -> None:
        """Remove the pages of runs that have died, but for durable ones, and forget these runs."""

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what is kept, empty for nothing."""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Put the data of a blob in place of `old`, or of whatever is there with None.

        Empty data are none. Returns None when that is done, else what is there instead of `old`.
        """

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield all of a kind, of a scope or of all, in any order; their data only if asked."""

    def close(self) -> None:
        """Let go of what is held, once; runs of here that have not ended are dead from here on."""


_SAME = "(blob.data = %(old)s OR %(whatever)s)"
_PUT = f"""
INSERT INTO blob VALUES (%(address)s, %(kind)s, %(scope)s, %(key)s, %(at)s, %(data)s)
ON CONFLICT (address) DO UPDATE SET at = excluded.at, data = excluded.data WHERE {_SAME}
"""
_REPLACE = f"UPDATE blob SET at = %(at)s, data = %(data)s WHERE address = %(address)s AND {_SAME}"
_DELETE = f"DELETE FROM blob WHERE address = %(address)s AND {_SAME}"
_BLOBS = """
SELECT address, scope, key, at, length(data), CASE WHEN %(read)s THEN data END FROM blob
WHERE kind = %(kind)s AND address > %(after)s AND (scope = %(scope)s OR %(every)s)
ORDER BY address LIMIT 1000
"""


class SQLDriver(Driver):
    """What two databases are asked in the same words, those of psycopg."""

    _cursor: Any
    _ROWS: str
    _ROWS_OF_SCOPE: str

    @abstractmethod
    def _rows(self, ask: str, asked: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Ask the database."""

    def rows(self, scope: str | None) -> Iterator[Row]:
        ask = self._ROWS if scope is None else self._ROWS_OF_SCOPE
        for _, name, *row in self._in_parts(ask, 0, {"scope": as_bytes(scope or "")}):
            yield Row(as_text(name), *row)

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        asked = {"address": address_of(kind, scope, key)}
        rows = self._rows("SELECT data FROM blob WHERE address = %(address)s", asked)
        return rows[0][0] if rows else b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        asked = {
            "address": address_of(blob.kind, blob.scope, blob.key),
            "kind": blob.kind,
            "scope": as_bytes(blob.scope),
            "key": as_bytes(blob.key),
            "at": float(blob.at),
            "data": blob.data,
            "old": old or b"",
            "whatever": old is None,
        }
        self._rows(_DELETE if not blob.data else _REPLACE if old else _PUT, asked)
        if self._cursor.rowcount or old is None:
            return None
        there = self.blob(blob.kind, blob.scope, blob.key)
        return None if there == old else there

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        asked = {"kind": kind, "scope": as_bytes(scope or ""), "every": scope is None, "read": data}
        for _, name, key, at, size, read in self._in_parts(_BLOBS, b"", asked):
            yield Blob(kind, as_text(name), as_text(key), read or b"", at, size=size)

    def _in_parts(self, ask: str, after: Any, asked: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield rows, read in parts: those whose first column is after that of the last one."""
        while some := self._rows(ask, asked | {"after": after}):
            yield from some
            after = some[-1][0]
