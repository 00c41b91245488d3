"""Near pairs among many fingerprints. After sorting by some blocks, near ones stand together.

The 64 bits are cut into m blocks. Two fingerprints that differ in at most k < m bits agree in at
least m - k blocks. So for each choice of m - k blocks, these become the top bits (the key), the
fingerprints are sorted, and those with the same key are compared. Many blocks give long keys that
few fingerprints share, but need many sorts: m depends on the number of fingerprints. With m = k the
key is empty, and all are compared.

Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (2007), section 3.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import chain, combinations
from math import comb, log2
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from simhash_gate.fingerprints.arrays import CHUNK, Fingerprints, Positions, distinct, expand, is_in
from simhash_gate.fingerprints.blocks import split
from simhash_gate.fingerprints.hamming import BITS

# Moves bits to another place: the shift from where they are, their mask, the shift to there.
Move = tuple[np.uint64, np.uint64, np.uint64]
Result = TypeVar("Result")

# Comparisons that fit the cache of a core.
_COMPARED = 1 << 15
# Pairs of a portion: looking up their positions takes as long for few pairs as for many.
_HELD = 1 << 20
# In longer runs of one key, all fingerprints are compared with all.
_LONG_RUN = 128
# Fewer take less time than starting a thread. A thread holds one more copy of the fingerprints.
_FEW = 1 << 16
_MOST_THREADS = 4
_MOST_TABLES = 1000


class Near(NamedTuple):
    """Near pairs as three arrays of one length, in the order of query, distance, fingerprint."""

    query: Positions
    fingerprint: Fingerprints
    distance: NDArray[np.uint8]


class Table(NamedTuple):
    """One order of the bits, with the key on top.

    `there` moves the bits to this order, `back` to the old one. `low` are the bits below the key. A
    pair that agrees in more blocks than a key has meets in several tables. It belongs to the table
    where it differs in all `skipped` blocks: those before the last block of the key.
    """

    there: tuple[Move, ...]
    back: tuple[Move, ...]
    low: np.uint64
    skipped: tuple[np.uint64, ...]

    def own(self, differ: Fingerprints) -> NDArray[np.bool_]:
        """Tell whether pairs belong to this table, by the bits in which they differ."""
        touched = np.ones(differ.shape, np.bool_)
        for block in self.skipped:
            touched &= (differ & block).astype(np.bool_)
        return touched


class Portion(NamedTuple):
    """Near pairs: positions in an array of permuted fingerprints."""

    permuted: Fingerprints
    one: Positions
    other: Positions
    table: Table

    def look_up(self, values: Fingerprints) -> tuple[Positions, Positions]:
        """Return the positions of both fingerprints of each pair in the sorted `values`."""
        few = 2 * len(self.one) < len(self.permuted)
        asked = self.permuted[np.concatenate((self.one, self.other))] if few else self.permuted
        fingerprints = permute(asked, self.table.back)
        # Looking them up in order spares most of the waiting for memory.
        order = np.argsort(fingerprints)
        places = np.empty(len(order), np.intp)
        places[order] = np.searchsorted(values, fingerprints[order])
        count = len(self.one)
        return (places[:count], places[count:]) if few else (places[self.one], places[self.other])


def near_pairs(
    values: Fingerprints, radius: int, use: Callable[[Portion], Result]
) -> Iterator[Result]:
    """Find the pairs of values that differ in at most `radius` bits, 0 to 64, each pair once.

    `values` must be distinct. `use` is called with each portion of pairs, on several threads if
    there are many values. Its results are yielded. Each thread sorts a copy of all values.
    """
    plan = tables(_cheapest(len(values), radius), radius)
    work = partial(_search, values, radius, use)
    threads = 1 if len(values) < _FEW else min(os.cpu_count() or 1, _MOST_THREADS, len(plan))
    if threads == 1:
        yield from chain.from_iterable(map(work, plan))
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from chain.from_iterable(pool.map(work, plan))


def join(queries: Fingerprints, stored: Fingerprints, radius: int) -> Near:
    """Find every stored fingerprint within `radius` bits of each query.

    Both arrays may have repetitions, in any order. `Near.query` are positions in `queries`.
    """
    order = np.argsort(queries)
    ascending, members = queries[order], distinct(stored)
    every = distinct(queries, stored)
    firsts = np.searchsorted(ascending, every)
    counts = np.searchsorted(ascending, every, side="right") - firsts
    asked, answers = counts > 0, is_in(every, members)

    def both_ways(portion: Portion) -> tuple[Positions, Positions]:
        """Return the pairs of a query and a stored fingerprint, the query first."""
        one, other = portion.look_up(every)
        there, back = asked[one] & answers[other], asked[other] & answers[one]
        queries = np.concatenate((one[there], other[back]))
        return queries, np.concatenate((other[there], one[back]))

    same = np.flatnonzero(asked & answers)
    pairs = [(same, same), *near_pairs(every, radius, both_ways)]
    query, matched = (np.concatenate(side) for side in zip(*pairs, strict=True))
    distance = np.bitwise_count(every[query] ^ every[matched])
    repeats = counts[query]
    positions = order[expand(firsts[query], repeats)]
    distance, matched = np.repeat(distance, repeats), np.repeat(matched, repeats)
    # All three in one number are sorted fastest. A distance has 7 bits.
    rows = positions.astype(np.uint64) << np.uint64(7) | distance
    rows = rows << np.uint64(len(every).bit_length()) | matched.astype(np.uint64)
    by_row = np.argsort(rows)
    return Near(positions[by_row], every[matched[by_row]], distance[by_row])


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
        mask = np.uint64(blocks[number].mask)
        if number not in key and key and number < key[-1]:
            skipped.append(mask << np.uint64(place))
        there.append((np.uint64(shift), mask, np.uint64(place)))
        back.append((np.uint64(place), mask, np.uint64(shift)))
        place += width
    low = (1 << BITS - sum(blocks[number].width for number in key)) - 1
    return Table(tuple(there), tuple(back), np.uint64(low), tuple(skipped))


def _search(
    values: Fingerprints, radius: int, use: Callable[[Portion], Result], table: Table
) -> list[Result]:
    ordered = permute(values, table.there)
    ordered.sort()
    return [
        use(portion)
        for piece in _with_whole_keys(ordered, table.low)
        for portion in _compared(piece, table, radius)
    ]


def _with_whole_keys(ordered: Fingerprints, low: np.uint64) -> Iterator[Fingerprints]:
    """Cut a sorted array into pieces, never between two equal keys."""
    start = 0
    while start < len(ordered):
        end = ordered[min(start + CHUNK, len(ordered)) - 1] | low
        stop = int(np.searchsorted(ordered, end, side="right"))
        yield ordered[start:stop]
        start = stop


def _compared(piece: Fingerprints, table: Table, radius: int) -> Iterator[Portion]:
    start = 0
    for left, right in _long_runs(piece, table.low):
        yield from _sparse(piece[start:left], table, radius)
        yield from _dense(piece[left:right], table, radius)
        start = right
    yield from _sparse(piece[start:], table, radius)


def _long_runs(piece: Fingerprints, low: np.uint64) -> list[tuple[int, int]]:
    if not (piece[_LONG_RUN:] ^ piece[:-_LONG_RUN] <= low).any():
        return []
    inside = np.flatnonzero(piece[1:] ^ piece[:-1] > low) + 1
    edges = np.concatenate(([0], inside, [len(piece)]))
    long = np.flatnonzero(np.diff(edges) > _LONG_RUN)
    return list(zip(edges[long].tolist(), edges[long + 1].tolist(), strict=True))


def _sparse(piece: Fingerprints, table: Table, radius: int) -> Iterator[Portion]:
    """Compare each fingerprint with the next one, the one after, and so on while keys are equal."""
    step = 1
    differ = piece[1:] ^ piece[:-1]
    starts = np.flatnonzero(differ <= table.low)
    differ = differ[starts]
    portions: list[tuple[Positions, Positions]] = []
    while len(starts):
        near = np.bitwise_count(differ) <= radius
        near &= table.own(differ)
        if near.any():
            portions.append((starts[near], starts[near] + step))
        step += 1
        starts = starts[starts < len(piece) - step]
        differ = piece[starts + step] ^ piece[starts]
        same = differ <= table.low
        starts, differ = starts[same], differ[same]
    if portions:
        yield _portion(piece, portions, table)


def _dense(run: Fingerprints, table: Table, radius: int) -> Iterator[Portion]:
    rows = max(1, _COMPARED // len(run))
    portions: list[tuple[Positions, Positions]] = []
    count = 0
    for start in range(0, len(run) - 1, rows):
        others = run[start + 1 :]
        differ = (run[start : start + rows, None] ^ others).ravel()
        flat = np.flatnonzero(np.bitwise_count(differ) <= radius)
        flat = flat[table.own(differ[flat])]
        row = flat // len(others)
        column = flat - row * len(others)
        upper = column >= row  # each pair counts once: from its first fingerprint
        portions.append((row[upper] + start, column[upper] + start + 1))
        count += len(portions[-1][0])
        if count > _HELD:
            yield _portion(run, portions, table)
            portions, count = [], 0
    if portions:
        yield _portion(run, portions, table)


def _portion(
    permuted: Fingerprints, portions: list[tuple[Positions, Positions]], table: Table
) -> Portion:
    one, other = (np.concatenate(side) for side in zip(*portions, strict=True))
    return Portion(permuted, one, other, table)


def _cheapest(size: int, radius: int) -> int:
    """Choose the number of blocks by the time of sorts and comparisons (in nanoseconds)."""

    def cost(count: int) -> float:
        chance = 2.0 ** -(BITS * (count - radius) // count)
        sort = (10 + 0.4 * log2(size + 1)) * size + 5_000
        return comb(count, radius) * (sort + 4 * chance * size * size / 2)

    most = min(radius + 4, BITS)
    counts = [n for n in range(max(radius, 1), most + 1) if comb(n, radius) <= _MOST_TABLES]
    return min(counts, key=cost)
