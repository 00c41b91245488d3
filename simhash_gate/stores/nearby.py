"""The fingerprints of one scope in memory: which records are near a page, and the best of them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.fingerprints.index import HammingIndex
from simhash_gate.stores.base import Match

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simhash_gate.stores.base import Lookup, Record


class Candidate(NamedTuple):
    """A record that a lookup found; `number` grows in order of insertion."""

    number: int
    distance: int
    unlikeness: int


def best_match(
    lookup: Lookup, candidates: Collection[Candidate], load: Callable[[int], Record | None]
) -> tuple[int, Match] | None:
    """Return the best match within the radius, else beyond it, and its number; None without one.

    `load` returns the record with a number, or None if it counts no more. See
    `Store.check_and_add` for what is best; beyond the radius, requests and sketches don't count.
    """
    radius = lookup.radius or 0
    refused = {record.identity for record in lookup.dismissed}

    def rank(candidate: Candidate) -> tuple[bool, int, int, int]:
        beyond = candidate.distance > radius
        unlike = 0 if beyond else candidate.unlikeness
        return beyond, unlike, candidate.distance, -candidate.number

    for number, distance, _ in sorted(candidates, key=rank):
        record = load(number)
        if record is not None and record.identity not in refused:
            return number, Match(record, distance)
    return None


class Nearby:
    """The fingerprints of one scope, by pipeline version, and which records have them."""

    def __init__(self) -> None:
        self._shelves: defaultdict[str, _Shelf] = defaultdict(_Shelf)

    def add(self, number: int, pipeline: str, fingerprint: int) -> None:
        """Put a record there."""
        self._shelves[pipeline].add(number, fingerprint)

    def add_if_alone(self, number: int, lookup: Lookup) -> list[tuple[int, int]]:
        """Put the page of a lookup there if nothing is `near` it; else return what is."""
        fingerprint = lookup.record.fingerprint
        shelf = self._shelves[lookup.record.pipeline]
        found = shelf.index.candidates(fingerprint, lookup.reach, lookup.limit)
        if found:
            return shelf.with_numbers(found, fingerprint)
        shelf.index.insert_new(fingerprint)
        shelf.slots.append(number)
        return []

    def remove(self, number: int, pipeline: str, fingerprint: int) -> None:
        """Take a record out that is there."""
        shelf = self._shelves[pipeline]
        shelf.remove(number, fingerprint)
        if not shelf.index:
            del self._shelves[pipeline]

    def near(self, lookup: Lookup) -> list[tuple[int, int]]:
        """Return number and distance of records within `limit` bits of a page.

        All within `reach` are among them; of the others, those that are found on the way.
        """
        shelf = self._shelves.get(lookup.record.pipeline)
        return shelf.near(lookup.record.fingerprint, lookup.reach, lookup.limit) if shelf else []

    def numbers(self, fingerprint: int) -> list[int]:
        """Return the numbers of the records with exactly this fingerprint, in order."""
        shelves = self._shelves.values()
        return sorted(number for shelf in shelves for number in shelf.numbers(fingerprint))


class _Shelf:
    """The fingerprints of one pipeline version.

    Fingerprints are taken as they are: who adds one has seen that it has 64 bits.
    """

    def __init__(self) -> None:
        self.index = HammingIndex()
        # By slot of the index. Most fingerprints are of one record: a list of one takes far more.
        self.slots: list[int | list[int]] = [0]

    def add(self, number: int, fingerprint: int) -> None:
        slot = self.index.slot(fingerprint)
        found = self.slots[slot]
        if not slot:
            self.index.insert_new(fingerprint)
            self.slots.append(number)
        elif isinstance(found, int):
            self.slots[slot] = [found, number]
        else:
            found.append(number)

    def remove(self, number: int, fingerprint: int) -> None:
        rest = [other for other in self.numbers(fingerprint) if other != number]
        slot = self.index.slot(fingerprint)
        self.slots[slot] = rest
        if not rest:
            self.index.remove(fingerprint)
            self.slots[slot] = self.slots[-1]
            self.slots.pop()

    def numbers(self, fingerprint: int) -> list[int]:
        slot = self.index.slot(fingerprint)
        found = self.slots[slot] if slot else []
        return [found] if isinstance(found, int) else found

    def near(self, fingerprint: int, radius: int, limit: int) -> list[tuple[int, int]]:
        return self.with_numbers(self.index.candidates(fingerprint, radius, limit), fingerprint)

    def with_numbers(self, slots: list[int], fingerprint: int) -> list[tuple[int, int]]:
        near = []
        for slot in set(slots):
            distance = (self.index.at(slot) ^ fingerprint).bit_count()
            numbers = self.slots[slot]
            if isinstance(numbers, int):
                near.append((numbers, distance))
            else:
                near.extend((number, distance) for number in numbers)
        return near
