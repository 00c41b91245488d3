"""Peers that look up one fingerprint among many within three bits, and take new ones in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.measure import MissingError

RADIUS = 3


class PypiSimhash:
    """The `simhash` package's own index."""

    title = "PyPI simhash"
    most = 100_000  # it takes 700 bytes for each, and a minute for a million

    def __init__(self, values: NDArray[np.uint64]) -> None:
        try:
            from simhash import Simhash, SimhashIndex
        except ImportError as error:
            raise MissingError("pip install --group peers") from error
        self._make = Simhash
        self._index = SimhashIndex([], k=RADIUS)
        for value in values.tolist():
            self.insert(value)

    def find(self, value: int) -> int:
        """Return how many are near."""
        return len(self._index.get_near_dups(self._make(value)))

    def insert(self, value: int) -> None:
        """Take one in."""
        self._index.add(str(value), self._make(value))


class Faiss:
    """Multi-index hashing over four tables of 16 bits."""

    title = "faiss IndexBinaryMultiHash"
    most = 10_000_000

    def __init__(self, values: NDArray[np.uint64]) -> None:
        try:
            import faiss
        except ImportError as error:
            raise MissingError("pip install --group peers") from error
        faiss.omp_set_num_threads(1)
        self._index = faiss.IndexBinaryMultiHash(64, 4, 16)
        self._index.add(_rows(values))

    def find(self, value: int) -> int:
        """Return how many are near."""
        limits, _, _ = self._index.range_search(_rows(np.array([value], np.uint64)), RADIUS + 1)
        return int(limits[1])

    def insert(self, value: int) -> None:
        """Take one in."""
        self._index.add(_rows(np.array([value], np.uint64)))


def _rows(values: NDArray[np.uint64]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
