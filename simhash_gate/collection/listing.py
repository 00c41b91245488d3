"""The rows of `simhash-gate pairs`, also with `--clusters`, and of `simhash-gate similar`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simhash_gate.collection.gathered import Gathered
from simhash_gate.collection.pairs import Groups, packed_pairs, unpack
from simhash_gate.collection.table import Row
from simhash_gate.common.urls import without_credentials
from simhash_gate.fingerprints.arrays import Fingerprints, Positions, first_of_each, in_chunks
from simhash_gate.fingerprints.block_sort import Portion, near_pairs
from simhash_gate.fingerprints.hamming import from_hex, to_hex
from simhash_gate.fingerprints.index import HammingIndex

_MOST_PAIRS = 1 << 28  # they take 4 GB while they are sorted


class TooManyError(Exception):
    """There are more pairs than memory holds. The message says what to do."""


def pair_rows(gathered: Gathered, radius: int, tell: Callable[[int], object]) -> Iterator[Row]:
    """Find all pairs within `radius` bits, 0 to 8, and return a row for each, by its pages.

    `tell` is called with the numbers of new pairs. Raises `TooManyError` for more than 2 ** 28.
    """
    count = 0

    def count_pairs(pairs: int) -> None:
        nonlocal count
        count += pairs
        if count > _MOST_PAIRS:
            raise TooManyError(
                f"there are more than {_MOST_PAIRS:,} pairs. With --clusters, each copy is listed "
                "once. On a cluster, simhash_gate.spark compares more"
            )
        tell(pairs)

    bits = gathered.fingerprints
    pairs = packed_pairs(bits, radius, scopes=gathered.groups, tell=count_pairs)
    found = (unpack(bits, packed) for packed in in_chunks(pairs))
    parts = (_rows(gathered, *(column.tolist() for column in columns)) for columns in found)
    return chain.from_iterable(parts)


def cluster_rows(gathered: Gathered, radius: int) -> Iterator[Row]:
    """Yield a row for each copy of a kept page, group by group."""
    for copies in find_copies(gathered.fingerprints, gathered.groups, radius):
        kept, rows, distances = map(list, zip(*copies, strict=True))
        yield from _rows(gathered, kept, rows, distances)


def find_query(page: str, gathered: Gathered) -> tuple[int, int | None] | None:
    """Return the fingerprint in `page`, 16 hex digits, and None; or that of a page and its row.

    Then `page` is the name of a page. Returns None if there is no such page.
    """
    try:
        return from_hex(page), None
    except ValueError:
        row = gathered.find(without_credentials(page))  # names have no credentials, either
    return None if row is None else (int(gathered.fingerprints[row]), row)


def similar_rows(
    gathered: Gathered, wanted: int, own_row: int | None, radius: int
) -> Iterator[Row]:
    """Yield a row for each page but `own_row` within `radius` bits, the nearest first."""
    chunks = in_chunks(gathered.fingerprints)
    distances = np.concatenate([np.bitwise_count(chunk ^ np.uint64(wanted)) for chunk in chunks])
    rows = np.flatnonzero(distances <= radius)
    for row in rows[np.argsort(distances[rows], kind="stable")].tolist():
        if row != own_row:
            distance = int(distances[row])
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


_FEW = 1_000  # fewer pages are compared faster than those without neighbours are found


def find_copies(
    fingerprints: Fingerprints, groups: NDArray[np.uint32] | None, radius: int
) -> Iterator[list[tuple[int, int, int]]]:
    """Yield the copies of each group of pages as (row of the kept page, own row, distance).

    They come in the order of the kept pages, then of the copies.
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
            if match := kept.add(bits, row):
                original, distance = match
                copies.append((original, row, distance))
        if copies:
            yield sorted(copies)


class KeptFingerprints:
    """The pages that a crawl would keep if it compared fingerprints alone."""

    def __init__(self, radius: int) -> None:
        self._index = HammingIndex(radius)
        self._pages: dict[int, Any] = {}

    def add(self, bits: int, page: Any) -> tuple[Any, int] | None:
        """Keep a page and return None, or return the kept page that it copies, and their distance.

        It is a copy of the nearest kept page, and of the last one if several are equally near.
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
    """Return, in order, all positions that are near another one, and perhaps some more."""
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
