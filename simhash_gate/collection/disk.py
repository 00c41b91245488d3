"""A collection in temporary files: columns, texts, arrays, and numbers sorted in portions."""

from __future__ import annotations

import os
from collections import Counter
from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from simhash_gate.sources.fingerprints import Numbered

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


class Member(NamedTuple):
    """One page of a collection that has a fingerprint; `name` is its URL, else its path.

    A URL has no user name and no password.

    `pipeline` is the version that made the fingerprint, "" where nobody knows; `words` is 0 then
    too, if the source does not tell.
    """

    name: str
    scope: str
    fingerprint: int
    title: str
    words: int
    pipeline: str = ""


class Gathered:
    """The pages of some sources by row, in their order.

    Pages are compared with those of the same group: of their scope, or of all, and always of one
    pipeline version. A version that nobody knows is taken for that of the settings.
    `fingerprints`, and `groups` by number, None if all are in one, are there from `finish` on.
    Raises OSError when the disk is full.
    """

    def __init__(self, version: str, *, across: bool, named: bool) -> None:
        self._bits = Column(np.uint64)
        self._groups = Column(np.uint32)
        self._numbers = Column(np.uint64)
        self._names = Texts()
        self._titles = Texts()
        self._version = version
        self._across = across
        self._known: dict[tuple[str, str], int] = {}
        self._rows: NDArray[np.uint64]
        self.named = named
        self.fingerprints: NDArray[np.uint64]
        self.groups: NDArray[np.uint32] | None
        self.versions: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._bits)

    def add(self, member: Member) -> None:
        """Add a page."""
        version = member.pipeline or self._version
        self.versions[version] += 1
        group = ("" if self._across else member.scope, version)
        self._groups.append(self._known.setdefault(group, len(self._known)))
        self._bits.append(member.fingerprint)
        self._names.append(member.name)
        self._titles.append(member.title)

    def extend(self, batch: Numbered) -> None:
        """Add fingerprints that have no names."""
        self._numbers.extend(batch.numbers)
        self._bits.extend(batch.fingerprints)

    def finish(self) -> None:
        """Make what was added ready to be looked up: in files, that memory holds as it can."""
        self.fingerprints = self._bits.array()
        self.groups = self._groups.array() if len(self._known) > 1 else None
        self._rows = self._numbers.array()

    def names(self, rows: list[int]) -> list[str] | list[int]:
        """Return what rows are called: a URL or a path, or the number of a line."""
        if self.named:
            return [self._names[row] for row in rows]
        numbers: list[int] = self._rows[rows].tolist()
        return numbers

    def titles(self, rows: list[int]) -> list[str]:
        """Return the titles of rows, "" where their source knows none."""
        return [self._titles[row] for row in rows] if self.named else [""] * len(rows)

    def find(self, name: str) -> int | None:
        """Return the first row of this name."""
        if not self.named:
            return None
        return next((row for row in range(len(self)) if self._names[row] == name), None)

    def close(self) -> None:
        """Close the files."""
        for column in (self._bits, self._groups, self._numbers, self._names, self._titles):
            column.close()
