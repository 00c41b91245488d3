"""More fingerprints than memory has room to sort: cut by their highest bits into ranges that fit.

Each range is filled by a pass over all of them, which costs less than to write them out and to read
them again, range by range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from simhash_gate.fingerprints.hamming import BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from simhash_gate.fingerprints.arrays import Fingerprints

T = TypeVar("T", bound=np.generic)

MOST_RANGE_BITS = 20
_CHUNK = 1 << 18


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


def ranges(
    chunks: Callable[[], Iterable[Fingerprints]], most: int, bits: int = MOST_RANGE_BITS
) -> Iterator[Range]:
    """Yield ranges of at most `most` values each, or one of values that agree in all `bits`."""
    if bits == 0:
        count = sum(map(len, chunks()))
        yield Range(np.uint64(0), np.uint64(2**BITS - 1), count)
        return
    shift = BITS - bits
    counts = np.zeros(1 << bits, np.intp)
    for chunk in chunks():
        counts += np.bincount((chunk >> np.uint64(shift)).astype(np.intp), minlength=len(counts))
    stops = np.cumsum(counts)
    start = before = 0
    while start < len(counts):
        stop = max(int(np.searchsorted(stops, before + most, side="right")), start + 1)
        count = int(stops[stop - 1]) - before
        if count:
            yield Range(np.uint64(start << shift), np.uint64((stop << shift) - 1), count)
        start, before = stop, before + count
