"""Kept pages in this process's memory, gone with it."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import replace
from functools import partial
from heapq import merge
from itertools import count, islice
from threading import Lock
from typing import TYPE_CHECKING

from simhash_gate.fingerprints.hamming import require_fingerprint
from simhash_gate.stores.base import (
    ADDED,
    DEFAULT_WINDOW,
    Answer,
    Match,
    Record,
    Store,
    StoreError,
    Window,
)
from simhash_gate.stores.ranking import Candidate, best_match, extent, unlikeness
from simhash_gate.stores.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


MOST_SCOPES = 100_000
_EVER = float("-inf")


class _Scope:
    """The records of one scope, oldest first, each under its number."""

    def __init__(self) -> None:
        self.records: OrderedDict[int, Record] = OrderedDict()
        self.shelves: defaultdict[str, Shelf] = defaultdict(Shelf)  # by pipeline version

    def remove(self, number: int) -> None:
        record = self.records.pop(number)
        self.shelves[record.pipeline].remove(number, record.fingerprint)
        if not self.shelves[record.pipeline]:
            del self.shelves[record.pipeline]

    def inside(
        self, near: list[tuple[int, int]], record: Record, window: Window, *, exact: bool
    ) -> list[Candidate]:
        """Return those of `near`, numbers and distances, that are to be compared with a record."""
        first, since = self._first(window.pages), window.since(record)
        others = [(number, distance, self.records[number]) for number, distance in near]
        return [
            Candidate(number, distance, unlikeness(record, other.request, other.sketch))
            for number, distance, other in others
            if number >= first and other.first_seen >= since
            if not exact or other.digest == record.digest
        ]

    def find(self, record: Record) -> list[int]:
        """Return the numbers of the records with this identity, in order."""
        numbers = sorted(
            number
            for shelf in self.shelves.values()
            for number in shelf.numbers(record.fingerprint)
        )
        return [number for number in numbers if self.records[number].identity == record.identity]

    def evict(self, pages: int, since: float) -> None:
        """Remove the oldest records until `pages` are left, and the oldest is young enough."""
        while len(self.records) > pages or (since > _EVER and self.records):
            oldest, record = next(iter(self.records.items()))
            if len(self.records) <= pages and record.first_seen >= since:
                return
            self.remove(oldest)

    def _first(self, pages: int) -> float:
        """Return the number of the first record among the last `pages`."""
        if len(self.records) <= pages:
            return 0
        return next(islice(reversed(self.records), pages - 1, None)) if pages > 0 else float("inf")


class MemoryStore(Store):
    """Remembers the kept pages of this process; a scope costs what its window holds.

    Of more than `most_scopes` scopes, the ones that were asked for longest ago are forgotten. A
    run is dead when the store is closed before its end, and everything is forgotten then.
    """

    def __init__(self, most_scopes: int = MOST_SCOPES) -> None:
        self._lock = Lock()
        self._most_scopes = most_scopes
        self._scopes: OrderedDict[str, _Scope] = OrderedDict()
        self._site_memories: dict[str, bytes] = {}
        self._numbers = count(1)
        self._live: set[str] = set()
        self._ended: set[str] = set()
        self._closed = False

    def begin(self, run: str) -> None:
        """Open a run; there are no dead ones to find."""
        with self._lock:
            self._require_open()
            if run in self._live or run in self._ended:
                raise StoreError(f"memory store: run {run!r} was begun before; take a new name")
            self._live.add(run)

    def renew(self, run: str) -> None:
        """Nothing to do: the run lives as long as the store."""
        with self._lock:
            self._require_live(run)

    def end(self, run: str) -> None:
        """Close a run; its records count for later runs of this process."""
        with self._lock:
            self._require_live(run)
            self._live.remove(run)
            self._ended.add(run)

    def check_and_add(
        self,
        record: Record,
        radius: int | None,
        dismissed: Collection[Record] = (),
        *,
        near: int = 0,
        exact: bool = False,
        window: Window = DEFAULT_WINDOW,
    ) -> Answer:
        """Look in the index of the scope and pipeline version; see `Store.check_and_add`."""
        fingerprint = record.fingerprint
        if radius is None:
            require_fingerprint(fingerprint)
        else:
            visited, limit = extent(radius, near)
        self._lock.acquire()  # every page comes by: `with` takes twice as long
        try:
            if record.run not in self._live:
                self._require_live(record.run)
            scope = self._scope(record.scope)
            shelf = scope.shelves[record.pipeline]
            number = next(self._numbers)
            found = None
            if radius is None:
                shelf.add(number, fingerprint)
            elif met := shelf.add_if_alone(number, fingerprint, visited, limit):
                candidates = scope.inside(met, record, window, exact=exact)
                load = partial(self._load, scope)
                found = best_match(candidates, load, radius, dismissed)
                if found and found[1].distance <= radius:
                    number, (other, distance) = found
                    seen = other.seen(record.last_seen)
                    scope.records[number] = seen
                    return Answer(False, Match(seen, distance))
                shelf.add(number, fingerprint)
            scope.records[number] = record
            if window.seconds is not None or len(scope.records) > window.pages:
                scope.evict(window.pages, window.since(record))
            return Answer(True, found[1]) if found else ADDED
        finally:
            self._lock.release()

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        with self._lock:
            found = self._find(record)
            for scope, number in found:
                scope.remove(number)
            return bool(found)

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark records settled; in this store all are gone with the process, durable or not."""
        with self._lock:
            for record in records:
                for scope, number in self._find(record):
                    scope.records[number] = replace(scope.records[number], settled=True)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None."""
        with self._lock:
            found = self._find(record)
            return self._load(*found[-1]) if found else None

    def is_live(self, run: str) -> bool:
        """Tell whether a run of this process has begun and not ended."""
        with self._lock:
            self._require_open()
            return run in self._live

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered at the time of the call, oldest first."""
        with self._lock:
            self._require_open()
            names = list(self._scopes) if scope is None else [scope]
            kept = [
                [(number, self._load(scope, number)) for number in scope.records]
                for scope in (self._scopes[name] for name in names if name in self._scopes)
            ]
        return (record for _, record in merge(*kept, key=lambda item: item[0]))

    def site_memory(self, scope: str) -> bytes:
        """Return what another gate of this process has kept."""
        with self._lock:
            self._require_open()
            return self._site_memories.get(scope, b"")

    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Keep it for other gates of this process, as long as the scope is known."""
        with self._lock:
            self._require_open()
            if scope in self._scopes:
                self._site_memories[scope] = memory

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._closed = True
            self._scopes.clear()
            self._site_memories.clear()
            self._live.clear()

    def _find(self, record: Record) -> list[tuple[_Scope, int]]:
        """Return where the records with this identity are."""
        self._require_open()
        scope = self._scopes.get(record.scope)
        return [(scope, number) for number in scope.find(record)] if scope else []

    def _load(self, scope: _Scope, number: int) -> Record:
        record = scope.records[number]
        ended = record.run in self._ended
        return replace(record, settled=True) if ended and not record.settled else record

    def _scope(self, name: str) -> _Scope:
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = _Scope()
            if len(self._scopes) > self._most_scopes:
                gone, _ = self._scopes.popitem(last=False)
                self._site_memories.pop(gone, None)
        else:
            self._scopes.move_to_end(name)
        return scope

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("memory store: it is closed")

    def _require_live(self, run: str) -> None:
        self._require_open()
        if run not in self._live:
            raise StoreError(f"memory store: run {run!r} is not live; begin it first")
