"""A process remembers the heads of the pages of its scopes: enough to find possible matches.

A lookup compares all fingerprints of a scope at once: 10,000 in 5 µs, a million in 0.5 ms.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection
from struct import Struct
from sys import byteorder
from typing import NamedTuple, TypeAlias

import numpy as np

from simhash_gate.stores import base
from simhash_gate.stores.base import Hints, Match, Record, Window
from simhash_gate.stores.driver import ROW_BYTES, News, State

_REST = Struct(f">Q{base.HINTS}")  # the number and the hints of a page
_SCOPE_COST = 30  # a scope takes as much room as this many pages, in addition to its own

Rank: TypeAlias = "tuple[int, int, int]"


class Lookup(NamedTuple):
    """A page with the conditions for pages to compare it with; see `Store.check_and_add`.

    Compared records are at most `limit` bits away, and were last seen at `since` or later.
    """

    record: Record
    radius: int
    limit: int
    exact: bool
    since: float
    window: Window
    dismissed: Collection[Record]
    after: int = 0  # only pages with a higher number count
    before: int = 0  # the number of the page itself, once it is added: only lower ones count

    def has_found(self, match: Match) -> bool:
        """Tell whether a record is a real match: within the radius, and stands for the page."""
        return match.distance <= self.radius and match.record.stands_for(self.record)

    def rank(self, other: Record, number: int) -> Rank | None:
        """Return the rank of a record, the least for the best; None if it is not compared.

        `Store.check_and_add` defines the best match. Only the distance counts for other records.
        """
        page = self.record
        distance = (other.fingerprint ^ page.fingerprint).bit_count()
        if distance > self.limit or other.last_seen < self.since:
            return None
        if other.pipeline != page.pipeline or (self.exact and other.digest != page.digest):
            return None
        if not self.has_found(Match(other, distance)):
            return _BEYOND, distance, -number
        head, other_head = base.head_of_sketch(page.sketch), base.head_of_sketch(other.sketch)
        has_name = head >> base.NAME_BITS == other_head >> base.NAME_BITS
        unlike = _unlike(other.key == page.key, has_name, head == other_head)
        return unlike, distance, -number


class Mirror:
    """The pages of one scope that a process knows, as they were at `state`."""

    __slots__ = ("_fingerprints", "_rest", "counted", "seen", "state")

    def __init__(self, scope: str) -> None:
        self.state = State(scope)
        self.counted = 0  # its room in pages, as `Mirrors` counted it last
        self.seen: dict[int, float] = {}  # by number: when the first pages were last seen
        # Fingerprints have the byte order of drivers: that changes no distance. A bytearray moves
        # nothing when its beginning is deleted.
        self._fingerprints, self._rest = bytearray(), bytearray()

    def __len__(self) -> int:
        return len(self._fingerprints) // 8

    def take(self, news: News) -> None:
        """Bring this mirror up to date."""
        if not news.state.continues(self.state):
            self._fingerprints, self._rest = bytearray(), bytearray()
        heads = news.heads
        if len(heads) == ROW_BYTES:  # takes a tenth of the time of an array with one row
            self._fingerprints += heads[8:16]
            self._rest += heads[:8] + heads[16:]
        else:
            rows = np.frombuffer(heads, np.uint64).reshape(-1, ROW_BYTES // 8)
            self._fingerprints += rows[:, 1].tobytes()
            self._rest += rows[:, _BUT_FINGERPRINT].tobytes()
        self.state = news.state
        while self._rest and self._number(0) < news.first:
            self._cut(0, 1)

    def remove(self, numbers: Collection[int], state: State) -> None:
        """Remove pages. `state` is that of the scope when they were removed there."""
        for number in numbers:
            self._cut(self._place(number), self._place(number + 1))
        if state.removals == self.state.removals + 1:  # pages that others added are still unknown
            self.state = state._replace(last=min(state.last, self.state.last))

    def numbers(self, start: int = 0, end: int | None = None) -> list[int]:
        """Return the numbers of the pages between two places, in order."""
        return [self._number(place) for place in range(len(self))[start:end]]

    def find(self, record: Record, *, but: Collection[str] | None = None) -> list[int]:
        """Return the numbers of the pages with this identity, in order.

        The address counts where several pages differ in nothing else: a page may have moved. With
        `but`, those of any other run than these.
        """
        wanted = base.hints_of(record)
        runs = {wanted.run} if but is None else {base.hash64(other) % 2**16 for other in but}
        rows = (self._row(place) for place, _ in self._near(record.fingerprint, 0))
        found = [
            (number, hints.url == wanted.url)
            for number, hints in rows
            if (hints.key, hints.asker) == (wanted.key, wanted.asker)
            and (hints.run in runs) == (but is None)
        ]
        at_address = any(same for _, same in found)
        return [number for number, same in found if same is at_address]

    def at_address(self, url: str) -> list[int]:
        """Return the numbers of the pages that may have a URL, in order."""
        urls = np.frombuffer(self._rest, ">u4")[_REST.size // 4 - 1 :: _REST.size // 4]
        places = (urls == base.hint_of_url(url)).nonzero()[0].tolist()
        return [self._number(place) for place in places]

    def near(self, lookup: Lookup) -> list[tuple[Rank, int]]:
        """Return (rank, number) of the pages that a lookup may compare, the best first.

        The real rank of a page is this one or a higher one: different pages can share hints.
        """
        record = lookup.record
        places = self._near(record.fingerprint, lookup.limit)
        if not places:
            return []
        end = self._place(lookup.before) if lookup.before else len(self)
        wanted = base.hints_of(record)
        dismissed = set()
        for other in lookup.dismissed:
            hints = base.hints_of(other)
            if other.scope == record.scope:
                dismissed.add((other.fingerprint, hints.key, hints.run, hints.asker))
        ranked = []
        for place, distance in places:
            number, hints = self._row(place)
            if not end - lookup.window.pages <= place < end or number <= lookup.after:
                continue
            if (self._fingerprint(place), hints.key, hints.run, hints.asker) in dismissed:
                continue
            stands = wanted.asker in (hints.asker, _UNKNOWN) or hints.asker == _UNKNOWN
            stands &= not record.carries or hints.carries == wanted.carries
            has_name, has_rest = hints.name == wanted.name, hints.rest == wanted.rest
            unlike = _unlike(hints.key == wanted.key, has_name, has_name and has_rest)
            rank = unlike if stands and distance <= lookup.radius else _BEYOND, distance, -number
            ranked.append((rank, number))
        return sorted(ranked)

    def _near(self, fingerprint: int, limit: int) -> list[tuple[int, int]]:
        """Return (place, distance) of the fingerprints that are at most `limit` bits away."""
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


_BEYOND = 4  # begins the rank of a page that is not a match: too far away, or for another asker
_UNKNOWN = base.hash64("") % 2**16
_BUT_FINGERPRINT = [0, 2, 3]  # columns of eight bytes in the rows of drivers


def _unlike(has_key: bool, has_name: bool, has_head: bool) -> int:
    """Return 0 for a page with the same key, up to 3 for one with another name."""
    return 0 if has_key else 1 if has_head else 2 if has_name else 3


class Mirrors:
    """The mirrors of a process, the longest unused one first. `most` bounds their pages."""

    def __init__(self, most: float) -> None:
        self.most = most
        self._total = 0
        self._scopes: OrderedDict[str, Mirror] = OrderedDict()

    def of(self, scope: str) -> Mirror:
        """Return the mirror of a scope, an empty one if it is new. Drop the longest unused ones."""
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
        """Drop all mirrors: they may be wrong."""
        self._scopes.clear()
        self._total = 0
