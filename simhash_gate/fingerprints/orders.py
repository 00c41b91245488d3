"""Orders of the bits of a fingerprint, with some of its blocks on top.

Sorted in such an order, fingerprints that agree in these blocks stand together.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.fingerprints.arrays import CHUNK
from simhash_gate.fingerprints.blocks import split
from simhash_gate.fingerprints.hamming import BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints


class Move(NamedTuple):
    """Bits that go from one place to another: `mask` at `source` to the same at `target`."""

    source: np.uint64
    mask: np.uint64
    target: np.uint64


class Table(NamedTuple):
    """One order of the bits, its key on top.

    Of two fingerprints with the same key, those bits below it that differ are inside `low`. A pair
    that agrees in more blocks than a key has meets in several tables; it belongs to the one where
    it differs in all of `skipped`, blocks that come before the last one of the key.
    """

    there: tuple[Move, ...]
    back: tuple[Move, ...]
    low: np.uint64
    skipped: tuple[np.uint64, ...]

    def own(self, differ: Fingerprints) -> NDArray[np.bool_]:
        """Tell of pairs, by the bits in which they differ, which ones belong to this table."""
        touched = np.ones(differ.shape, np.bool_)
        for block in self.skipped:
            touched &= (differ & block).astype(np.bool_)
        return touched


def permute(values: Fingerprints, moves: Sequence[Move]) -> Fingerprints:
    """Return the values with their bits in another order."""
    result = np.zeros_like(values)
    for start in range(0, len(values), CHUNK):
        part, out = values[start : start + CHUNK], result[start : start + CHUNK]
        for source, mask, target in moves:
            moved = part >> source
            moved &= mask
            moved <<= target
            out |= moved
    return result


@lru_cache
def tables(count: int, radius: int) -> tuple[Table, ...]:
    """Return a table for each choice of `count` - `radius` of `count` blocks."""
    return tuple(_table(key, count) for key in combinations(range(count), count - radius))


def _table(key: tuple[int, ...], count: int) -> Table:
    blocks = split(count)
    there: list[Move] = []
    back: list[Move] = []
    skipped: list[np.uint64] = []
    place = 0
    for number in (*sorted({*range(count)} - {*key}), *key):
        shift, width = blocks[number]
        if number not in key and key and number < key[-1]:
            skipped.append(np.uint64(blocks[number].mask << place))
        mask = np.uint64(blocks[number].mask)
        there.append(Move(np.uint64(shift), mask, np.uint64(place)))
        back.append(Move(np.uint64(place), mask, np.uint64(shift)))
        place += width
    low = (1 << BITS - sum(blocks[number].width for number in key)) - 1
    return Table(tuple(there), tuple(back), np.uint64(low), tuple(skipped))
