"""Near fingerprints of two arrays, found all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.fingerprints.arrays import distinct, expand, is_in
from simhash_gate.fingerprints.permuted import near_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions
    from simhash_gate.fingerprints.permuted import Portion

_ONE = np.uint64(1)
_DISTANCE_BITS = np.uint64(7)


class Near(NamedTuple):
    """Pairs that are near: three arrays of one length, in order of query, distance, fingerprint."""

    query: Positions
    fingerprint: Fingerprints
    distance: NDArray[np.uint8]


def join(queries: Fingerprints, stored: Fingerprints, radius: int) -> Near:
    """Find every stored fingerprint within `radius` bits of each query.

    Both may repeat, and stand in any order. `Near.query` holds positions in `queries`.
    """
    order = np.argsort(queries)
    ascending, known = queries[order], distinct(stored)
    every = distinct(queries, stored)
    firsts = np.searchsorted(ascending, every)
    counts = np.searchsorted(ascending, every, side="right") - firsts
    asked, answers = counts > 0, is_in(every, known)

    def both_ways(portion: Portion) -> tuple[Positions, Positions]:
        """Return those pairs of which one is a query, the other stored: the query first."""
        one, other = portion.look_up(every)
        there, back = asked[one] & answers[other], asked[other] & answers[one]
        return (
            np.concatenate((one[there], other[back])),
            np.concatenate((other[there], one[back])),
        )

    same = np.flatnonzero(asked & answers)
    pairs = [(same, same), *near_pairs(every, radius, both_ways)]
    query, found = (np.concatenate(side) for side in zip(*pairs, strict=True))
    distance = np.bitwise_count(every[query] ^ every[found])
    repeats = counts[query]
    positions = order[expand(firsts[query], repeats)]
    return _in_order(positions, np.repeat(distance, repeats), np.repeat(found, repeats), every)


def _in_order(
    query: Positions, distance: NDArray[np.uint8], found: Positions, every: Fingerprints
) -> Near:
    """Sort by query, distance and fingerprint, which are in order in `every`, as one number."""
    low = np.uint64(len(every).bit_length())
    rows = (query.astype(np.uint64) << _DISTANCE_BITS | distance) << low
    rows |= found.astype(np.uint64)
    rows.sort()
    found = (rows & ((_ONE << low) - _ONE)).astype(np.intp)
    rows >>= low
    distance = (rows & ((_ONE << _DISTANCE_BITS) - _ONE)).astype(np.uint8)
    return Near((rows >> _DISTANCE_BITS).astype(np.intp), every[found], distance)
