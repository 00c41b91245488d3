"""What a store asks of a server or a file, in a few verbs; and the one that asks nobody: memory.

A scope is a list of pages, numbered in the order in which they came. Whoever changes it says in
which state they know it: if somebody else has changed it since, nothing is done, and they learn
what is new. So of two copies that come at once exactly one is kept, and the rule by which pages are
compared is written in one place, `store.py`.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections import OrderedDict
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from heapq import merge
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple
from weakref import finalize

from simhash_gate.stores.base import Blob, Record, head_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Mark = Literal[0, 1, 2]
"""Of a page: 1 once it is settled, 2 if it counts whatever becomes of its run."""
SETTLED, DURABLE = 1, 2


class Run(NamedTuple):
    """A run as a driver knows it, and the Unix time when it was begun, by its own clock."""

    state: Literal["live", "ended", "dead"]
    begun: float = float("inf")


DEAD = Run("dead")

NEVER = float("-inf")
_EACH_BY_ITSELF: AbstractContextManager[None] = nullcontext()
MOST_SCOPES = 100_000


class State(NamedTuple):
    """A scope at one time: the last number that was given, and what changes when pages go.

    Pages that fall out of the window change only the first: they go when another comes.
    """

    last: int = 0
    epoch: int = 0


class News(NamedTuple):
    """What has become of a scope since a state: its state, and the heads of pages that are new.

    Each is the number, 8 bytes, big-endian, and the head (`head_of`). Pages before number `first`
    are gone. If `whole`, there are no other pages than these.
    """

    state: State
    first: int
    heads: bytes
    whole: bool


class Row(NamedTuple):
    """A page as a driver has it: its record tells nothing of being settled, `mark` does."""

    record: Record
    mark: int


def new_epoch() -> int:
    """Return an epoch that no state has had."""
    return secrets.randbits(62) or 1


class Driver(ABC):
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

    @abstractmethod
    def append(
        self, scope: str, state: State, record: Record, through: int, seconds: float | None
    ) -> State | News:
        """Add a page, and remove all up to number `through`.

        The number of the page is the last one of the state that comes back. The scope may vanish
        as a whole when nothing has been added for `seconds`.
        """

    @abstractmethod
    def load(self, scope: str, state: State, numbers: Sequence[int]) -> list[Row | None] | News:
        """Return the pages with these numbers, None for those that are gone."""

    @abstractmethod
    def change(
        self, scope: str, state: State, numbers: Sequence[int], mark: Mark, seen: float
    ) -> News | None:
        """Raise the mark of pages to `mark`, and the time when they were seen last to `seen`."""

    @abstractmethod
    def remove(self, scope: str, state: State, numbers: Sequence[int]) -> State | News:
        """Remove pages that are there."""

    @abstractmethod
    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages of a scope, or of all, in order; read in parts, so others can go on."""

    @abstractmethod
    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        """Let a run live that is dead or new; False if it lives elsewhere, or has ended.

        True also if it lives here already; and with `anew`, for a run of here that others took for
        dead, whatever it is.
        """

    @abstractmethod
    def renew(self, run: str) -> bool:
        """Prolong the life of a run; False if it is gone."""

    @abstractmethod
    def end(self, run: str) -> bool:
        """Let the pages of a run count for good; False if it is gone."""

    @abstractmethod
    def release(self, run: str) -> None:
        """Let a run be dead from here on."""

    @abstractmethod
    def run(self, run: str) -> Run:
        """Return what is known of a run; one that nobody knows is dead."""

    @abstractmethod
    def bury(self) -> None:
        """Remove the pages of runs that have died, but for durable ones, and forget these runs."""

    @abstractmethod
    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what is kept, empty for nothing."""

    @abstractmethod
    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Put the data of a blob in place of `old`, or of whatever is there with None.

        Empty data are none. Returns None when that is done, else what is there instead of `old`.
        """

    @abstractmethod
    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield all of a kind, of a scope or of all, in any order; their data only if asked."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held, once."""


@dataclass
class _Scope:
    """The pages of a scope in memory."""

    rows: dict[int, Row] = field(default_factory=dict)
    state: State = State()


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

    def append(
        self, scope: str, state: State, record: Record, through: int, seconds: float | None
    ) -> State | News:
        """Add a page."""
        here = self._scope(scope)
        if here.state != state:
            return _news(here, state)
        number = next(self._numbers)
        here.rows[number] = Row(record, SETTLED if record.settled else 0)
        while through and (first := next(iter(here.rows))) <= through:
            del here.rows[first]
        here.state = State(number, state.epoch)
        return here.state

    def load(self, scope: str, state: State, numbers: Sequence[int]) -> list[Row | None] | News:
        """Return pages."""
        here = self._scope(scope)
        if here.state != state:
            return _news(here, state)
        return [here.rows.get(number) for number in numbers]

    def change(
        self, scope: str, state: State, numbers: Sequence[int], mark: Mark, seen: float
    ) -> News | None:
        """Mark pages."""
        here = self._scope(scope)
        if here.state != state:
            return _news(here, state)
        for number in numbers:
            record, before = here.rows[number]
            here.rows[number] = Row(record.seen(seen), max(before, mark))
        return None

    def remove(self, scope: str, state: State, numbers: Sequence[int]) -> State | News:
        """Remove pages."""
        here = self._scope(scope)
        if here.state != state:
            return _news(here, state)
        for number in numbers:
            del here.rows[number]
        here.state = State(state.last, new_epoch())
        return here.state

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield what there is at the time of the call."""
        names = [*self._scopes] if scope is None else [scope]
        scopes = [[*self._scopes[name].rows.items()] for name in names if name in self._scopes]
        return (row for _, row in merge(*scopes, key=lambda item: item[0]))

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        """Let a run live."""
        return self._runs.setdefault(run, Run("live", at)).state == "live"

    def renew(self, run: str) -> bool:
        """Do nothing: a run lives as long as the process."""
        return True

    def end(self, run: str) -> bool:
        """Let the pages of a run count."""
        self._runs[run] = self._runs[run]._replace(state="ended")
        return True

    def release(self, run: str) -> None:
        """Let a run be dead."""
        del self._runs[run]

    def run(self, run: str) -> Run:
        """Return what is known of a run."""
        return self._runs.get(run, DEAD)

    def bury(self) -> None:
        """Do nothing: what a dead run had went with its process."""

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what is kept."""
        kept = self._blobs.get(scope, {}).get((kind, key))
        return kept.data if kept else b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Put data in place of others."""
        there = self.blob(blob.kind, blob.scope, blob.key)
        if old is not None and there != old:
            return there
        kept = self._blobs.setdefault(blob.scope, {})
        kept[blob.kind, blob.key] = blob
        if not blob.data:
            del kept[blob.kind, blob.key]
        return None

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield what is kept at the time of the call."""
        scopes = self._blobs.values() if scope is None else [self._blobs.get(scope, {})]
        return iter([blob for kept in scopes for blob in kept.values() if blob.kind == kind])

    def close(self) -> None:
        """Forget everything."""
        self._scopes.clear()
        self._blobs.clear()

    def _scope(self, name: str) -> _Scope:
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = _Scope()
            if len(self._scopes) > MOST_SCOPES:
                gone, _ = self._scopes.popitem(last=False)
                self._blobs.pop(gone, None)
        else:
            self._scopes.move_to_end(name)
        return scope


class LookingDriver(MemoryDriver):
    """Has what another store remembers, and tells it nothing of what is added here.

    The pages of a scope are read when it is first asked for, those that are settled: what other
    crawls do with it later is not seen. What lists pages lists those that were added here.
    """

    def __init__(self, below: Driver) -> None:
        super().__init__()
        self._below = below
        # A shell ends without closing anything, and SQLite would leave its files behind.
        self._close_below = finalize(self, below.close)

    def run(self, run: str) -> Run:
        """Return what is known of a run, here or elsewhere."""
        if run in self._runs:
            return self._runs[run]
        with self._below.transaction(write=False):
            return self._below.run(run)

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages that were read or added here; of no scope named, those of below."""
        if scope is not None:
            self._scope(scope)
            return super().rows(scope)
        return self._settled(None)

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what was kept here, or there."""
        with self._below.transaction(write=False):
            return super().blob(kind, scope, key) or self._below.blob(kind, scope, key)

    def close(self) -> None:
        """Let go of both."""
        super().close()
        self._close_below()

    def _scope(self, name: str) -> _Scope:
        if name in self._scopes:
            return super()._scope(name)
        with self._below.transaction(write=False):
            known = [*self._settled(name)]
        scope = super()._scope(name)
        for row in known:
            number = next(self._numbers)
            scope.rows[number] = row
            scope.state = State(number, 1)
        return scope

    def _settled(self, scope: str | None) -> Iterator[Row]:
        """Yield the pages below that are settled, as durable ones."""
        run_of = cache(self._below.run)
        for row in self._below.rows(scope):
            state = run_of(row.record.run).state
            if row.mark == DURABLE or state == "ended" or (state == "live" and row.mark):
                yield Row(row.record, DURABLE)


def _news(scope: _Scope, known: State) -> News:
    whole = scope.state.epoch != known.epoch or scope.state.last < known.last
    after = 0 if whole else known.last
    rows = scope.rows.items()
    heads = [
        number.to_bytes(8, "big") + head_of(row.record) for number, row in rows if number > after
    ]
    return News(scope.state, next(iter(scope.rows), 0), b"".join(heads), whole)
