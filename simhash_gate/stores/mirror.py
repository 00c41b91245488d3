"""What a process remembers of the scopes that it meets: enough to tell which pages are alike.

A scope is a few columns of numbers, 64 bytes a page. A lookup compares all fingerprints of a
scope at once: 10,000 in 5 µs, a million in half a millisecond.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.stores.base import HEAD_BYTES, hash64, key_of
from simhash_gate.stores.driver import State

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from simhash_gate.stores.base import Record, Window
    from simhash_gate.stores.driver import News

    Numbers = NDArray[np.uint64]

_COLUMNS = 1 + HEAD_BYTES // 8
_NUMBER, _FINGERPRINT, _DIGEST, _REQUEST, _PIPELINE, _KEY, _RUN, _SEEN = range(_COLUMNS)
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
    before: int = 0  # the number that the page has itself: only those with a lower one count
    after: int = 0  # and of these only those with a higher one


class Mirror:
    """The pages of one scope that a process knows, as they were at `state`."""

    __slots__ = ("_columns", "_end", "_start", "counted", "state")

    def __init__(self, scope: str) -> None:
        self.state = State(scope)
        self.counted = 0  # what it takes, as the mirrors have counted it
        self._columns = np.empty((_COLUMNS, 0), np.uint64)
        self._start = self._end = 0

    def __len__(self) -> int:
        return self._end - self._start

    def take(self, news: News) -> None:
        """Bring it up to date."""
        if not news.state.continues(self.state):
            self._start = self._end = 0
        self._extend(news.heads)
        if len(self) and self._columns[_NUMBER, self._start] < news.first:
            self._start += int(np.searchsorted(self._column(_NUMBER), np.uint64(news.first)))
        self.state = news.state

    def remove(self, numbers: Sequence[int], state: State) -> None:
        """Let pages go, wherever they stand."""
        kept = ~np.isin(self._column(_NUMBER), np.array(numbers, np.uint64))
        columns = self._columns[:, self._start : self._end][:, kept]
        self._columns, self._start, self._end = columns, 0, columns.shape[1]
        self.state = state

    def numbers(self, start: int = 0, end: int | None = None) -> list[int]:
        """Return the numbers of the pages from a place to another, in order."""
        return [int(number) for number in self._column(_NUMBER)[start:end]]

    def aged(self, start: int, since: float) -> int:
        """Return how many pages from a place on are not known to be seen since a time."""
        older = self._column(_SEEN)[start:].view(np.float64) < since
        return len(older) if older.all() else int(np.argmin(older))

    def saw(self, place: int, at: float) -> None:
        """Note when the page at a place, counted from the first one, was seen last."""
        self._column(_SEEN).view(np.float64)[place] = at

    def find(self, record: Record, *, but: Collection[str] | None = None) -> list[int]:
        """Return the numbers of the pages with this identity, in order.

        With `but`, of all runs but these.
        """
        same = self._column(_FINGERPRINT) == np.uint64(record.fingerprint)
        if not same.any():
            return []
        same &= self._column(_REQUEST) == np.uint64(hash64(record.request))
        runs = [record.run] if but is None else but
        of_these = np.isin(self._column(_RUN), np.array([*map(hash64, runs)], np.uint64))
        same &= of_these if but is None else ~of_these
        return [int(number) for number in self._column(_NUMBER)[same]]

    def near(self, lookup: Lookup) -> list[tuple[int, int, int]]:
        """Return number, run and distance of the pages that a lookup compares, the best first.

        `Store.check_and_add` says what is best. Beyond the radius, only the distance counts.
        """
        record = lookup.record
        bits = np.bitwise_count(self._column(_FINGERPRINT) ^ np.uint64(record.fingerprint))
        places = ((bits <= lookup.limit).nonzero()[0] + self._start).tolist()
        if not places:
            return []
        end = self._end
        if lookup.before:
            numbers = self._column(_NUMBER)
            end = self._start + int(np.searchsorted(numbers, np.uint64(lookup.before)))
        compared = range(max(self._start, end - lookup.window.pages), end)
        pipeline, request = hash64(record.pipeline), hash64(record.request)
        key = key_of(record.sketch)
        dismissed = {
            (other.fingerprint, hash64(other.request), hash64(other.run))
            for other in lookup.dismissed
            if other.scope == record.scope
        }
        found = []
        for place, row in zip(places, self._columns[:, places].T.tolist(), strict=True):
            number, fingerprint, digest, its_request, its_pipeline, its_key, run, _ = row
            other = its_pipeline != pipeline or (lookup.exact and digest != record.digest)
            if other or place not in compared or number <= lookup.after:
                continue
            if (fingerprint, its_request, run) in dismissed:
                continue
            distance = (fingerprint ^ record.fingerprint).bit_count()
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

    def _column(self, column: int) -> Numbers:
        return self._columns[column, self._start : self._end]

    def _extend(self, heads: bytes) -> None:
        rows = np.frombuffer(heads, ">u8").reshape(-1, _COLUMNS).T
        end = self._end + rows.shape[1]
        if end > self._columns.shape[1]:
            kept = self._columns[:, self._start : self._end]
            size = kept.shape[1] + rows.shape[1]
            room = size // 8 + 4 if kept.size else 0  # many scopes are read, and no page comes
            self._columns = np.empty((_COLUMNS, size + room), np.uint64)
            self._columns[:, : kept.shape[1]] = kept
            self._start, self._end = 0, kept.shape[1]
            end = size
        self._columns[:, self._end : end] = rows
        self._end = end


class Mirrors:
    """The scopes that a process knows, those of the longest ago first."""

    def __init__(self, most: float) -> None:
        self.most = most
        self._total = 0
        self._scopes: OrderedDict[str, Mirror] = OrderedDict()

    def of(self, scope: str) -> Mirror:
        """Return the mirror of a scope, which may know nothing yet."""
        if scope not in self._scopes:
            self._scopes[scope] = Mirror(scope)
        self._scopes.move_to_end(scope)
        return self._scopes[scope]

    def count(self, mirror: Mirror) -> None:
        """Count what a mirror takes, after its use; the longest unused ones go."""
        takes = len(mirror) + _SCOPE_COST
        self._total += takes - mirror.counted
        mirror.counted = takes
        while self._total > self.most and len(self._scopes) > 1:
            _, oldest = self._scopes.popitem(last=False)
            self._total -= oldest.counted

    def clear(self) -> None:
        """Let go of everything: what they know may not be so."""
        self._scopes.clear()
        self._total = 0
