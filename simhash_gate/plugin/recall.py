"""What the store knows of scopes, asked off the event loop: once of each, within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.stores import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from simhash_gate.plugin.store_thread import StoreThread

MOST_SCOPES = 10_000
"""That are known to be asked; one that comes again after so many others is asked again."""


class Recall:
    """Calls `take` with each scope and what the store has of it of a kind, once it has answered."""

    def __init__(self, store: StoreThread, kind: str, take: Callable[[str, bytes], None]) -> None:
        self._store = store
        self._kind = kind
        self._take = take
        self._asked: dict[str, Future[bytes] | None] = {}

    def has(self, scope: str) -> bool:
        """Tell whether what the store knows of a scope was taken; ask, if nobody has."""
        if scope not in self._asked:
            self._asked[scope] = self._store.submit(lambda gate: gate.store.get(self._kind, scope))
            if len(self._asked) > MOST_SCOPES:
                del self._asked[next(iter(self._asked))]
        answer = self._asked[scope]
        if answer is None or not answer.done():
            return answer is None
        try:
            self._take(scope, answer.result())
        except StoreError:  # the crawl says that its store fails
            self.forget(scope)
            return False
        self._asked[scope] = None
        return True

    def forget(self, scope: str) -> None:
        """Ask again when the scope comes again."""
        self._asked.pop(scope, None)
