"""Requests that were held back, as long as there is room: they may be sent again."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from simhash_gate.plugin.resend_dropped import weight

if TYPE_CHECKING:
    from scrapy import Request

    from simhash_gate.urls.traps import Visit

MOST_BYTES = 16 << 20
"""What all of them take, roughly."""
MOST_OF_SHAPE = 1_000
AT_ONCE = 14
"""So many of a shape are sent again for one page that brings something new."""

_OBJECTS = 1024  # bytes of a request without its contents


class HeldRequests:
    """Requests by the shape of their URLs, the oldest first."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, str, str], deque[tuple[Request, int]]] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return sum(map(len, self._shapes.values()))

    def add(self, visit: Visit, request: Request) -> bool:
        """Remember a request; tell if there was room for it."""
        key = visit.scope, visit.shape.group.name, visit.shape.name
        waiting = self._shapes.setdefault(key, deque())
        size = _OBJECTS + weight([request.url, request.body, request.meta, request.cb_kwargs])
        if len(waiting) >= MOST_OF_SHAPE or self._bytes + size > MOST_BYTES:
            return False
        waiting.append((request, size))
        self._bytes += size
        return True

    def of_shape(self, scope: str, shape: str) -> list[Request]:
        """Return some requests of a shape that waited longest, and remember them no more."""
        for key in [key for key in self._shapes if key[0] == scope and key[2] == shape]:
            return self._taken(key, AT_ONCE)
        return []

    def of_group(self, scope: str, group: str) -> list[Request]:
        """Return all requests of a group of shapes, and remember them no more."""
        keys = [key for key in self._shapes if key[:2] == (scope, group)]
        return [request for key in keys for request in self._taken(key, MOST_OF_SHAPE)]

    def _taken(self, key: tuple[str, str, str], most: int) -> list[Request]:
        waiting = self._shapes[key]
        taken = [waiting.popleft() for _ in range(min(most, len(waiting)))]
        self._bytes -= sum(size for _, size in taken)
        if not waiting:
            del self._shapes[key]
        return [request for request, _ in taken]
