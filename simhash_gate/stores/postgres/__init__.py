"""Kept pages in a PostgreSQL database: each call is one statement, committed when it returns."""

from __future__ import annotations

import secrets
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.numeric import Int4, Int8

from simhash_gate.stores.base import (
    ADDED,
    MOST_HISTORIES,
    Answer,
    Lookup,
    Match,
    Store,
    StoreUnavailable,
)
from simhash_gate.stores.postgres.connection import close, connect, failure, read_address
from simhash_gate.stores.postgres.rows import (
    ALL_SITE_NOTES,
    ALL_URL_RULES,
    CHECK_AND_ADD,
    CURRENT,
    HISTORIES_AFTER,
    HISTORIES_OF_SCOPE_AFTER,
    HISTORY,
    KEEP_HISTORY,
    KEEP_TEXT,
    LET_DIE,
    LIVES,
    PAGES_AFTER,
    PAGES_OF_SCOPE_AFTER,
    SITE_MEMORIES,
    SITE_MEMORY,
    SITE_NOTES,
    TEXT,
    TEXTS_AFTER,
    URL_RULES,
    VERSIONS,
    as_stored,
    from_stored,
    identity,
    question,
    to_history,
    to_kept_text,
    to_record,
)
from simhash_gate.stores.values import signed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from simhash_gate.stores.base import KeptText, PageHistory, Record

_REAPED_AT_ONCE = 1_000
_SWEPT_AT_ONCE = 100  # scopes, each of which takes a lock
# A scope is looked at whenever a history gets such a number: it has a few pages too many at most.
_SELDOM = 1_000


class PostgresStore(Store):
    """Remembers kept pages in the PostgreSQL database that a `postgresql://` URL names.

    One crawler at a time works on a scope. A
    run is dead when its lease runs out, or its store is closed before its end. What fails on the
    way to the server is not tried again: the next call connects anew.

    Unless the URL says `durable=true`, a crash of the server can lose what the last half second
    brought; what counts for later runs is on disk when `end` or `settle` returns.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self._address = read_address(url)
        super().__init__(self._address.name)
        self._create = create
        self._lease = timedelta(seconds=self._address.lease)
        self._owner = secrets.randbits(63)
        self._numbers: dict[str, int] = {}  # of the runs that were begun here
        self._pipelines: dict[str, int] = {}
        # One for all calls: to make one for each takes a quarter of the time of a call.
        self._cursor: psycopg.Cursor[Any] | None = self._connected()

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        return bool(self._value("SELECT forget(%s, %s, %s, %s)", identity(record)))

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark the records with these identities settled; if `durable`, on disk."""
        self._require_open()
        if records:
            columns = map(list, zip(*map(identity, records), strict=True))
            statement = "SELECT settle(%s::text[], %s::text[], %s::text[], %s::bigint[], %s)"
            self._value(statement, (*columns, durable))

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, None if it is gone or its run dead."""
        scope, run, request, fingerprint = identity(record)
        rows = self._rows(CURRENT, (scope, fingerprint, fingerprint, request, run))
        return _listed(rows[0]) if rows else None

    def is_live(self, run: str) -> bool:
        """Tell whether a run has neither ended nor let its lease run out."""
        return bool(self._value(LIVES, (as_stored(run),)))

    def see(self, record: Record, at: float) -> None:
        """Move `last_seen` of the record, if it is there."""
        self._value("SELECT see(%s, %s, %s, %s, %s)", (*identity(record), float(at)))

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered, oldest first; read in parts, so that others can go on."""
        return map(_listed, self._parts(scope, PAGES_AFTER, PAGES_OF_SCOPE_AFTER))

    def versions(self) -> Mapping[str, int]:
        """Count on the server; those of the dead are counted too."""
        return {from_stored(name): count for name, count in self._rows(VERSIONS)}

    def site_memory(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        rows = self._rows(SITE_MEMORY, (as_stored(scope),))
        return bytes(rows[0][0]) if rows else b""

    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Write it in place of what was there."""
        self._value("SELECT keep_site_memory(%s, %s)", (as_stored(scope), memory))

    def site_memories(self) -> Iterator[tuple[str, bytes]]:
        """Yield them, read in parts."""
        after = 0
        while rows := self._rows(SITE_MEMORIES, (Int4(after),)):
            yield from ((from_stored(name), bytes(memory)) for _, name, memory in rows)
            after = rows[-1][0]

    def url_rules(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        rows = self._rows(URL_RULES, (as_stored(scope),))
        return bytes(rows[0][0]) if rows else b""

    def keep_url_rules(self, scope: str, rules: bytes) -> None:
        """Write it in place of what was there."""
        self._value("SELECT keep_url_rules(%s, %s)", (as_stored(scope), rules))

    def all_url_rules(self) -> Iterator[tuple[str, bytes]]:
        """Yield them as they were at the time of the call."""
        rows = self._rows(ALL_URL_RULES)
        return iter([(from_stored(scope), bytes(rules)) for scope, rules in rows])

    def site_notes(self, scope: str) -> bytes:
        """Return what was noted last."""
        rows = self._rows(SITE_NOTES, (as_stored(scope),))
        return bytes(rows[0][0]) if rows else b""

    def keep_site_notes(self, scope: str, notes: bytes) -> None:
        """Write them in place of what was there."""
        self._value("SELECT keep_site_notes(%s, %s)", (as_stored(scope), notes))

    def all_site_notes(self) -> Iterator[tuple[str, bytes]]:
        """Yield them as they were at the time of the call."""
        rows = self._rows(ALL_SITE_NOTES)
        return iter([(from_stored(scope), bytes(notes)) for scope, notes in rows])

    def history(self, scope: str, request: str, run: str) -> bytes:
        """Return what counts for the run."""
        return bytes(
            self._value(HISTORY, (as_stored(scope), as_stored(request), as_stored(run))) or b""
        )

    def forget_history(self, scope: str, request: str, run: str | None = None) -> None:
        """Remove it."""
        of_run = None if run is None else as_stored(run)
        asked = (as_stored(scope), as_stored(request), of_run)
        self._value("SELECT forget_history(%s, %s, %s)", asked)

    def histories(self, scope: str | None = None) -> Iterator[PageHistory]:
        """Yield them, read in parts, so that others can go on."""
        return map(to_history, self._parts(scope, HISTORIES_AFTER, HISTORIES_OF_SCOPE_AFTER))

    def text(self, scope: str, digest: int) -> bytes:
        """Return it."""
        rows = self._rows(TEXT, (Int8(signed(digest)), as_stored(scope)))
        return bytes(rows[0][0]) if rows else b""

    def keep_text(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep it, and let the oldest go."""
        asked = (as_stored(scope), Int8(signed(digest)), data, float(at), Int8(budget))
        self._value(KEEP_TEXT, asked)

    def forget_text(self, scope: str, digest: int) -> None:
        """Remove it."""
        asked = (as_stored(scope), Int8(signed(digest)))
        self._value("SELECT forget_text(%s, %s)", asked)

    def texts(self, scope: str | None = None) -> Iterator[KeptText]:
        """Yield which there are, read in parts, so that others can go on."""
        named = None if scope is None else as_stored(scope)
        asked: dict[str, Any] = {"after": Int8(0), "scope": named}
        while rows := self._rows(TEXTS_AFTER, asked):
            yield from map(to_kept_text, rows)
            asked["after"] = Int8(rows[-1][0])

    def texts_size(self) -> int:
        """Return how many bytes they have."""
        return int(self._value("SELECT bytes FROM texts_size", ()))

    def sweep(self) -> None:
        """Remove them on the server, some at a time."""
        while self._value("SELECT sweep(%s)", (Int4(_SWEPT_AT_ONCE),)):
            pass

    def _begin(self, run: str) -> bool:
        """Open a run; remove what dead runs left, for as long as a time-out allows."""
        self._reap()
        return self._announce(run)

    def _renew(self, run: str) -> None:
        """Prolong the lease; remove what dead runs left."""
        if not self._value("SELECT renew_run(%s, %s)", (Int8(self._numbers[run]), self._lease)):
            self._announce_again(run)
        self._reap()

    def _end(self, run: str) -> None:
        """Close a run, on disk when this returns."""
        if not self._value("SELECT end_run(%s)", (Int8(self._numbers[run]),)):
            # The server lost it, and its pages: there is a run to close all the same.
            self._announce_again(run)
            self._value("SELECT end_run(%s)", (Int8(self._numbers[run]),))

    def _look_up(self, lookup: Lookup) -> Answer:
        """Look and add in one statement."""
        record = lookup.record
        with self._lock:
            for _ in range(2):
                asked = question(lookup, self._numbers[record.run], self._pipeline(record.pipeline))
                said = self._value(CHECK_AND_ADD, asked, prepare=True)
                if said is None:
                    return ADDED
                distance, added, *row = said
                if distance is not None:
                    match = to_record(record.scope, record.pipeline, row)
                    return Answer(added, Match(match, distance))
                self._announce_again(record.run)
        raise StoreUnavailable(f"{self._name}: run {record.run!r} is lost once begun")

    def _keep_history(self, history: PageHistory) -> None:
        """Write it in one statement."""
        texts = map(as_stored, (history.scope, history.request, history.url))
        asked = (*texts, float(history.seen), history.history, Int8(MOST_HISTORIES), Int8(_SELDOM))
        with self._lock:
            for _ in range(2):
                if self._value(KEEP_HISTORY, (Int8(self._numbers[history.run]), *asked)):
                    return
                self._announce_again(history.run)
        raise StoreUnavailable(f"{self._name}: run {history.run!r} is lost once begun")

    def _close(self) -> None:
        """Let go of the connection; runs that were not ended are dead now."""
        if self._cursor is None:
            return
        try:
            if self._live:
                numbers = [Int8(self._numbers[run]) for run in self._live]
                self._cursor.execute(LET_DIE, (numbers,))
        except psycopg.Error:
            pass  # their leases run out
        finally:
            self._drop()

    def _announce(self, run: str) -> bool:
        """Open a run on the server, or find it open there; False if its name is taken."""
        asked = (as_stored(run), Int8(self._owner), self._lease)
        number = self._value("SELECT begin_run(%s, %s, %s)", asked)
        if number is not None:
            self._numbers[run] = number
        return number is not None

    def _announce_again(self, run: str) -> None:
        self._lost.add(run)
        self._pipelines.clear()
        if not self._announce(run):
            raise self._error(f"run {run!r} was begun before; take a new name")

    def _reap(self) -> None:
        deadline = monotonic() + self._address.timeout
        while self._value("SELECT reap(%s)", (Int4(_REAPED_AT_ONCE),)) and monotonic() < deadline:
            pass

    def _pipeline(self, name: str) -> int:
        number = self._pipelines.get(name)
        if number is None or self._cursor is None:  # the next server may number them anew
            number = int(self._value("SELECT pipeline_id(%s)", (as_stored(name),)))
            self._pipelines[name] = number
        return number

    def _parts(self, scope: str | None, all_after: str, of_scope_after: str) -> Iterator[Any]:
        """Yield the rows of a statement that gives some of them, those after an id."""
        statement = all_after
        asked: dict[str, Int4 | Int8] = {"after": Int8(0)}
        if scope is not None:
            found = self._rows("SELECT id FROM scope WHERE name = %s", (as_stored(scope),))
            if not found:
                return
            statement, asked["scope"] = of_scope_after, Int4(found[0][0])
        while rows := self._rows(statement, asked, prepare=False):
            yield from rows
            asked["after"] = Int8(rows[-1][0])

    def _value(self, statement: str, asked: Sequence[Any], *, prepare: bool | None = None) -> Any:
        return self._rows(statement, asked, prepare=prepare)[0][0]

    def _rows(
        self,
        statement: str,
        asked: Sequence[Any] | dict[str, Any] = (),
        *,
        prepare: bool | None = None,
    ) -> list[tuple[Any, ...]]:
        """Ask the server. Raises StoreError for whatever goes wrong."""
        with self._lock:
            self._require_open()
            if self._cursor is None:
                self._pipelines.clear()
                self._cursor = self._connected()
            try:
                return self._cursor.execute(statement, asked, prepare=prepare).fetchall()
            except psycopg.Error as error:
                if self._cursor.connection.closed:
                    self._drop()
                raise failure(self._address, error) from error
            except BaseException:  # interrupted: who knows in which state
                self._drop()
                raise

    def _connected(self) -> psycopg.Cursor[Any]:
        return connect(self._address, create=self._create).cursor(binary=True)

    def _drop(self) -> None:
        if self._cursor is not None:
            close(self._cursor.connection)
            self._cursor = None


def _listed(row: Sequence[Any]) -> Record:
    """Return the record of a row of PAGES_AFTER, PAGES_OF_SCOPE_AFTER or CURRENT."""
    _, scope, pipeline, *rest = row
    return to_record(from_stored(scope), from_stored(pipeline), rest)
