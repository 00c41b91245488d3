"""An exact index of fingerprints. It finds all within some bits of a query without a scan."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simhash_gate.fingerprints import arrays
from simhash_gate.fingerprints import blocks as tables
from simhash_gate.fingerprints.block_sort import Near, join
from simhash_gate.fingerprints.hamming import BITS, require_distance, require_fingerprint

# A table, and the flips of keys: a lookup tries the key of the query, xor each flip.
_Probe = tuple[int, int, "array[int]", "array[int]", tuple[int, ...]]

# Tables are made anew when this many times fewer fingerprints are left than they are made for.
_SHRUNK = 16
# A bulk call sorts everything if there is a query for each 32 stored fingerprints.
_BULK = 32


class Neighbour(NamedTuple):
    """A stored fingerprint and its Hamming distance from the query."""

    fingerprint: int
    distance: int


class HammingIndex:
    """A set of unsigned 64-bit fingerprints that finds the near ones, and misses none.

    `max_distance` is the radius of lookups without one. Any radius from 0 to 64 is exact. `blocks`,
    1 to 64, is the number of tables; see the module `blocks`. With None, it depends on
    `max_distance` and on the size, and changes as the set grows. Neighbours are in the order of
    distance, then of fingerprint. In a large set, one takes 34 to 64 bytes at distance 3.

    All methods raise ValueError for a fingerprint or a radius out of range. Several threads must
    not change the index at once.
    """

    def __init__(self, max_distance: int = 3, blocks: int | None = None) -> None:
        self.max_distance = require_distance(max_distance)
        if blocks is not None:
            tables.split(blocks)
        self._fixed = blocks
        self._values: array[int]  # by slot; slot 0 is none
        self._build(np.empty(0, np.uint64))

    @property
    def blocks(self) -> int:
        """The current number of blocks, and of tables."""
        return self._blocks

    def __len__(self) -> int:
        return len(self._values) - 1

    def __iter__(self) -> Iterator[int]:
        """Yield the stored fingerprints in no order."""
        return iter(self._values[1:])

    def __contains__(self, fingerprint: int) -> bool:
        return self.slot(fingerprint) > 0

    def slot(self, fingerprint: int) -> int:
        """Return the slot of a stored fingerprint, from 1 on, or 0 if it is not stored.

        A new fingerprint takes the next slot, which is then `len(index)`. When a fingerprint is
        removed, the one in the last slot moves to its slot.
        """
        values = self._values
        if not self._tables:
            return next((n for n in range(1, len(values)) if values[n] == fingerprint), 0)
        shift, mask, heads, after = self._tables[0]
        slot = heads[fingerprint >> shift & mask]
        while slot and values[slot] != fingerprint:
            slot = after[slot]
        return slot

    def insert(self, fingerprint: int) -> bool:
        """Add a fingerprint. Return False if it was stored already."""
        require_fingerprint(fingerprint)
        if fingerprint in self:
            return False
        slot = len(self._values)
        if slot > self._most:
            self._make_tables()
        self._values.append(fingerprint)
        for shift, mask, heads, after in self._tables:
            key = fingerprint >> shift & mask
            after.append(heads[key])
            heads[key] = slot
        return True

    def remove(self, fingerprint: int) -> bool:
        """Remove a fingerprint. Return False if it was not stored."""
        require_fingerprint(fingerprint)
        slot = self.slot(fingerprint)
        if not slot:
            return False
        last = len(self)
        moved = self._values[slot] = self._values[last]
        for table in self._tables:
            _, _, _, after = table
            tables.redirect(table, fingerprint, slot, after[slot])
            if slot != last:
                tables.redirect(table, moved, last, slot)
                after[slot] = after[last]
            after.pop()
        self._values.pop()
        if self._most > tables.FEW and len(self) * _SHRUNK < self._most:
            self._build(self._array())
        return True

    def find_first(self, fingerprint: int, max_distance: int | None = None) -> Neighbour | None:
        """Return the nearest neighbour, the first that `find_all` lists, or None."""
        near = self._near(fingerprint, max_distance)
        return Neighbour(*min(near)[::-1]) if near else None

    def find_all(self, fingerprint: int, max_distance: int | None = None) -> list[Neighbour]:
        """Return every stored fingerprint within the radius, the nearest first."""
        near = sorted({*self._near(fingerprint, max_distance)})
        return [Neighbour(other, distance) for distance, other in near]

    def insert_bulk(self, fingerprints: ArrayLike) -> int:
        """Add an array of fingerprints (numpy.uint64, may repeat); return how many were new."""
        batch = arrays.distinct(arrays.as_fingerprints(fingerprints))
        if len(batch) * _BULK < len(self):
            return sum(map(self.insert, batch.tolist()))
        fresh = batch[~arrays.is_in(batch, arrays.distinct(self._array()))]
        if len(self) + len(fresh) > self._most:
            self._build(np.concatenate((self._array(), fresh)))
        else:
            start = len(self._values)
            self._values.frombytes(fresh.tobytes())
            self._link(start)
        return len(fresh)

    def find_first_bulk(
        self, fingerprints: ArrayLike, max_distance: int | None = None
    ) -> tuple[NDArray[np.uint64], NDArray[np.int8]]:
        """Look up an array of n fingerprints (numpy.uint64) at once.

        Returns the nearest neighbour of each (n numpy.uint64, 0 if there is none) and its distance
        (n numpy.int8, -1 if there is none).
        """
        queries = arrays.as_fingerprints(fingerprints)
        near = self.find_all_bulk(queries, max_distance)
        first = arrays.first_of_each(near.query)
        nearest = np.zeros(len(queries), np.uint64)
        distances = np.full(len(queries), -1, np.int8)
        nearest[near.query[first]] = near.fingerprint[first]
        distances[near.query[first]] = near.distance[first]
        return nearest, distances

    def find_all_bulk(self, fingerprints: ArrayLike, max_distance: int | None = None) -> Near:
        """Look up an array of fingerprints (numpy.uint64) at once.

        Returns three arrays with an element for each neighbour: the position of its query in
        `fingerprints`, the stored fingerprint, and the distance; in this order.
        """
        queries, radius = arrays.as_fingerprints(fingerprints), self._radius(max_distance)
        if len(queries) * _BULK >= len(self):
            return join(queries, self._array(), radius)
        near = [self.find_all(query, radius) for query in queries.tolist()]
        places = np.repeat(np.arange(len(queries)), list(map(len, near)))
        pairs = np.array(list(chain.from_iterable(near)), np.uint64).reshape(-1, 2)
        return Near(places, pairs[:, 0].copy(), pairs[:, 1].astype(np.uint8))

    def _radius(self, max_distance: int | None) -> int:
        return self.max_distance if max_distance is None else require_distance(max_distance)

    def _array(self) -> arrays.Fingerprints:
        """Return a copy of the stored fingerprints: while a view exists, the array can't grow."""
        return np.frombuffer(self._values, np.uint64)[1:].copy()

    def _plan(self, max_distance: int | None) -> list[_Probe] | None:
        """Return the tables and keys of a lookup, None if comparing all is less work."""
        radius = self._radius(max_distance)
        if not self._tables or tables.probe_count(self._blocks, radius, self._width) > len(self):
            return None
        self._plans[max_distance] = [
            (*self._tables[number], flips)
            for number, flips in tables.probes(self._blocks, radius, self._width)
        ]
        return self._plans[max_distance]

    def _near(self, fingerprint: int, max_distance: int | None) -> list[tuple[int, int]]:
        """Return (distance, fingerprint) of all within the radius. Some may come twice."""
        plan = self._plans.get(max_distance)
        if plan is None or fingerprint >> BITS:
            require_fingerprint(fingerprint)
            plan = self._plan(max_distance)
        limit = self.max_distance if max_distance is None else max_distance
        values = self._values
        near: list[int] = []
        if plan is not None:
            for shift, mask, heads, after, flips in plan:
                key = fingerprint >> shift & mask
                for flip in flips:
                    slot = heads[key ^ flip]
                    while slot:
                        if (fingerprint ^ values[slot]).bit_count() <= limit:
                            near.append(values[slot])
                        slot = after[slot]
        elif len(self) <= tables.FEW:
            near = [*self]
        else:
            stored = self._array()
            near = stored[np.bitwise_count(stored ^ np.uint64(fingerprint)) <= limit].tolist()
        if not near:
            return []
        pairs = (((fingerprint ^ other).bit_count(), other) for other in near)
        return [pair for pair in pairs if pair[0] <= limit]

    def _build(self, stored: arrays.Fingerprints) -> None:
        self._values = array("Q", [0])
        self._values.frombytes(stored.tobytes())
        self._make_tables()

    def _make_tables(self) -> None:
        self._tables: list[tables.Table] = []  # the old tables are freed first, to save memory
        self._plans: dict[int | None, list[_Probe]] = {}
        size = len(self)
        layout = tables.cheapest(size, self.max_distance, self._fixed)
        self._blocks, self._width, self._most = layout
        if size > tables.FEW:
            self._tables = tables.empty_tables(layout, size)
            self._link(1)

    def _link(self, start: int) -> None:
        tables.link(self._tables, np.frombuffer(self._values, np.uint64), start)
