"""The histories of pages as a store keeps them: of each page, those that several runs know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.stores.base import HISTORY, Blob, join, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


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
        data = join(self.url, self.history)
        return Blob(HISTORY, self.scope, self.request, data, self.seen, self.run)


def history_in(data: bytes) -> bytes:
    """Return the history in the data of a blob; empty for empty data."""
    return split(data)[1] if data else b""


def histories_in(blobs: Iterable[Blob]) -> Iterator[PageHistory]:
    """Yield the histories that blobs are: those that `Store.blobs` yields of the kind `HISTORY`."""
    for blob in blobs:
        url, history = split(blob.data)
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
    """Return entries as one value, empty for none."""
    told = [(*entry[:-1], len(entry.data)) for entry in entries]
    return join(told, b"".join(entry.data for entry in entries)) if entries else b""


def unpack(value: bytes) -> list[Entry]:
    """Return the entries of a value."""
    entries, (told, data) = [], split(value) if value else ((), b"")
    for at, kept, durable, run, size in told:
        entries.append(Entry(at, kept, durable, run, data[:size]))
        data = data[size:]
    return entries
