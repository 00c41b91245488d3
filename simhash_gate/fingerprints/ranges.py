"""More fingerprints than memory has room to sort: cut by their highest bits into ranges that fit.

They are written out once, each to its range, and every range is then sorted by itself. To read all
of them again for each range instead takes about half as long again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from simhash_gate.fingerprints.hamming import BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints

T = TypeVar("T", bound=np.generic)

MOST_RANGE_BITS = 20
_CHUNK = 1 << 18


class NewArray(Protocol):
    """Makes an array of a size and a type, with anything in it: in memory, or in a file."""

    def __call__(self, size: int, dtype: Any, /) -> NDArray[Any]:
        """Return the array."""
        ...


class Room(NamedTuple):
    """How many fingerprints may be sorted at once, by each thread, and where the others wait."""

    most: int
    new_array: NewArray


class Range(NamedTuple):
    """The values from `low` to `high`, both of them in it, and how many there are."""

    low: np.uint64
    high: np.uint64
    size: int

    def has(self, values: Fingerprints) -> NDArray[np.bool_]:
        """Tell of each value if it is in the range."""
        within: NDArray[np.bool_] = (values >= self.low) & (values <= self.high)
        return within


def in_chunks(values: NDArray[T]) -> Iterator[NDArray[T]]:
    """Yield an array piece by piece, which may be a file's."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def ranges(chunks: Callable[[], Iterable[Fingerprints]], most: int, bits: int) -> list[Range]:
    """Return ranges of at most `most` values each, or one of values that agree in all `bits`."""
    if bits == 0:
        return [Range(np.uint64(0), np.uint64(2**BITS - 1), sum(map(len, chunks())))]
    shift = BITS - bits
    counts = np.zeros(1 << bits, np.intp)
    for chunk in chunks():
        counts += np.bincount((chunk >> np.uint64(shift)).view(np.int64), minlength=len(counts))
    stops = np.cumsum(counts)
    found = []
    start = before = 0
    while start < len(counts):
        stop = max(int(np.searchsorted(stops, before + most, side="right")), start + 1)
        size = int(stops[stop - 1]) - before
        if size:
            found.append(Range(np.uint64(start << shift), np.uint64((stop << shift) - 1), size))
        start, before = stop, before + size
    return found


def sorted_ranges(
    chunks: Callable[[], Iterable[Fingerprints]], room: Room, bits: int
) -> Iterator[Fingerprints]:
    """Yield all values in order, range by range; those that agree in the first `bits` together."""
    parts = ranges(chunks, room.most, bits)
    stops = np.cumsum([part.size for part in parts])
    starts = stops - [part.size for part in parts]
    written = room.new_array(int(stops[-1]), np.uint64)
    ends = starts.tolist()
    lows = np.array([part.low for part in parts], np.uint64)
    for chunk in chunks():
        chunk.sort()
        edges = [*np.searchsorted(chunk, lows).tolist(), len(chunk)]
        for number, (first, last) in enumerate(pairwise(edges)):
            end = ends[number] + last - first
            written[ends[number] : end] = chunk[first:last]
            ends[number] = end
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        ordered = written[start:stop].copy()
        ordered.sort()
        yield ordered
