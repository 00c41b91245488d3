"""What else one could use for near fingerprints: to look up one, and to find all pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Fingerprints = NDArray[np.uint64]
Take = Callable[[int], object]

RADIUS = 3
BLOCKS = 4
_BATCH = 1 << 22


def pypi_simhash(values: Fingerprints) -> Take:
    """Return what looks one up and inserts it: the `simhash` package's own index."""
    from simhash import Simhash, SimhashIndex

    index = SimhashIndex([(str(value), Simhash(value)) for value in values.tolist()], k=RADIUS)

    def take(value: int) -> None:
        index.get_near_dups(Simhash(value))
        index.add(str(value), Simhash(value))

    return take


def faiss_index(values: Fingerprints) -> Take:
    """The same by multi-index hashing over four tables of 16 bits."""
    import faiss

    faiss.omp_set_num_threads(1)
    index: Any = faiss.IndexBinaryMultiHash(64, 4, 16)
    index.add(np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8))

    def take(value: int) -> None:
        row = np.array([value], np.uint64).view(np.uint8).reshape(-1, 8)
        index.range_search(row, RADIUS + 1)
        index.add(row)

    return take


def numpy_pairs(values: Fingerprints) -> int:
    """Return the number of near pairs by the plain join.

    Group by each of four blocks of 16 bits, compare all in a group.
    """
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
            near = np.bitwise_count(a ^ b) <= RADIUS
            a, b = a[near], b[near]
            found.append(np.stack((np.minimum(a, b), np.maximum(a, b)), axis=1))
            start = stop
    pairs = np.concatenate(found)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return int((pairs[1:] != pairs[:-1]).any(axis=1).sum()) + (len(pairs) > 0)


def duckdb_pairs(values: Fingerprints) -> int:
    """Return the number of near pairs of distinct values by a join on each of four blocks."""
    import duckdb

    columns = {"value": values}  # noqa: F841 - DuckDB finds it by its name
    db = duckdb.connect()
    db.execute("CREATE TABLE page AS SELECT value FROM columns")
    joins = " UNION ".join(
        f"SELECT a.value AS one, b.value AS other FROM page a JOIN page b "
        f"ON (a.value >> {16 * block}) & 65535 = (b.value >> {16 * block}) & 65535 "
        f"WHERE a.value < b.value AND bit_count(xor(a.value, b.value)) <= {RADIUS}"
        for block in range(BLOCKS)
    )
    row = db.execute(f"SELECT count(*) FROM ({joins})").fetchone()
    return int(row[0]) if row else 0
