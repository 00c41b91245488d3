"""`simhash-gate pairs`: all near-duplicate pairs of a collection, in order."""

from __future__ import annotations

import os
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

from simhash_gate.collection.sorting import SortedRuns
from simhash_gate.collection.stream import stream_pairs
from simhash_gate.fingerprints.ranges import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from simhash_gate.collection.gathered import Gathered
    from simhash_gate.collection.table import Row
    from simhash_gate.fingerprints.arrays import Positions

MOST_ROWS = 1 << 30
_ROW = np.uint64(30)
_DISTANCE = np.uint64(4)
_ROW_MASK = np.uint64((1 << 30) - 1)
_DISTANCE_MASK = np.uint64((1 << 4) - 1)
# Bytes for each fingerprint that is sorted at once: itself and its place, in order and not, what
# groups them, and a copy for each of up to four threads. Pairs that wait to be sorted take as many.
_BYTES = 64


class TooManyError(Exception):
    """There are more pages than can be compared; the message says how many can."""


def find_pairs(
    gathered: Gathered,
    radius: int,
    memory: int,
    tell: Callable[[int], object],
) -> SortedRuns:
    """Find all pairs of a collection within 0 to 8 bits; `pair_rows` makes rows of what comes out.

    About `memory` bytes are taken, and the rest waits in temporary files. `tell` is called with the
    number of pairs as they are found. Raises OSError when the disk is full, `TooManyError`
    for more than `MOST_ROWS` pages.
    """
    bits = gathered.fingerprints
    if len(bits) > MOST_ROWS:
        raise TooManyError(f"{len(bits)} pages: no more than {MOST_ROWS} can be compared")
    found = SortedRuns(memory // _BYTES)

    def use(one: Positions, other: Positions) -> None:
        distance = np.bitwise_count(bits[one] ^ bits[other])
        packed = np.minimum(one, other).astype(np.uint64) << _ROW
        packed |= np.maximum(one, other).astype(np.uint64)
        packed <<= _DISTANCE
        packed |= distance
        found.add(packed)
        tell(len(packed))

    def new_array(size: int, dtype: Any, /) -> NDArray[Any]:
        with TemporaryFile() as file:
            # Without its room on the disk, a full one would end the process where it writes.
            os.posix_fallocate(file.fileno(), 0, max(size, 1) * np.dtype(dtype).itemsize)
            return np.memmap(file, dtype, "w+", shape=(size,)).view(np.ndarray)

    stream_pairs(
        bits,
        radius,
        use,
        scopes=gathered.groups,
        room=Room(max(1, memory // _BYTES), new_array),
    )
    return found


def pair_rows(gathered: Gathered, found: SortedRuns) -> Iterator[Row]:
    """Yield a row for each pair, in order of the first page, then of the second."""
    for packed in found.merged():
        one = (packed >> (_ROW + _DISTANCE)).tolist()
        other = (packed >> _DISTANCE & _ROW_MASK).tolist()
        distance = (packed & _DISTANCE_MASK).tolist()
        columns: list[Sequence[str | int]] = [
            gathered.names(one),
            gathered.names(other),
            distance,
        ]
        if gathered.named:
            columns += [gathered.titles(one), gathered.titles(other)]
        yield from zip(*columns, strict=True)
