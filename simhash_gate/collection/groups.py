"""Equal fingerprints are one group: pairs of places from near pairs of distinct values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simhash_gate.fingerprints.arrays import expand, first_of_each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions

    Places = tuple[Positions, Positions]

# Pairs that are made at once: a large group has more of them than memory has room for.
_AT_ONCE = 1 << 20


class Groups:
    """The distinct `values` of a sorted array, ascending, and which places each takes up in it.

    Value number g is at the places from `edges[g]` on, up to, and not at, `edges[g + 1]`.
    """

    def __init__(self, values: Fingerprints, edges: Positions) -> None:
        self.values = values
        self.edges = edges

    @classmethod
    def of(cls, ascending: Fingerprints) -> Groups:
        """Return the groups of a sorted array."""
        edges = np.append(first_of_each(ascending), len(ascending))
        repeated = len(edges) <= len(ascending)
        return cls(ascending[edges[:-1]] if repeated else ascending, edges)

    @property
    def repeated(self) -> bool:
        """Whether any value is there twice."""
        return len(self.values) < int(self.edges[-1])

    def sizes(self, numbers: Positions) -> Positions:
        """Return how often each of these values is there."""
        return self.edges[numbers + 1] - self.edges[numbers]

    def between(self, one: Positions, other: Positions) -> Iterator[Places]:
        """Yield the pairs of places that each pair of values, given by number, has; in portions."""
        if not self.repeated:
            yield one, other
            return
        firsts, sizes = self.edges[other], self.sizes(other)
        for pair, mine in _unrolled(self.edges[one], self.sizes(one)):
            for line, theirs in _unrolled(firsts[pair], sizes[pair]):
                yield mine[line], theirs

    def within(self) -> Iterator[Places]:
        """Yield the pairs of places that have the same value, in portions."""
        if not self.repeated:
            return
        large = np.flatnonzero(np.diff(self.edges) > 1)
        stops = self.edges[large + 1]
        for group, mine in _unrolled(self.edges[large], self.sizes(large)):
            for line, theirs in _unrolled(mine + 1, stops[group] - mine - 1):
                yield mine[line], theirs


def _unrolled(firsts: Positions, counts: Positions) -> Iterator[Places]:
    """Yield which range each place is of, and the place, for ranges of `counts` from `firsts` on.

    Long ranges are cut, so that no portion has more than `_AT_ONCE` places.
    """
    stops = np.cumsum(counts)
    total = int(stops[-1]) if len(stops) else 0
    for start in range(0, total, _AT_ONCE):
        stop = min(start + _AT_ONCE, total)
        low = int(np.searchsorted(stops, start, side="right"))
        high = int(np.searchsorted(stops, stop - 1, side="right")) + 1
        some, begin = counts[low:high].copy(), firsts[low:high].copy()
        passed = start - int(stops[low] - counts[low])
        begin[0] += passed
        some[0] -= passed
        some[-1] -= int(stops[high - 1]) - stop
        yield np.repeat(np.arange(low, high), some), expand(begin, some)
