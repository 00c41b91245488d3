"""All pairs of near fingerprints in one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import numpy as np

from simhash_gate.collection.balls import count_in_balls
from simhash_gate.collection.groups import Groups
from simhash_gate.fingerprints.arrays import as_fingerprints
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
    array, radius = as_fingerprints(fingerprints), require_distance(max_distance)
    groups = Groups.of(np.sort(array))
    return _count(groups, radius) if count_only else _list(groups, array, radius)


def _count(groups: Groups, radius: int) -> int:
    """Return how many pairs there are, without making them."""
    sizes = np.diff(groups.edges) if groups.repeated else None
    within = 0 if sizes is None else int((sizes * (sizes - 1) // 2).sum())
    in_balls, values, sizes = count_in_balls(groups.values, sizes, radius)
    del groups

    def between(portion: Portion) -> int:
        if sizes is None:
            return len(portion.one)
        one, other = portion.look_up(values)
        return int(sizes[one] @ sizes[other])

    def inside(crowd: Crowd) -> int:
        # Most pairs of a crowd are near: to list them would take longer than to count them.
        if sizes is None:
            return sum(int(np.count_nonzero(near)) for _, near in crowd.near(radius))
        times = sizes[crowd.look_up(values)]
        # As floats, to multiply with BLAS; with so many bits that every sum is an exact integer.
        weights = times.astype(np.float32 if times.sum() < 1 << 24 else np.float64)
        total = 0
        for start, near in crowd.near(radius):
            sums = near.astype(weights.dtype) @ weights[start:]
            total += int(times[start : start + len(near)] @ sums.astype(np.intp))
        return total

    return within + in_balls + sum(near_pairs(values, radius, between, inside))


def _list(groups: Groups, array: Fingerprints, radius: int) -> NearPairs:
    """Return all pairs, in order."""
    found = [*near_pairs(groups.values, radius, lambda portion: portion.look_up(groups.values))]
    one, other = _joined(found)
    del found
    i, j = _joined([*groups.between(one, other), *groups.within()])
    order = np.argsort(array)
    pairs = _packed(order[i], order[j])
    pairs.sort()
    i = (pairs >> _HALF).astype(np.intp)
    j = (pairs & _LOW_HALF).astype(np.intp)
    return NearPairs(i, j, np.bitwise_count(array[i] ^ array[j]))


def _joined(portions: list[tuple[Positions, Positions]]) -> tuple[Positions, Positions]:
    nothing = np.empty(0, np.intp)
    one, other = zip((nothing, nothing), *portions, strict=True)
    return np.concatenate(one), np.concatenate(other)


def _packed(one: Positions, other: Positions) -> NDArray[np.uint64]:
    """Return pairs of positions, the lower one in front, as numbers in their order."""
    low = np.minimum(one, other).astype(np.uint64)
    low <<= _HALF
    low |= np.maximum(one, other).astype(np.uint64)
    return low
