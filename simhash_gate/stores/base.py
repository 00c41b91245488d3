"""The store contract: what every memory of kept pages does, and the values it speaks in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, fields, make_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from simhash_gate.common.urls import without_credentials

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


class StoreError(Exception):
    """A store can't be opened, read or written; the message names it and says what to do."""


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the store, as users know it
    """A store can't be reached or written just now: worth trying again later."""


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered page.

    `request` is Scrapy's request fingerprint in hex; `digest` an unsigned 64-bit hash of the
    page's text, equal only for equal texts; `first_seen` and `last_seen` are Unix times;
    `sketch` is what a closer look needs, if anything: it begins with a key of 8 bytes, of which 4
    stand for the name of the page. `settled` tells that nothing can go wrong
    with the page any more: its callback ended well and its items are out, or its run has ended.
    `url` never has a user name or a password, whatever it was made of.
    """

    scope: str
    url: str
    request: str
    fingerprint: int
    digest: int
    words: int
    title: str
    pipeline: str
    run: str
    first_seen: float
    last_seen: float
    sketch: bytes = b""
    settled: bool = False

    def __post_init__(self) -> None:
        if "@" in self.url:
            object.__setattr__(self, "url", without_credentials(self.url))

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """What tells this record from every other."""
        return (self.scope, self.run, self.request, self.fingerprint)

    def seen(self, at: float) -> Record:
        """Return the record as last seen at `at`, unless it was seen later."""
        if at <= self.last_seen:
            return self
        return make_record(
            self.scope,
            self.url,
            self.request,
            self.fingerprint,
            self.digest,
            self.words,
            self.title,
            self.pipeline,
            self.run,
            self.first_seen,
            at,
            self.sketch,
            self.settled,
        )


_Draft = make_dataclass("_Draft", [field.name for field in fields(Record)], slots=True)


def make_record(*values: Any) -> Record:
    """Return the record with these values, all and in order, at a quarter of the usual cost.

    What is frozen sets each of its attributes by a call. So a draft with the same slots is filled,
    and becomes a record.
    """
    record: Any = _Draft(*values)
    if "@" in record.url:
        record.url = without_credentials(record.url)
    record.__class__ = Record
    return cast("Record", record)


class Match(NamedTuple):
    """A remembered page and its Hamming distance from the page in question."""

    record: Record
    distance: int


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a scope counts as recent: its last `pages` records, none older than `seconds`.

    Records of all pipeline versions take their place in it, though only those of one are compared.
    """

    pages: int = 10_000
    seconds: float | None = None

    def since(self, record: Record) -> float:
        """Return the `first_seen` that a record must reach to count when `record` comes."""
        return float("-inf") if self.seconds is None else record.first_seen - self.seconds


class Answer(NamedTuple):
    """What `check_and_add` did.

    Not added: `match` is the best one within the radius. Added: `match` is the nearest page beyond
    the radius that the lookup came across within `near`, or None.
    """

    added: bool
    match: Match | None


ADDED = Answer(True, None)
"""The most frequent one: there is nothing like the page."""

DEFAULT_WINDOW = Window()
MOST_COUNTED = 100_000


class Store(ABC):
    """Remembers the kept pages of each scope; decides nothing. Safe to call from several threads.

    Every method raises `StoreError` when the store can't do it: `StoreUnavailable` where it may
    work again later, with this very object, without a new `begin`.
    """

    @abstractmethod
    def begin(self, run: str) -> None:
        """Open a run: from now on it is live. Records of runs found dead are removed.

        `run` is any string that no run had before, unless that one is dead and left nothing
        durable; else `StoreError`.
        """

    @abstractmethod
    def renew(self, run: str) -> None:
        """Tell that the run still lives, where the store can't see that by itself."""

    @abstractmethod
    def end(self, run: str) -> None:
        """Close a run normally: its records count for all later runs."""

    @abstractmethod
    def check_and_add(
        self,
        record: Record,
        radius: int | None,
        dismissed: Collection[Record] = (),
        *,
        near: int = 0,
        exact: bool = False,
        window: Window = DEFAULT_WINDOW,
    ) -> Answer:
        """Look for a page within `radius` bits in the record's scope; remember it if there is none.

        One atomic step. Only records of the same scope and pipeline version, of live and ended
        runs, inside the window and not among `dismissed` are compared. The best match is one with
        the same request fingerprint, then one whose sketch begins with the same 8 bytes, then with
        the same 4, then the least distance, then the latest. It is exact for
        every radius from 0 to 64; with None nothing is looked at, and the record added. `near` is
        best effort. With `exact`, only records with the same digest are compared. A match within
        the radius has its `last_seen` moved to that of `record`, never back, and is returned so;
        adding evicts what falls out of the window, oldest first.

        The record's run must be live, and begun in this very store, else `StoreError`. Raises
        ValueError for a fingerprint or a radius out of range.
        """

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Group the calls that this thread makes in the block, where that makes them cheaper.

        It is for calls about records: runs begin and end outside.
        Nothing that they return may be told to anyone before the block has ended well. If it ends
        in a `StoreError`, the store may have done none of it: make the calls again, one by one.
        """
        yield

    @abstractmethod
    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""

    @abstractmethod
    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark the records with these identities settled; those that are gone are passed over.

        With `durable` they count for all later runs, whatever becomes of their own.
        """

    @abstractmethod
    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now; None if it is gone or counts no more.

        That of a run which has died counts no more, unless it is durable.
        """

    @abstractmethod
    def is_live(self, run: str) -> bool:
        """Tell whether a run has begun, here or elsewhere, and has neither ended nor died."""

    @abstractmethod
    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield the remembered pages of a scope, or of all, oldest first."""

    def versions(self) -> Mapping[str, int]:
        """Return how many pages are remembered under each pipeline version.

        Where the store can't count them itself, of the oldest `MOST_COUNTED` pages.
        """
        return Counter(record.pipeline for record in islice(self.records(), MOST_COUNTED))

    @abstractmethod
    def site_memory(self, scope: str) -> bytes:
        """Return what was kept last of what a scope repeats; empty for nothing."""

    @abstractmethod
    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Keep what a scope repeats, in place of what was kept before."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and locks. A run that was not ended is dead from here on."""
