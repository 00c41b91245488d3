"""Peers that find all pairs within some bits; each returns how many there are."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.measure import MissingError

Fingerprints = NDArray[np.uint64]

BLOCKS = 4
_BATCH = 1 << 22


class PairsPeer(Protocol):
    """What finds all pairs; `MissingError` when it is made means that it is not there."""

    title: ClassVar[str]

    def __init__(self) -> None: ...

    def count(self, values: Fingerprints, radius: int) -> int:
        """Return the number of pairs of distinct values, for a radius of 3 at most."""
        ...


class NumpyBlocks(PairsPeer):
    """The plain join: group by each of four blocks of 16 bits, compare all in a group."""

    title = "numpy, four blocks joined"

    def __init__(self) -> None:
        """Nothing to do: numpy is there."""

    def count(self, values: Fingerprints, radius: int) -> int:
        """Return the number of pairs of distinct values, for a radius of 3 at most."""
        found = [np.empty((0, 2), np.uint64)]
        for block in range(BLOCKS):
            keys = (values >> np.uint64(16 * block)).astype(np.uint16)
            order = np.argsort(keys, kind="stable")
            ordered = values[order]
            stops = np.searchsorted(keys[order], keys[order], side="right")
            counts = stops - np.arange(len(values)) - 1
            ends = np.cumsum(counts)
            start = 0
            while start < len(values):
                before = ends[start] - counts[start]
                stop = max(int(np.searchsorted(ends, before + _BATCH)), start + 1)
                some = counts[start:stop]
                one = np.repeat(np.arange(start, stop), some)
                first = ends[start:stop] - some - before
                other = np.arange(len(one)) - np.repeat(first, some) + one + 1
                a, b = ordered[one], ordered[other]
                near = np.bitwise_count(a ^ b) <= radius
                a, b = a[near], b[near]
                found.append(np.stack((np.minimum(a, b), np.maximum(a, b)), axis=1))
                start = stop
        pairs = np.concatenate(found)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        return int((pairs[1:] != pairs[:-1]).any(axis=1).sum()) + (len(pairs) > 0)


class DuckDb(PairsPeer):
    """A join on each of four blocks, in SQL."""

    title = "DuckDB, four blocks joined"

    def __init__(self) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise MissingError("pip install --group peers") from error
        self._db = duckdb.connect()
        self._db.execute("CREATE TABLE page (value UBIGINT)")

    def count(self, values: Fingerprints, radius: int) -> int:
        """Return the number of pairs of distinct values, for a radius of 3 at most."""
        columns = {"value": values}  # noqa: F841 - DuckDB finds it by its name
        self._db.execute("DELETE FROM page")
        self._db.execute("INSERT INTO page SELECT value FROM columns")
        joins = " UNION ".join(
            f"SELECT a.value AS one, b.value AS other FROM page a JOIN page b "
            f"ON (a.value >> {16 * block}) & 65535 = (b.value >> {16 * block}) & 65535 "
            f"WHERE a.value < b.value AND bit_count(xor(a.value, b.value)) <= {radius}"
            for block in range(BLOCKS)
        )
        row = self._db.execute(f"SELECT count(*) FROM ({joins})").fetchone()
        return int(row[0]) if row else 0
