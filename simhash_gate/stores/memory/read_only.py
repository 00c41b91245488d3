"""A store that is read and never written: what comes on top of it is kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import finalize

from simhash_gate.stores.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simhash_gate.stores.base import Record, Store
    from simhash_gate.stores.memory.scope import Scope


class ReadOnlyStore(MemoryStore):
    """What another store remembers, and what is added here, of which that store is never told.

    The pages of a scope are read when it is first asked for, those that are settled: what other
    crawls do with it later is not seen. What lists everything lists what was added here.
    """

    def __init__(self, below: Store) -> None:
        super().__init__()
        self._below = below
        # A shell ends without closing anything, and SQLite would leave its files behind.
        self._close_below = finalize(self, below.close)

    def is_live(self, run: str) -> bool:
        """Tell whether a run lives, here or elsewhere."""
        return super().is_live(run) or self._below.is_live(run)

    def versions(self) -> Mapping[str, int]:
        """Count the pages of the other store."""
        return self._below.versions()

    def site_memory(self, scope: str) -> bytes:
        """Return what was kept last, here or there."""
        return super().site_memory(scope) or self._below.site_memory(scope)

    def url_rules(self, scope: str) -> bytes:
        """Return what was kept last, here or there."""
        return super().url_rules(scope) or self._below.url_rules(scope)

    def history(self, scope: str, request: str, run: str) -> bytes:
        """Return what the run kept here, or what counts there."""
        return super().history(scope, request, run) or self._below.history(scope, request, run)

    def site_notes(self, scope: str) -> bytes:
        """Return what was noted last, here or there."""
        return super().site_notes(scope) or self._below.site_notes(scope)

    def text(self, scope: str, digest: int) -> bytes:
        """Return it, from here or there."""
        return super().text(scope, digest) or self._below.text(scope, digest)

    def _close(self) -> None:
        super()._close()
        self._close_below()

    def _find(self, record: Record) -> list[tuple[Scope, int]]:
        self._scope(record.scope)
        return super()._find(record)

    def _scope(self, name: str) -> Scope:
        if name in self._scopes:
            return super()._scope(name)
        known = [record for record in self._below.records(name) if record.settled]
        scope = super()._scope(name)
        for record in known:
            scope.add(next(self._numbers), record)
        return scope
