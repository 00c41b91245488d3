"""Texts of pages on a Redis server, within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simhash_gate.stores.base import KeptText
from simhash_gate.stores.values import as_bytes, as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DIGEST = 8  # bytes
_AT_ONCE = 1_000


class Texts:
    """The texts of a store; `call` asks the server, `script` runs `texts.lua`."""

    def __init__(
        self, client: Any, call: Callable[..., Any], script: Callable[..., Any], prefix: str
    ) -> None:
        self._client = client
        self._call = call
        self._script = script
        # In a cluster all of them are on one node: they share a budget.
        self._keys = [f"{prefix}{{texts}}:{name}" for name in ("data", "at", "size")]

    def get(self, scope: str, digest: int) -> bytes:
        """Return a text; empty for none."""
        return self._call(self._client.hget, self._keys[0], _name(scope, digest)) or b""

    def keep(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep a text; the oldest go until all are `budget` bytes or less."""
        self._ask("keep", _name(scope, digest), data, repr(float(at)), budget)

    def forget(self, scope: str, digest: int) -> None:
        """Remove a text, if it is there."""
        self._ask("forget", _name(scope, digest))

    def listed(self, scope: str | None) -> Iterator[KeptText]:
        """Yield which texts there are of a scope, or of all; read in parts."""
        start = 0
        while some := self._ask("list", start, start + _AT_ONCE - 1):
            for name, at, size in some:
                of = as_text(name[_DIGEST:])
                if scope in (None, of):
                    yield KeptText(of, int.from_bytes(name[:_DIGEST], "big"), float(at), size)
            start += len(some)

    def size(self) -> int:
        """Return how many bytes all of them have."""
        return int(self._call(self._client.get, self._keys[2]) or 0)

    def _ask(self, *arguments: Any) -> Any:
        return self._call(self._script, self._keys, arguments)


def _name(scope: str, digest: int) -> bytes:
    return digest.to_bytes(_DIGEST, "big") + as_bytes(scope)
