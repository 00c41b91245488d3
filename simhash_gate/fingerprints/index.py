"""An exact index of fingerprints: everything within some bits of a query, without a scan."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.fingerprints.blocks import probe_count, probes, split
from simhash_gate.fingerprints.hamming import BITS, require_distance, require_fingerprint
from simhash_gate.fingerprints.join import Near, join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

# Blocks of 16 bits at most: wider ones would have nearly as many keys as fingerprints.
_FEWEST_BLOCKS = 4
_MOST_BLOCKS = 16


class Neighbour(NamedTuple):
    """A stored fingerprint and its Hamming distance from the query."""

    fingerprint: int
    distance: int


class HammingIndex:
    """A set of unsigned 64-bit fingerprints that finds the near ones, and misses none.

    `max_distance` is the radius of a lookup that names none; any radius from 0 to 64 is exact.
    `blocks`, 1 to 64, is the number of tables (module `blocks` tells the method); None chooses it
    by `max_distance` and by size, anew as the set grows. Neighbours are always in order of
    distance, then of fingerprint.

    Everything that takes a fingerprint or a radius raises ValueError when it is out of range. Not
    safe to change from several threads at once.
    """

    def __init__(self, max_distance: int = 3, blocks: int | None = None) -> None:
        self.max_distance = require_distance(max_distance)
        self._fixed = blocks
        self._size = 0
        self._all: NDArray[np.uint64] | None = None
        self._build(_cheapest(0, max_distance) if blocks is None else blocks)

    @property
    def blocks(self) -> int:
        """The number of blocks, and of tables, at present."""
        return len(self._tables)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        """Yield the stored fingerprints in no order."""
        for posting in self._tables[0][2].values():
            if isinstance(posting, int):
                yield posting
            else:
                yield from posting

    def __contains__(self, fingerprint: int) -> bool:
        shift, mask, table = self._tables[0]
        posting = table.get(fingerprint >> shift & mask)
        if posting is None or isinstance(posting, int):
            return posting == fingerprint
        return fingerprint in posting

    def insert(self, fingerprint: int) -> bool:
        """Add a fingerprint; False if it was there already."""
        require_fingerprint(fingerprint)
        if fingerprint in self:
            return False
        for shift, mask, table in self._tables:
            key = fingerprint >> shift & mask
            posting = table.get(key)
            if posting is None:
                table[key] = fingerprint
            elif isinstance(posting, int):
                table[key] = array("Q", (posting, fingerprint))
            else:
                posting.append(fingerprint)
        self._resize(1)
        return True

    def remove(self, fingerprint: int) -> bool:
        """Take a fingerprint out; False if it was not there."""
        require_fingerprint(fingerprint)
        if fingerprint not in self:
            return False
        for shift, mask, table in self._tables:
            key = fingerprint >> shift & mask
            posting = table[key]
            if isinstance(posting, int):
                del table[key]
            else:
                posting.remove(fingerprint)
                if len(posting) == 1:
                    table[key] = posting[0]
        self._resize(-1)
        return True

    def candidates(self, fingerprint: int, max_distance: int | None = None) -> list[int]:
        """Return what a lookup compares: all that is within the radius, and more; with repeats."""
        require_fingerprint(fingerprint)
        radius = self._radius(max_distance)
        if probe_count(self.blocks, radius) > max(self._size, self.blocks):
            return list(self)
        found: list[int] = []
        for number, flips in probes(self.blocks, radius):
            shift, mask, table = self._tables[number]
            key = fingerprint >> shift & mask
            for flip in flips:
                posting = table.get(key ^ flip)
                if posting is None:
                    continue
                if isinstance(posting, int):
                    found.append(posting)
                else:
                    found.extend(posting)
        return found

    def find_first(self, fingerprint: int, max_distance: int | None = None) -> Neighbour | None:
        """Return the nearest neighbour, the first that `find_all` lists, or None."""
        return next(iter(self.find_all(fingerprint, max_distance)), None)

    def find_all(self, fingerprint: int, max_distance: int | None = None) -> list[Neighbour]:
        """Return every stored fingerprint within the radius, the nearest first."""
        radius = self._radius(max_distance)
        near = {
            (distance, other)
            for other in self.candidates(fingerprint, radius)
            if (distance := (fingerprint ^ other).bit_count()) <= radius
        }
        return [Neighbour(other, distance) for distance, other in sorted(near)]

    def insert_bulk(self, fingerprints: ArrayLike) -> int:
        """Add an array of fingerprints (numpy.uint64, may repeat); return how many were new."""
        fresh = np.setdiff1d(_as_array(fingerprints), self._array())
        if not len(fresh):
            return 0
        for shift, mask, table in self._tables:
            keys = fresh >> np.uint64(shift) & np.uint64(mask)
            order = np.argsort(keys, kind="stable")
            distinct, starts = np.unique(keys[order], return_index=True)
            posted = fresh[order]
            stops = [*starts[1:].tolist(), len(fresh)]
            for key, start, stop in zip(distinct.tolist(), starts.tolist(), stops, strict=True):
                posting = table.get(key)
                if posting is None and stop - start == 1:
                    table[key] = int(posted[start])
                    continue
                if not isinstance(posting, array):
                    posting = table[key] = array("Q", () if posting is None else (posting,))
                posting.frombytes(posted[start:stop].tobytes())
        self._resize(len(fresh))
        return len(fresh)

    def remove_bulk(self, fingerprints: ArrayLike) -> int:
        """Take an array of fingerprints out (numpy.uint64); return how many were there."""
        gone = np.intersect1d(_as_array(fingerprints), self._array())
        if len(gone) * 8 < self._size:
            for fingerprint in gone.tolist():
                self.remove(fingerprint)
        else:
            rest = np.setdiff1d(self._array(), gone)
            self._build(self.blocks)
            self.insert_bulk(rest)
        return len(gone)

    def find_first_bulk(
        self, fingerprints: ArrayLike, max_distance: int | None = None
    ) -> tuple[NDArray[np.uint64], NDArray[np.int8]]:
        """Look up an array of n fingerprints (numpy.uint64) at once.

        Returns the nearest neighbour of each (n numpy.uint64; 0 where there is none) and its
        distance (n numpy.int8; -1 where there is none).
        """
        queries = _as_array(fingerprints)
        near = self.find_all_bulk(queries, max_distance)
        query, first = np.unique(near.query, return_index=True)
        found = np.zeros(len(queries), np.uint64)
        distances = np.full(len(queries), -1, np.int8)
        found[query] = near.fingerprint[first]
        distances[query] = near.distance[first]
        return found, distances

    def find_all_bulk(self, fingerprints: ArrayLike, max_distance: int | None = None) -> Near:
        """Look up an array of fingerprints (numpy.uint64) at once.

        Returns three arrays with an element for each neighbour: the position of its query in
        `fingerprints`, the stored fingerprint, and the distance; in this order.
        """
        return join(_as_array(fingerprints), self._array(), self._radius(max_distance))

    def _radius(self, max_distance: int | None) -> int:
        return self.max_distance if max_distance is None else require_distance(max_distance)

    def _array(self) -> NDArray[np.uint64]:
        if self._all is None:
            self._all = np.fromiter(self, np.uint64, count=self._size)
        return self._all

    def _build(self, blocks: int) -> None:
        """Start with empty tables."""
        self._tables: list[tuple[int, int, dict[int, int | array[int]]]] = [
            (block.shift, block.mask, {}) for block in split(blocks)
        ]
        self._size = 0
        self._all = None
        self._review = 256

    def _resize(self, change: int) -> None:
        self._size += change
        self._all = None
        if self._size > self._review:
            blocks = self._fixed or _cheapest(self._size, self.max_distance)
            if blocks != self.blocks:
                everything = self._array()
                self._build(blocks)
                self.insert_bulk(everything)
            self._review = 4 * self._size


def _cheapest(size: int, radius: int) -> int:
    """Choose the blocks for which a lookup and an insert touch the least.

    More blocks are narrower: less keys to ask for, but each holds more of what is not near.
    """

    def cost(blocks: int) -> float:
        asked = probe_count(blocks, radius)
        return blocks + asked + asked * size / 2 ** (BITS / blocks)

    return min(range(_FEWEST_BLOCKS, _MOST_BLOCKS + 1), key=cost)


def _as_array(fingerprints: ArrayLike) -> NDArray[np.uint64]:
    """Return a flat array of numpy.uint64; raises ValueError for values that don't fit."""
    values = np.asarray(fingerprints)
    if values.dtype != np.uint64:
        if values.size and (values.dtype.kind not in "iu" or values.min() < 0):
            raise ValueError(f"not unsigned 64-bit fingerprints: an array of {values.dtype}")
        values = values.astype(np.uint64)
    return values.ravel()
