"""The store: it keeps pages, finds those that match a new one, and keeps blobs beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from operator import attrgetter
from threading import RLock
from typing import TypeVar

from simhash_gate.common.wording import require
from simhash_gate.fingerprints.hamming import require_distance, require_fingerprint
from simhash_gate.stores import base
from simhash_gate.stores.base import HISTORY, NEVER, Answer, Blob, Match, Record, StoreError, Window
from simhash_gate.stores.driver import DURABLE, ROW_BYTES, SETTLED, Driver, News, Row
from simhash_gate.stores.histories import Histories
from simhash_gate.stores.mirror import Lookup, Mirror, Mirrors, Rank
from simhash_gate.stores.runs import Life, Runs

DEFAULT_WINDOW = Window()

MOST_HISTORIES = 100_000
"""Pages of a scope whose visits are remembered. Those with the oldest visits go first."""
_SELDOM = 1_000  # histories that are added to a scope before they are counted again

_LOADED, _AGED, _AT_ONCE = 4, 100, 1_000  # pages that are read at once
_READ = "read"  # the kind of blobs for scopes that were copied from the store below
_EXPIRY_SLACK = 3600.0  # seconds
_T = TypeVar("_T")


class Store:
    """Remembers the kept pages of each scope. It decides nothing. Several threads may call it.

    Every method raises `StoreError` if it fails, and `StoreUnavailable` if the same object may work
    again later, without a new `begin`. A call that failed may have been carried out.

    `lost` are the runs of this store that had to be begun anew, because the store was emptied or
    took them for dead. Their pages from before do not count; their pages from then on do.
    """

    def __init__(self, driver: Driver) -> None:
        self.name = driver.name
        self.driver = driver
        self.mirrors = Mirrors(driver.most_mirrored)
        self._lock = RLock()
        self._runs = Runs(driver, self._forget_all)
        self.lost = self._runs.lost
        self._histories = Histories(driver, self._runs.life)
        self._kept: Counter[str] = Counter()  # by what is bounded: added since the last count
        self._closed = False

    def begin(self, run: str) -> None:
        """Begin a run: from now on it is live. The records of dead runs are removed.

        `run` is any string that no run had before. For a run that was begun here, its lease is
        renewed. Raises `StoreError` if the run lives elsewhere, or has ended.
        """
        require(run, str, "the name of a run")
        with self._asking():
            self._runs.bury()
            if run in self._runs.live:
                self._runs.renew(run)
            elif not self._runs.begin(run):
                raise self._error(f"run {run!r} was begun before; take a new name")

    def end(self, run: str) -> None:
        """End a run normally. Its records count for all later runs."""
        with self._asking(require(run, str, "the name of a run")):
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
        """Return the best match within `radius` bits in the record's scope, or add the record.

        This is one atomic step. (For a moment, other processes can see a copy that does not stay.)
        A record is compared if it has the same scope and pipeline version, is in the window, not
        among `dismissed`, and its run is live or has ended. With `exact`, it must have the same
        digest. With `unseen`, another process must have added it since this store last looked. A
        record that does not stand for this page (`stands_for`) is not a match.

        The best match has the same key; else the sketch begins with the same 8
        bytes; else with the same 4; then the least distance decides, then the latest. It is exact
        for every radius from 0 to 64, and so is `near`. With the radius None, the record is just
        added. If the match has the same key, its `last_seen` becomes that of `record`. Adding
        evicts the records that fall out of the window.

        Raises StoreError unless the record's run is live and was begun in this very store, and
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
            self._runs.keep_alive(record.run)  # the answer may have come from another server
            return answer

    def update(
        self,
        records: Collection[Record],
        *,
        settled: bool = False,
        durable: bool = False,
        gave: int | None = None,
        seen: float = NEVER,
    ) -> None:
        """Mark the records with these identities. Records that are gone are passed over.

        `settled` records can't fail any more. `durable` ones count for all later runs, even if
        their own run dies; so do the histories of their keys, even if the record itself is
        gone. `gave` replaces theirs, unless it is None. `seen` moves `last_seen`, never back.
        """
        mark = SETTLED * settled | DURABLE * durable
        with self._asking():
            for scope in {record.scope for record in records}:
                mirror = self._mirror(scope)
                if numbers := self._find(mirror, [it for it in records if it.scope == scope]):
                    self.driver.change(scope, numbers, mark, seen, gave)
            for record in records if durable else ():
                self._histories.make_durable(record.scope, record.key, record.run)

    def forget(self, record: Record, *, adopted: bool = False) -> bool:
        """Remove the record with this identity. Return False if there is none.

        With `adopted`, if the record's run is unknown, remove one with the same key and
        fingerprint from a run that does not live here: an import gives records its own run.
        """
        require(record, Record, "a record, as records() returns it")
        with self._asking():
            mirror = self._mirror(record.scope)
            self._catch_up(mirror)
            numbers = mirror.find(record)
            if not numbers and adopted and self._runs.life(record.run) == "dead":
                numbers = mirror.find(record, but=self._runs.live)
            self._remove(mirror, numbers)
            return bool(numbers)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None if it is gone.

        A record of a dead run is gone, unless it is durable.
        """
        with self._asking(write=False):
            mirror = self._mirror(record.scope)
            numbers = self._find(mirror, [record])[-1:]
            rows = self.driver.load(mirror.state, numbers)[1] if numbers else [None]
            return self._counting(rows[0])

    def at_address(self, scope: str, url: str) -> list[Record]:
        """Return the pages of a scope that have a URL, whatever their keys."""
        with self._asking(write=False):
            mirror = self._mirror(scope)
            self._catch_up(mirror)
            rows = self.driver.load(mirror.state, mirror.at_address(url))[1]
            pages = filter(None, map(self._counting, rows))
            return [page for page in pages if page.url == url]

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield the remembered pages of a scope, oldest first, or of all scopes in any order."""
        self._require_open()
        rows, life_of = self.driver.rows(scope), cache(self._runs.life)
        counting = (self._counting(row, life_of) for row in rows)
        yield from filter(None, self._in_parts(counting))

    def batch(self) -> AbstractContextManager[None]:
        """Group the calls of this thread in a block, where that makes them cheaper.

        Runs must begin and end outside. Do not act on any result before the block has ended well.
        If it ends in a `StoreError`, the store may have done nothing: repeat the calls one by one.
        """
        return self._asking()

    def get(self, kind: str, scope: str, key: str = "", *, run: str = "") -> bytes:
        """Return the data of a blob that count for a run, empty if there are none.

        For the kind `HISTORY`, these are what was put last, whatever its time, of the data of the
        run itself, of ended runs and of durable pages. Data of other live runs count once those
        have ended, data of dead runs never.
        """
        with self._asking(write=False):
            if kind == HISTORY:
                return self._histories.get(scope, key, run)
            return self.driver.blob(kind, scope, key)

    def put(self, blob: Blob, *, budget: int | None = None) -> None:
        """Keep a blob in place of the one under its key. Empty data remove it.

        For the kind `HISTORY`, each run has its own blob. The last one of ended runs stays until
        this run has ended: it counts if this run dies. A durable one stays until its successor is
        durable, too. Empty data remove the blob of the run or, with the run "", those of all runs.
        About `MOST_HISTORIES` stay in a scope.

        With a `budget` in bytes, the oldest blobs of this kind in all scopes go when all together
        have more. Each crawl may exceed it by a twentieth.

        Raises StoreError unless the run of a history is live and was begun in this very store.
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
        """Yield the blobs of a kind that count for a new run, in a scope or all, in any order.

        Without `data`, only their size is read.
        """
        self._require_open()
        blobs = self.driver.blobs(kind, scope, data=data or kind == HISTORY)
        if kind != HISTORY:
            return self._in_parts(blobs)
        return filter(None, self._in_parts(map(self._histories.counting, blobs)))

    def close(self) -> None:
        """Release files and locks. A run that was not ended is dead from now on."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._runs.close()
            self.driver.close()
            self._forget_all()

    @contextmanager
    def _asking(self, run: str | None = None, *, write: bool = True) -> Iterator[None]:
        """Use the driver alone in a block. With a `run`, require that it is live, and renew it."""
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
                self._forget_all()  # the driver may have rolled back what mirrors know
                raise

    def _mirror(self, scope: str) -> Mirror:
        return self.mirrors.of(scope)

    def _catch_up(self, mirror: Mirror) -> None:
        mirror.take(self.driver.news(mirror.state))

    def _find(self, mirror: Mirror, records: Sequence[Record]) -> list[int]:
        numbers = [mirror.find(record) for record in records]
        # The mirror has all pages of this store's runs, and may lack pages of other runs.
        if not all(numbers) or any(record.run not in self._runs.live for record in records):
            self._catch_up(mirror)
            numbers = [mirror.find(record) for record in records]
        return [*chain.from_iterable(numbers)]

    def _in_parts(self, values: Iterator[_T]) -> Iterator[_T]:
        """Yield values, and let other threads use the driver after each thousand."""
        while True:
            with self._asking(write=False):
                part = [*islice(values, _AT_ONCE)]
            if not part:
                return
            yield from part

    def _answer(self, lookup: Lookup, mirror: Mirror) -> Answer:
        """Compare a page with the known ones, add it, and compare it with the new ones before it.

        Other processes may have added those meanwhile. Among copies, the lowest number stays.
        """
        record, window = lookup.record, lookup.window
        seconds = None if window.seconds is None else window.seconds + _EXPIRY_SLACK
        while True:
            number, match = self._best(lookup, mirror)
            if match is not None and lookup.has_found(match):
                if lookup.before:
                    self._remove(mirror, [lookup.before])
                kept, seen = match.record, record.last_seen
                if kept.key == record.key and seen > kept.last_seen:  # it is a later visit
                    self.driver.change(record.scope, [number], 0, seen)
                    match = match._replace(record=replace(kept, last_seen=seen))
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
        """Return the news of the scope (or None), and the number and match of the best candidate.

        Candidates come in the order of their lowest possible rank. Reading ends when none of the
        others can have a lower rank than the best one so far.
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
        """Return the record of a row, None if the row is gone or its run died."""
        if row is None:
            return None
        (*fields, asker, carries, first_seen, _), sketch = base.split(row.body)
        run = fields[base.RUN_FIELD]
        life = life_of(run) if life_of else self._runs.life(run, row.life)
        if life == "dead" and not row.mark & DURABLE:
            return None
        settled = bool(row.mark & (SETTLED | DURABLE)) or life == "ended"
        marks = settled, asker, carries, row.gave
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
        """If all blobs weigh more than `most`, remove the oldest until they weigh 5 % less."""
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
    """Shows the pages of another store, and keeps new pages apart from it.

    The settled pages of a scope are copied when it is first used, and do not change later.
    """

    def __init__(self, below: Store, driver: Driver) -> None:
        super().__init__(driver)
        self._below = below

    def is_live(self, run: str) -> bool:
        """Tell whether a run has begun, here or elsewhere, and has neither ended nor died."""
        return super().is_live(run) or self._below.is_live(run)

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield the pages of a scope, oldest first. For all scopes, leave out pages added here."""
        if scope is None:
            return (record for record in self._below.records() if record.settled)
        with self._asking():
            self._mirror(scope)
            return super().records(scope)

    def get(self, kind: str, scope: str, key: str = "", *, run: str = "") -> bytes:
        """Return the data of a blob of this store or, if it has none, of the store below."""
        return super().get(kind, scope, key, run=run) or self._below.get(kind, scope, key)

    def close(self) -> None:
        """Close both stores."""
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
