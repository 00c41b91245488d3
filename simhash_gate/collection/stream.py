"""All near pairs, of each scope or of all, however many there are: in portions, never listed whole.

Scopes are taken some at a time, as many as fit. In small ones, each position is compared with all
after it, all scopes at once; a larger one is searched as `near_duplicate_pairs` does, and one that
does not fit is sorted range by range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simhash_gate.collection.groups import Groups
from simhash_gate.fingerprints.hamming import require_distance
from simhash_gate.fingerprints.permuted import near_pairs
from simhash_gate.fingerprints.ranges import MOST_RANGE_BITS, in_chunks, ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints, Positions
    from simhash_gate.fingerprints.permuted import Portion
    from simhash_gate.fingerprints.ranges import Room

    Use = Callable[[Positions, Positions], None]
    Scopes = NDArray[np.uint32]

# In scopes of no more, all are compared with all, which takes as long as a search of its own would.
_SMALL = 200
_COMPARED = 1 << 16


def stream_pairs(
    fingerprints: Fingerprints,
    radius: int,
    use: Use,
    *,
    scopes: Scopes | None = None,
    room: Room | None = None,
) -> None:
    """Find every pair of one scope that differs in at most `radius` bits, 0 to 64; each pair once.

    `fingerprints` are n numpy.uint64, which may repeat; `scopes` n small numbers, or None for one
    scope. `use` is called with two arrays of positions, in no order, the two of a pair in no order
    either, and from several threads. With `room`, no more is sorted at once than it has, and both
    arrays may be those of a file. Raises ValueError for a radius out of range.
    """
    require_distance(radius)
    if scopes is None:
        _stream_scope(fingerprints, radius, use, room)
        return
    for batch in _batches(scopes, len(fingerprints) if room is None else room.most):
        order = np.argsort(scopes[batch], kind="stable")
        rows = batch[order]
        within = scopes[rows]
        starts = np.flatnonzero(np.diff(within, prepend=within[:1] + np.uint32(1)))
        sizes = np.diff(starts, append=len(rows))
        small = np.repeat(sizes <= _SMALL, sizes)
        _compare_small(fingerprints, rows, np.repeat(starts + sizes, sizes), small, radius, use)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            if size > _SMALL:
                _stream_rows(fingerprints, rows[start : start + size], radius, use, room)


def _batches(scopes: Scopes, most: int) -> Iterator[Positions]:
    """Yield the positions of some scopes after others: as many as fit, or one that does not."""
    counts = np.zeros(0, np.intp)
    for chunk in in_chunks(scopes):
        more = np.bincount(chunk, minlength=len(counts))
        more[: len(counts)] += counts
        counts = more
    stops = np.cumsum(counts)
    low = before = 0
    while low < len(counts):
        high = max(int(np.searchsorted(stops, before + most, side="right")), low + 1)
        rows = np.empty(int(stops[high - 1]) - before, np.intp)
        end = position = 0
        for chunk in in_chunks(scopes):
            some = np.flatnonzero((chunk >= low) & (chunk < high)) + position
            rows[end : end + len(some)] = some
            end += len(some)
            position += len(chunk)
        yield rows
        low, before = high, int(stops[high - 1])


def _compare_small(
    fingerprints: Fingerprints,
    rows: Positions,
    stops: Positions,
    small: NDArray[np.bool_],
    radius: int,
    use: Use,
) -> None:
    """Compare each of the `small` rows with those after it, up to where its scope ends."""
    values = fingerprints[rows]
    for start in range(0, len(rows), _COMPARED):
        one = np.flatnonzero(small[start : start + _COMPARED]) + start
        step = 1
        while len(one := one[one + step < stops[one]]):
            near = one[np.bitwise_count(values[one] ^ values[one + step]) <= radius]
            if len(near):
                use(rows[near], rows[near + step])
            step += 1


def _stream_rows(
    fingerprints: Fingerprints,
    rows: Positions,
    radius: int,
    use: Use,
    room: Room | None,
) -> None:
    """Do as `_stream_scope` does, with those at some positions."""

    def use_rows(one: Positions, other: Positions) -> None:
        use(rows[one], rows[other])

    if room is None or len(rows) <= room.most:
        values = fingerprints[rows]
    else:
        values = room.new_array(len(rows), np.uint64)
        end = 0
        for chunk in in_chunks(rows):
            values[end : end + len(chunk)] = fingerprints[chunk]
            end += len(chunk)
    _stream_scope(values, radius, use_rows, room)


def _stream_scope(fingerprints: Fingerprints, radius: int, use: Use, room: Room | None) -> None:
    if room is None or len(fingerprints) <= room.most:
        order = np.argsort(fingerprints)
        groups = Groups.of(fingerprints[order])
    else:
        order, groups = _sorted_by_ranges(fingerprints, room)

    def between(portion: Portion) -> None:
        for one, other in groups.between(*portion.look_up(groups.values)):
            use(order[one], order[other])

    for one, other in groups.within():
        use(order[one], order[other])
    for _ in near_pairs(groups.values, radius, between, room=room):
        pass


def _sorted_by_ranges(fingerprints: Fingerprints, room: Room) -> tuple[Positions, Groups]:
    """Return the order that sorts an array, and its groups, with no more than a range in memory."""
    size = len(fingerprints)
    order: Positions = room.new_array(size, np.intp)
    values: Fingerprints = room.new_array(size, np.uint64)
    edges: Positions = room.new_array(size + 1, np.intp)
    distinct = before = 0
    for part in ranges(lambda: in_chunks(fingerprints), room.most, MOST_RANGE_BITS):
        rows = np.empty(part.size, np.intp)
        end = position = 0
        for chunk in in_chunks(fingerprints):
            some = np.flatnonzero(part.has(chunk)) + position
            rows[end : end + len(some)] = some
            end += len(some)
            position += len(chunk)
        found = fingerprints[rows]
        ascending = np.argsort(found)
        order[before : before + end] = rows[ascending]
        groups = Groups.of(found[ascending])
        stop = distinct + len(groups.values)
        values[distinct:stop] = groups.values
        edges[distinct:stop] = groups.edges[:-1] + before
        distinct, before = stop, before + end
    edges[distinct] = size
    return order, Groups(values[:distinct], edges[: distinct + 1])
