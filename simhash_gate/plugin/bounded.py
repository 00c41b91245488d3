"""What is kept in memory within a number of bytes: the values that were used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Values by key, of at most `most_bytes` together, and at most `most` of them."""

    def __init__(self, most_bytes: int, most: float = float("inf")) -> None:
        self._most_bytes = most_bytes
        self._most = most
        self._bytes = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return a value, which counts as used last from now on."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: K, value: V, size: int) -> list[V]:
        """Keep a value of so many bytes, in place of an earlier one; return what had to go."""
        self._bytes += size - self._values.pop(key, (None, 0))[1]
        self._values[key] = value, size
        removed = []
        while self._bytes > self._most_bytes or len(self._values) > self._most:
            _, (oldest, freed) = self._values.popitem(last=False)
            self._bytes -= freed
            removed.append(oldest)
        return removed
