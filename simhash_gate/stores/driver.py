"""What a store asks of a server or a file, in a few verbs; and the one that asks nobody: memory.

A scope is a list of pages, numbered in the order in which they came. Whoever adds one says in which
state they know the scope, and learns what others have added since. Should their page be like one of
these, they take it out again: so of two copies that come at once exactly one is kept, the one with
the lower number, and the rule by which pages are compared is written in one place, `store.py`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from simhash_gate.stores.base import HEAD_BYTES, Blob, Record, head_of, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SETTLED, DURABLE = 1, 2
"""Marks of a page: once it is settled, and if it counts whatever becomes of its run. Else 0."""
ROW_BYTES = 8 + HEAD_BYTES
_EACH_BY_ITSELF: AbstractContextManager[None] = nullcontext()


class Run(NamedTuple):
    """A run as a driver knows it, and the Unix time when it was begun, by its own clock."""

    state: Literal["live", "ended", "dead"]
    begun: float = float("inf")


DEAD = Run("dead")


class State(NamedTuple):
    """A scope at one time: the last number that was given, and what changes when pages go.

    Pages that fall out of the window change only the first: they go when another comes.
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


def row_of(number: int, record: Record) -> bytes:
    """Return a page's row of `News.heads`."""
    return number.to_bytes(8, "big") + head_of(record)


class Row(NamedTuple):
    """A page as a driver has it: its record tells nothing of being settled, `mark` does.

    Its `run` is told where a driver learns of it on the way.
    """

    record: Record
    mark: int
    run: Run | None = None

    @classmethod
    def read(cls, scope: str, mark: int, seen: float, body: bytes, run: Run | None = None) -> Row:
        """Return the page that a driver keeps as these: `body` is what `pack` made."""
        return cls(unpack(scope, body).seen(seen), mark, run)


Loaded: TypeAlias = "tuple[News | None, list[Row | None]]"


class Driver(Protocol):
    """What `Store` asks. Everything raises `StoreError`; `Store` sees to it that one thread asks.

    What is asked of a scope in a state does nothing where its epoch is another one.

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

        If it alone is new, all pages up to number `through` are removed. The scope may vanish as a
        whole when nothing has been added for `seconds`.
        """

    def news(self, known: State) -> News:
        """Return what is new."""

    def trim(self, known: State, through: int) -> None:
        """Remove all pages up to number `through`."""

    def load(self, known: State, numbers: Sequence[int], runs: Sequence[int] = ()) -> Loaded:
        """Return the pages with these numbers, None for those gone, and what else is new, if so.

        `runs` are hashes of the runs that kept them. In another epoch, numbers mean nothing.
        """

    def change(self, known: State, numbers: Sequence[int], mark: int, seen: float) -> bool:
        """Raise the mark of pages to `mark`, and the time when they were seen last to `seen`."""

    def remove(self, known: State, numbers: Sequence[int]) -> State | None:
        """Remove pages; return in which state the caller knows the scope then, None if not done.

        What others have added since `known` is new to them as before.
        """

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages of a scope, or of all, in order; read in parts, so others can go on."""

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        """Let a run live that is dead, new or of here; False if it lives elsewhere, or has ended.

        With `anew`, whatever it is: it is of here, and others took it for dead.
        """

    def renew(self, run: str) -> bool:
        """Prolong the life of a run; False if it is gone."""

    def end(self, run: str) -> bool:
        """Let the pages of a run count for good; False if it is gone."""

    def run(self, run: str) -> Run:
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

    @staticmethod
    def _in_parts(read: Callable[[Any], list[Any]], after: Any) -> Iterator[Any]:
        """Yield rows, read in parts: those whose first column is after that of the last one."""
        while some := read(after):
            yield from some
            after = some[-1][0]
