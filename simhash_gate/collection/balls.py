"""Near pairs of many near-duplicates, which fill a ball around one fingerprint: counted, not made.

A fingerprint stands for the set of bits in which it differs from the centre of the ball. Two such
sets A and B are fingerprints that differ in |A| + |B| - 2 |A ∩ B| bits: they are within r bits if
they share m = (|A| + |B| - r) / 2 bits, rounded up, or more. Let S(k) be, over all choices of k
bits, the sum of how many sets of one width have them times how many of another width have them;
each pair counts C(|A ∩ B|, k) times in it. By inclusion and exclusion, the pairs that share m bits
or more are the sum over k >= m of (-1)^(k - m) C(k - 1, m - 1) S(k), for m > 0; for others, they
are all, S(0). That takes the subsets of each fingerprint, and not its neighbours.

Feller, "An Introduction to Probability Theory and Its Applications", volume 1 (1968), IV.5.
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb, isqrt
from typing import TYPE_CHECKING

import numpy as np

from simhash_gate.fingerprints.hamming import BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions

    Counts = NDArray[np.int64]

_RADIUS = 3  # of a ball: sets of so few bits have few subsets
_MOST_BALLS = 8  # to look for one takes a pass over all
_MOST_DISTANCE = 8  # what is within more of a ball has too many subsets
_FEW = 1 << 14  # in less, no ball has so many that it matters
_PREFIX = 14  # bits: the first ones, which most of a ball have in common
_SAMPLE = 1 << 12  # tells the centre as well as all


def count_in_balls(
    values: Fingerprints, sizes: Positions, max_distance: int
) -> tuple[int, Fingerprints, Positions]:
    """Count the near pairs that have one or both in a ball full of fingerprints, if there are any.

    `values` are distinct and ascending; `sizes` tells how often each is there. Pairs of equal ones
    do not count. Returns also the values that are in no ball, with their sizes: all other near
    pairs are among them.
    """
    total = 0
    for _ in range(_MOST_BALLS if max_distance <= _MOST_DISTANCE else 0):
        centre = _centre(values)
        if centre is None:
            break
        sets = values ^ centre
        widths = np.bitwise_count(sets)
        outside = widths > _RADIUS
        if not _are_many(len(values) - int(np.count_nonzero(outside)), len(values)):
            break
        total += _count(sets, sizes, widths, max_distance)
        values, sizes = values[outside], sizes[outside]
    return total, values, sizes


def _are_many(some: int, count: int) -> bool:
    """Tell if to compare so many with each other takes longer than a pass over `count`."""
    return some > isqrt(count)


def _centre(values: Fingerprints) -> np.uint64 | None:
    """Return what is in the middle of the densest values, if there are many."""
    if len(values) < _FEW:
        return None
    prefixes = np.arange(1 << _PREFIX, dtype=np.uint64)
    starts = np.searchsorted(values, prefixes << np.uint64(BITS - _PREFIX))
    counts = np.diff(starts, append=len(values))
    densest = counts.argmax()
    if not _are_many(int(counts[densest]) - len(values) // len(counts), len(values)):
        return None
    members = values[starts[densest] :][: counts[densest]]
    members = members[:: -(-len(members) // _SAMPLE)]
    bits = np.unpackbits(members[:, None].view(np.uint8), axis=1)
    return np.uint64(np.packbits(2 * bits.sum(axis=0) > len(bits)).view(np.uint64)[0])


def _count(
    sets: Fingerprints, sizes: Positions, widths: NDArray[np.uint8], max_distance: int
) -> int:
    """Count the near pairs inside the ball, and of it with what is outside."""
    having = [
        _having(sets[widths == width], sizes[widths == width], width)
        for width in range(_RADIUS + max_distance + 1)
    ]
    total = 0
    for inner, outer in combinations_with_replacement(range(len(having)), 2):
        if inner <= _RADIUS:
            pairs = _sharing(-(-(inner + outer - max_distance) // 2), having[inner], having[outer])
            if inner == outer:  # each also met itself, and each pair was met from both sides
                pairs = (pairs - _sharing(inner, having[inner], having[inner])) // 2
            total += pairs
    return total


def _having(sets: Fingerprints, sizes: Positions, width: int) -> list[Counts]:
    """Return how many sets have each choice of 0, 1, 2, 3 bits: arrays of 64 ** 0, 1, 2, 3."""
    bits = np.unpackbits(sets[:, None].view(np.uint8), axis=1, bitorder="little")
    places = np.nonzero(bits)[1].reshape(len(sets), width).T
    found = []
    for number in range(min(width, _RADIUS) + 1):
        count = np.zeros(BITS**number, np.int64)
        for chosen in combinations(places, number):
            keys = np.zeros(len(sets), np.intp)
            for column in chosen:
                keys = keys * BITS + column
            np.add.at(count, keys, sizes)
        found.append(count)
    return found


def _sharing(least: int, inner: list[Counts], outer: list[Counts]) -> int:
    """Count the pairs that share at least so many bits."""
    if least <= 0:
        return int(inner[0] @ outer[0])
    return sum(
        (-1) ** (bits - least) * comb(bits - 1, least - 1) * int(inner[bits] @ outer[bits])
        for bits in range(least, len(inner))
    )
