"""Columns in files: what a collection knows of its pages, written once and then looked up.

The files have no names, so that nothing of them is left behind by a kill.
"""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HELD = 1 << 14  # values before they are written


class Column:
    """Numbers of one type, in the order in which they came. Raises OSError where the disk does."""

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
