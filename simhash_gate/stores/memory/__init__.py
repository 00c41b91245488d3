"""Kept pages in this process's memory, gone with it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import partial
from heapq import merge
from itertools import count
from typing import TYPE_CHECKING

from simhash_gate.stores.base import ADDED, Answer, Lookup, Match, Record, Store
from simhash_gate.stores.memory.histories import Histories
from simhash_gate.stores.memory.scope import Scope
from simhash_gate.stores.memory.texts import Texts
from simhash_gate.stores.nearby import best_match

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from simhash_gate.stores.base import KeptText, PageHistory

MOST_SCOPES = 100_000


class MemoryStore(Store):
    """Remembers the kept pages of this process; a scope costs what its window holds.

    Of more than `MOST_SCOPES` scopes, the ones that were asked for longest ago are forgotten. A
    run is dead when the store is closed before its end, and everything is forgotten then.
    """

    def __init__(self) -> None:
        super().__init__("memory store")
        self._scopes: OrderedDict[str, Scope] = OrderedDict()
        self._site_memories: dict[str, bytes] = {}
        self._url_rules: dict[str, bytes] = {}
        self._site_notes: dict[str, bytes] = {}
        self._numbers = count(1)
        self._ended: set[str] = set()
        self._histories = Histories(self._ended)
        self._texts = Texts()

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
            self._require_open()
            for record in records:
                for scope, number in self._find(record):
                    scope.records[number] = replace(scope.records[number], settled=True)
                if durable:
                    self._histories.make_durable(record.scope, record.request, record.run)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None."""
        with self._lock:
            found = self._find(record)
            return self._load(*found[-1]) if found else None

    def see(self, record: Record, at: float) -> None:
        """Note that the page was seen."""
        with self._lock:
            for scope, number in self._find(record):
                scope.records[number] = scope.records[number].seen(at)

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
        """Return the newest that the run itself or an ended one kept, or that is durable."""
        with self._lock:
            self._require_open()
            return self._histories.get(scope, request, run)

    def forget_history(self, scope: str, request: str, run: str | None = None) -> None:
        """Remove it."""
        with self._lock:
            self._require_open()
            self._histories.forget(scope, request, run)

    def histories(self, scope: str | None = None) -> Iterator[PageHistory]:
        """Yield what counts at the time of the call."""
        with self._lock:
            self._require_open()
            return iter([*self._histories.counting(scope)])

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
            return self._texts.get(scope, digest)

    def keep_text(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep it, and let the oldest go."""
        with self._lock:
            self._require_open()
            self._texts.keep(scope, digest, data, at, budget)

    def forget_text(self, scope: str, digest: int) -> None:
        """Remove it."""
        with self._lock:
            self._require_open()
            self._texts.forget(scope, digest)

    def texts(self, scope: str | None = None) -> Iterator[KeptText]:
        """Yield which there are at the time of the call."""
        with self._lock:
            self._require_open()
            return iter([*self._texts.listed(scope)])

    def texts_size(self) -> int:
        """Return how many bytes they have."""
        with self._lock:
            self._require_open()
            return self._texts.size

    def sweep(self) -> None:
        """Forget scopes and ended runs without pages."""
        with self._lock:
            self._require_open()
            for name in [name for name, scope in self._scopes.items() if not scope.records]:
                del self._scopes[name]
                self._site_memories.pop(name, None)
            scopes = self._scopes.values()
            runs = {record.run for scope in scopes for record in scope.records.values()}
            self._ended &= runs | self._histories.runs()

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
                scope.records[number] = seen = lookup.seen(other)
                return Answer(False, Match(seen, distance))
            if number not in scope.records:
                scope.add(number, record)
            if lookup.window.seconds is not None or len(scope.records) > lookup.window.pages:
                scope.evict(lookup.window, record)
            return Answer(True, found[1]) if found else ADDED

    def _keep_history(self, history: PageHistory) -> None:
        with self._lock:
            self._histories.keep(history)

    def _close(self) -> None:
        self._scopes.clear()
        self._site_memories.clear()
        self._histories.clear()
        self._texts.clear()

    def _find(self, record: Record) -> list[tuple[Scope, int]]:
        """Return where the records with this identity are."""
        self._require_open()
        scope = self._scopes.get(record.scope)
        return [(scope, number) for number in scope.find(record)] if scope else []

    def _load(self, scope: Scope, number: int) -> Record:
        record = scope.records[number]
        ended = record.run in self._ended
        return replace(record, settled=True) if ended and not record.settled else record

    def _scope(self, name: str) -> Scope:
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = Scope()
            if len(self._scopes) > MOST_SCOPES:
                gone, _ = self._scopes.popitem(last=False)
                self._site_memories.pop(gone, None)
                self._histories.forget_scope(gone)
        else:
            self._scopes.move_to_end(name)
        return scope
