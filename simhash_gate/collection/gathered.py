"""A collection in temporary files, so that memory has no more of it than fingerprints."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.collection.disk import Column, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simhash_gate.sources.fingerprints import Numbered


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
