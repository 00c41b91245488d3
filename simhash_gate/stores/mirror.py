"""What a process remembers of the scopes that it meets: enough to tell which pages are alike.

A lookup compares all fingerprints of a scope at once: 10,000 in 5 µs, a million in half a
millisecond.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from itertools import takewhile
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simhash_gate.stores.base import NEVER, hash64, key_of, second_of
from simhash_gate.stores.driver import ROW_BYTES, State

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from simhash_gate.stores.base import Record, Window
    from simhash_gate.stores.driver import News

# Of a page, but for its fingerprint: number, digest, request, key, run, pipeline, last seen.
_REST = Struct(">5Q2I")
_ITEMS = _REST.size // 8
_SEEN = Struct(">I")
_AGED = 100
_SCOPE_COST = 16  # a scope without pages takes as much room as so many pages
_NAME_BITS = 32  # of a key: those after it tell the offer


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


class Mirror:
    """The pages of one scope that a process knows, as they were at `state`.

    Pages before the place `_start` are gone.
    """

    __slots__ = ("_fingerprints", "_rest", "_start", "counted", "state")

    def __init__(self, scope: str) -> None:
        self.state = State(scope)
        self.counted = 0  # what it takes, as the mirrors have counted it
        self._fingerprints, self._rest, self._start = array("Q"), array("Q"), 0

    def __len__(self) -> int:
        return len(self._fingerprints) - self._start

    def take(self, news: News) -> None:
        """Bring it up to date."""
        if not news.state.continues(self.state):
            self._fingerprints, self._rest, self._start = array("Q"), array("Q"), 0
        heads = news.heads
        if len(heads) == ROW_BYTES:  # a tenth of the time that arrays of one row take
            self._fingerprints.append(int.from_bytes(heads[8:16], "big"))
            self._rest.frombytes(heads[:8] + heads[16:])
        elif heads:
            rows = np.frombuffer(heads, ">u8").reshape(-1, ROW_BYTES // 8)
            self._fingerprints.frombytes(rows[:, 1].astype(np.uint64).tobytes())
            self._rest.frombytes(np.delete(rows, 1, axis=1).tobytes())
        self.state = news.state
        end = len(self._fingerprints)
        while self._start < end and self._number(self._start) < news.first:
            self._start += 1
        if self._start * 16 > len(self._fingerprints):
            del self._fingerprints[: self._start], self._rest[: self._start * _ITEMS]
            self._start = 0

    def remove(self, numbers: Collection[int], state: State) -> None:
        """Let pages go, wherever they stand."""
        for number in numbers:
            places = range(self._start, len(self._fingerprints))
            place = self._start + bisect_left(places, number, key=self._number)
            if place in places and self._number(place) == number:
                del self._fingerprints[place], self._rest[place * _ITEMS : (place + 1) * _ITEMS]
        self.state = state

    def numbers(self, start: int = 0, end: int | None = None) -> list[int]:
        """Return the numbers of the pages from a place to another, in order."""
        places = range(self._start, len(self._fingerprints))[start:end]
        return [self._number(place) for place in places]

    def aged(self, place: int, since: float) -> list[int]:
        """Return the numbers of pages from a place on, some, not known to be seen since a time."""
        rows = map(self._row, range(self._start + place, len(self._fingerprints))[:_AGED])
        return [row[0] for row in takewhile(lambda row: (row[-1] or NEVER) < since, rows)]

    def saw(self, place: int, at: float) -> None:
        """Note when the page at a place was seen last."""
        _SEEN.pack_into(
            self._rest, (self._start + place + 1) * _REST.size - _SEEN.size, second_of(at)
        )

    def find(self, record: Record, *, but: Collection[str] | None = None) -> list[int]:
        """Return the numbers of the pages with this identity, in order.

        With `but`, of all runs but these.
        """
        asked, runs = hash64(record.request), {*map(hash64, [record.run] if but is None else but)}
        rows = (self._row(place) for place, _ in self._near(record.fingerprint, 0))
        return [
            number
            for number, _, request, _, run, _, _ in rows
            if request == asked and (run in runs) == (but is None)
        ]

    def near(self, lookup: Lookup) -> list[tuple[int, int, int]]:
        """Return number, run and distance of the pages that a lookup compares, the best first.

        `Store.check_and_add` says what is best. Beyond the radius, only the distance counts.
        """
        record = lookup.record
        places = self._near(record.fingerprint, lookup.limit)
        if not places:
            return []
        end = len(self._fingerprints)
        while lookup.before and end > self._start and self._number(end - 1) >= lookup.before:
            end -= 1
        pipeline, request = hash64(record.pipeline) % 2**32, hash64(record.request)
        key = key_of(record.sketch)
        dismissed = {
            (other.fingerprint, hash64(other.request), hash64(other.run))
            for other in lookup.dismissed
            if other.scope == record.scope
        }
        found = []
        for place, distance in places:
            number, digest, its_request, its_key, run, its_pipeline, _ = self._row(place)
            if not end - lookup.window.pages <= place < end or number <= lookup.after:
                continue
            if its_pipeline != pipeline or (lookup.exact and digest != record.digest):
                continue
            if dismissed and (self._fingerprints[place], its_request, run) in dismissed:
                continue
            if distance > lookup.radius:
                unlike = 4
            elif its_request == request:
                unlike = 0
            elif its_key == key:
                unlike = 1
            else:
                unlike = 2 if its_key >> _NAME_BITS == key >> _NAME_BITS else 3
            found.append((unlike, distance, -place, number, run))
        return [(number, run, distance) for _, distance, _, number, run in sorted(found)]

    def _near(self, fingerprint: int, limit: int) -> list[tuple[int, int]]:
        """Return the places of the fingerprints no more than `limit` bits away, and how many."""
        if not self._fingerprints:
            return []
        bits = np.bitwise_count(np.frombuffer(self._fingerprints, np.uint64) ^ fingerprint)
        places = (bits <= limit).nonzero()[0].tolist()
        return [(place, int(bits[place])) for place in places if place >= self._start]

    def _row(self, place: int) -> Sequence[Any]:
        return _REST.unpack_from(self._rest, place * _REST.size)

    def _number(self, place: int) -> int:
        number: int = self._row(place)[0]
        return number


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
