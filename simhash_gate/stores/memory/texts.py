"""Texts of pages in this process's memory, within a budget."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from simhash_gate.stores.base import KeptText

if TYPE_CHECKING:
    from collections.abc import Iterator


class Texts:
    """Texts by scope and digest; the oldest go first."""

    def __init__(self) -> None:
        self.size = 0
        self._kept: dict[tuple[str, int], tuple[float, bytes]] = {}
        self._oldest: list[tuple[float, tuple[str, int]]] = []  # some are there no more

    def get(self, scope: str, digest: int) -> bytes:
        """Return a text; empty for none."""
        return self._kept.get((scope, digest), (0.0, b""))[1]

    def keep(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep a text; the oldest go until all are `budget` bytes or less."""
        key = scope, digest
        before, _ = self._kept.get(key, (at, b""))
        self.forget(scope, digest)
        at = max(at, before)
        self._kept[key] = at, data
        self.size += len(data)
        heappush(self._oldest, (at, key))
        while self.size > budget:
            at, key = heappop(self._oldest)
            if self._kept.get(key, (None,))[0] == at:
                self.forget(*key)
        if len(self._oldest) > 2 * len(self._kept) + 100:
            self._oldest = sorted((at, key) for key, (at, _) in self._kept.items())

    def forget(self, scope: str, digest: int) -> None:
        """Remove a text, if it is there."""
        _, data = self._kept.pop((scope, digest), (0.0, b""))
        self.size -= len(data)

    def listed(self, scope: str | None) -> Iterator[KeptText]:
        """Yield which texts there are of a scope, or of all."""
        for (name, digest), (at, data) in self._kept.items():
            if scope in (None, name):
                yield KeptText(name, digest, at, len(data))

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._oldest.clear()
        self.size = 0
