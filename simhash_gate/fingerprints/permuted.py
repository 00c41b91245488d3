"""Near pairs among many fingerprints: sorted by some of their blocks, they are neighbours.

Cut 64 bits into m blocks. Two fingerprints that differ in at most k < m bits agree in m - k blocks
at least. So for each choice of m - k blocks: bring these to the top, sort, and compare what has the
same top bits. Many blocks give long keys that few others share, but many sorts; m depends on how
many fingerprints there are. With m = k the key is empty, and everything is compared.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import comb, log2
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from simhash_gate.fingerprints.arrays import CHUNK, locate
from simhash_gate.fingerprints.hamming import BITS
from simhash_gate.fingerprints.orders import permute, tables
from simhash_gate.fingerprints.ranges import MOST_RANGE_BITS, in_chunks, sorted_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions
    from simhash_gate.fingerprints.orders import Table
    from simhash_gate.fingerprints.ranges import Room

Result = TypeVar("Result")

# Comparisons that fit the cache of a core.
_COMPARED = 1 << 15
# Pairs that a portion may have; to look up where they came from takes as long for few as for many.
_HELD = 1 << 20
# From here on, the pairs of a run are compared all with all.
_LONG_RUN = 128
# Fewer are done before a thread is started. A thread holds one more copy of the fingerprints.
_FEW = 1 << 16
_MOST_THREADS = 4
_MOST_TABLES = 1000


class Portion(NamedTuple):
    """Near pairs: positions in an array of permuted fingerprints."""

    run: Fingerprints
    one: Positions
    other: Positions
    table: Table

    def look_up(self, values: Fingerprints) -> tuple[Positions, Positions]:
        """Return where the two of each pair are in `values`, which are sorted."""
        back = self.table.back
        if 2 * len(self.one) < len(self.run):
            ends = permute(np.concatenate((self.run[self.one], self.run[self.other])), back)
            places = locate(ends, values)
            return places[: len(self.one)], places[len(self.one) :]
        places = locate(permute(self.run, back), values)
        return places[self.one], places[self.other]


class Crowd(NamedTuple):
    """Permuted fingerprints with the same key, so many that each may be near to each."""

    run: Fingerprints
    table: Table

    def look_up(self, values: Fingerprints) -> Positions:
        """Return where they are in `values`, which are sorted."""
        return locate(permute(self.run, self.table.back), values)

    def near(self, radius: int) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Compare all with all, some rows at a time: which pairs are near, and of this table.

        Yields the first row, and a matrix of so many rows and all columns from the first row on; of
        a pair of two of these rows, one half is left out.
        """
        rows = min(max(1, _COMPARED // len(self.run)), len(self.run))
        upper = np.arange(rows)[:, None] < np.arange(rows)
        skipped = [_narrow(self.run, block) for block in self.table.skipped]
        for start in range(0, len(self.run), rows):
            stop = min(start + rows, len(self.run))
            differ = self.run[start:stop, None] ^ self.run[start:]
            near = np.bitwise_count(differ) <= radius
            for part in skipped:  # what `Table.own` says
                near &= part[start:stop, None] != part[start:]
            near[:, :rows] &= upper[: stop - start, : stop - start]
            yield start, near


def _narrow(values: Fingerprints, block: np.uint64) -> NDArray[np.unsignedinteger[Any]]:
    """Return the bits of a block alone, in a type that is as quick to compare as can be."""
    lowest = int(block) & -int(block)
    kind = np.uint16 if int(block) // lowest < 1 << 16 else np.uint64
    return ((values & block) // np.uint64(lowest)).astype(kind)


def near_pairs(
    values: Fingerprints,
    radius: int,
    use: Callable[[Portion], Result],
    use_crowd: Callable[[Crowd], Result] | None = None,
    room: Room | None = None,
) -> Iterator[Result]:
    """Find the pairs of values that differ in at most `radius` bits, 0 to 64; each pair once.

    `values` must be distinct. The pairs come in portions, and `use` is called with each, on several
    threads if there are many values; yields what it returns. With `use_crowd`, that is called
    instead where very many have the same key. A thread sorts as many values at once as there is
    room for, or all, and more only if they agree in the first bits of a key.
    """
    plan = tables(_cheapest(len(values), radius), radius)
    work = partial(_search, values, radius, use, use_crowd, room)
    threads = 1 if len(values) < _FEW else min(os.cpu_count() or 1, _MOST_THREADS, len(plan))
    if threads == 1:
        for table in plan:
            yield from work(table)
        return
    with ThreadPoolExecutor(threads) as pool:
        for results in pool.map(work, plan):
            yield from results


def _search(
    values: Fingerprints,
    radius: int,
    use: Callable[[Portion], Result],
    use_crowd: Callable[[Crowd], Result] | None,
    room: Room | None,
    table: Table,
) -> list[Result]:
    results: list[Result] = []
    for ordered in _ordered(values, table, room):
        for chunk in _whole_runs(ordered, table.low):
            start = 0
            for left, right in _long_runs(chunk, table.low):
                results += map(use, _sparse(chunk[start:left], table, radius))
                if use_crowd:
                    results.append(use_crowd(Crowd(chunk[left:right], table)))
                else:
                    results += map(use, _dense(chunk[left:right], table, radius))
                start = right
            results += map(use, _sparse(chunk[start:], table, radius))
    return results


def _ordered(values: Fingerprints, table: Table, room: Room | None) -> Iterator[Fingerprints]:
    """Yield the permuted values in order: all, or some at a time, equal keys together."""
    if room is None or len(values) <= room.most:
        ordered = permute(values, table.there)
        ordered.sort()
        yield ordered
        return

    def permuted() -> Iterator[Fingerprints]:
        return (permute(chunk, table.there) for chunk in in_chunks(values))

    key_bits = BITS - int(table.low).bit_length()
    yield from sorted_ranges(permuted, room, min(key_bits, MOST_RANGE_BITS))


def _whole_runs(ordered: Fingerprints, low: np.uint64) -> Iterator[Fingerprints]:
    """Cut a sorted array into pieces that fit the cache, and never between two equal keys."""
    start = 0
    while start < len(ordered):
        stop = start + CHUNK
        if stop < len(ordered):
            stop = int(np.searchsorted(ordered, ordered[stop - 1] | low, side="right"))
        yield ordered[start:stop]
        start = stop


def _long_runs(chunk: Fingerprints, low: np.uint64) -> list[tuple[int, int]]:
    if not (chunk[_LONG_RUN:] ^ chunk[:-_LONG_RUN] <= low).any():
        return []
    inside = np.flatnonzero(chunk[1:] ^ chunk[:-1] > low) + 1
    edges = np.concatenate(([0], inside, [len(chunk)]))
    long = np.flatnonzero(np.diff(edges) > _LONG_RUN)
    return list(zip(edges[long].tolist(), edges[long + 1].tolist(), strict=True))


def _sparse(chunk: Fingerprints, table: Table, radius: int) -> Iterator[Portion]:
    """Compare each with the next, then those that have more of their key with the one after."""
    step = 1
    differ = chunk[1:] ^ chunk[:-1]
    starts = np.flatnonzero(differ <= table.low)
    differ = differ[starts]
    found: list[tuple[Positions, Positions]] = []
    while len(starts):
        near = np.bitwise_count(differ) <= radius
        near &= table.own(differ)
        if near.any():
            found.append((starts[near], starts[near] + step))
        step += 1
        starts = starts[starts < len(chunk) - step]
        differ = chunk[starts + step] ^ chunk[starts]
        same = differ <= table.low
        starts, differ = starts[same], differ[same]
    if found:
        one, other = (np.concatenate(side) for side in zip(*found, strict=True))
        yield Portion(chunk, one, other, table)


def _dense(run: Fingerprints, table: Table, radius: int) -> Iterator[Portion]:
    """Compare all with all, some rows at a time."""
    rows = max(1, _COMPARED // len(run))
    scratch = np.empty(rows * len(run), np.uint64)
    found: list[tuple[Positions, Positions]] = []
    held = 0
    for start in range(0, len(run) - 1, rows):
        mine, others = run[start : start + rows, None], run[start + 1 :]
        shape = len(mine), len(others)
        differ = scratch[: shape[0] * shape[1]]
        np.bitwise_xor(mine, others, out=differ.reshape(shape))
        flat = np.flatnonzero(np.bitwise_count(differ) <= radius)
        flat = flat[table.own(differ[flat])]
        row = flat // len(others)
        column = flat - row * len(others)
        upper = column >= row  # a pair is met from its first side
        found.append((row[upper] + start, column[upper] + start + 1))
        held += len(found[-1][0])
        if held > _HELD or start + rows >= len(run) - 1:
            one, other = (np.concatenate(side) for side in zip(*found, strict=True))
            yield Portion(run, one, other, table)
            found, held = [], 0


def _cheapest(size: int, radius: int) -> int:
    """Choose the number of blocks by what the sorts and the comparisons take (in nanoseconds)."""

    def cost(count: int) -> float:
        chance = 2.0 ** -(BITS * (count - radius) // count)
        sort = 10 + 0.4 * log2(size + 1)
        return comb(count, radius) * (sort * size + 5_000) + comb(count, radius) * (
            4 * chance * size * size / 2
        )

    most = min(radius + 4, BITS)
    counts = [n for n in range(max(radius, 1), most + 1) if comb(n, radius) <= _MOST_TABLES]
    return min(counts, key=cost)
