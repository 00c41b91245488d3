"""Numbers sorted in runs, on disk when they are many, and merged."""

from __future__ import annotations

from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

_AT_ONCE = 1 << 16


class SortedRuns:
    """An array of numpy.uint64 that grows, and comes out sorted; no more than `most` in memory.

    Safe to add to from several threads. Raises OSError when the disk is full.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: list[Numbers] = []
        self._size = 0
        self._runs: list[Numbers] = []
        self._lock = Lock()
        self.total = 0

    def add(self, numbers: Numbers) -> None:
        """Add some numbers."""
        with self._lock:
            self._held.append(numbers)
            self._size += len(numbers)
            self.total += len(numbers)
            if self._size >= self._most:
                self._write()

    def merged(self) -> Iterator[Numbers]:
        """Yield all numbers in order, some at a time."""
        runs = [*self._runs, self._sorted()]
        places = [0] * len(runs)
        at_once = max(1, _AT_ONCE // len(runs))
        while True:
            heads = [run[place : place + at_once] for run, place in zip(runs, places, strict=True)]
            # What is beyond the last one seen of any run may have others before it.
            limits = [
                head[-1]
                for run, place, head in zip(runs, places, heads, strict=True)
                if len(head) and place + len(head) < len(run)
            ]
            if limits:
                stops = [int(np.searchsorted(head, min(limits), "right")) for head in heads]
            else:
                stops = [len(head) for head in heads]
            if not any(stops):
                return
            places = [place + stop for place, stop in zip(places, stops, strict=True)]
            part = np.concatenate([h[:stop] for h, stop in zip(heads, stops, strict=True)])
            part.sort()
            yield part

    def _sorted(self) -> Numbers:
        numbers = np.concatenate([np.empty(0, np.uint64), *self._held])
        numbers.sort()
        return numbers

    def _write(self) -> None:
        numbers = self._sorted()
        self._held, self._size = [], 0
        with TemporaryFile() as file:
            numbers.tofile(file)
            file.flush()
            self._runs.append(np.memmap(file, np.uint64, "r").view(np.ndarray))
