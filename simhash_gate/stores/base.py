"""The store contract: what every memory of kept pages does, and the values it speaks in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.fingerprints.hamming import require_distance, require_fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

KEY_BYTES, NAME_BYTES = 8, 4
"""A sketch begins with its key, and that with the part that stands for the name."""

MOST_HISTORIES = 100_000
"""Pages of a scope whose visits are remembered; those go first that were visited longest ago.

A store that would have to look at all of them lets a twentieth go at a time.
"""

NEAR_REACH = 3
"""A lookup with threshold 3 or less reads the same blocks, so it finds near pages there too."""


class StoreError(Exception):
    """A store can't be opened, read or written; the message names it and says what to do."""


class StoreMissing(StoreError):  # noqa: N818 - a state, as below
    """There is no store yet, and none is to be made."""


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
        return Record(  # each match comes by here, and dataclasses.replace takes twice as long
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


@dataclass(frozen=True, slots=True)
class PageHistory:
    """What one run knows of the visits to one page, under the page's request.

    `seen` is the Unix time of the last visit; `history` is what `History.encode` of
    `simhash_gate.history` writes, which a store doesn't read.
    """

    scope: str
    request: str
    url: str
    run: str
    seen: float
    history: bytes

    def __post_init__(self) -> None:
        if "@" in self.url:
            object.__setattr__(self, "url", without_credentials(self.url))


class KeptText(NamedTuple):
    """A text that is kept: under which digest, when it was seen last, and how many bytes it has."""

    scope: str
    digest: int
    at: float
    size: int


class Match(NamedTuple):
    """A remembered page and its Hamming distance from the page in question."""

    record: Record
    distance: int


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a scope counts as recent: its last `pages` records, none older than `seconds`.

    The last are those that were added last, whenever they were first seen: an old page that an
    archive brings is one of them. Age counts from the last visit to the record's own URL to the
    time of the page in question: with an age limit, a record that is too old then is never
    compared, wherever it stands. It is evicted once it is the first. Records of all pipeline
    versions take their place in a window, though only those of one are compared.
    """

    pages: int = 10_000
    seconds: float | None = None

    def since(self, record: Record) -> float:
        """Return the `last_seen` that a record must reach to count when `record` comes."""
        return float("-inf") if self.seconds is None else record.last_seen - self.seconds


DEFAULT_WINDOW = Window()
MOST_COUNTED = 100_000


@lru_cache
def _extent(radius: int | None, near: int) -> tuple[int, int]:
    """Return `reach` and `limit` of a lookup. Raises ValueError for a radius out of range."""
    radius = 0 if radius is None else require_distance(radius)
    return max(radius, min(near, NEAR_REACH)), max(radius, near)


class Lookup(NamedTuple):
    """A page, and which kept pages it is compared with; see `Store.check_and_add`, which checks it.

    Records are compared that are no more than `limit` bits away: all within `reach`, which is
    `radius` or a little more, and of the others those that are found on the way. They were last
    seen at `since` or later.
    """

    record: Record
    radius: int | None
    reach: int
    limit: int
    since: float
    dismissed: Collection[Record]
    exact: bool
    window: Window

    def admits(self, digest: int, last_seen: float) -> bool:
        """Tell whether a record with these values is compared."""
        return last_seen >= self.since and (not self.exact or digest == self.record.digest)

    def seen(self, match: Record) -> Record:
        """Return a match as it is now: seen once more, if it has the same request."""
        return match.seen(self.record.last_seen) if match.request == self.record.request else match

    def unlikeness(self, request: str, sketch: bytes) -> int:
        """Return how unlike the page another one is, by its request and the key of its sketch.

        0 for the same request, 1 for the same key, 2 for the same name, 3 for none of these.
        """
        if request == self.record.request:
            return 0
        own = self.record.sketch
        if sketch[:KEY_BYTES] == own[:KEY_BYTES]:
            return 1
        return 2 if sketch[:NAME_BYTES] == own[:NAME_BYTES] else 3


class Answer(NamedTuple):
    """What `check_and_add` did.

    Not added: `match` is the best one within the radius. Added: `match` is the nearest page beyond
    the radius that the lookup found within `near`, or None.
    """

    added: bool
    match: Match | None


ADDED = Answer(True, None)
"""The most frequent one: there is nothing like the page."""


class Store(ABC):
    """Remembers the kept pages of each scope; decides nothing. Safe to call from several threads.

    Every method raises `StoreError` when the store can't do it: `StoreUnavailable` where it may
    work again later, with this very object, without a new `begin`.
    """

    def __init__(self, name: str) -> None:
        """Take the name of the store that messages show: it has no password."""
        self._name = name
        self._lock = RLock()
        self._live: set[str] = set()  # the runs that were begun here and have not ended
        self._lost: set[str] = set()  # of these, those that had to be begun anew
        self._closed = False

    def begin(self, run: str) -> None:
        """Open a run: from now on it is live. Records of runs found dead are removed.

        `run` is any string that no run had before, unless that one is dead and left nothing
        durable; else `StoreError`.
        """
        with self._lock:
            self._require_open()
            if run in self._live or not self._begin(run):
                raise self._error(f"run {run!r} was begun before; take a new name")
            self._live.add(run)

    def renew(self, run: str) -> None:
        """Tell that the run still lives, where the store can't see that by itself."""
        with self._lock:
            self._require_live(run)
            self._renew(run)

    def end(self, run: str) -> None:
        """Close a run normally: its records count for all later runs."""
        with self._lock:
            self._require_live(run)
            self._end(run)
            self._live.remove(run)

    def was_lost(self, run: str) -> bool:
        """Tell whether a run that was begun here had to be begun anew.

        The store was emptied, or took the run for dead: what it had kept does not count. That is
        found by `renew` and `end` at the latest. What the run keeps from then on counts.
        """
        return run in self._lost

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
        the radius that has the same request has its `last_seen` moved to that of `record`, never
        back, and is returned so. Adding evicts what falls out of the window, oldest first.

        The record's run must be live, and begun in this very store, else `StoreError`. Raises
        ValueError for a fingerprint or a radius out of range.
        """
        require_fingerprint(record.fingerprint)
        reach, limit = _extent(radius, near)
        since = window.since(record)
        lookup = Lookup(record, radius, reach, limit, since, dismissed, exact, window)
        if record.run not in self._live:
            self._require_live(record.run)
        return self._look_up(lookup)

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

        With `durable` they count for all later runs, whatever becomes of their own. So does what
        their runs have kept of the visits to their requests, even if the record itself is gone.
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
        """Keep what a scope repeats, in place of what was kept before.

        Of a scope without pages, a store in memory keeps nothing.
        """

    @abstractmethod
    def site_memories(self) -> Iterator[tuple[str, bytes]]:
        """Yield each scope of which `site_memory` has something, and what it has; in any order."""

    @abstractmethod
    def url_rules(self, scope: str) -> bytes:
        """Return what was kept last of the rules about a scope's URLs; empty for nothing."""

    @abstractmethod
    def keep_url_rules(self, scope: str, rules: bytes) -> None:
        """Keep what is known of a scope's URLs, in place of what was kept before.

        Empty rules remove it. It does not go with the pages of the scope.
        """

    @abstractmethod
    def all_url_rules(self) -> Iterator[tuple[str, bytes]]:
        """Yield each scope of which `url_rules` has something, and what it has; in any order."""

    @abstractmethod
    def history(self, scope: str, request: str, run: str) -> bytes:
        """Return what counts for `run` of a page's visits; empty for nothing.

        That is the newest among what the run itself, runs that have ended, and durable pages kept;
        of equally new ones, the run's own. What other live runs keep counts once they have ended,
        and that of dead ones never.
        """

    def keep_history(self, history: PageHistory) -> None:
        """Keep what a run knows of a page's visits, in place of what it kept of it before.

        Of what ended runs kept of the page, the newest stays until this run has ended: if it dies,
        that counts. What was durable stays so, until what replaces it is durable too. Of about
        `MOST_HISTORIES` pages of a scope and more, those go that were visited longest ago.

        The run must be live, and begun in this very store, else `StoreError`.
        """
        if history.run not in self._live:
            self._require_live(history.run)
        self._keep_history(history)

    @abstractmethod
    def forget_history(self, scope: str, request: str, run: str | None = None) -> None:
        """Remove what a run kept of a page's visits, or what all runs did.

        What an older run kept counts again then. (`forget` removes a record, and no history.)
        """

    @abstractmethod
    def see(self, record: Record, at: float) -> None:
        """Move `last_seen` of the record with this identity to `at`, never back.

        Nothing is done if the record is gone.
        """

    @abstractmethod
    def histories(self, scope: str | None = None) -> Iterator[PageHistory]:
        """Yield what counts for a new run of each page of a scope, or of all; in any order."""

    @abstractmethod
    def site_notes(self, scope: str) -> bytes:
        """Return what was noted last of a scope; empty for nothing."""

    @abstractmethod
    def keep_site_notes(self, scope: str, notes: bytes) -> None:
        """Keep notes on a scope, in place of what was noted before. Empty notes remove it.

        They do not go with the pages of the scope.
        """

    @abstractmethod
    def all_site_notes(self) -> Iterator[tuple[str, bytes]]:
        """Yield each scope of which `site_notes` has something, and what it has; in any order."""

    @abstractmethod
    def text(self, scope: str, digest: int) -> bytes:
        """Return the text that is kept under the digest of a page; empty for none."""

    @abstractmethod
    def keep_text(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep a text; the oldest of the store go until all are `budget` bytes or less.

        `at` is a Unix time: when the text was seen last. It never moves back.
        """

    @abstractmethod
    def forget_text(self, scope: str, digest: int) -> None:
        """Remove the text that is kept under a digest, if there is one."""

    @abstractmethod
    def texts(self, scope: str | None = None) -> Iterator[KeptText]:
        """Yield which texts are kept of a scope, or of all; in any order."""

    @abstractmethod
    def texts_size(self) -> int:
        """Return how many bytes the texts have that are kept."""

    @abstractmethod
    def sweep(self) -> None:
        """Remove what is left of pages that are gone.

        That is what scopes without pages repeat, the names of these scopes, and the names of ended
        runs without pages. Names stay that histories need. While a run lives, a store may leave
        names for another time.
        """

    def close(self) -> None:
        """Let go of files and locks. A run that was not ended is dead from here on."""
        with self._lock:
            if self._closed:
                return
            try:
                self._close()
            finally:
                self._closed = True
                self._live.clear()

    @abstractmethod
    def _begin(self, run: str) -> bool:
        """Open a run that is not live here; False if its name is taken."""

    @abstractmethod
    def _renew(self, run: str) -> None:
        """Renew a run that is live here; begin it anew, and put it in `_lost`, if it is gone."""

    @abstractmethod
    def _end(self, run: str) -> None:
        """Close a run that is live here; if it is gone, begin it anew before, as for `_renew`."""

    @abstractmethod
    def _look_up(self, lookup: Lookup) -> Answer:
        """Check and add, for a run that is live here."""

    @abstractmethod
    def _keep_history(self, history: PageHistory) -> None:
        """Keep the history of a page, for a run that is live here."""

    @abstractmethod
    def _close(self) -> None:
        """Let go of what the store holds, once; `_live` are the runs that die with it."""

    def _require_open(self) -> None:
        if self._closed:
            raise self._error("it is closed")

    def _require_live(self, run: str) -> None:
        self._require_open()
        if run not in self._live:
            raise self._error(f"run {run!r} is not live here; begin it first")

    def _error(self, what: str) -> StoreError:
        return StoreError(f"{self._name}: {what}")
