"""The histories of pages as a store keeps them: of each page, those that several runs know."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.encoded import as_bytes, as_text
from simhash_gate.common.urls import without_credentials
from simhash_gate.stores.base import HISTORY, Blob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ENTRY = struct.Struct(">dd?II")  # as in Entry; then bytes of the run's name, and of the data
_URL = struct.Struct(">I")  # bytes of the URL, which follows, and then the history


@dataclass(frozen=True, slots=True)
class PageHistory:
    """What one run knows of the visits to one page, under the page's request.

    `seen` is the Unix time of the last visit; `history` is what `History.encode` writes. `url` has
    no user name and no password.
    """

    scope: str
    request: str
    url: str
    run: str
    seen: float
    history: bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", without_credentials(self.url))

    @property
    def blob(self) -> Blob:
        """What is put into a store."""
        url = as_bytes(self.url)
        data = b"".join((_URL.pack(len(url)), url, self.history))
        return Blob(HISTORY, self.scope, self.request, data, self.seen, self.run)


def history_in(data: bytes) -> bytes:
    """Return the history in the data of a blob; empty for empty data."""
    return data[_URL.size + _URL.unpack_from(data)[0] :] if data else b""


def histories_in(blobs: Iterable[Blob]) -> Iterator[PageHistory]:
    """Yield the histories that blobs are: those that `Store.blobs` yields of the kind `HISTORY`."""
    for blob in blobs:
        history = history_in(blob.data)
        url = as_text(blob.data[_URL.size : len(blob.data) - len(history)])
        yield PageHistory(blob.scope, blob.key, url, blob.run, blob.at, history)


def no_history(scope: str, request: str, run: str = "") -> Blob:
    """Return what removes what a run kept of a page's visits, or all runs: put it into a store."""
    return Blob(HISTORY, scope, request, b"", run=run)


class Entry(NamedTuple):
    """What one run kept of a page: `at` is the visit, `kept` when it was kept, by its clock."""

    at: float
    kept: float
    durable: bool
    run: str
    data: bytes


def pack(entries: Sequence[Entry]) -> bytes:
    """Return entries as one value."""
    parts = []
    for at, kept, durable, run, data in entries:
        name = as_bytes(run)
        parts += [_ENTRY.pack(at, kept, durable, len(name), len(data)), name, data]
    return b"".join(parts)


def unpack(value: bytes) -> list[Entry]:
    """Return the entries of a value."""
    entries, start = [], 0
    while start < len(value):
        at, kept, durable, name, size = _ENTRY.unpack_from(value, start)
        middle = start + _ENTRY.size + name
        run = as_text(value[start + _ENTRY.size : middle])
        start = middle + size
        entries.append(Entry(at, kept, durable, run, value[middle:start]))
    return entries


def without(entries: list[Entry], *, run: str) -> list[Entry]:
    """Return entries without those of a run, or with "" none."""
    return [entry for entry in entries if run and entry.run != run]
