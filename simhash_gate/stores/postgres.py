"""PostgreSQL: whatever is done to a scope is one statement, committed when it returns."""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.types.numeric import Int4, Int8

from simhash_gate.common.encoded import signed, unsigned
from simhash_gate.stores.base import (
    Blob,
    Record,
    StoreError,
    StoreMissing,
    StoreUnavailable,
    address_of,
    hash64,
    head_of,
)
from simhash_gate.stores.driver import (
    DEAD,
    DURABLE,
    SETTLED,
    Driver,
    News,
    Row,
    Run,
    State,
    new_epoch,
)
from simhash_gate.stores.urls import Server, read_server, refusal, without_password

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from simhash_gate.stores.driver import Mark

# A noncharacter, which no text of the web should have; it escapes itself too.
_ESCAPE = "\U0010fffe"
_UNSTORABLE = re.compile(f"[\0\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{6}})")
_AT_ONCE = 1_000  # rows

_KNOWN = "name = %(scope)s AND last = %(last)s AND epoch = %(epoch)s"
_NEWS = """
SELECT last, first, epoch, (
    SELECT string_agg(int8send(page.id) || head, ''::bytea ORDER BY page.id) FROM page
    WHERE page.scope = here.id
        AND page.id > CASE WHEN here.epoch = %(epoch)s THEN %(last)s ELSE here.first - 1 END
) FROM scope AS here WHERE name = %(scope)s
"""
_APPEND = f"""
WITH old AS (
    SELECT id, first FROM scope WHERE {_KNOWN} FOR UPDATE
), here AS (
    UPDATE scope SET last = nextval('number'), first = greatest(scope.first, %(through)s + 1)
    FROM old WHERE scope.id = old.id
    RETURNING scope.id, scope.last, old.first
), added AS (
    INSERT INTO page
    SELECT here.last, here.id, %(run)s, %(mark)s, %(words)s, %(fingerprint)s, %(digest)s,
        %(first_seen)s, %(last_seen)s, %(head)s, %(url)s, %(request)s, %(title)s, %(pipeline)s,
        %(run_name)s, %(sketch)s
    FROM here
), gone AS (
    DELETE FROM page USING here
    WHERE page.scope = here.id AND page.id BETWEEN here.first AND %(through)s
)
SELECT last FROM here
"""
_COLUMNS = """
page.mark, page.last_seen, words, fingerprint, digest, first_seen, url, request, title, pipeline,
run_name, sketch
"""
_MAKE = "INSERT INTO scope (name, epoch) VALUES (%(scope)s, %(new)s) ON CONFLICT DO NOTHING"
_LOAD = f"""
SELECT page.id, {_COLUMNS} FROM scope LEFT JOIN page ON page.id = ANY(%(numbers)s) WHERE {_KNOWN}
"""
_CHANGE = f"""
WITH here AS (SELECT 1 FROM scope WHERE {_KNOWN}), changed AS (
    UPDATE page SET mark = greatest(mark, %(mark)s), last_seen = greatest(last_seen, %(seen)s)
    FROM here WHERE page.id = ANY(%(numbers)s)
)
SELECT 1 FROM here
"""
_REMOVE = f"""
WITH here AS (UPDATE scope SET epoch = %(new)s WHERE {_KNOWN} RETURNING last), gone AS (
    DELETE FROM page USING here WHERE page.id = ANY(%(numbers)s)
)
SELECT last FROM here
"""
# Who has added a page meanwhile has changed `last`.
_EMPTY = f"""
DELETE FROM scope WHERE {_KNOWN} AND NOT EXISTS (SELECT FROM page WHERE page.scope = scope.id)
RETURNING 1
"""
_ROWS = f"""
SELECT page.id, scope.name, {_COLUMNS} FROM page JOIN scope ON scope.id = page.scope
WHERE page.id > %(after)s ORDER BY page.id LIMIT {_AT_ONCE}
"""
# Comparing (scope, id) as one leaves the planner page_order alone, whatever it knows of the table.
_ROWS_OF_SCOPE = f"""
SELECT page.id, scope.name, {_COLUMNS} FROM scope JOIN page ON page.scope = scope.id
WHERE scope.name = %(scope)s AND (page.scope, page.id) > (scope.id, %(after)s)
ORDER BY page.scope, page.id LIMIT {_AT_ONCE}
"""
_BEGIN = """
INSERT INTO run VALUES (%(run)s, %(owner)s, 'live', %(at)s, clock_timestamp() + %(lease)s)
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner, state = 'live', begun = excluded.begun, expires = excluded.expires
WHERE %(anew)s OR run.state = 'dead' OR run.state = 'live'
    AND (run.owner = excluded.owner OR run.expires < clock_timestamp())
RETURNING 1
"""
_RENEW = """
UPDATE run SET expires = clock_timestamp() + %(lease)s
WHERE id = %(run)s AND owner = %(owner)s AND state = 'live' RETURNING 1
"""
_END = """
UPDATE run SET state = 'ended'
WHERE id = %(run)s AND owner = %(owner)s AND state IN ('live', 'ended') RETURNING 1
"""
_RUN = """
SELECT CASE WHEN state = 'live' AND expires < clock_timestamp() THEN 'dead' ELSE state END, begun
FROM run WHERE id = %(run)s
"""
_FIND_DEAD = """
UPDATE run SET state = 'dead' WHERE state = 'dead' OR state = 'live' AND expires < clock_timestamp()
RETURNING id
"""
_BURY = """
WITH gone AS (DELETE FROM page WHERE run = %(run)s AND mark < 2 RETURNING scope)
UPDATE scope SET epoch = %(new)s WHERE id IN (SELECT scope FROM gone)
"""
_INSERT_BLOB = """
INSERT INTO blob VALUES (%(address)s, %(kind)s, %(scope)s, %(key)s, %(at)s, %(data)s)
ON CONFLICT (address) DO UPDATE SET at = excluded.at, data = excluded.data
WHERE %(old)s::bytea IS NULL OR blob.data = %(old)s RETURNING 1
"""
_UPDATE_BLOB = """
UPDATE blob SET at = %(at)s, data = %(data)s WHERE address = %(address)s AND data = %(old)s
RETURNING 1
"""
_DELETE_BLOB = """
DELETE FROM blob WHERE address = %(address)s AND (%(old)s::bytea IS NULL OR data = %(old)s)
RETURNING 1
"""
_BLOBS = f"""
SELECT address, scope, key, at, length(data), CASE WHEN %(read)s THEN data ELSE '' END FROM blob
WHERE kind = %(kind)s AND address > %(after)s AND (%(scope)s::text IS NULL OR scope = %(scope)s)
ORDER BY address LIMIT {_AT_ONCE}
"""


class PostgresDriver(Driver):
    """Keeps pages in the PostgreSQL database of an address.

    One crawler at a time works on a scope. A run is dead when its lease runs out, or it is let go.
    What fails on the way to the server is not tried again: the next call connects anew.

    Unless the URL says `durable=true`, a crash of the server can lose what the last half second
    brought; what counts for later runs is on disk when `end` or `change` returns.
    """

    def __init__(self, address: Address, *, create: bool = True) -> None:
        self._address = address
        self.name, self.lease = address.name, address.lease
        self._create = create
        self._owner = Int8(secrets.randbits(63))
        # One for all calls: to make one for each takes a quarter of the time of a call.
        self._cursor: psycopg.Cursor[Any] | None = self._connected()

    def append(
        self, scope: str, state: State, record: Record, through: int, seconds: float | None
    ) -> State | News:
        """Add a page."""
        asked = _known(scope, state) | {
            "through": Int8(through),
            "run": Int8(signed(hash64(record.run))),
            "mark": Int4(SETTLED if record.settled else 0),
            "words": Int8(record.words),
            "fingerprint": Int8(signed(record.fingerprint)),
            "digest": Int8(signed(record.digest)),
            "first_seen": float(record.first_seen),
            "last_seen": float(record.last_seen),
            "head": head_of(record),
            "url": as_stored(record.url),
            "request": as_stored(record.request),
            "title": as_stored(record.title),
            "pipeline": as_stored(record.pipeline),
            "run_name": as_stored(record.run),
            "sketch": record.sketch,
        }
        rows = self._rows(_APPEND, asked, prepare=True)
        if rows:
            return State(rows[0][0], state.epoch)
        news = self._news(scope, state)
        if news is None:
            make = (
                "INSERT INTO scope (name, epoch) VALUES (%(scope)s, %(new)s) ON CONFLICT DO NOTHING"
            )
            self._rows(make, asked | {"new": Int8(new_epoch())})
        return news or self._news(scope, state) or News(state, 0, b"", whole=True)

    def load(self, scope: str, state: State, numbers: Sequence[int]) -> list[Row | None] | News:
        """Return pages."""
        asked = _known(scope, state) | {"numbers": [Int8(number) for number in numbers]}
        rows = self._rows(_LOAD, asked, prepare=True)
        if not rows and (news := self._news(scope, state)) is not None:
            return news
        found = {number: _row(scope, *row) for number, *row in rows if number is not None}
        return [found.get(number) for number in numbers]

    def change(
        self, scope: str, state: State, numbers: Sequence[int], mark: Mark, seen: float
    ) -> News | None:
        """Mark pages; if they are durable from now on, on disk."""
        asked = _known(scope, state) | {"numbers": [Int8(number) for number in numbers]}
        asked |= {"mark": Int4(mark), "seen": float(seen)}
        with self._on_disk(mark == DURABLE):
            rows = self._rows(_CHANGE, asked)
        return None if rows else self._news(scope, state)

    def remove(self, scope: str, state: State, numbers: Sequence[int]) -> State | News:
        """Remove pages."""
        asked = _known(scope, state) | {"numbers": [Int8(number) for number in numbers]}
        epoch = new_epoch()
        rows = self._rows(_REMOVE, asked | {"new": Int8(epoch)})
        if not rows:
            return self._news(scope, state) or State()
        state = State(rows[0][0], epoch)
        return State() if self._rows(_EMPTY, _known(scope, state)) else state

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield pages."""
        asked: dict[str, Any] = {"after": Int8(0)}
        if scope is not None:
            asked["scope"] = as_stored(scope)
        while rows := self._rows(_ROWS if scope is None else _ROWS_OF_SCOPE, asked):
            for _, name, *row in rows:
                yield _row(from_stored(name), *row)
            asked["after"] = Int8(rows[-1][0])

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        """Open a run, or find it open."""
        return bool(self._rows(_BEGIN, self._of_run(run) | {"at": at, "anew": anew}))

    def renew(self, run: str) -> bool:
        """Prolong the lease of a run."""
        return bool(self._rows(_RENEW, self._of_run(run)))

    def end(self, run: str) -> bool:
        """Close a run, on disk when this returns."""
        with self._on_disk():
            return bool(self._rows(_END, self._of_run(run)))

    def release(self, run: str) -> None:
        """Let a run be dead."""
        if self._cursor is not None:  # else its lease runs out
            die = "UPDATE run SET state = 'dead' WHERE id = %(run)s AND owner = %(owner)s"
            self._rows(die, self._of_run(run))

    def run(self, run: str) -> Run:
        """Return what is known of a run."""
        rows = self._rows(_RUN, self._of_run(run))
        return DEAD if not rows or rows[0][0] == "dead" else Run(*rows[0])

    def bury(self) -> None:
        """Remove what dead runs left."""
        for (run,) in self._rows(_FIND_DEAD):
            asked = {"run": Int8(run), "new": Int8(new_epoch())}
            self._rows(_BURY, asked)
            self._rows("DELETE FROM run WHERE id = %(run)s AND state = 'dead'", asked)

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what is kept."""
        asked = {"address": address_of(kind, scope, key)}
        rows = self._rows("SELECT data FROM blob WHERE address = %(address)s", asked)
        return rows[0][0] if rows else b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Put data in place of others."""
        asked = {
            "address": address_of(blob.kind, blob.scope, blob.key),
            "kind": blob.kind,
            "scope": as_stored(blob.scope),
            "key": as_stored(blob.key),
            "at": float(blob.at),
            "data": blob.data,
            "old": old,
        }
        change = _UPDATE_BLOB if old else _INSERT_BLOB
        if self._rows(change if blob.data else _DELETE_BLOB, asked) or old is None:
            return None
        there = self.blob(blob.kind, blob.scope, blob.key)
        return None if there == old else there

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield what is kept."""
        of_scope = None if scope is None else as_stored(scope)
        asked = {"kind": kind, "scope": of_scope, "read": data, "after": b""}
        while rows := self._rows(_BLOBS, asked):
            for _, name, key, at, size, read in rows:
                yield Blob(kind, from_stored(name), from_stored(key), read, at, size=size)
            asked["after"] = rows[-1][0]

    def close(self) -> None:
        """Let go of the connection."""
        if self._cursor is not None:
            close(self._cursor.connection)
            self._cursor = None

    def _news(self, scope: str, known: State) -> News | None:
        """Return what is new in a scope, None if there is no such scope, and nobody knows one."""
        rows = self._rows(_NEWS, _known(scope, known))
        if not rows:
            return None if known == State() else News(State(), 0, b"", whole=True)
        last, first, epoch, heads = rows[0]
        return News(State(last, epoch), first, heads or b"", epoch != known.epoch)

    def _of_run(self, run: str) -> dict[str, Any]:
        lease = timedelta(seconds=self._address.lease)
        return {"run": Int8(signed(hash64(run))), "owner": self._owner, "lease": lease}

    @contextmanager
    def _on_disk(self, wanted: bool = True) -> Iterator[None]:
        """Let what is changed in the block, and before, be on disk when it ends."""
        if not wanted:
            yield
            return
        self._rows("BEGIN")
        try:
            self._rows("SET LOCAL synchronous_commit = on")
            yield
            self._rows("COMMIT")
        except BaseException:
            self.close()  # who knows in which state
            raise

    def _rows(
        self,
        statement: str,
        asked: Mapping[str, Any] | None = None,
        *,
        prepare: bool | None = None,
    ) -> list[tuple[Any, ...]]:
        """Ask the server. Raises StoreError for whatever goes wrong."""
        if self._cursor is None:
            self._cursor = self._connected()
            self.connections += 1
        try:
            cursor = self._cursor.execute(statement, asked, prepare=prepare)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            if self._cursor.connection.closed:
                self.close()
            raise failure(self._address, error) from error
        except BaseException:  # interrupted: who knows in which state
            self.close()
            raise

    def _connected(self) -> psycopg.Cursor[Any]:
        return connect(self._address, create=self._create).cursor(binary=True)


def as_stored(text: str) -> str:
    """Return text with NUL and lone surrogates escaped: broken pages have them, no database."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):06x}", text)


def from_stored(stored: str) -> str:
    """Return the text that was given to `as_stored`."""
    if _ESCAPE not in stored:
        return stored
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), stored)


def _known(scope: str, state: State) -> dict[str, Any]:
    return {"scope": as_stored(scope), "last": Int8(state.last), "epoch": Int8(state.epoch)}


def _row(scope: str, mark: int, last_seen: float, *columns: Any) -> Row:
    """Return the page of the columns `_COLUMNS`."""
    words, fingerprint, digest, first_seen, *texts, sketch = columns
    url, request, title, pipeline, run = map(from_stored, texts)
    record = Record(
        scope,
        url,
        request,
        unsigned(fingerprint),
        unsigned(digest),
        words,
        title,
        pipeline,
        run,
        first_seen,
        last_seen,
        sketch,
    )
    return Row(record, mark)


FORM = "postgresql://user:password@host/database?schema=NAME&timeout=SECONDS&lease=SECONDS&durable=true"
SCHEMA = "simhash_gate"
VERSION = 9
"""Of the tables and functions in `postgres.sql`."""
OLDEST_SERVER = 140000
_LONGEST_NAME = 63  # bytes, of a schema

# SQLSTATE classes of what may pass: connection, resources, rollback, operator, system.
_PASSING = ("08", "53", "40", "57", "58", "25", "55")
# Before a session there is no SQLSTATE, only the server's words.
_REFUSED = re.compile(
    r"authentication failed|no password supplied|does not exist|pg_hba\.conf|permission denied"
    r"|not permitted to log in|could not translate host name|invalid|SSL"
)
_SESSION = {
    # Plans are made once, maybe on an empty table: whatever is known of it then, by index.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "client_encoding": "UTF8",
    # Whoever waited for a lock must see what its holder has written.
    "default_transaction_isolation": "read committed",
}


@dataclass(frozen=True)
class Address:
    """A store URL taken apart: what psycopg is told, and the store's own parameters.

    `name` is that of the store in messages. `timeout` and `lease` are in seconds; with `durable`
    each commit is on disk before it is answered.
    """

    conninfo: str
    name: str
    schema: str
    timeout: float
    lease: float
    durable: bool


def read_address(url: str) -> Address:
    """Read `postgresql://user:password@host/db?schema=...&timeout=...&lease=...&durable=...`.

    All other parameters are libpq's. Raises StoreError that names what is wrong.
    """
    try:
        return _address(url, read_server(url, "schema", "durable"))
    except (ValueError, psycopg.Error) as error:
        raise refusal(url, f"{_one_line(error)}; use {FORM}") from None


def _address(url: str, server: Server) -> Address:
    schema = server.own.get("schema", SCHEMA)
    if not 0 < len(schema.encode("utf-8", "replace")) <= _LONGEST_NAME or "\0" in schema:
        raise ValueError(f"schema is a name of 1 to {_LONGEST_NAME} bytes")
    durable = server.own.get("durable", "false").lower()
    if durable not in ("true", "false"):
        raise ValueError("durable is true or false")
    given = psycopg.conninfo.conninfo_to_dict(server.url)
    patience: dict[str, Any] = {
        "connect_timeout": max(2, round(server.timeout)),  # libpq takes no less
        "tcp_user_timeout": round(server.timeout * 1000),
        "application_name": "simhash-gate",
        "client_encoding": "UTF8",
    }
    conninfo = psycopg.conninfo.make_conninfo("", **{**patience, **given})
    name = f"PostgreSQL store {without_password(url)}"
    return Address(conninfo, name, schema, server.timeout, server.lease, durable == "true")


class PatientConnection(psycopg.Connection[Any]):
    """A connection that waits no longer than `patience` seconds for an answer.

    The server keeps its own time, but says nothing when it hangs, or what is between hangs.
    """

    patience = float("inf")

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Run one exchange with the server. Raises psycopg.OperationalError when time is out."""
        return super().wait(self._until(gen, monotonic() + self.patience), *args, **kwargs)

    def _until(self, gen: Generator[Any, Any, Any], deadline: float) -> Generator[Any, Any, Any]:
        try:
            awaited = next(gen)
            while True:
                ready = yield awaited
                if not ready and monotonic() > deadline:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"no answer within {self.patience:g} s")
                awaited = gen.send(ready)
        except StopIteration as end:
            return end.value


def connect(address: Address, *, create: bool) -> PatientConnection:
    """Open a connection in autocommit mode, its schema made.

    Raises StoreUnavailable if the server can't be reached, StoreError if it can't be used, or if
    there is no such schema and none is to be made.
    """
    try:
        connection = PatientConnection.connect(address.conninfo, autocommit=True)
    except psycopg.Error as error:
        raise failure(address, error) from error
    try:
        connection.patience = address.timeout + 1  # the server's own time-out says more
        _check_server(connection, address)
        _check_session(connection, address)
        settings = _SESSION | {
            "search_path": f'"{address.schema.replace(chr(34), chr(34) * 2)}"',
            "statement_timeout": str(max(1, round(address.timeout * 1000))),
            "synchronous_commit": "on" if address.durable else "off",
        }
        connection.execute(
            "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[])"
            " AS setting (name, value)",
            (list(settings), list(settings.values())),
        )
        _make(connection, address, create=create)
    except BaseException as error:
        close(connection)
        if isinstance(error, psycopg.Error):
            raise failure(address, error) from error
        raise
    return connection


def close(connection: psycopg.Connection[Any]) -> None:
    """Close a connection, whatever state it is in."""
    with suppress(psycopg.Error, OSError):
        connection.close()


def failure(address: Address, error: psycopg.Error) -> StoreError:
    """Say in one line what went wrong, and whether trying again later is worth it."""
    what = f"{address.name}: {_one_line(error)}"
    state = error.sqlstate
    if state is None:
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not (
            _REFUSED.search(str(error))
        ):
            return StoreUnavailable(f"{what}; the server is down, or can't be reached")
        return StoreError(f"{what}; see that the URL is right and its user may log in")
    if state.startswith(_PASSING):
        return StoreUnavailable(what)
    if state == "42501":
        return StoreError(f"{what}; let the user create and use schema {address.schema!r}")
    if state.startswith("42"):
        advice = "its tables may be damaged, or another application's: name another schema"
        return StoreError(f"{what}; {advice} in the URL (?schema=...)")
    return StoreError(what)


def _one_line(error: Exception) -> str:
    message = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    return " ".join(message.split()) or type(error).__name__


def _check_server(connection: PatientConnection, address: Address) -> None:
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise StoreError(
            f"{address.name}: the server has version {version // 10_000}; 14 or later is needed"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"{address.name}: the database is encoded in {encoding}; make one with ENCODING 'UTF8'"
        )


def _check_session(connection: PatientConnection, address: Address) -> None:
    """Refuse a pooler that does not give this connection a session of its own.

    A pooler invents the process id that it tells its clients. One that pools transactions gives
    the session of this idle connection to the next one that asks.
    """
    ask = "SELECT pg_backend_pid()"
    own = connection.execute(ask).fetchone()
    if own == (connection.info.backend_pid,):
        return
    with psycopg.connect(address.conninfo, autocommit=True, prepare_threshold=None) as other:
        if own in [other.execute(ask).fetchone() for _ in range(3)]:
            raise StoreError(
                f"{address.name}: a pooler stands before the server, and gives no session of its"
                " own; set pool_mode = session there, or connect to the server itself"
            )


def _make(connection: PatientConnection, address: Address, *, create: bool) -> None:
    """Make the schema where there is none, all of it or nothing.

    Crawlers that start at once take turns; where nothing is to be done, nobody waits.
    """
    if _is_made(connection, address):
        return
    if not create:
        raise StoreMissing(f"{address.name}: there is no store in schema {address.schema!r}")
    with connection.transaction():
        lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 23))"
        connection.execute(lock, (address.schema,))
        if _is_made(connection, address):
            return
        known = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
        if not connection.execute(known, (address.schema,)).fetchone():
            schema = sql.Identifier(address.schema)
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        connection.execute("CREATE TABLE simhash_gate_schema (version integer NOT NULL)")
        connection.execute("INSERT INTO simhash_gate_schema VALUES (%s)", (VERSION,))
        connection.execute(sql.SQL(files(__package__).joinpath("postgres.sql").read_text("utf-8")))


def _is_made(connection: PatientConnection, address: Address) -> bool:
    """Tell whether the schema is there. Raises StoreError for one of another version."""
    find = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'simhash_gate_schema'"
    if not connection.execute(find, (address.schema,)).fetchone():
        return False
    row = connection.execute("SELECT max(version) FROM simhash_gate_schema").fetchone()
    version = int(row[0] or 0) if row else 0
    if version != VERSION:
        raise StoreError(
            f"{address.name}: schema {address.schema!r} has version {version}, "
            f"this simhash-gate knows {VERSION}; update simhash-gate, or name another schema"
        )
    return True
