"""What a process remembers of the scopes that it meets: enough to tell which pages may be alike.

A lookup compares all fingerprints of a scope at once: 10,000 in 5 µs, a million in half a
millisecond.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection
from struct import Struct
from sys import byteorder
from typing import NamedTuple, TypeAlias

import numpy as np

from simhash_gate.stores.base import (
    HINTS,
    NAME_BITS,
    Hints,
    Match,
    Record,
    Window,
    hash64,
    hints_of,
    key_of,
)
from simhash_gate.stores.driver import ROW_BYTES, News, State

_REST = Struct(f">Q{HINTS}")  # of a page, but for its fingerprint: the number and hints
_SCOPE_COST = 30  # a scope without pages takes as much room as so many pages

Rank: TypeAlias = "tuple[int, int, int]"


class Lookup(NamedTuple):
    """A page, and which kept pages it is compared with; see `Store.check_and_add`.

    Records are compared that are no more than `limit` bits away, which is `radius` or more. They
    were last seen at `since` or later.
    """

    record: Record
    radius: int
    limit: int
    exact: bool
    since: float
    window: Window
    dismissed: Collection[Record]
    after: int = 0  # only pages with a higher number count
    before: int = 0  # the number that the page has itself: and of these only those with a lower one

    def has_found(self, match: Match) -> bool:
        """Tell whether the best page is a match, so that the page is not added."""
        return match.distance <= self.radius and match.record.stands_for(self.record)

    def rank(self, other: Record, number: int) -> Rank | None:
        """Return the rank of a page, the least for the best; None if it is not compared.

        `Store.check_and_add` says what is best. Beyond the radius, only the distance counts.
        """
        page = self.record
        distance = (other.fingerprint ^ page.fingerprint).bit_count()
        if distance > self.limit or other.last_seen < self.since:
            return None
        if other.pipeline != page.pipeline or (self.exact and other.digest != page.digest):
            return None
        if not self.has_found(Match(other, distance)):
            return _BEYOND, distance, -number
        key, its_key = key_of(page.sketch), key_of(other.sketch)
        has_name = key >> NAME_BITS == its_key >> NAME_BITS
        unlike = _unlike(other.request == page.request, has_name, key == its_key)
        return unlike, distance, -number


class Mirror:
    """The pages of one scope that a process knows, as they were at `state`."""

    __slots__ = ("_fingerprints", "_rest", "counted", "seen", "state")

    def __init__(self, scope: str) -> None:
        self.state = State(scope)
        self.counted = 0  # what it takes, as the mirrors have counted it
        self.seen: dict[int, float] = {}  # when the first pages were seen last, at least
        # As drivers have them, whatever the order of their bytes: distances are the same. To take
        # from the beginning of a bytearray moves nothing.
        self._fingerprints, self._rest = bytearray(), bytearray()

    def __len__(self) -> int:
        return len(self._fingerprints) // 8

    def take(self, news: News) -> None:
        """Bring it up to date."""
        if not news.state.continues(self.state):
            self._fingerprints, self._rest = bytearray(), bytearray()
        heads = news.heads
        if len(heads) == ROW_BYTES:  # a tenth of the time that arrays of one row take
            self._fingerprints += heads[8:16]
            self._rest += heads[:8] + heads[16:]
        else:
            rows = np.frombuffer(heads, np.uint64).reshape(-1, ROW_BYTES // 8)
            self._fingerprints += rows[:, 1].tobytes()
            self._rest += rows[:, _BUT_FINGERPRINT].tobytes()
        self.state = news.state
        while self._rest and self._number(0) < news.first:
            self._cut(0, 1)

    def remove(self, numbers: Collection[int], here: State) -> None:
        """Let pages go, wherever they stand; `here` is the state of the scope when they went."""
        for number in numbers:
            self._cut(self._place(number), self._place(number + 1))
        if here.removals == self.state.removals + 1:  # what others have added is still new
            self.state = here._replace(last=min(here.last, self.state.last))

    def numbers(self, start: int = 0, end: int | None = None) -> list[int]:
        """Return the numbers of the pages from a place to another, in order."""
        return [self._number(place) for place in range(len(self))[start:end]]

    def find(self, record: Record, *, but: Collection[str] | None = None) -> list[int]:
        """Return the numbers of the pages with this identity, in order.

        With `but`, of all runs but these.
        """
        wanted = hints_of(record)
        runs = {wanted.run} if but is None else {hash64(other) % 2**16 for other in but}
        rows = (self._row(place) for place, _ in self._near(record.fingerprint, 0))
        return [
            number
            for number, its in rows
            if (its.request, its.asker) == (wanted.request, wanted.asker)
            and (its.run in runs) == (but is None)
        ]

    def at_address(self, record: Record) -> list[int]:
        """Return the numbers of the pages that may have the URL of a record, in order."""
        urls = np.frombuffer(self._rest, ">u4")[_REST.size // 4 - 1 :: _REST.size // 4]
        places = (urls == hints_of(record).url).nonzero()[0].tolist()
        return [self._number(place) for place in places]

    def near(self, lookup: Lookup) -> list[tuple[Rank, int]]:
        """Return ranks and numbers of the pages that a lookup may compare, the best first.

        No page's rank can be less than the one that comes here: hints can be those of others.
        """
        record = lookup.record
        places = self._near(record.fingerprint, lookup.limit)
        if not places:
            return []
        end = self._place(lookup.before) if lookup.before else len(self)
        wanted = hints_of(record)
        dismissed = {
            (other.fingerprint, its.request, its.run, its.asker)
            for other in lookup.dismissed
            if other.scope == record.scope
            for its in [hints_of(other)]
        }
        found = []
        for place, distance in places:
            number, its = self._row(place)
            if not end - lookup.window.pages <= place < end or number <= lookup.after:
                continue
            identity = self._fingerprint(place), its.request, its.run, its.asker
            if identity in dismissed:
                continue
            stands = wanted.asker in (its.asker, _UNKNOWN) or its.asker == _UNKNOWN
            stands &= not record.carries or its.carries == wanted.carries
            has_name, has_key = its.name == wanted.name, its.key == wanted.key
            unlike = _unlike(its.request == wanted.request, has_name, has_name and has_key)
            rank = unlike if stands and distance <= lookup.radius else _BEYOND, distance, -number
            found.append((rank, number))
        return sorted(found)

    def _near(self, fingerprint: int, limit: int) -> list[tuple[int, int]]:
        """Return the places of the fingerprints no more than `limit` bits away, and how many."""
        wanted = int.from_bytes(fingerprint.to_bytes(8, "big"), byteorder)
        bits = np.bitwise_count(np.frombuffer(self._fingerprints, np.uint64) ^ wanted)
        return [(place, int(bits[place])) for place in (bits <= limit).nonzero()[0].tolist()]

    def _place(self, number: int) -> int:
        """Return the place of the first page that has this number or a higher one."""
        return bisect_left(range(len(self)), number, key=self._number)

    def _cut(self, start: int, end: int) -> None:
        del self._fingerprints[start * 8 : end * 8]
        del self._rest[start * _REST.size : end * _REST.size]

    def _row(self, place: int) -> tuple[int, Hints]:
        number, *hints = _REST.unpack_from(self._rest, place * _REST.size)
        return number, Hints(*hints)

    def _number(self, place: int) -> int:
        return int.from_bytes(self._rest[place * _REST.size : place * _REST.size + 8], "big")

    def _fingerprint(self, place: int) -> int:
        return int.from_bytes(self._fingerprints[place * 8 : place * 8 + 8], "big")


_BEYOND = 4  # the rank of what is no match: too far away, or asked for something else
_UNKNOWN = hash64("") % 2**16
_BUT_FINGERPRINT = [0, 2, 3]  # of the columns of eight bytes that drivers have


def _unlike(has_request: bool, has_name: bool, has_key: bool) -> int:
    """Return how little a page within the radius has in common with another one."""
    return 0 if has_request else 1 if has_key else 2 if has_name else 3


class Mirrors:
    """The scopes that a process knows, those of the longest ago first."""

    def __init__(self, most: float) -> None:
        self.most = most
        self._total = 0
        self._scopes: OrderedDict[str, Mirror] = OrderedDict()

    def of(self, scope: str) -> Mirror:
        """Return the mirror of a scope, which may know nothing yet; the longest unused ones go."""
        if self._scopes:
            used = self._scopes[next(reversed(self._scopes))]
            takes = len(used) + _SCOPE_COST
            self._total += takes - used.counted
            used.counted = takes
        while self._total > self.most and len(self._scopes) > 1:
            self._total -= self._scopes.popitem(last=False)[1].counted
        if scope not in self._scopes:
            self._scopes[scope] = Mirror(scope)
        self._scopes.move_to_end(scope)
        return self._scopes[scope]

    def clear(self) -> None:
        """Let go of everything: what they know may not be so."""
        self._scopes.clear()
        self._total = 0
