"""The records of one scope in this process's memory."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

from simhash_gate.stores.nearby import Candidate, Nearby

if TYPE_CHECKING:
    from simhash_gate.stores.base import Lookup, Record, Window


class Scope:
    """The records of one scope, oldest first, each under its number."""

    def __init__(self) -> None:
        self.records: OrderedDict[int, Record] = OrderedDict()
        self._nearby = Nearby()

    def add(self, number: int, record: Record) -> None:
        """Take a record in as the latest."""
        self.records[number] = record
        self._nearby.add(number, record.pipeline, record.fingerprint)

    def remove(self, number: int) -> None:
        """Take out a record that is there."""
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
            if number >= first and lookup.admits(other.digest, other.last_seen)
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
            if len(self.records) <= window.pages and oldest.last_seen >= since:
                return
            self.remove(number)

    def _first(self, pages: int) -> float:
        """Return the number of the first record among the last `pages`."""
        if len(self.records) <= pages:
            return 0
        return next(islice(reversed(self.records), pages - 1, None)) if pages > 0 else float("inf")
