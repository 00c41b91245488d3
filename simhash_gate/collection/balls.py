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

from simhash_gate.fingerprints.arrays import CHUNK
from simhash_gate.fingerprints.hamming import BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions

    Sizes = Positions | None

_RADIUS = 3  # of a ball: sets of so few bits have few subsets
_MOST_BALLS = 8  # to look for one takes a pass over all
_MOST_DISTANCE = 8  # what is within more of a ball has too many subsets
_FEW = 1 << 14  # in less, no ball has so many that it matters
_PREFIX = 14  # bits: the first ones, which most of a ball have in common
_SAMPLE = 1 << 12  # tells the centre as well as all
_AT_ONCE = 1 << 13  # sets, each with up to 165 subsets


def count_in_balls(
    values: Fingerprints, sizes: Sizes, max_distance: int
) -> tuple[int, Fingerprints, Sizes]:
    """Count the near pairs that have one or both in a ball full of fingerprints, as far as found.

    `values` are distinct and ascending; `sizes` tells how often each is there, None that all are
    there once. Pairs of equal ones do not count. Returns also the values that are in no ball,
    ascending, with their sizes: all other near pairs are among them.
    """
    total = 0
    for _ in range(_MOST_BALLS if max_distance <= _MOST_DISTANCE else 0):
        centre = _centre(values)
        if centre is None:
            break
        distances = _distances(values, centre)
        outside = distances > _RADIUS
        if not _are_many(len(values) - int(np.count_nonzero(outside)), len(values)):
            break
        total += _count(values, sizes, centre, distances, max_distance)
        values = values[outside]
        sizes = None if sizes is None else sizes[outside]
    return total, values, None if sizes is None or (sizes == 1).all() else sizes


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


def _distances(values: Fingerprints, centre: np.uint64) -> NDArray[np.uint8]:
    """Return how far each value is from the centre; in portions that stay in the cache."""
    result = np.empty(len(values), np.uint8)
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK] ^ centre
        np.bitwise_count(part, out=result[start : start + CHUNK])
    return result


def _count(
    values: Fingerprints,
    sizes: Sizes,
    centre: np.uint64,
    distances: NDArray[np.uint8],
    max_distance: int,
) -> int:
    """Count the near pairs inside the ball around a centre, and of it with what is outside."""
    kinds: list[_Sets] = []
    for width in range(_RADIUS + max_distance + 1):
        chosen = np.flatnonzero(distances == width)
        times = np.ones(len(chosen), np.intp) if sizes is None else sizes[chosen]
        kinds.append(_Sets(values[chosen] ^ centre, width, times))
    total = 0
    for inner, width in combinations_with_replacement(range(len(kinds)), 2):
        if inner <= _RADIUS and len(kinds[inner]) and len(kinds[width]):
            pairs = kinds[inner].sharing(-(-(inner + width - max_distance) // 2), kinds[width])
            if inner == width:  # each also met itself, and each pair was met from both sides
                pairs = (pairs - kinds[inner].sharing(inner, kinds[inner])) // 2
            total += pairs
    return total


class _Sets:
    """Sets of bits, `width` in each, that are there so many `times`."""

    def __init__(self, sets: Fingerprints, width: int, times: Positions) -> None:
        self._width = width
        self._times = times
        self._places = _places(sets, width)
        self._having: dict[int, NDArray[np.int64]] = {}

    def __len__(self) -> int:
        return len(self._times)

    def sharing(self, least: int, others: _Sets) -> int:
        """Count the pairs, with sets as wide or wider, that share at least so many bits."""
        if least <= 0:
            return int(self.having(0) @ others.having(0))
        return sum(
            (-1) ** (bits - least)
            * comb(bits - 1, least - 1)
            * int(self.having(bits) @ others.having(bits))
            for bits in range(least, self._width + 1)
        )

    def having(self, bits: int) -> NDArray[np.int64]:
        """Return how many sets have each choice of so many bits: an array of 64 ** `bits`."""
        if bits not in self._having:
            count = np.zeros(BITS**bits, np.int64)
            choices = np.array([*combinations(range(self._width), bits)], np.intp)
            for start in range(0, len(self), _AT_ONCE):
                places = self._places[:, start : start + _AT_ONCE]
                keys = np.zeros((len(choices), places.shape[1]), np.intp)
                for column in range(bits):
                    keys *= BITS
                    keys += places[choices[:, column]]
                times = np.tile(self._times[start : start + _AT_ONCE], len(choices))
                count += np.bincount(keys.ravel(), times, len(count)).astype(np.int64)
            self._having[bits] = count
        return self._having[bits]


def _places(sets: Fingerprints, width: int) -> NDArray[np.uint8]:
    """Return where the bits of each set are, from the lowest to the highest: a row for each bit."""
    places = np.empty((width, len(sets)), np.uint8)
    for row in places:
        rest = sets & (sets - np.uint64(1))
        np.bitwise_count((sets ^ rest) - np.uint64(1), out=row)
        sets = rest
    return places
