"""What runs of this process keep of the visits to pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.stores.base import MOST_HISTORIES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from simhash_gate.stores.base import PageHistory

# Of one page, by run, and whether it is durable: a run can have one history of each kind.
_Kept = dict[tuple[str, bool], "PageHistory"]


class Histories:
    """The histories of pages, by scope and request; `ended` are the runs that have ended."""

    def __init__(self, ended: Collection[str]) -> None:
        self._ended = ended
        self._scopes: dict[str, dict[str, _Kept]] = {}

    def get(self, scope: str, request: str, run: str) -> bytes:
        """Return what counts of a page for a run."""
        newest = self._newest(self._scopes.get(scope, {}).get(request, {}), run)
        return newest.history if newest else b""

    def keep(self, history: PageHistory) -> None:
        """Keep the history of a page; of those of ended runs, only the newest stays."""
        pages = self._scopes.setdefault(history.scope, {})
        kept = pages.setdefault(history.request, {})
        newest = self._newest(kept, "")
        for run, durable in [*kept]:
            if run in self._ended and kept[run, durable] is not newest:
                del kept[run, durable]
        kept[history.run, False] = history
        if len(pages) > MOST_HISTORIES:
            self._scopes[history.scope] = dict(_latest(pages))

    def make_durable(self, scope: str, request: str, run: str) -> None:
        """Let what a run kept of a page count for all runs."""
        kept = self._scopes.get(scope, {}).get(request, {})
        if (run, False) in kept:
            kept[run, True] = kept.pop((run, False))

    def forget(self, scope: str, request: str, run: str | None) -> None:
        """Remove what a run kept of a page, or what all runs did."""
        pages = self._scopes.get(scope, {})
        kept = pages.get(request, {})
        for key in [*kept]:
            if run in (None, key[0]):
                del kept[key]
        if request in pages and not kept:
            del pages[request]

    def forget_scope(self, scope: str) -> None:
        """Remove what is kept of all pages of a scope."""
        self._scopes.pop(scope, None)

    def counting(self, scope: str | None) -> Iterator[PageHistory]:
        """Yield what counts for a new run of each page of a scope, or of all."""
        scopes = self._scopes.values() if scope is None else [self._scopes.get(scope, {})]
        for pages in scopes:
            for kept in pages.values():
                newest = self._newest(kept, "")
                if newest is not None:
                    yield newest

    def runs(self) -> set[str]:
        """Return the runs that have kept something."""
        pages = (page for scope in self._scopes.values() for page in scope.values())
        return {run for kept in pages for run, _ in kept}

    def clear(self) -> None:
        """Forget everything."""
        self._scopes.clear()

    def _newest(self, kept: _Kept, run: str) -> PageHistory | None:
        """Return the newest of a page's histories that counts for a run."""
        counting = [
            history
            for (name, durable), history in kept.items()
            if durable or name == run or name in self._ended
        ]
        return max(counting, key=lambda own: (own.seen, own.run == run), default=None)


def _latest(pages: dict[str, _Kept]) -> list[tuple[str, _Kept]]:
    """Return the pages that were visited last."""

    def seen(page: tuple[str, _Kept]) -> float:
        return max(history.seen for history in page[1].values())

    return sorted(pages.items(), key=seen)[MOST_HISTORIES // 20 + 1 :]
