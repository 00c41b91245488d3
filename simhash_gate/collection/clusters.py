"""Each page of a collection with the kept one that it is a copy of.

As in a crawl, a page is compared with kept pages only: the first is kept, one that is near a kept
page belongs to the nearest of them, the last kept of several, and any other is kept. So a chain of
pages, each near the one before, is no cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.collection.pairs import Groups
from simhash_gate.fingerprints.arrays import first_of_each
from simhash_gate.fingerprints.block_sort import near_pairs
from simhash_gate.fingerprints.index import HammingIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions
    from simhash_gate.fingerprints.block_sort import Portion

_FEW = 1_000  # of so few, a look for those that have no neighbour does not pay


class Copy(NamedTuple):
    """Two pages by row: the one that is kept and its copy; and how far they are apart."""

    kept: int
    row: int
    distance: int


def find_copies(
    fingerprints: Fingerprints, groups: NDArray[np.uint32] | None, radius: int
) -> Iterator[list[Copy]]:
    """Yield the copies of each group of pages, in order of what is kept, then of the copies."""
    if groups is None:
        members = [np.arange(len(fingerprints))]
    else:
        order = np.argsort(groups, kind="stable")
        members = np.split(order, first_of_each(groups[order])[1:])
    for rows in members:
        copies = _of_group(fingerprints, rows, radius) if len(rows) > 1 else []
        if copies:
            yield copies


def _of_group(fingerprints: Fingerprints, rows: Positions, radius: int) -> list[Copy]:
    rows = rows[_with_neighbours(fingerprints[rows], radius)]
    index, first = HammingIndex(radius), dict[int, int]()
    copies = []
    for row, bits in zip(rows.tolist(), fingerprints[rows].tolist(), strict=True):
        if bits in first:
            copies.append(Copy(first[bits], row, 0))
        elif near := index.find_all(bits):
            distance = near[0].distance
            kept = max(first[other] for other, bits_off in near if bits_off == distance)
            copies.append(Copy(kept, row, distance))
        else:
            index.insert(bits)
            first[bits] = row
    return sorted(copies)


def _with_neighbours(fingerprints: Fingerprints, radius: int) -> Positions:
    """Return, in order, at least those positions that are near another one."""
    if len(fingerprints) <= _FEW:
        return np.arange(len(fingerprints))
    order = np.argsort(fingerprints)
    groups = Groups.of(fingerprints[order])
    sizes = np.diff(groups.edges)
    touched = sizes > 1

    def mark(portion: Portion) -> None:
        one, other = portion.look_up(groups.values)
        touched[one] = True
        touched[other] = True

    for _ in near_pairs(groups.values, radius, mark):
        pass
    return np.sort(order[np.repeat(touched, sizes)])
