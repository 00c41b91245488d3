"""What runs know of the visits to pages, on a Redis server: one hash a scope."""

from __future__ import annotations

import struct
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.stores.base import MOST_HISTORIES, PageHistory
from simhash_gate.stores.redis.codec import pack_request, run_digest, unpack_request, visit_keys
from simhash_gate.stores.values import as_bytes, as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simhash_gate.stores.redis.runs import Runs

_DURABLE = 1
_MARK = struct.Struct(">8sBd")  # the digest of the run, whether it is durable, when it was seen
_LENGTHS = struct.Struct(">II")  # of URL and history, which follow
_AT_ONCE = 200


class _Entry(NamedTuple):
    """What one run kept of a page."""

    run: bytes
    durable: bool
    seen: float
    url: bytes
    history: bytes


class Histories:
    """The histories of a store; `call` asks the server, `script` runs `histories.lua`."""

    def __init__(
        self,
        client: Any,
        call: Callable[..., Any],
        script: Callable[..., Any],
        prefix: str,
        runs: Runs,
    ) -> None:
        self._client = client
        self._call = call
        self._script = script
        self._prefix = prefix
        self._runs = runs

    def get(self, scope: str, request: str, run: str) -> bytes:
        """Return what counts of a page for a run; mostly one round trip."""
        value = self._call(self._client.hget, self._keys(scope)[0], pack_request(request))
        newest = self._newest(_entries(value or b""), run_digest(run))
        return newest.history if newest else b""

    def keep(self, history: PageHistory) -> None:
        """Keep the history of a page; mostly one round trip."""
        url = as_bytes(history.url)
        mark = _MARK.pack(run_digest(history.run), 0, history.seen)
        entry = b"".join(
            (mark, _LENGTHS.pack(len(url), len(history.history)), url, history.history)
        )
        others = self._ask("keep", history.scope, history.request, entry, MOST_HISTORIES)
        if len(others) > 1:
            self._tidy(history.scope, history.request, others)

    def make_durable(self, scope: str, request: str, run: str) -> None:
        """Let what a run kept of a page count for all runs."""
        self._ask("durable", scope, request, run_digest(run))

    def forget(self, scope: str, request: str, run: str | None) -> None:
        """Remove what a run kept of a page, or what all runs did."""
        self._ask("forget", scope, request, b"" if run is None else run_digest(run))

    def counting(self, scope: str) -> Iterator[PageHistory]:
        """Yield what counts for a new run of each page of a scope."""
        find = cache(self._runs.find)
        for request, entries in self._pages(scope):
            newest = self._newest(entries, b"", find)
            if newest is not None:
                yield PageHistory(
                    scope,
                    unpack_request(request),
                    as_text(newest.url),
                    find(newest.run).name,
                    newest.seen,
                    newest.history,
                )

    def runs(self, scope: str) -> set[bytes]:
        """Return the digests of the runs that have kept something of a scope."""
        return {entry.run for _, entries in self._pages(scope) for entry in entries}

    def bury(self, scope: str, run: bytes) -> bool:
        """Remove what a dead run kept of a scope; tell whether something durable is left."""
        cursor, durable = b"0", False
        while True:
            asked = ["bury", run, cursor]
            cursor, seen = self._call(self._script, self._keys(scope), asked)
            durable = durable or seen > 0
            if cursor == b"0":
                return durable

    def _tidy(self, scope: str, request: str, marks: list[bytes]) -> None:
        """Remove what dead runs kept of a page, and of what ended ones did all but the newest."""
        gone, ended = [], []
        for mark in marks:
            run, durable, seen = _MARK.unpack(mark)
            state = self._runs.find(run).state
            if state == "ended" or (state == "dead" and durable):
                ended.append((seen, mark))
            elif state == "dead":
                gone.append(mark)
        gone += [mark for _, mark in sorted(ended)[:-1]]
        if gone:
            self._ask("drop", scope, request, *gone)

    def _newest(
        self, entries: list[_Entry], run: bytes, find: Callable[[bytes], Any] | None = None
    ) -> _Entry | None:
        """Return the newest entry that counts for a run."""
        for entry in sorted(entries, key=lambda own: (own.seen, own.run == run), reverse=True):
            if entry.durable or entry.run == run:
                return entry
            if (find or self._runs.find)(entry.run).state == "ended":
                return entry
        return None

    def _pages(self, scope: str) -> Iterator[tuple[bytes, list[_Entry]]]:
        """Yield each request of a scope once, and its entries; read in parts."""
        read: set[bytes] = set()
        cursor = 0
        while True:
            scan = partial(self._client.hscan, self._keys(scope)[0], cursor, count=_AT_ONCE)
            cursor, some = self._call(scan)
            for request, value in some.items():
                if request not in read:
                    read.add(request)
                    yield request, _entries(value)
            if not cursor:
                return

    def _ask(self, operation: str, scope: str, request: str, *arguments: Any) -> Any:
        asked = [operation, pack_request(request), *arguments]
        return self._call(self._script, self._keys(scope), asked)

    def _keys(self, scope: str) -> list[str]:
        return visit_keys(self._prefix, scope)


def _entries(value: bytes) -> list[_Entry]:
    found, at = [], 0
    while at < len(value):
        run, durable, seen = _MARK.unpack_from(value, at)
        url, history = _LENGTHS.unpack_from(value, at + _MARK.size)
        start = at + _MARK.size + _LENGTHS.size
        at = start + url + history
        its_url, its_history = value[start : start + url], value[start + url : at]
        found.append(_Entry(run, durable == _DURABLE, seen, its_url, its_history))
    return found
