"""The histories of pages as a store keeps them: of each page, those that several runs know."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.stores.base import HISTORY, Blob, join, split

if TYPE_CHECKING:
    from simhash_gate.stores.driver import Driver
    from simhash_gate.stores.runs import Life

_VALUES = 1_000


class PageHistory(NamedTuple):
    """What one run knows of the visits to one page, under the page's request.

    `seen` is the Unix time of the last visit; `history` is what `History.encode` writes.
    """

    scope: str
    request: str
    url: str
    run: str
    seen: float
    history: bytes

    @classmethod
    def of(cls, blob: Blob) -> PageHistory:
        """Return what a blob of the kind `HISTORY` is."""
        url, history = split(blob.data)
        return cls(blob.scope, blob.key, url, blob.run, blob.at, history)

    @property
    def blob(self) -> Blob:
        """What is put into a store: without user name and password in the URL."""
        data = join(without_credentials(self.url), self.history)
        return Blob(HISTORY, self.scope, self.request, data, self.seen, self.run)


def history_in(data: bytes) -> bytes:
    """Return the history in the data of a blob; empty for empty data."""
    return split(data)[1] if data else b""


class _Entry(NamedTuple):
    """What one run kept of a page: `at` is the time of the visit."""

    at: float
    durable: bool
    run: str
    data: bytes


class Histories:
    """What runs have kept: one value for each page, with an entry for each run that counts or may.

    `life_of` tells what is known of a run.
    """

    def __init__(self, driver: Driver, life_of: Callable[[str], Life]) -> None:
        self._driver, self._life_of = driver, life_of
        # Those that were read last: whoever changes one knows what it is.
        self._values: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def get(self, scope: str, key: str, run: str) -> bytes:
        """Return the newest of a page that counts for a run."""
        value = self._values[scope, key] = self._driver.blob(HISTORY, scope, key)
        if len(self._values) > _VALUES:
            self._values.popitem(last=False)
        newest = self._newest(_unpack(value), run)
        return newest.data if newest else b""

    def put(self, blob: Blob) -> None:
        """Keep what a run has of a page; let go what can't count any more."""

        def with_own(entries: list[_Entry]) -> list[_Entry]:
            if not blob.data:
                return [entry for entry in entries if blob.run and entry.run != blob.run]
            others = [entry for entry in entries if entry.durable or entry.run != blob.run]
            lives = {entry.run: self._life_of(entry.run) for entry in others}  # once: runs end
            ended = [entry for entry in others if lives[entry.run] == "ended"]
            may_count = [
                entry
                for entry in others
                if entry not in ended and (entry.durable or lives[entry.run] == "live")
            ]
            own = _Entry(blob.at, durable=False, run=blob.run, data=blob.data)
            return [*sorted(ended, key=attrgetter("at"))[-1:], *may_count, own]

        self._edit(blob.scope, blob.key, with_own)

    def make_durable(self, scope: str, key: str, run: str) -> None:
        """Let what a run has of a page count for all, whatever becomes of the run."""

        def durable(entries: list[_Entry]) -> list[_Entry]:
            counts = self._life_of(run) != "dead"
            own = [entry for entry in entries if entry.run == run and (counts or entry.durable)]
            others = [entry for entry in entries if entry.run != run]
            return [*others, *(entry._replace(durable=True) for entry in own[-1:])]

        self._edit(scope, key, durable)

    def counting(self, blob: Blob) -> Blob | None:
        """Return what counts of a page for a new run: `blob` is the value of the page."""
        newest = self._newest(_unpack(blob.data), "")
        return newest and Blob(HISTORY, blob.scope, blob.key, newest.data, newest.at, newest.run)

    def clear(self) -> None:
        """Let go of what was read: it may not be so."""
        self._values.clear()

    def _newest(self, entries: Sequence[_Entry], run: str) -> _Entry | None:
        for own in sorted(entries, key=lambda own: (own.at, own.run == run), reverse=True):
            if own.durable or self._life_of(own.run) in ("ended", own.run == run and "live"):
                return own
        return None

    def _edit(self, scope: str, key: str, change: Callable[[list[_Entry]], list[_Entry]]) -> None:
        """Change what runs have kept of a page; again, if somebody else was faster."""
        known = self._values.pop((scope, key), None)
        there: bytes | None = self._driver.blob(HISTORY, scope, key) if known is None else known
        while there is not None:
            entries = change(_unpack(there))
            new, at = _pack(entries), max((entry.at for entry in entries), default=0.0)
            if new == there and known is None:
                return
            known, there = None, self._driver.swap(Blob(HISTORY, scope, key, new, at), there)


def _pack(entries: Sequence[_Entry]) -> bytes:
    heads = [(*entry[:-1], len(entry.data)) for entry in entries]
    return join(heads, b"".join(entry.data for entry in entries)) if entries else b""


def _unpack(value: bytes) -> list[_Entry]:
    entries, (heads, data) = [], split(value) if value else ((), b"")
    for at, durable, run, size in heads:
        entries.append(_Entry(at, durable, run, data[:size]))
        data = data[size:]
    return entries
