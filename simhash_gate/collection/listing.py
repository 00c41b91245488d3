"""The rows that `simhash-gate pairs` lists, with `--clusters` too, and those of `similar`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_gate.collection.pairs import Groups, packed_pairs, unpack
from simhash_gate.common.urls import without_credentials
from simhash_gate.fingerprints.arrays import first_of_each, in_chunks
from simhash_gate.fingerprints.block_sort import Portion, near_pairs
from simhash_gate.fingerprints.hamming import from_hex, to_hex
from simhash_gate.fingerprints.index import HammingIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_gate.collection.gathered import Gathered
    from simhash_gate.collection.table import Row
    from simhash_gate.fingerprints.arrays import Fingerprints, Positions

_MOST_PAIRS = 1 << 28  # they take 4 GB while they are sorted


class TooManyError(Exception):
    """There are more pairs than memory holds; the message says what to do."""


def find_pairs(
    gathered: Gathered, radius: int, tell: Callable[[int], object]
) -> NDArray[np.uint64]:
    """Find all pairs of a collection within 0 to 8 bits; `pair_rows` makes rows of what comes out.

    `tell` is called with the number of pairs as they are found. Raises `TooManyError` for more
    than 2 ** 28 pairs.
    """
    count = 0

    def found(pairs: int) -> None:
        nonlocal count
        count += pairs
        if count > _MOST_PAIRS:
            raise TooManyError(
                f"there are more than {_MOST_PAIRS:,} pairs. With --clusters, each copy is listed "
                "once. On a cluster, simhash_gate.spark compares more"
            )
        tell(pairs)

    return packed_pairs(gathered.fingerprints, radius, scopes=gathered.groups, tell=found)


def pair_rows(gathered: Gathered, pairs: NDArray[np.uint64]) -> Iterator[Row]:
    """Yield a row for each pair, in order of the first page, then of the second."""
    for packed in in_chunks(pairs):
        columns = unpack(gathered.fingerprints, packed)
        yield from _rows(gathered, *(column.tolist() for column in columns))


def cluster_rows(gathered: Gathered, radius: int) -> Iterator[Row]:
    """Yield a row for each copy of a kept page, group by group."""
    for copies in find_copies(gathered.fingerprints, gathered.groups, radius):
        kept, rows, distances = map(list, zip(*copies, strict=True))
        yield from _rows(gathered, kept, rows, distances)


def find_query(page: str, gathered: Gathered) -> tuple[int, int | None] | None:
    """Return the fingerprint of 16 hex digits, or of a page by its name, with its row."""
    try:
        return from_hex(page), None
    except ValueError:
        row = gathered.find(without_credentials(page))  # as pages are called
    return None if row is None else (int(gathered.fingerprints[row]), row)


def similar_rows(gathered: Gathered, wanted: int, own: int | None, radius: int) -> Iterator[Row]:
    """Yield a row for each page but the `own` one within `radius` bits, the nearest first."""
    start = 0
    near: list[tuple[int, int]] = []
    for chunk in in_chunks(gathered.fingerprints):
        distances = np.bitwise_count(chunk ^ np.uint64(wanted))
        rows = np.flatnonzero(distances <= radius)
        near += zip(distances[rows].tolist(), (rows + start).tolist(), strict=True)
        start += len(chunk)
    near.sort()
    for distance, row in near:
        if row != own:
            (name,), (title,) = gathered.names([row]), gathered.titles([row])
            bits = to_hex(int(gathered.fingerprints[row]))
            yield (name, distance, title, bits) if gathered.named else (name, distance, bits)


def _rows(
    gathered: Gathered, one: list[int], other: list[int], distances: list[int]
) -> Iterator[Row]:
    columns = [gathered.names(one), gathered.names(other), distances]
    if gathered.named:
        columns += [gathered.titles(one), gathered.titles(other)]
    return zip(*columns, strict=True)


_FEW = 1_000  # of so few, a look for those that have no neighbour does not pay


def find_copies(
    fingerprints: Fingerprints, groups: NDArray[np.uint32] | None, radius: int
) -> Iterator[list[tuple[int, int, int]]]:
    """Yield the copies of each group of pages, in order of what is kept, then of the copies.

    Each is told by the row of the page that is kept, its own row, and how far they are apart.
    """
    if groups is None:
        members = [np.arange(len(fingerprints))]
    else:
        order = np.argsort(groups, kind="stable")
        members = np.split(order, first_of_each(groups[order])[1:])
    for group in members:
        if len(group) < 2:
            continue
        rows = group[_with_neighbours(fingerprints[group], radius)]
        kept, copies = KeptFingerprints(radius), []
        for row, bits in zip(rows.tolist(), fingerprints[rows].tolist(), strict=True):
            if found := kept.add(bits, row):
                original, distance = found
                copies.append((original, row, distance))
        if copies:
            yield sorted(copies)


class KeptFingerprints:
    """The pages that a crawl would keep by their fingerprints alone."""

    def __init__(self, radius: int) -> None:
        self._index = HammingIndex(radius)
        self._pages: dict[int, Any] = {}

    def add(self, bits: int, page: Any) -> tuple[Any, int] | None:
        """Keep a page, or return the page that it is a copy of, and their distance.

        That is the nearest one; of several, the last.
        """
        if bits in self._pages:
            return self._pages[bits], 0
        near = self._index.find_all(bits)
        if not near:
            self._index.insert(bits)
            self._pages[bits] = page
            return None
        distance = near[0].distance
        return max(self._pages[bits] for bits, off in near if off == distance), distance


def _with_neighbours(fingerprints: Fingerprints, radius: int) -> Positions:
    """Return, in order, at least those positions that are near another one."""
    if len(fingerprints) <= _FEW:
        return np.arange(len(fingerprints))
    order = np.argsort(fingerprints)
    groups = Groups(fingerprints[order])
    sizes = np.diff(groups.edges)
    touched = sizes > 1

    def mark(portion: Portion) -> None:
        one, other = portion.look_up(groups.values)
        touched[one] = True
        touched[other] = True

    for _ in near_pairs(groups.values, radius, mark):
        pass
    return np.sort(order[np.repeat(touched, sizes)])
