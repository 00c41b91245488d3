"""PostgreSQL: each change of a scope is one statement, committed when it returns."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.numeric import Int8BinaryDumper

from simhash_gate.common.encoded import as_bytes
from simhash_gate.stores import base
from simhash_gate.stores.base import (
    Blob,
    Record,
    Server,
    StoreError,
    StoreMissing,
    StoreUnavailable,
)
from simhash_gate.stores.driver import DURABLE, SETTLED, Loaded, News, Row, SQLDriver, State

FORM = "postgresql://user:password@host/database?schema=NAME&timeout=SECONDS&lease=SECONDS&durable=true"
VERSION = 20
"""The version of the tables and functions in `postgres.sql`."""
OLDEST_SERVER = 140000
_LONGEST_NAME = 63  # bytes, of a schema

# SQLSTATE classes of errors that may pass: connection, resources, rollback, operator, system.
_PASSING = ("08", "53", "40", "57", "58", "25", "55")
# Errors before a session have no SQLSTATE, only a text.
_REFUSED = re.compile(
    r"authentication failed|no password supplied|does not exist|pg_hba\.conf|permission denied"
    r"|not permitted to log in|invalid|SSL(?! SYSCALL| connection has been closed)"
    r'|could not translate host name "[^"\n]*" to address: (?!Temporary)'
)
_SESSION = {
    # Plans are made once, maybe for an empty table. They shall use the index all the same.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "client_encoding": "UTF8",
    # A statement that waited for a lock must see the changes of its holder.
    "default_transaction_isolation": "read committed",
}

_CONFIGURE = """
SELECT set_config(name, value, false)
FROM unnest(%(names)s::text[], %(values)s::text[]) AS setting (name, value)
"""
_NEWS = "SELECT * FROM news(%(id)s, %(last)s, %(removals)s)"
_APPEND = "SELECT * FROM append(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_TRIM = """
WITH here AS (
    UPDATE scope SET first = greatest(first, %(through)s + 1) WHERE id = %(id)s
)
DELETE FROM page WHERE (scope, id) > (%(id)s, 0) AND (scope, id) <= (%(id)s, %(through)s)
"""
_LOAD = """
SELECT scope.last, scope.first, removals,
    CASE WHEN scope.last <> %(last)s OR removals <> %(removals)s THEN
        (SELECT heads FROM news(%(id)s, %(last)s, %(removals)s))
    END,
    page.id, mark, last_seen, gave, body,
    CASE WHEN page.run <> %(own)s THEN (
        SELECT data FROM blob
        WHERE address = %(live)s || convert_to(lpad(to_hex(page.run), 16, '0'), 'UTF8')
    ) END
FROM scope LEFT JOIN page ON page.id = ANY(%(numbers)s::bigint[])
WHERE scope.id = %(id)s
"""
_LIVE = base.address_of(base.RUN, base.LIVE, "")[:8]
# A durable page must be on disk before this statement returns.
_CHANGE = f"""
UPDATE page SET mark = mark | %(mark)s::smallint, last_seen = greatest(last_seen, %(seen)s),
    gave = coalesce(%(gave)s::bigint, gave)
WHERE id = ANY(%(numbers)s::bigint[])
    AND (%(mark)s::smallint & {DURABLE} = 0 OR set_config('synchronous_commit', 'on', true) = 'on')
"""


class PostgresDriver(SQLDriver):
    """Keeps pages in a PostgreSQL database. One crawler at a time works on a scope.

    A call that fails on the way to the server is not repeated. The next call connects anew.

    Unless the URL says `durable=true`, a crash of the server can lose the changes of the last half
    second. Ended runs and durable pages are on disk when `end` or `change` returns.
    """

    def __init__(self, server: Server, *, create: bool = True) -> None:
        self._server, self._create = server, create
        self.name, self.lease = server.name, server.lease
        self._owner = secrets.randbits(63)
        self._run = 0  # the run of the last page that was added here: it is live
        # All calls share one cursor: a new one would take a quarter of the time of a call.
        self._cursor: psycopg.Cursor[Any] | None = None
        self._connect()

    def append(self, earlier: State, record: Record, through: int, seconds: float | None) -> News:
        head, self._run = base.head_of(record), base.number_of(record.run)
        place = (base.number_of(earlier.scope), *earlier[1:], through, as_bytes(earlier.scope))
        marks = (SETTLED * record.settled, float(record.last_seen), record.gave)
        page = (self._run, *marks, head, base.pack(record))
        rows = self._rows(_APPEND, place + page, prepare=True)
        ((number, first, removals, earlier_heads),) = rows
        if number is None:
            return self.news(earlier)
        heads = (earlier_heads or b"") + number.to_bytes(8, "big") + head
        return News(State(earlier.scope, number, removals), first, heads, number)

    def news(self, earlier: State) -> News:
        for last, first, removals, heads in self._rows(_NEWS, _known(earlier), prepare=True):
            return News(State(earlier.scope, last, removals), first, heads or b"")
        return News(State(earlier.scope))

    def trim(self, scope: str, through: int) -> None:
        self._rows(_TRIM, {"id": base.number_of(scope), "through": through})

    def load(self, earlier: State, numbers: Sequence[int]) -> Loaded:
        args = {**_known(earlier), "numbers": _array(numbers), "live": _LIVE, "own": self._run}
        rows = self._rows(_LOAD, args, prepare=True)
        pages = {
            number: Row(earlier.scope, *page)
            for _, _, _, _, number, *page in rows
            if number is not None
        }
        last, first, removals, heads = rows[0][:4] if rows else (0, 0, 0, b"")
        current = State(earlier.scope, last, removals)
        news = None if current == earlier else News(current, first, heads or b"")
        return news, [pages.get(number) for number in numbers]

    def change(
        self, scope: str, numbers: Sequence[int], mark: int, seen: float, gave: int | None = None
    ) -> None:
        values = {"mark": mark, "seen": float(seen), "gave": gave}
        self._rows(_CHANGE, {"numbers": _array(numbers), **values})

    def remove(self, scope: str, numbers: Sequence[int]) -> State:
        args = {"id": base.number_of(scope), "numbers": _array(numbers)}
        query = "SELECT last, removals FROM remove(%(id)s, %(numbers)s::bigint[])"
        last, removals = self._rows(query, args)[0]
        return State(scope, last or 0, removals or 0)

    def claim(self) -> int:
        return self._owner

    def clock(self) -> float:
        query = "SELECT extract(epoch FROM clock_timestamp())::double precision"
        return float(self._rows(query)[0][0])

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        if blob.kind != base.RUN:
            return super().swap(blob, old)
        try:
            self._rows("BEGIN")
            self._rows("SET LOCAL synchronous_commit = on")
            current = super().swap(blob, old)
            self._rows("COMMIT")
        except BaseException:
            self.close()  # that rolls the transaction back
            raise
        return current

    def close(self) -> None:
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            cursor.connection.close()

    def _rows(
        self,
        query: str,
        args: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        prepare: bool | None = None,
    ) -> list[tuple[Any, ...]]:
        """Run a statement. Return its rows. Raises StoreError for any failure."""
        if self._cursor is None:
            self._connect()
            self.connections += 1
        assert self._cursor is not None
        try:
            cursor = self._cursor.execute(query, args, prepare=prepare)
            # `cursor.description` would make an object for each column.
            return cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []
        except psycopg.Error as error:
            if error.sqlstate is None or self._cursor.connection.closed:
                self.close()
            raise failure(self._server, error) from error
        except BaseException:  # interrupted: the state of the session is unknown
            self.close()
            raise

    def _connect(self) -> None:
        """Open a connection in autocommit mode, and make the schema if needed.

        Raises StoreUnavailable if the server can't be reached, StoreError if it can't be used, and
        StoreMissing if there is no schema and none is to be made.
        """
        server = self._server
        settings = _SESSION | {
            "search_path": f'"{server.options["schema"].replace(chr(34), chr(34) * 2)}"',
            "statement_timeout": str(max(1, round(server.timeout * 1000))),
            "synchronous_commit": "on" if server.options["durable"].lower() == "true" else "off",
        }
        try:
            connection = PatientConnection.connect(server.url, autocommit=True)
            connection.patience = server.timeout + 1  # the server's own time-out comes first
            # All numbers have one type, else statements are prepared once for each size.
            connection.adapters.register_dumper(int, Int8BinaryDumper)
            self._cursor = connection.cursor(binary=True)
            self._check_server(connection.info)
            self._rows(_CONFIGURE, {"names": [*settings], "values": [*settings.values()]})
            self._make(connection)
        except BaseException as error:
            self.close()
            if isinstance(error, psycopg.Error):
                raise failure(server, error) from error
            raise

    def _check_server(self, info: psycopg.ConnectionInfo) -> None:
        """Refuse a server of an old version or another encoding, and a pooler without sessions.

        A pooler invents the process id that it tells its clients. If it pools transactions, it
        gives the session of this idle connection to the next client.
        """
        version, encoding = info.server_version, info.parameter_status("server_encoding")
        if version < OLDEST_SERVER:
            what = f"the server has version {version // 10_000}; 14 or later is needed"
            raise StoreError(f"{self.name}: {what}")
        if encoding != "UTF8":
            what = f"the database is encoded in {encoding}; make one with ENCODING 'UTF8'"
            raise StoreError(f"{self.name}: {what}")
        query = "SELECT pg_backend_pid()"
        pid = self._rows(query)[0]
        if pid == (info.backend_pid,):
            return
        with psycopg.connect(self._server.url, autocommit=True, prepare_threshold=None) as other:
            if pid in [other.execute(query).fetchone() for _ in range(3)]:
                raise StoreError(
                    f"{self.name}: a pooler stands before the server, and gives no session of its"
                    " own; set pool_mode = session there, or connect to the server itself"
                )

    def _make(self, connection: PatientConnection) -> None:
        """Make the schema if there is none, completely or not at all.

        Crawlers that start at once take turns. If there is a schema, none waits.
        """
        schema = self._server.options["schema"]
        if self._is_made():
            return
        if not self._create:
            raise StoreMissing(f"{self.name}: there is no store in schema {schema!r}")
        with connection.transaction():
            args = {"schema": schema}
            self._rows("SELECT pg_advisory_xact_lock(hashtextextended(%(schema)s, 23))", args)
            if self._is_made():
                return
            # A user who may not make schemas can use one that exists.
            if not self._rows("SELECT 1 FROM pg_namespace WHERE nspname = %(schema)s", args):
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            self._rows(f"CREATE TABLE simhash_gate_schema AS SELECT {VERSION} AS version")
            script = files(__package__).joinpath("postgres.sql").read_text("utf-8")
            connection.execute(sql.SQL(script))

    def _is_made(self) -> bool:
        """Tell whether the schema exists. Raises StoreError if it has another version."""
        schema = self._server.options["schema"]
        mark = "SELECT 1 FROM pg_tables WHERE schemaname = %(schema)s AND tablename = %(table)s"
        if not self._rows(mark, {"schema": schema, "table": "simhash_gate_schema"}):
            return False
        version = self._rows("SELECT max(version) FROM simhash_gate_schema")[0][0]
        if version != VERSION:
            raise StoreError(
                f"{self.name}: schema {schema!r} has version {version}, this simhash-gate knows "
                f"{VERSION}; update simhash-gate, or name another schema"
            )
        return True


def _array(numbers: Sequence[int]) -> str:
    """Return numbers as the text of an array. That is faster than psycopg's own conversion."""
    return "{" + ",".join(map(str, numbers)) + "}"


def _known(state: State) -> dict[str, Any]:
    return {"id": base.number_of(state.scope), "last": state.last, "removals": state.removals}


def driver_opener(url: str, *, create: bool = True) -> Callable[[], PostgresDriver]:
    """Return a function that opens the store of a URL: `postgresql://user:password@host/db?...`.

    With `durable=true`, each commit is on disk when it returns. All parameters but those of `FORM`
    are libpq's. Raises StoreError for an invalid URL.
    """
    try:
        server = base.read_server("PostgreSQL", url, schema="simhash_gate", durable="false")
        schema = server.options["schema"]
        if not 0 < len(schema.encode("utf-8", "replace")) <= _LONGEST_NAME or "\0" in schema:
            raise ValueError(f"schema is a name of 1 to {_LONGEST_NAME} bytes")
        if server.options["durable"].lower() not in ("true", "false"):
            raise ValueError("durable is true or false")
        patience: dict[str, Any] = {
            "connect_timeout": max(2, round(server.timeout)),  # libpq takes no less
            "tcp_user_timeout": round(server.timeout * 1000),
            "application_name": "simhash-gate",
            "client_encoding": "UTF8",
        }
        parameters = psycopg.conninfo.conninfo_to_dict(server.url)
        server = server._replace(url=psycopg.conninfo.make_conninfo("", **patience | parameters))
    except (ValueError, psycopg.Error) as error:
        raise base.refusal(url, f"{_one_line(error)}; use {FORM}") from None
    return partial(PostgresDriver, server, create=create)


class PatientConnection(psycopg.Connection[Any]):
    """A connection that waits at most `patience` seconds for an answer.

    The server has a time-out, too. It does not help if the server or the network hangs.
    """

    patience: float | None = None

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Run one exchange with the server. Raises psycopg.OperationalError after `patience`."""
        return super().wait(gen, *args, **{"timeout": self.patience} | kwargs)


def failure(server: Server, error: psycopg.Error) -> StoreError:
    """Return an error that says what to do; StoreUnavailable if trying again later may help."""
    what = f"{server.name}: {_one_line(error)}"
    state = error.sqlstate
    if state is None:
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        if lost and not _REFUSED.search(str(error)):
            return StoreUnavailable(f"{what}; the server is down, or can't be reached")
        return StoreError(f"{what}; see that the URL is right and its user may log in")
    if state.startswith(_PASSING):
        return StoreUnavailable(what)
    if state == "42501":
        what += f"; let the user create and use schema {server.options['schema']!r}"
    elif state.startswith("42"):
        what += "; its tables may be damaged, or another application's: name another schema"
        what += " in the URL (?schema=...)"
    return StoreError(what)


def _one_line(error: Exception) -> str:
    message = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    return " ".join(message.split()) or type(error).__name__
