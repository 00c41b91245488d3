"""The store: which pages were kept, what is like a page, and what is known beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import islice
from operator import attrgetter
from threading import RLock
from typing import TypeVar

from simhash_gate.fingerprints.hamming import require_distance, require_fingerprint
from simhash_gate.stores import base
from simhash_gate.stores.base import HISTORY, NEVER, Answer, Blob, Match, Record, StoreError, Window
from simhash_gate.stores.driver import DURABLE, GAVE, ROW_BYTES, SETTLED, Driver, News, Row
from simhash_gate.stores.histories import Histories
from simhash_gate.stores.mirror import Lookup, Mirror, Mirrors, Rank
from simhash_gate.stores.runs import Life, Runs

DEFAULT_WINDOW = Window()

MOST_HISTORIES = 100_000
"""Pages of a scope whose visits are remembered; those go first that were visited longest ago."""
_SELDOM = 1_000  # histories that come to a scope before it is looked at again

_LOADED, _AGED, _AT_ONCE = 4, 100, 1_000  # pages
_READ = "read"  # of what has its blob here, all is here
_EXPIRY_SLACK = 3600.0  # seconds
_T = TypeVar("_T")


class Store:
    """Remembers the kept pages of each scope; decides nothing. Safe to call from several threads.

    Every method raises `StoreError` when the store can't do it: `StoreUnavailable` where it may
    work again later, with this very object, without a new `begin`. What fails may have been done:
    an answer that got lost can't be asked for again.

    `lost` are the runs begun here that had to be begun anew: the store was emptied, or took them
    for dead. What they had kept does not count; what they keep from then on does.
    """

    def __init__(self, driver: Driver) -> None:
        self.name = driver.name
        self.driver = driver
        self.mirrors = Mirrors(driver.most_mirrored)
        self._lock = RLock()
        self._runs = Runs(driver, self._forget_all)
        self.lost = self._runs.lost
        self._histories = Histories(driver, self._runs.life)
        self._kept: Counter[str] = Counter()  # of what is bounded, since it was counted last
        self._closed = False

    def begin(self, run: str) -> None:
        """Open a run: from now on it is live. Records of runs found dead are removed.

        `run` is any string that no run had before, or that of one that was begun here: the store is
        told that it still lives, where it can't see that by itself. Raises `StoreError` for that of
        one that lives elsewhere, or has ended.
        """
        with self._asking():
            self._runs.bury()
            if run in self._runs.live:
                self._runs.renew(run)
            elif not self._runs.begin(run):
                raise self._error(f"run {run!r} was begun before; take a new name")

    def end(self, run: str) -> None:
        """Close a run normally: its records count for all later runs."""
        with self._asking(run):
            self._runs.end(run)

    def is_live(self, run: str) -> bool:
        """Tell whether a run has begun, here or elsewhere, and has neither ended nor died."""
        with self._asking():
            return self._runs.life(run) == "live"

    def check_and_add(
        self,
        record: Record,
        radius: int | None,
        dismissed: Collection[Record] = (),
        *,
        near: int = 0,
        exact: bool = False,
        unseen: bool = False,
        window: Window = DEFAULT_WINDOW,
    ) -> Answer:
        """Look for a page within `radius` bits in the record's scope; remember it if there is none.

        One atomic step, but for others: of two copies that come at once, they may see the one that
        does not stay for a moment. Only records of the same scope and pipeline version, of live and
        ended runs, inside the window and not among `dismissed` are compared; with `exact`, only
        those with the same digest; with `unseen`, only those that others have added since this
        store looked at the scope last. One that does not stand for this page (`stands_for`) is no
        match. The best match is one with the same request fingerprint, then one whose sketch begins
        with the same 8 bytes, then with the same 4, then the least distance, then the latest. It is
        exact for every radius from 0 to 64; with None nothing is looked at, and the record added.
        `near` is exact, too. A match within the radius that has
        the same request is seen when `record` is. Adding evicts what falls out of the window,
        oldest first.

        The record's run must be live, and begun in this very store, else `StoreError`. Raises
        ValueError for a fingerprint or a radius out of range.
        """
        require_fingerprint(record.fingerprint)
        bits = -1 if radius is None else require_distance(radius)
        limit = -1 if radius is None else max(bits, near)
        with self._asking(record.run):
            mirror = self._mirror(record.scope)
            since, after = window.since(record), mirror.state.last if unseen else 0
            lookup = Lookup(record, bits, limit, exact, since, window, dismissed, after)
            answer = self._answer(lookup, mirror)
            self._runs.keep_alive(record.run)  # it may have been another server that answered
            return answer

    def update(
        self,
        records: Collection[Record],
        *,
        settled: bool = False,
        durable: bool = False,
        gave: bool = False,
        seen: float = NEVER,
    ) -> None:
        """Mark the records with these identities; those that are gone are passed over.

        `settled` ones can't fail any more. `durable` ones count for all later runs, whatever
        becomes of their own; so does what their runs have kept of the visits to their requests,
        even if the record itself is gone. `gave` notes that an item came of them. `seen` moves
        `last_seen`, never back.
        """
        mark = SETTLED * settled | DURABLE * durable | GAVE * gave

        with self._asking():
            for scope in {record.scope for record in records}:
                own, mirror = [page for page in records if page.scope == scope], self._mirror(scope)
                if numbers := self._find(mirror, own):
                    self.driver.change(scope, numbers, mark, seen)
            for record in records if durable else ():
                self._histories.make_durable(record.scope, record.request, record.run)

    def forget(self, record: Record, *, adopted: bool = False) -> bool:
        """Remove the record with this identity; False if there is none.

        With `adopted`, and a run that nobody knows, it is one with the same request and
        fingerprint of a run that does not live here: an import gives records its own run.
        """

        with self._asking():
            mirror = self._mirror(record.scope)
            self._catch_up(mirror)
            numbers = mirror.find(record)
            if not numbers and adopted and self._runs.life(record.run) == "dead":
                numbers = mirror.find(record, but=self._runs.live)
            self._remove(mirror, numbers)
            return bool(numbers)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now; None if it is gone or counts no more.

        That of a run which has died counts no more, unless it is durable.
        """
        with self._asking(write=False):
            mirror = self._mirror(record.scope)
            numbers = self._find(mirror, [record])[-1:]
            rows = self.driver.load(mirror.state, numbers)[1] if numbers else [None]
            return self._counting(rows[0])

    def at_address(self, record: Record) -> list[Record]:
        """Return the pages in the record's scope that have its URL, whatever their requests."""
        with self._asking(write=False):
            mirror = self._mirror(record.scope)
            self._catch_up(mirror)
            rows = self.driver.load(mirror.state, mirror.at_address(record))[1]
            found = filter(None, map(self._counting, rows))
            return [page for page in found if page.url == record.url]

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield the remembered pages of a scope, oldest first; of all, in any order of scopes."""
        self._require_open()
        rows, life_of = self.driver.rows(scope), cache(self._runs.life)
        counting = (self._counting(row, life_of) for row in rows)
        yield from filter(None, self._in_parts(counting))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Group the calls that this thread makes in the block, where that makes them cheaper.

        It is for calls about records and blobs: runs begin and end outside.
        Nothing that they return may be told to anyone before the block has ended well. If it ends
        in a `StoreError`, the store may have done none of it: make the calls again, one by one.
        """
        with self._asking():
            yield

    def get(self, kind: str, scope: str, key: str = "", *, run: str = "") -> bytes:
        """Return what is kept under a kind, a scope and a key, as it counts for a run.

        Empty for nothing. Of the kind `HISTORY`, that is the newest among what the run itself, runs
        that have ended, and durable pages kept; of equally new ones, the run's own. What other live
        runs keep counts once they have ended, and that of dead ones never.
        """
        with self._asking(write=False):
            if kind == HISTORY:
                return self._histories.get(scope, key, run)
            return self.driver.blob(kind, scope, key)

    def put(self, blob: Blob, *, budget: int | None = None) -> None:
        """Keep a blob in place of what was kept under its key; empty data remove that.

        Of the kind `HISTORY`, each run has its own. Of what ended runs kept of a key, the newest
        stays until this run has ended: if it dies, that counts. What was durable stays so, until
        what replaces it is durable too. Empty data remove what the run kept, or, with the run "",
        what all did. About `MOST_HISTORIES` stay in a scope.

        With a `budget` in bytes, the oldest blobs of this kind go, of whatever scope, when they
        have more than that all together; each crawl may exceed it by a twentieth.

        The run of a history must be live, and begun in this very store, else `StoreError`.
        """
        run = blob.run if blob.kind == HISTORY and blob.data else None
        with self._asking(run):
            if blob.kind == HISTORY:
                self._histories.put(blob)
                if self._is_due(blob.scope, 1, _SELDOM):
                    self._bound(HISTORY, blob.scope, MOST_HISTORIES, lambda _: 1)
            else:
                self.driver.swap(blob, None)
                if budget is not None and self._is_due(blob.kind, len(blob.data), budget // 20):
                    self._bound(blob.kind, None, budget, attrgetter("size"))

    def blobs(self, kind: str, scope: str | None = None, *, data: bool = True) -> Iterator[Blob]:
        """Yield what counts for a new run of a kind, of a scope or of all; in any order.

        Without `data`, only their size is read.
        """
        self._require_open()
        found = self.driver.blobs(kind, scope, data=data or kind == HISTORY)
        if kind != HISTORY:
            return self._in_parts(found)
        return filter(None, self._in_parts(map(self._histories.counting, found)))

    def close(self) -> None:
        """Let go of files and locks. A run that was not ended is dead from here on."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._runs.close()
            self.driver.close()
            self._forget_all()

    @contextmanager
    def _asking(self, run: str | None = None, *, write: bool = True) -> Iterator[None]:
        """Have the driver alone for a block; with a `run`, for one that is live here."""
        with self._lock:
            self._require_open()
            if run is not None and run not in self._runs.live:
                raise self._error(f"run {run!r} is not live here; begin it first")
            try:
                with self.driver.transaction(write=write):
                    if run is not None:
                        self._runs.keep_alive(run)
                    yield
            except BaseException:
                self._forget_all()  # it may have been taken back
                raise

    def _mirror(self, scope: str) -> Mirror:
        return self.mirrors.of(scope)

    def _catch_up(self, mirror: Mirror) -> None:
        mirror.take(self.driver.news(mirror.state))

    def _find(self, mirror: Mirror, records: Sequence[Record]) -> list[int]:
        found = [mirror.find(record) for record in records]
        # All that runs of here have added is known, and that there may be more of others.
        if not all(found) or any(record.run not in self._runs.live for record in records):
            self._catch_up(mirror)
            found = [mirror.find(record) for record in records]
        return [number for numbers in found for number in numbers]

    def _in_parts(self, found: Iterator[_T]) -> Iterator[_T]:
        """Yield what is found, and let others ask after each thousand."""
        while True:
            with self._asking(write=False):
                some = [*islice(found, _AT_ONCE)]
            if not some:
                return
            yield from some

    def _answer(self, lookup: Lookup, mirror: Mirror) -> Answer:
        """Compare a page with those that are known, add it, and compare it with those before it.

        Others may have added these meanwhile, and may add more: of pages that are alike, the one
        with the lowest number stays.
        """
        record, window = lookup.record, lookup.window
        seconds = None if window.seconds is None else window.seconds + _EXPIRY_SLACK
        while True:
            number, match = self._best(lookup, mirror)
            if match is not None and lookup.has_found(match):
                if lookup.before:
                    self._remove(mirror, [lookup.before])
                kept, at = match.record, record.last_seen
                if kept.request == record.request and at > kept.last_seen:  # a later visit to it
                    self.driver.change(record.scope, [number], 0, at)
                    match = match._replace(record=replace(kept, last_seen=at))
                return Answer(False, match)
            if window.pages <= 0:
                self._catch_up(mirror)
                self._remove(mirror, mirror.numbers())
                return Answer(True, match)
            surplus = self._surplus(lookup, mirror)
            through = mirror.numbers(surplus - 1, surplus)[0] if surplus else 0
            if lookup.before:
                if through:
                    self.driver.trim(record.scope, through)
                    mirror.take(News(mirror.state, through + 1))
                return Answer(True, match)
            news = self.driver.append(mirror.state, record, through, seconds)
            mirror.take(news)
            if news.number:
                if len(news.heads) == ROW_BYTES:  # nobody else has added anything
                    return Answer(True, match)
                lookup = lookup._replace(before=news.number)

    def _best(self, lookup: Lookup, mirror: Mirror) -> tuple[int, Match | None]:
        while candidates := mirror.near(lookup) if lookup.radius >= 0 else ():
            news, number, match = self._first(candidates, lookup, mirror)
            if news is not None:
                mirror.take(news)
            if news is None or mirror.near(lookup) == candidates:
                return number, match
        return 0, None

    def _first(
        self, candidates: Sequence[tuple[Rank, int]], lookup: Lookup, mirror: Mirror
    ) -> tuple[News | None, int, Match | None]:
        """Return the best of the candidates that counts, and what is new in the scope.

        It is found once no candidate that was not read can have a lower rank.
        """
        news, best = None, None
        for start in range(0, len(candidates), _LOADED):
            if best is not None and best[0] <= candidates[start][0]:
                break
            numbers = [number for _, number in candidates[start : start + _LOADED]]
            news, rows = self.driver.load(mirror.state, numbers)
            for number, row in zip(numbers, rows, strict=True):
                record = self._counting(row)
                rank = record and lookup.rank(record, number)
                if record and rank and (best is None or rank < best[0]):
                    best = rank, number, Match(record, rank[1])
        return (news, *best[1:]) if best else (news, 0, None)

    def _surplus(self, lookup: Lookup, mirror: Mirror) -> int:
        surplus = max(0, len(mirror) + (not lookup.before) - lookup.window.pages)
        if lookup.window.seconds is None:
            return surplus
        while first := mirror.numbers(surplus, surplus + _AGED):
            if mirror.seen.get(first[0], NEVER) < lookup.since:
                rows = self.driver.load(mirror.state, first)[1]
                pairs = zip(first, rows, strict=True)
                mirror.seen = {number: row.seen for number, row in pairs if row}
            for number in first:
                if mirror.seen.get(number, NEVER) >= lookup.since:
                    return surplus
                surplus += 1
        return surplus

    def _remove(self, mirror: Mirror, numbers: Sequence[int]) -> None:
        if numbers:
            mirror.remove(numbers, self.driver.remove(mirror.state.scope, numbers))

    def _counting(
        self, row: Row | None, life_of: Callable[[str], Life] | None = None
    ) -> Record | None:
        """Return the record of a row as it is now; None if it is gone, or died with its run."""
        if row is None:
            return None
        (*fields, asker, carries, first_seen, _), sketch = base.split(row.body)
        run = fields[base.RUN_FIELD]
        life = life_of(run) if life_of else self._runs.life(run, row.life)
        if life == "dead" and not row.mark & DURABLE:
            return None
        settled = bool(row.mark & (SETTLED | DURABLE)) or life == "ended"
        marks = settled, asker, carries, bool(row.mark & GAVE)
        return Record(*[row.scope, *fields, first_seen, row.seen, sketch, *marks])

    def _is_due(self, name: str, more: int, most: int) -> bool:
        self._kept[name] += more
        if self._kept[name] < most:
            return False
        del self._kept[name]
        return True

    def _bound(
        self, kind: str, scope: str | None, most: int, weight: Callable[[Blob], int]
    ) -> None:
        """Let the oldest blobs go, where all of them weigh too much, and a twentieth more."""
        blobs = sorted(self.driver.blobs(kind, scope, data=False), key=attrgetter("at"))
        total = sum(map(weight, blobs))
        enough = most if total <= most else most - most // 20
        for blob in blobs:
            if total <= enough:
                return
            total -= weight(blob)
            self.driver.swap(replace(blob, data=b""), None)

    def _forget_all(self) -> None:
        self.mirrors.clear()
        self._histories.clear()

    def _require_open(self) -> None:
        if self._closed:
            raise self._error("it is closed")

    def _error(self, what: str) -> StoreError:
        return StoreError(f"{self.name}: {what}")


class ReadStore(Store):
    """Has what another store remembers, and tells it nothing of what is added here.

    The pages of a scope are read when it is first asked for, those that are settled: what other
    crawls do with it later is not seen.
    """

    def __init__(self, below: Store, driver: Driver) -> None:
        super().__init__(driver)
        self._below = below

    def is_live(self, run: str) -> bool:
        """Tell whether a run has begun, here or elsewhere, and has neither ended nor died."""
        return super().is_live(run) or self._below.is_live(run)

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield the pages of a scope, oldest first; of all, those that were not added here."""
        if scope is None:
            return (record for record in self._below.records() if record.settled)
        with self._asking():
            self._mirror(scope)
            return super().records(scope)

    def get(self, kind: str, scope: str, key: str = "", *, run: str = "") -> bytes:
        """Return what is kept here, or in the store below."""
        return super().get(kind, scope, key, run=run) or self._below.get(kind, scope, key)

    def close(self) -> None:
        """Let go of both stores."""
        super().close()
        self._below.close()

    def _mirror(self, scope: str) -> Mirror:
        mirror = super()._mirror(scope)
        if not self.driver.blob(_READ, scope, ""):
            for record in self._below.records(scope):
                if record.settled:
                    mirror.take(self.driver.append(mirror.state, record, 0, None))
            self.driver.change(scope, mirror.numbers(), DURABLE, NEVER)
            self.driver.swap(Blob(_READ, scope, "", b"all"), None)
        return mirror
