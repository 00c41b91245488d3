"""The pages of a collection by row: fingerprints in memory, names and titles in temporary files."""

from __future__ import annotations

from array import array
from collections import Counter
from tempfile import TemporaryFile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simhash_gate.sources.fingerprints import Numbered


class Texts:
    """Texts in a temporary file. Each can be read by its number."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - it stays open as long as this object
        self._stops = array("Q", [0])
        self._mapped: NDArray[np.uint8] | None = None

    def append(self, text: str) -> None:
        """Add a text."""
        # A file name that is not UTF-8 has lone surrogates.
        data = text.encode("utf-8", "surrogatepass")
        self._file.write(data)
        self._stops.append(self._stops[-1] + len(data))
        self._mapped = None

    def __getitem__(self, number: int) -> str:
        if self._mapped is None:
            self._file.flush()
            size = self._stops[-1]
            data = np.memmap(self._file, np.uint8, "r") if size else np.empty(0, np.uint8)
            self._mapped = data.view(np.ndarray)
        part = self._mapped[self._stops[number] : self._stops[number + 1]]
        return part.tobytes().decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Member(NamedTuple):
    """One page of a collection, with a fingerprint.

    `name` is its URL without user name and password, else its path. `pipeline` is the version that
    made the fingerprint, "" if unknown. `words` is 0 if unknown.
    """

    name: str
    scope: str
    fingerprint: int
    title: str
    words: int
    pipeline: str = ""


class Gathered:
    """The pages of some sources by row, in their order.

    Pages of one group are compared: those of one pipeline version and, unless `across`, of one
    scope. An unknown version counts as that of the settings. After `finish`, `fingerprints` and
    `groups` have a value for each row; `groups` is None if there is only one. Raises OSError on a
    full disk.
    """

    def __init__(self, version: str, *, across: bool, named: bool) -> None:
        self._bits = array("Q")
        self._groups = array("I")
        self._numbers = array("Q")
        self._names = Texts()
        self._titles = Texts()
        self._version = version
        self._across = across
        self._group_numbers: dict[tuple[str, str], int] = {}
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
        self._groups.append(self._group_numbers.setdefault(group, len(self._group_numbers)))
        self._bits.append(member.fingerprint)
        self._names.append(member.name)
        self._titles.append(member.title)

    def extend(self, batch: Numbered) -> None:
        """Add fingerprints that have no names."""
        self._numbers.frombytes(batch.numbers.astype(np.uint64).tobytes())
        self._bits.frombytes(batch.fingerprints.tobytes())

    def finish(self) -> None:
        """Make the arrays of all pages. Nothing can be added after this."""
        self.fingerprints = np.frombuffer(self._bits, np.uint64)
        several = len(self._group_numbers) > 1
        self.groups = np.frombuffer(self._groups, np.uint32) if several else None
        self._rows = np.frombuffer(self._numbers, np.uint64)

    def names(self, rows: list[int]) -> list[str] | list[int]:
        """Return the names of rows: URLs or paths, or the numbers of their lines."""
        if self.named:
            return [self._names[row] for row in rows]
        numbers: list[int] = self._rows[rows].tolist()
        return numbers

    def titles(self, rows: list[int]) -> list[str]:
        """Return the titles of rows, "" for rows without one."""
        return [self._titles[row] for row in rows] if self.named else [""] * len(rows)

    def find(self, name: str) -> int | None:
        """Return the first row of this name."""
        if not self.named:
            return None
        return next((row for row in range(len(self)) if self._names[row] == name), None)

    def close(self) -> None:
        """Close the files."""
        try:
            self._names.close()
        finally:  # closing raises OSError on a full disk
            self._titles.close()
