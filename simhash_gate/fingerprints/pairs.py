"""All pairs of near fingerprints in one array."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import numpy as np

from simhash_gate.fingerprints.arrays import as_fingerprints, expand, first_of_each
from simhash_gate.fingerprints.hamming import require_distance
from simhash_gate.fingerprints.permuted import near_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions
    from simhash_gate.fingerprints.permuted import Crowd, Portion

_HALF = np.uint64(32)
_LOW_HALF = np.uint64((1 << 32) - 1)


class NearPairs(NamedTuple):
    """Pairs of positions: three arrays of one length, in order of `i`, then of `j`; i < j."""

    i: Positions
    j: Positions
    distance: NDArray[np.uint8]


@overload
def near_duplicate_pairs(
    fingerprints: ArrayLike, max_distance: int = 3, count_only: Literal[False] = False
) -> NearPairs: ...
@overload
def near_duplicate_pairs(
    fingerprints: ArrayLike, max_distance: int = 3, *, count_only: Literal[True]
) -> int: ...
@overload
def near_duplicate_pairs(
    fingerprints: ArrayLike, max_distance: int, count_only: Literal[True]
) -> int: ...


def near_duplicate_pairs(
    fingerprints: ArrayLike, max_distance: int = 3, count_only: bool = False
) -> NearPairs | int:
    """Find every pair of fingerprints that differ in at most `max_distance` bits, 0 to 64.

    `fingerprints` is an array of n numpy.uint64, which may repeat. Returns positions in it and
    distances (numpy.intp, numpy.intp, numpy.uint8), or their number with `count_only`, which a
    large group of near-duplicates fills no memory for. Exact; made for the distances 0 to 8, of
    which each takes longer than the one before. Takes the memory of 2 to 8 arrays of n numpy.uint64
    besides the result. Raises ValueError for fingerprints or a distance out of range.
    """
    array = as_fingerprints(fingerprints)
    groups = _Groups(array)
    if count_only:
        return groups.count(require_distance(max_distance))
    return groups.list(array, require_distance(max_distance))


class _Groups:
    """The distinct values of an array in order, and how often each is there."""

    def __init__(self, array: Fingerprints) -> None:
        ascending = np.sort(array)
        self.firsts = first_of_each(ascending)
        self.repeated = len(self.firsts) < len(ascending)
        self.values = ascending[self.firsts] if self.repeated else ascending
        self.sizes = np.diff(self.firsts, append=len(ascending))

    def count(self, radius: int) -> int:
        within = int((self.sizes * (self.sizes - 1) // 2).sum())
        count_crowd = partial(self._count_crowd, radius)
        return within + sum(near_pairs(self.values, radius, self._count, count_crowd))

    def list(self, array: Fingerprints, radius: int) -> NearPairs:
        """Return the pairs between groups, and those within each."""
        places = [(np.empty(0, np.intp), np.empty(0, np.intp))]
        places += near_pairs(self.values, radius, lambda found: found.look_up(self.values))
        one, other = (np.concatenate(side) for side in zip(*places, strict=True))
        del places
        order = np.argsort(array)
        i, j = (
            np.concatenate(sides)
            for sides in zip(self._between(one, other), self._within(), strict=True)
        )
        pairs = _packed(order[i], order[j])
        pairs.sort()
        i = (pairs >> _HALF).astype(np.intp)
        j = (pairs & _LOW_HALF).astype(np.intp)
        return NearPairs(i, j, np.bitwise_count(array[i] ^ array[j]))

    def _between(self, one: Positions, other: Positions) -> tuple[Positions, Positions]:
        """Return the pairs of places in order that two members of each pair of groups have."""
        if not self.repeated:
            return one, other
        sizes = self.sizes[other]
        mine = expand(self.firsts[one], self.sizes[one])
        repeats = np.repeat(sizes, self.sizes[one])
        return np.repeat(mine, repeats), expand(
            np.repeat(self.firsts[other], self.sizes[one]), repeats
        )

    def _within(self) -> tuple[Positions, Positions]:
        """Return the pairs of places in order of equal fingerprints."""
        large = self.sizes > 1
        firsts, sizes = self.firsts[large], self.sizes[large]
        places = expand(firsts, sizes)
        after = np.repeat(firsts + sizes, sizes) - places - 1
        return np.repeat(places, after), expand(places + 1, after)

    def _count(self, portion: Portion) -> int:
        if not self.repeated:
            return len(portion.one)
        one, other = portion.look_up(self.values)
        return int(self.sizes[one] @ self.sizes[other])

    def _count_crowd(self, radius: int, crowd: Crowd) -> int:
        """Count without listing: most pairs of a large group are near."""
        if not self.repeated:
            return sum(int(np.count_nonzero(near)) for _, near in crowd.near(radius))
        sizes = self.sizes[crowd.look_up(self.values)]
        # As floats, to multiply with BLAS; with so many bits that every sum is an exact integer.
        weights = sizes.astype(np.float32 if sizes.sum() < 1 << 24 else np.float64)
        total = 0
        for start, near in crowd.near(radius):
            sums = near.astype(weights.dtype) @ weights[start:]
            total += int(sizes[start : start + len(near)] @ sums.astype(np.intp))
        return total


def _packed(one: Positions, other: Positions) -> NDArray[np.uint64]:
    """Return pairs of positions, the lower one in front, as numbers in their order."""
    low = np.minimum(one, other).astype(np.uint64)
    low <<= _HALF
    low |= np.maximum(one, other).astype(np.uint64)
    return low
