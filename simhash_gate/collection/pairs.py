"""All near pairs of a collection of fingerprints: as arrays, or in portions.

`fingerprints.block_sort` finds near pairs among distinct fingerprints. This module adds equal
fingerprints, and scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simhash_gate.fingerprints.arrays import as_fingerprints, expand, first_of_each
from simhash_gate.fingerprints.block_sort import Portion, near_pairs
from simhash_gate.fingerprints.hamming import require_distance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions

    Numbers = NDArray[np.integer[Any]]
    Places = tuple[Positions, Positions]
    Use = Callable[[Positions, Positions], object]

# Pairs that are made at once: those of a large group do not fit into memory.
_AT_ONCE = 1 << 20
# In scopes of at most this size, all are compared with all: a search would take as long.
_SMALL = 200
_COMPARED = 1 << 16
_HALF = np.uint64(32)
_LOW_HALF = np.uint64((1 << 32) - 1)


class NearPairs(NamedTuple):
    """Pairs of positions as three arrays of one length, in the order of `i`, then of `j`; i < j."""

    i: Positions
    j: Positions
    distance: NDArray[np.uint8]


def near_duplicate_pairs(fingerprints: ArrayLike, max_distance: int = 3) -> NearPairs:
    """Find every pair of fingerprints that differ in at most `max_distance` bits, 0 to 64.

    `fingerprints` is an array of n numpy.uint64, which may repeat. Returns positions in it and
    distances (numpy.intp, numpy.intp, numpy.uint8). The result is exact. The search is made for the
    distances 0 to 8; larger ones take longer. It takes the memory of 2 to 8 arrays of n
    numpy.uint64 besides the result. Raises ValueError for fingerprints or a distance out of range.
    """
    array, radius = as_fingerprints(fingerprints), require_distance(max_distance)
    return unpack(array, packed_pairs(array, radius))


def packed_pairs(
    fingerprints: Fingerprints,
    radius: int,
    *,
    scopes: NDArray[np.uint32] | None = None,
    tell: Callable[[int], object] = lambda _: None,
) -> NDArray[np.uint64]:
    """Return the pairs that `stream_pairs` finds, sorted, each packed into one number.

    The lower position is in the high half. `tell` is called with the number of new pairs.
    """
    portions = [np.empty(0, np.uint64)]

    def use(one: Positions, other: Positions) -> None:
        pairs = np.minimum(one, other).astype(np.uint64)
        pairs <<= _HALF
        pairs |= np.maximum(one, other).astype(np.uint64)
        portions.append(pairs)
        tell(len(pairs))

    stream_pairs(fingerprints, radius, use, scopes=scopes)
    pairs = np.concatenate(portions)
    pairs.sort()
    return pairs


def unpack(fingerprints: Fingerprints, pairs: NDArray[np.uint64]) -> NearPairs:
    """Return packed pairs as positions with their distances."""
    i = (pairs >> _HALF).astype(np.intp)
    j = (pairs & _LOW_HALF).astype(np.intp)
    return NearPairs(i, j, np.bitwise_count(fingerprints[i] ^ fingerprints[j]))


def stream_pairs(
    fingerprints: Fingerprints, radius: int, use: Use, *, scopes: Numbers | None = None
) -> None:
    """Find every pair of one scope that differs in at most `radius` bits, 0 to 64, each pair once.

    `fingerprints` are n numpy.uint64, which may repeat. `scopes` are n whole numbers, or None for
    one scope. `use` is called from several threads with two arrays of positions. Pairs come in no
    order, and so do the two positions of a pair. Raises ValueError for a radius out of range.
    """
    require_distance(radius)
    if scopes is None:
        _search(fingerprints, radius, use)
        return
    rows = np.argsort(scopes, kind="stable")
    starts = first_of_each(scopes[rows])
    sizes = np.diff(starts, append=len(rows))
    _compare_small(fingerprints, scopes, rows, np.repeat(sizes <= _SMALL, sizes), radius, use)
    for number in np.flatnonzero(sizes > _SMALL).tolist():
        of_scope = rows[starts[number] :][: sizes[number]]
        _search(
            fingerprints[of_scope],
            radius,
            lambda one, other, rows=of_scope: use(rows[one], rows[other]),  # type: ignore[misc]
        )


class Groups:
    """The distinct `values` of a sorted array, and the places of each in it.

    Value number g is at the places from `edges[g]` up to, but not at, `edges[g + 1]`. `repeated`
    tells whether any value occurs twice.
    """

    def __init__(self, ascending: Fingerprints) -> None:
        self.edges: Positions = np.append(first_of_each(ascending), len(ascending))
        self.repeated = len(self.edges) <= len(ascending)
        self.values = ascending[self.edges[:-1]] if self.repeated else ascending

    def sizes(self, numbers: Positions) -> Positions:
        """Return how often each of these values occurs, by their numbers."""
        return self.edges[numbers + 1] - self.edges[numbers]

    def between(self, one: Positions, other: Positions) -> Iterator[Places]:
        """Yield all pairs of places for pairs of values, given by number, in portions."""
        if not self.repeated:
            yield one, other
            return
        firsts, sizes = self.edges[other], self.sizes(other)
        for pair, mine in _unrolled(self.edges[one], self.sizes(one)):
            for line, theirs in _unrolled(firsts[pair], sizes[pair]):
                yield mine[line], theirs

    def within(self) -> Iterator[Places]:
        """Yield all pairs of places with the same value, in portions."""
        large = np.flatnonzero(np.diff(self.edges) > 1)
        stops = self.edges[large + 1]
        for group, mine in _unrolled(self.edges[large], self.sizes(large)):
            for line, theirs in _unrolled(mine + 1, stops[group] - mine - 1):
                yield mine[line], theirs


def _compare_small(
    fingerprints: Fingerprints,
    scopes: Numbers,
    rows: Positions,
    small: NDArray[np.bool_],
    radius: int,
    use: Use,
) -> None:
    """Compare each `small` row with the rows after it in its scope. `rows` are ordered by scope."""
    values, scope_of = fingerprints[rows], scopes[rows]
    for start in range(0, len(rows), _COMPARED):
        one = np.flatnonzero(small[start : start + _COMPARED]) + start
        step = 0
        while len(one):
            step += 1
            one = one[one < len(rows) - step]
            one = one[scope_of[one + step] == scope_of[one]]
            near = one[np.bitwise_count(values[one] ^ values[one + step]) <= radius]
            if len(near):
                use(rows[near], rows[near + step])


def _search(fingerprints: Fingerprints, radius: int, use: Use) -> None:
    order = np.argsort(fingerprints)
    groups = Groups(fingerprints[order])

    def between(portion: Portion) -> None:
        for one, other in groups.between(*portion.look_up(groups.values)):
            use(order[one], order[other])

    for one, other in groups.within():
        use(order[one], order[other])
    for _ in near_pairs(groups.values, radius, between):
        pass


def _unrolled(firsts: Positions, counts: Positions) -> Iterator[Places]:
    """Yield (number of the range, place) arrays for ranges of `counts` places from `firsts` on.

    Long ranges are cut, so that no portion has more than `_AT_ONCE` places.
    """
    stops = np.cumsum(counts)
    total = int(stops[-1]) if len(stops) else 0
    for start in range(0, total, _AT_ONCE):
        stop = min(start + _AT_ONCE, total)
        low = int(np.searchsorted(stops, start, side="right"))
        high = int(np.searchsorted(stops, stop - 1, side="right")) + 1
        sizes, begins = counts[low:high].copy(), firsts[low:high].copy()
        passed = start - int(stops[low] - counts[low])
        begins[0] += passed
        sizes[0] -= passed
        sizes[-1] -= int(stops[high - 1]) - stop
        yield np.repeat(np.arange(low, high), sizes), expand(begins, sizes)
