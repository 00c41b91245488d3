"""Kept pages in this process's memory, gone with it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import partial
from heapq import merge
from itertools import count, islice
from typing import TYPE_CHECKING

from simhash_gate.stores.base import (
    ADDED,
    MOST_HISTORIES,
    Answer,
    Lookup,
    Match,
    Record,
    Store,
)
from simhash_gate.stores.nearby import Candidate, Nearby, best_match

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from simhash_gate.stores.base import PageHistory, Window

MOST_SCOPES = 100_000


class _Scope:
    """The records of one scope, oldest first, each under its number."""

    def __init__(self) -> None:
        self.records: OrderedDict[int, Record] = OrderedDict()
        self._nearby = Nearby()

    def add(self, number: int, record: Record) -> None:
        self.records[number] = record
        self._nearby.add(number, record.pipeline, record.fingerprint)

    def remove(self, number: int) -> None:
        record = self.records.pop(number)
        self._nearby.remove(number, record.pipeline, record.fingerprint)

    def add_if_alone(self, number: int, lookup: Lookup) -> list[Candidate]:
        """Add a page unless records are near it; return those that it is to be compared with."""
        if lookup.radius is None:
            self.add(number, lookup.record)
            return []
        near = self._nearby.add_if_alone(number, lookup)
        if not near:
            self.records[number] = lookup.record
            return []
        first = self._first(lookup.window.pages)
        others = [(number, distance, self.records[number]) for number, distance in near]
        return [
            Candidate(number, distance, lookup.unlikeness(other.request, other.sketch))
            for number, distance, other in others
            if number >= first and lookup.admits(other.digest, other.first_seen)
        ]

    def find(self, record: Record) -> list[int]:
        """Return the numbers of the records with this identity, in order."""
        numbers = self._nearby.numbers(record.fingerprint)
        return [number for number in numbers if self.records[number].identity == record.identity]

    def evict(self, window: Window, added: Record) -> None:
        """Remove the oldest records until those that are left are inside the window."""
        since = window.since(added)
        while self.records:
            number, oldest = next(iter(self.records.items()))
            if len(self.records) <= window.pages and oldest.first_seen >= since:
                return
            self.remove(number)

    def _first(self, pages: int) -> float:
        """Return the number of the first record among the last `pages`."""
        if len(self.records) <= pages:
            return 0
        return next(islice(reversed(self.records), pages - 1, None)) if pages > 0 else float("inf")


class MemoryStore(Store):
    """Remembers the kept pages of this process; a scope costs what its window holds.

    Of more than `MOST_SCOPES` scopes, the ones that were asked for longest ago are forgotten. A
    run is dead when the store is closed before its end, and everything is forgotten then.
    """

    def __init__(self) -> None:
        super().__init__("memory store")
        self._scopes: OrderedDict[str, _Scope] = OrderedDict()
        self._site_memories: dict[str, bytes] = {}
        self._url_rules: dict[str, bytes] = {}
        self._histories: dict[str, OrderedDict[str, dict[str, PageHistory]]] = {}
        self._site_notes: dict[str, bytes] = {}
        self._texts: OrderedDict[tuple[str, int], tuple[float, bytes]] = OrderedDict()
        self._texts_size = 0
        self._numbers = count(1)
        self._ended: set[str] = set()

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

    def site_memories(self) -> Iterator[tuple[str, bytes]]:
        """Yield what is kept at the time of the call."""
        with self._lock:
            self._require_open()
            return iter([*self._site_memories.items()])

    def url_rules(self, scope: str) -> bytes:
        """Return what another gate of this process has kept."""
        with self._lock:
            self._require_open()
            return self._url_rules.get(scope, b"")

    def keep_url_rules(self, scope: str, rules: bytes) -> None:
        """Keep it for other gates of this process."""
        with self._lock:
            self._require_open()
            self._url_rules[scope] = rules
            if not rules:
                del self._url_rules[scope]

    def all_url_rules(self) -> Iterator[tuple[str, bytes]]:
        """Yield what is kept at the time of the call."""
        with self._lock:
            self._require_open()
            return iter([*self._url_rules.items()])

    def history(self, scope: str, request: str, run: str) -> bytes:
        """Return the newest that the run itself or an ended one kept."""
        with self._lock:
            self._require_open()
            found = self._counting(self._histories_of(scope).get(request, {}), run)
            return found.history if found else b""

    def keep_history(self, history: PageHistory) -> None:
        """Keep it; of more than `MOST_HISTORIES` pages, those go that were visited longest ago."""
        with self._lock:
            self._require_live(history.run)
            pages = self._histories.setdefault(history.scope, OrderedDict())
            kept = pages.pop(history.request, {})
            newest = self._counting(kept, "")
            if newest is not None:
                of_live = {run: own for run, own in kept.items() if run in self._live}
                kept = of_live | {newest.run: newest}
            pages[history.request] = kept | {history.run: history}
            while len(pages) > MOST_HISTORIES:
                pages.popitem(last=False)

    def forget_history(self, scope: str, request: str, run: str | None = None) -> None:
        """Remove it."""
        with self._lock:
            self._require_open()
            pages = self._histories_of(scope)
            kept = pages.pop(request, {})
            kept.pop(run or "", None)
            if run is not None and kept:
                pages[request] = kept

    def see(self, record: Record, at: float) -> None:
        """Note that the page was seen."""
        with self._lock:
            for scope, number in self._find(record):
                scope.records[number] = scope.records[number].seen(at)

    def histories(self, scope: str | None = None) -> Iterator[PageHistory]:
        """Yield what ended runs of this process kept, as it is at the time of the call."""
        with self._lock:
            self._require_open()
            scopes = [*self._histories] if scope is None else [scope]
            pages = [kept for name in scopes for kept in self._histories_of(name).values()]
            found = [self._counting(kept, "") for kept in pages]
            return iter([history for history in found if history is not None])

    def site_notes(self, scope: str) -> bytes:
        """Return what was noted last."""
        with self._lock:
            self._require_open()
            return self._site_notes.get(scope, b"")

    def keep_site_notes(self, scope: str, notes: bytes) -> None:
        """Note it for other gates of this process."""
        with self._lock:
            self._require_open()
            self._site_notes[scope] = notes
            if not notes:
                del self._site_notes[scope]

    def all_site_notes(self) -> Iterator[tuple[str, bytes]]:
        """Yield what is noted at the time of the call."""
        with self._lock:
            self._require_open()
            return iter([*self._site_notes.items()])

    def text(self, scope: str, digest: int) -> bytes:
        """Return it."""
        with self._lock:
            self._require_open()
            return self._texts.get((scope, digest), (0.0, b""))[1]

    def keep_text(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep it; texts go in the order in which they were kept last."""
        with self._lock:
            self._require_open()
            _, before = self._texts.pop((scope, digest), (0.0, b""))
            self._texts_size += len(data) - len(before)
            self._texts[scope, digest] = at, data
            while self._texts_size > budget:
                _, (_, gone) = self._texts.popitem(last=False)
                self._texts_size -= len(gone)

    def texts_size(self) -> int:
        """Return how many bytes the texts have that are kept."""
        with self._lock:
            self._require_open()
            return self._texts_size

    def sweep(self) -> None:
        """Forget scopes and ended runs without pages."""
        with self._lock:
            self._require_open()
            for name in [name for name, scope in self._scopes.items() if not scope.records]:
                del self._scopes[name]
                self._site_memories.pop(name, None)
            scopes = self._scopes.values()
            runs = {record.run for scope in scopes for record in scope.records.values()}
            for pages in self._histories.values():
                runs.update(run for kept in pages.values() for run in kept)
            self._ended &= runs

    def _begin(self, run: str) -> bool:
        return run not in self._ended

    def _renew(self, run: str) -> None:
        """Do nothing: the run lives as long as the store."""

    def _end(self, run: str) -> None:
        self._ended.add(run)

    def _look_up(self, lookup: Lookup) -> Answer:
        record = lookup.record
        with self._lock:
            scope = self._scope(record.scope)
            number = next(self._numbers)
            candidates = scope.add_if_alone(number, lookup)
            found = None
            if candidates:
                found = best_match(lookup, candidates, partial(self._load, scope))
            if found and found[1].distance <= (lookup.radius or 0):
                number, (other, distance) = found
                scope.records[number] = seen = other.seen(record.last_seen)
                return Answer(False, Match(seen, distance))
            if number not in scope.records:
                scope.add(number, record)
            if lookup.window.seconds is not None or len(scope.records) > lookup.window.pages:
                scope.evict(lookup.window, record)
            return Answer(True, found[1]) if found else ADDED

    def _close(self) -> None:
        self._scopes.clear()
        self._site_memories.clear()
        self._histories.clear()
        self._texts.clear()

    def _histories_of(self, scope: str) -> OrderedDict[str, dict[str, PageHistory]]:
        return self._histories.get(scope) or OrderedDict()

    def _counting(self, kept: Mapping[str, PageHistory], run: str) -> PageHistory | None:
        """Return the newest of a page's histories that counts for a run."""
        counting = [own for name, own in kept.items() if name == run or name in self._ended]
        return max(counting, key=lambda own: own.seen, default=None)

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
            if len(self._scopes) > MOST_SCOPES:
                gone, _ = self._scopes.popitem(last=False)
                self._site_memories.pop(gone, None)
        else:
            self._scopes.move_to_end(name)
        return scope
