"""`simhash-gate pairs --clusters`: each page with the kept one that it is a copy of.

As in a crawl, a page is compared with kept pages only: the first is kept, one that is near a kept
page belongs to the nearest of them, the last kept of several, and any other is kept. So a chain of
pages, each near the one before, is no cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.collection.groups import Groups
from simhash_gate.fingerprints.arrays import first_of_each
from simhash_gate.fingerprints.index import HammingIndex
from simhash_gate.fingerprints.permuted import near_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simhash_gate.collection.gathered import Gathered
    from simhash_gate.collection.table import Row
    from simhash_gate.fingerprints.arrays import Fingerprints, Positions
    from simhash_gate.fingerprints.permuted import Portion

_FEW = 1_000  # of so few, a look for those that have no neighbour does not pay


class Copies(NamedTuple):
    """Pages that are copies, by row: each with the page that is kept, and its distance."""

    kept: Positions
    row: Positions
    distance: NDArray[np.uint8]


def cluster_rows(gathered: Gathered, radius: int) -> Iterator[Row]:
    """Yield a row for each copy, group by group, in order of what is kept, then of the copies."""
    for copies in find_copies(gathered.fingerprints, gathered.groups, radius):
        kept, rows = copies.kept.tolist(), copies.row.tolist()
        columns = [gathered.names(kept), gathered.names(rows), copies.distance.tolist()]
        if gathered.named:
            columns += [gathered.titles(kept), gathered.titles(rows)]
        yield from zip(*columns, strict=True)


def find_copies(
    fingerprints: Fingerprints, groups: NDArray[np.uint32] | None, radius: int
) -> Iterator[Copies]:
    """Yield the copies of each group of pages."""
    if groups is None:
        yield _of_group(fingerprints, radius)
        return
    order = np.argsort(groups, kind="stable")
    edges = np.append(first_of_each(groups[order]), len(order))
    for number in np.flatnonzero(np.diff(edges) > 1).tolist():
        rows = order[edges[number] : edges[number + 1]]
        copies = _of_group(fingerprints[rows], radius)
        if len(copies.row):
            yield Copies(rows[copies.kept], rows[copies.row], copies.distance)


def _of_group(fingerprints: Fingerprints, radius: int) -> Copies:
    """Return the copies in one group, in order."""
    rows = _with_neighbours(fingerprints, radius)
    index, first = HammingIndex(radius), dict[int, int]()
    found: list[tuple[int, int, int]] = []
    answers: dict[int, tuple[int, int, int]] = {}
    for row, bits in zip(rows.tolist(), fingerprints[rows].tolist(), strict=True):
        asked_at, kept, distance = answers.get(bits, (-1, -1, 0))
        # What was kept since may be nearer, unless it was the very same.
        if asked_at < 0 or (distance and asked_at < len(index)):
            near = index.find_all(bits)
            if not near:
                index.insert(bits)
                first[bits] = row
                answers[bits] = len(index), row, 0
                continue
            distance = near[0].distance
            kept = max(first[other] for other, bits_off in near if bits_off == distance)
            answers[bits] = len(index), kept, distance
        found.append((kept, row, distance))
    found.sort()
    kept_rows, copies, distances = zip(*found, strict=True) if found else ((), (), ())
    return Copies(
        np.array(kept_rows, np.intp), np.array(copies, np.intp), np.array(distances, np.uint8)
    )


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
