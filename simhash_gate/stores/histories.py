"""The histories of pages in a store. A page has one history for each run that knows it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.stores.base import HISTORY, Blob, join, split
from simhash_gate.stores.driver import Driver
from simhash_gate.stores.runs import Life

_VALUES = 1_000


class PageHistory(NamedTuple):
    """The visits of one page that one run knows, under the page's key.

    `seen` is the Unix time of the last visit. `history` comes from `History.encode`.
    """

    scope: str
    key: str
    url: str
    run: str
    seen: float
    history: bytes

    @classmethod
    def of(cls, blob: Blob) -> PageHistory:
        """Read a blob of the kind `HISTORY`."""
        url, history = split(blob.data)
        return cls(blob.scope, blob.key, url, blob.run, blob.at, history)

    @property
    def blob(self) -> Blob:
        """The blob for a store, without user name and password in the URL."""
        data = join(without_credentials(self.url), self.history)
        return Blob(HISTORY, self.scope, self.key, data, self.seen, self.run)


def history_in(data: bytes) -> bytes:
    """Return the history in the data of a blob, empty for empty data."""
    return split(data)[1] if data else b""


class _Entry(NamedTuple):
    """The data of one run about a page. `at` is the time of the visit."""

    at: float
    durable: bool
    run: str
    data: bytes


class Histories:
    """Keeps one value for each page, with an entry for each run that counts now or may do later.

    Entries have the order in which they were kept, whatever the clocks of the crawlers say.
    `life_of` tells whether a run is live, ended or dead.
    """

    def __init__(self, driver: Driver, life_of: Callable[[str], Life]) -> None:
        self._driver, self._life_of = driver, life_of
        # The values that were read last: a change needs no second reading.
        self._values: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def get(self, scope: str, key: str, run: str) -> bytes:
        """Return the data of a page that were kept last, of those that count for a run."""
        value = self._values[scope, key] = self._driver.blob(HISTORY, scope, key)
        if len(self._values) > _VALUES:
            self._values.popitem(last=False)
        last = self._last(_unpack(value), run)
        return last.data if last else b""

    def put(self, blob: Blob) -> None:
        """Keep the data of a run about a page. Remove entries that can't count any more."""

        def with_own(entries: list[_Entry]) -> list[_Entry]:
            if not blob.data:
                return [entry for entry in entries if blob.run and entry.run != blob.run]
            others = [entry for entry in entries if entry.durable or entry.run != blob.run]
            # Each life is asked once: a run may end between two questions.
            lives = {entry.run: self._life_of(entry.run) for entry in others}
            last = [entry for entry in others if lives[entry.run] == "ended"][-1:]
            may_count = [
                entry
                for entry in others
                if entry in last or lives[entry.run] in ("live", entry.durable and "dead")
            ]
            return [*may_count, _Entry(blob.at, durable=False, run=blob.run, data=blob.data)]

        self._edit(blob.scope, blob.key, with_own)

    def make_durable(self, scope: str, key: str, run: str) -> None:
        """Let the data of a run about a page count for all runs, even if this run dies."""

        def durable(entries: list[_Entry]) -> list[_Entry]:
            counts = self._life_of(run) != "dead"
            own = [entry for entry in entries if entry.run == run and (counts or entry.durable)]
            others = (entry for entry in entries if entry.run != run or entry in own[-1:])
            return [entry._replace(durable=entry.durable or entry.run == run) for entry in others]

        self._edit(scope, key, durable)

    def counting(self, blob: Blob) -> Blob | None:
        """Return the data of a page that count for a new run. `blob` has the value of the page."""
        last = self._last(_unpack(blob.data), "")
        return last and Blob(HISTORY, blob.scope, blob.key, last.data, last.at, last.run)

    def clear(self) -> None:
        """Forget the values that were read: they may have changed."""
        self._values.clear()

    def _last(self, entries: Sequence[_Entry], run: str) -> _Entry | None:
        for entry in reversed(entries):
            if entry.durable or self._life_of(entry.run) in ("ended", entry.run == run and "live"):
                return entry
        return None

    def _edit(self, scope: str, key: str, change: Callable[[list[_Entry]], list[_Entry]]) -> None:
        """Change the entries of a page, and again if another process was faster."""
        cached = self._values.pop((scope, key), None)
        stored: bytes | None = self._driver.blob(HISTORY, scope, key) if cached is None else cached
        while stored is not None:
            entries = change(_unpack(stored))
            changed, at = _pack(entries), max((entry.at for entry in entries), default=0.0)
            if changed == stored and cached is None:
                return
            cached, stored = None, self._driver.swap(Blob(HISTORY, scope, key, changed, at), stored)


def _pack(entries: Sequence[_Entry]) -> bytes:
    heads = [(*entry[:-1], len(entry.data)) for entry in entries]
    return join(heads, b"".join(entry.data for entry in entries)) if entries else b""


def _unpack(value: bytes) -> list[_Entry]:
    entries, (heads, data) = [], split(value) if value else ((), b"")
    for at, durable, run, size in heads:
        entries.append(_Entry(at, durable, run, data[:size]))
        data = data[size:]
    return entries
