"""The temporary files of a collection: columns, texts, arrays, and numbers sorted in portions.

The files have no names, so that nothing of them is left behind by a kill. All raise OSError where
the disk does.
"""

from __future__ import annotations

import os
from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

_HELD = 1 << 14  # values of a column before they are written
_AT_ONCE = 1 << 16  # numbers that are merged


def new_array(size: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Return an array in a file, with zeros in it."""
    with TemporaryFile() as file:
        # Without its room on the disk, a full one would end the process where it writes.
        os.posix_fallocate(file.fileno(), 0, max(size, 1) * np.dtype(dtype).itemsize)
        return np.memmap(file, dtype, "w+", shape=(size,)).view(np.ndarray)


class Column:
    """Numbers of one type, in the order in which they came."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - as long as the column
        self._dtype = np.dtype(dtype)
        self._held: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, value: int) -> None:
        """Add a number."""
        self._held.append(value)
        self._count += 1
        if len(self._held) >= _HELD:
            self._write()

    def extend(self, values: NDArray[Any]) -> None:
        """Add an array of numbers."""
        self._write()
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self._count += len(values)

    def array(self) -> NDArray[Any]:
        """Return all that was added so far, as the file has it."""
        self._write()
        self._file.flush()
        if not self._count:
            return np.empty(0, self._dtype)
        return np.memmap(self._file, self._dtype, "r", shape=(self._count,)).view(np.ndarray)

    def close(self) -> None:
        """Close the file."""
        self._held.clear()
        self._file.close()

    def _write(self) -> None:
        if self._held:
            self._file.write(np.array(self._held, self._dtype).data)
            self._held.clear()


class Texts:
    """Texts, in the order in which they came; any of them can be looked up."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - as long as the texts
        self._stops = Column(np.uint64)
        self._end = 0
        self._found: tuple[NDArray[Any], NDArray[Any]] | None = None

    def append(self, text: str) -> None:
        """Add a text."""
        # A file name that is no UTF-8 has lone surrogates.
        data = text.encode("utf-8", "surrogatepass")
        self._file.write(data)
        self._end += len(data)
        self._stops.append(self._end)
        self._found = None

    def __getitem__(self, number: int) -> str:
        if self._found is None:
            self._file.flush()
            data = np.memmap(self._file, np.uint8, "r") if self._end else np.empty(0, np.uint8)
            self._found = self._stops.array(), data.view(np.ndarray)
        stops, data = self._found
        start = int(stops[number - 1]) if number else 0
        return data[start : int(stops[number])].tobytes().decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        self._stops.close()


class Sorter:
    """Takes numbers in any order and returns them sorted, with no more than `most` in memory.

    What is more is written to files in sorted portions, and merged. Safe to add to from several
    threads.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: list[Numbers] = []
        self._size = 0
        self._portions: list[Numbers] = []
        self._lock = Lock()

    def add(self, numbers: Numbers) -> None:
        """Add some numbers."""
        with self._lock:
            self._held.append(numbers)
            self._size += len(numbers)
            if self._size >= self._most:
                self._write()

    def merged(self) -> Iterator[Numbers]:
        """Yield all numbers in order, some at a time."""
        rest = [*self._portions, self._sorted()]
        while rest := [portion for portion in rest if len(portion)]:
            heads = [portion[: max(1, _AT_ONCE // len(rest))] for portion in rest]
            # What is beyond the last one seen of any portion may have others before it.
            limits = [
                head[-1]
                for head, portion in zip(heads, rest, strict=True)
                if len(head) < len(portion)
            ]
            if limits:
                stops = [int(np.searchsorted(head, min(limits), "right")) for head in heads]
            else:
                stops = [len(head) for head in heads]
            merged = np.concatenate([head[:stop] for head, stop in zip(heads, stops, strict=True)])
            merged.sort()
            yield merged
            rest = [portion[stop:] for portion, stop in zip(rest, stops, strict=True)]

    def _sorted(self) -> Numbers:
        numbers = np.concatenate([np.empty(0, np.uint64), *self._held])
        numbers.sort()
        self._held, self._size = [], 0
        return numbers

    def _write(self) -> None:
        numbers = self._sorted()
        with TemporaryFile() as file:
            numbers.tofile(file)
            file.flush()
            self._portions.append(np.memmap(file, np.uint64, "r").view(np.ndarray))


def sort_in_portions(pieces: Iterable[Numbers], most: int) -> Iterator[Numbers]:
    """Return the numbers of all pieces in order, some at a time; no more than `most` in memory."""
    sorter = Sorter(most)
    for piece in pieces:
        sorter.add(piece)
    return sorter.merged()
