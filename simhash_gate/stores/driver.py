"""What a store asks of a server or a file, in a few verbs; and the one that asks nobody: memory.

A scope is a list of pages, numbered in the order in which they came. Whoever adds one says in which
state they know the scope, and learns what others have added since. Should their page be like one of
these, they take it out again: so of two copies that come at once exactly one is kept, the one with
the lower number, and the rule by which pages are compared is written in one place, `store.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from heapq import merge
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from simhash_gate.stores.base import HEAD_BYTES, Blob, Record, head_of, new_epoch, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SETTLED, DURABLE = 1, 2
"""Marks of a page: once it is settled, and if it counts whatever becomes of its run. Else 0."""
ROW_BYTES = 8 + HEAD_BYTES
MOST_SCOPES = 100_000
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


@dataclass
class _Scope:
    """The pages of a scope in memory."""

    state: State
    rows: dict[int, Row] = field(default_factory=dict)


class MemoryDriver(Driver):
    """Keeps everything in this process, gone with it.

    Of more than `MOST_SCOPES` scopes, the ones that were asked for longest ago are forgotten.
    """

    name = "memory store"
    most_mirrored = float("inf")

    def __init__(self) -> None:
        self._scopes: OrderedDict[str, _Scope] = OrderedDict()
        self._numbers = count(1)
        self._runs: dict[str, Run] = {}
        self._blobs: dict[str, dict[tuple[str, str], Blob]] = {}  # by scope, then kind and key

    def append(self, known: State, record: Record, through: int, seconds: float | None) -> News:
        here = self._scope(known.scope)
        if here.state != known:
            return self.news(known)
        number = next(self._numbers)
        here.rows[number] = Row(record, SETTLED if record.settled else 0)
        self.trim(known, through)
        here.state = known._replace(last=number)
        return News(here.state, through + 1, row_of(number, record), number)

    def trim(self, known: State, through: int) -> None:
        rows = self._scope(known.scope).rows
        while through and (first := next(iter(rows))) <= through:
            del rows[first]

    def news(self, known: State) -> News:
        scope = self._scope(known.scope)
        after = known.last if scope.state.continues(known) else 0
        new = [row_of(number, row.record) for number, row in scope.rows.items() if number > after]
        return News(scope.state, next(iter(scope.rows), 0), b"".join(new))

    def load(self, known: State, numbers: Sequence[int], runs: Sequence[int] = ()) -> Loaded:
        here = self._scope(known.scope)
        news = None if here.state == known else self.news(known)
        return news, [here.rows.get(number) for number in numbers]

    def change(self, known: State, numbers: Sequence[int], mark: int, seen: float) -> bool:
        here = self._scope(known.scope)
        for number in numbers if here.state.epoch == known.epoch else ():
            if number in here.rows:
                record, before, _ = here.rows[number]
                here.rows[number] = Row(record.seen(seen), max(before, mark))
        return here.state.epoch == known.epoch

    def remove(self, known: State, numbers: Sequence[int]) -> State | None:
        here = self._scope(known.scope)
        if here.state.epoch != known.epoch:
            return None
        for number in numbers:
            here.rows.pop(number, None)
        here.state = here.state._replace(epoch=new_epoch())
        return known._replace(epoch=here.state.epoch)

    def rows(self, scope: str | None) -> Iterator[Row]:
        names = [*self._scopes] if scope is None else [scope]
        scopes = [[*self._scopes[name].rows.items()] for name in names if name in self._scopes]
        return (row for _, row in merge(*scopes, key=lambda item: item[0]))

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        return self._runs.setdefault(run, Run("live", at)).state == "live"

    def renew(self, run: str) -> bool:
        return True

    def end(self, run: str) -> bool:
        self._runs[run] = self._runs[run]._replace(state="ended")
        return True

    def run(self, run: str) -> Run:
        return self._runs.get(run, DEAD)

    def bury(self) -> None:
        pass  # what a dead run had went with its process

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        kept = self._blobs.get(scope, {}).get((kind, key))
        return kept.data if kept else b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        there = self.blob(blob.kind, blob.scope, blob.key)
        if old is not None and there != old:
            return there
        kept = self._blobs.setdefault(blob.scope, {})
        kept[blob.kind, blob.key] = blob
        if not blob.data:
            del kept[blob.kind, blob.key]
        return None

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        scopes = self._blobs.values() if scope is None else [self._blobs.get(scope, {})]
        return iter([blob for kept in scopes for blob in kept.values() if blob.kind == kind])

    def close(self) -> None:
        self._scopes.clear()
        self._blobs.clear()

    def _scope(self, name: str) -> _Scope:
        scope = self._scopes.setdefault(name, _Scope(State(name)))
        self._scopes.move_to_end(name)
        if len(self._scopes) > MOST_SCOPES:
            gone, _ = self._scopes.popitem(last=False)
            self._blobs.pop(gone, None)
        return scope


class LookingDriver(MemoryDriver):
    """Has what another store remembers, and tells it nothing of what is added here.

    The pages of a scope are read when it is first asked for, those that are settled: what other
    crawls do with it later is not seen. What lists pages lists those that were added here.
    """

    def __init__(self, below: Driver) -> None:
        super().__init__()
        self._below = below

    def run(self, run: str) -> Run:
        if run in self._runs:
            return self._runs[run]
        with self._below.transaction(write=False):
            return self._below.run(run)

    def rows(self, scope: str | None) -> Iterator[Row]:
        if scope is None:
            return self._settled(None)
        self._scope(scope)
        return super().rows(scope)

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        with self._below.transaction(write=False):
            return super().blob(kind, scope, key) or self._below.blob(kind, scope, key)

    def close(self) -> None:
        super().close()
        self._below.close()

    def _scope(self, name: str) -> _Scope:
        if name in self._scopes:
            return super()._scope(name)
        with self._below.transaction(write=False):
            rows = dict(zip(self._numbers, self._settled(name), strict=False))
        scope = super()._scope(name)
        if rows:
            scope.rows, scope.state = rows, State(name, max(rows), 1)
        return scope

    def _settled(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages below that are settled, as durable ones."""
        run_of = cache(self._below.run)
        for row in self._below.rows(scope):
            state = run_of(row.record.run).state
            if row.mark == DURABLE or state == "ended" or (state == "live" and row.mark):
                yield Row(row.record, DURABLE)
