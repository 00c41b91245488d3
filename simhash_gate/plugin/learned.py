"""What was learned of scopes and is kept in the store: asked once of each, and merged into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simhash_gate.history.notes import note_in, with_note
from simhash_gate.stores import Blob, StoreError
from simhash_gate.stores.base import SITE_NOTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from simhash_gate.gate.judge import Gate
    from simhash_gate.plugin.store_thread import StoreThread

MOST_SCOPES = 10_000
"""That are known to be asked; one that comes again after so many others is asked again."""


class Learned:
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


class LearnedNotes(Learned):
    """What was learned of the domains of scopes: a JSON value for each, under a key in the notes.

    `take` is called with a scope and the values by domain.
    """

    def __init__(
        self, store: StoreThread, key: str, take: Callable[[str, dict[str, Any]], None]
    ) -> None:
        super().__init__(store, SITE_NOTES, lambda scope, notes: take(scope, note_in(notes, key)))
        self._key = key

    def merge(self, scope: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change what the store has by then: other crawls may have written meanwhile."""

        def merge(gate: Gate) -> None:
            notes = gate.store.get(SITE_NOTES, scope)
            known = note_in(notes, self._key)
            change(known)
            gate.store.put(Blob(SITE_NOTES, scope, "", with_note(notes, self._key, known)))

        self._store.submit(merge)
