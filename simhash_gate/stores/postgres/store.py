"""Kept pages in a PostgreSQL database that crawlers of many machines share."""

from __future__ import annotations

import secrets
from datetime import timedelta
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.types.numeric import Int4, Int8

from simhash_gate.fingerprints.hamming import require_distance, require_fingerprint
from simhash_gate.stores.base import (
    ADDED,
    DEFAULT_WINDOW,
    Answer,
    Store,
    StoreError,
    StoreUnavailable,
    Window,
)
from simhash_gate.stores.postgres.connection import close, connect, failure, read_address
from simhash_gate.stores.postgres.rows import (
    CURRENT,
    LIVES,
    PAGES_AFTER,
    PAGES_OF_SCOPE_AFTER,
    SITE_MEMORY,
    VERSIONS,
    as_stored,
    from_stored,
    identity,
    listed,
    question,
    read_answer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from simhash_gate.stores.base import Record
    from simhash_gate.stores.postgres.connection import Address, PatientConnection, Prepared

_Said = TypeVar("_Said")
_REAPED_AT_ONCE = 1_000


class PostgresStore(Store):
    """Remembers kept pages in the PostgreSQL database that a `postgresql://` URL names.

    Each call is one statement, committed when it returns: one crawler at a time works on a scope. A
    run is dead when its lease runs out, or its store is closed before its end. What fails on the
    way to the server is not tried again: the next call connects anew.

    Unless the URL says `durable=true`, a crash of the server can lose what the last half second
    brought; what counts for later runs is on disk when `end` or `settle` returns.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self._address: Address = read_address(url)
        self._create = create
        self._lock = RLock()
        self._runs: dict[str, int] = {}
        self._owner = secrets.randbits(63)
        self._pipelines: dict[str, int] = {}
        self._closed = False
        self._connection: PatientConnection | None = connect(self._address, create=create)

    def begin(self, run: str) -> None:
        """Open a run; remove what dead runs left, for as long as a time-out allows."""
        with self._lock:
            if run in self._runs:
                raise self._taken(run)
            self._reap()
            self._announce(run)

    def renew(self, run: str) -> None:
        """Prolong the lease; remove what dead runs left."""
        with self._lock:
            renewed = "SELECT renew_run(%s, %s)"
            if not self._value(renewed, (Int8(self._number(run)), self._lease)):
                self._announce(run)
            self._reap()

    def end(self, run: str) -> None:
        """Close a run, on disk when this returns."""
        with self._lock:
            if not self._value("SELECT end_run(%s)", (Int8(self._number(run)),)):
                # The server lost it, and its pages: there is a run to close all the same.
                self._announce(run)
                self._value("SELECT end_run(%s)", (Int8(self._number(run)),))
            del self._runs[run]

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
        """Look and add in one statement; see `Store.check_and_add`."""
        require_fingerprint(record.fingerprint)
        if radius is not None:
            require_distance(radius)
        refused = [other for other in dismissed if other.scope == record.scope]
        with self._lock:
            for _ in range(2):
                run, pipeline = self._number(record.run), self._pipeline(record.pipeline)
                statement, asked = question(
                    record, run, pipeline, radius, refused, near=near, exact=exact, window=window
                )
                said = self._prepared_value(statement, asked)
                if said is None:
                    return ADDED
                answer = read_answer(record.scope, record.pipeline, said)
                if answer is not None:
                    return answer
                self._announce(record.run)
            raise StoreUnavailable(self._message(f"run {record.run!r} is lost once begun"))

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        with self._lock:
            return bool(self._value("SELECT forget(%s, %s, %s, %s)", identity(record)))

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark the records with these identities settled; if `durable`, on disk."""
        with self._lock:
            self._require_open()
            if records:
                columns = map(list, zip(*map(identity, records), strict=True))
                statement = "SELECT settle(%s::text[], %s::text[], %s::text[], %s::bigint[], %s)"
                self._value(statement, (*columns, durable))

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, None if it is gone or its run dead."""
        scope, run, request, fingerprint = identity(record)
        with self._lock:
            rows = self._rows(CURRENT, (scope, fingerprint, fingerprint, request, run))
        return listed(rows[0]) if rows else None

    def is_live(self, run: str) -> bool:
        """Tell whether a run has neither ended nor let its lease run out."""
        with self._lock:
            return bool(self._value(LIVES, (as_stored(run),)))

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered, oldest first; read in parts, so that others can go on."""
        asked: dict[str, Any] = {"after": Int8(0)}
        if scope is not None:
            with self._lock:
                find = "SELECT id FROM scope WHERE name = %s"
                found = self._rows(find, (as_stored(scope),))
            if not found:
                return
            asked["scope"] = Int4(found[0][0])
        while True:
            with self._lock:
                statement = PAGES_AFTER if scope is None else PAGES_OF_SCOPE_AFTER
                rows = self._rows(statement, asked, prepare=False)
            if not rows:
                return
            yield from map(listed, rows)
            asked["after"] = Int8(rows[-1][0])

    def versions(self) -> Mapping[str, int]:
        """Count on the server; those of the dead are counted too."""
        with self._lock:
            return {from_stored(name): count for name, count in self._rows(VERSIONS, ())}

    def site_memory(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        with self._lock:
            rows = self._rows(SITE_MEMORY, (as_stored(scope),))
        return bytes(rows[0][0]) if rows else b""

    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Write it in place of what was there; nothing for a scope without pages."""
        with self._lock:
            self._value("SELECT keep_site_memory(%s, %s)", (as_stored(scope), memory))

    def close(self) -> None:
        """Let go of the connection; runs that were not ended are dead now."""
        with self._lock:
            self._closed = True
            if self._connection is None:
                return
            try:
                if self._runs:
                    self._connection.execute(
                        "UPDATE run SET state = 'dead', expires = clock_timestamp()"
                        " WHERE id = ANY (%s) AND state = 'live'",
                        (list(map(Int8, self._runs.values())),),
                    )
            except psycopg.Error:
                pass  # their leases run out
            finally:
                self._runs.clear()
                close(self._connection)
                self._connection = None

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self._address.lease)

    def _announce(self, run: str) -> None:
        """Open a run on the server, or find it open there."""
        asked = (as_stored(run), Int8(self._owner), self._lease)
        number = self._value("SELECT begin_run(%s, %s, %s)", asked)
        if number is None:
            raise self._taken(run)
        self._runs[run] = number

    def _reap(self) -> None:
        deadline = monotonic() + self._address.timeout
        while self._value("SELECT reap(%s)", (Int4(_REAPED_AT_ONCE),)) and monotonic() < deadline:
            pass

    def _pipeline(self, name: str) -> int:
        number = self._pipelines.get(name)
        if number is None or self._connection is None:  # the next server may number them anew
            number = int(self._value("SELECT pipeline_id(%s)", (as_stored(name),)))
            self._pipelines[name] = number
        return number

    def _value(self, statement: str, asked: Sequence[Any]) -> Any:
        return self._rows(statement, asked)[0][0]

    def _rows(
        self, statement: str, asked: Sequence[Any] | dict[str, Any], *, prepare: bool | None = None
    ) -> list[tuple[Any, ...]]:
        return self._try(lambda connection: connection.ask(statement, asked, prepare=prepare))

    def _prepared_value(self, statement: Prepared, asked: Sequence[bytes | None]) -> bytes | None:
        return self._try(lambda connection: connection.prepared_value(statement, asked))

    def _try(self, call: Callable[[PatientConnection], _Said]) -> _Said:
        self._require_open()
        if self._connection is None:
            self._pipelines.clear()
            self._connection = connect(self._address, create=self._create)
        try:
            return call(self._connection)
        except psycopg.Error as error:
            if self._connection.broken or self._connection.closed:
                close(self._connection)
                self._connection = None
            raise failure(self._address, error) from error
        except BaseException:  # interrupted: who knows in which state
            close(self._connection)
            self._connection = None
            raise

    def _number(self, run: str) -> int:
        self._require_open()
        number = self._runs.get(run)
        if number is None:
            raise StoreError(self._message(f"run {run!r} is not live here; begin it first"))
        return number

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(self._message("it is closed"))

    def _taken(self, run: str) -> StoreError:
        return StoreError(self._message(f"run {run!r} was begun before; take a new name"))

    def _message(self, what: str) -> str:
        return f"PostgreSQL store {self._address.shown}: {what}"
