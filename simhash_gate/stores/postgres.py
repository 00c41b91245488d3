"""PostgreSQL: whatever is done to a scope is one statement, committed when it returns."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.types.numeric import Int8BinaryDumper

from simhash_gate.common.encoded import as_bytes, signed
from simhash_gate.stores import base
from simhash_gate.stores.base import Record, StoreError, StoreMissing, StoreUnavailable
from simhash_gate.stores.driver import DURABLE, SETTLED, News, Row, SQLDriver, State
from simhash_gate.stores.urls import Server, read_server, refusal

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from simhash_gate.stores.driver import Life, Loaded

FORM = "postgresql://user:password@host/database?schema=NAME&timeout=SECONDS&lease=SECONDS&durable=true"
VERSION = 15
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

_CONFIGURE = """
SELECT set_config(name, value, false)
FROM unnest(%(names)s::text[], %(values)s::text[]) AS setting (name, value)
"""
_NEWS = "SELECT * FROM news(%(scope)s, %(last)s, %(epoch)s)"
_APPEND = "SELECT * FROM append(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_TRIM = """
WITH here AS (
    UPDATE scope SET first = greatest(first, %(through)s + 1) WHERE name = %(scope)s RETURNING id
)
DELETE FROM page USING here
WHERE page.scope = here.id AND (page.scope, page.id) <= (here.id, %(through)s)
"""
_COLUMNS = "mark, last_seen, body"
_STATE_OF_RUN = """
CASE WHEN run.state = 'live' AND expires < clock_timestamp() THEN 'dead' ELSE run.state END
"""
_LOAD = f"""
SELECT scope.last, scope.first, epoch,
    CASE WHEN scope.last <> %(last)s OR epoch <> %(epoch)s THEN
        (SELECT heads FROM news(%(scope)s, %(last)s, %(epoch)s))
    END,
    page.id, {_COLUMNS}, {_STATE_OF_RUN}
FROM scope
LEFT JOIN page ON page.id = ANY(%(numbers)s::bigint[])
LEFT JOIN run ON run.id = page.run
WHERE name = %(scope)s
"""
# What counts whatever becomes of its run is on disk before anybody is told so.
_DURABLE = "(SELECT set_config('synchronous_commit', 'on', true)) = 'on'"
_CHANGE = f"""
UPDATE page SET mark = greatest(mark, %(mark)s), last_seen = greatest(last_seen, %(seen)s)
WHERE page.id = ANY(%(numbers)s::bigint[]) AND (%(mark)s < {DURABLE} OR {_DURABLE})
"""
_REMOVE = """
WITH gone AS (DELETE FROM page WHERE page.id = ANY(%(numbers)s::bigint[]))
UPDATE scope SET epoch = epoch + 1 WHERE name = %(scope)s RETURNING last, epoch
"""
# Who has added a page meanwhile has changed `last`.
_EMPTY = """
DELETE FROM scope WHERE name = %(scope)s AND epoch = %(epoch)s AND last = %(last)s
    AND NOT EXISTS (SELECT FROM page WHERE page.scope = scope.id)
RETURNING 1
"""
_BEGIN = """
INSERT INTO run VALUES (%(run_id)s, %(owner)s, 'live', clock_timestamp() + %(lease)s)
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner, state = 'live', expires = excluded.expires
WHERE %(anew)s OR run.state = 'dead' OR run.state = 'live'
    AND (run.owner = excluded.owner OR run.expires < clock_timestamp())
RETURNING 1
"""
_OWN = "WHERE id = %(run_id)s AND owner = %(owner)s"
_RENEW = f"""
UPDATE run SET expires = clock_timestamp() + %(lease)s {_OWN} AND state = 'live' RETURNING 1
"""
_END = f"UPDATE run SET state = 'ended' {_OWN} AND state <> 'dead' AND {_DURABLE} RETURNING 1"
_RELEASE = "UPDATE run SET state = 'dead' WHERE owner = %(owner)s AND state = 'live'"
_LIFE = f"SELECT {_STATE_OF_RUN} FROM run WHERE id = %(run_id)s"
_FIND_DEAD = """
UPDATE run SET state = 'dead' WHERE state = 'dead' OR state = 'live' AND expires < clock_timestamp()
RETURNING id
"""
_BURY = """
WITH gone AS (DELETE FROM page WHERE run = %(run_id)s AND mark < 2 RETURNING scope)
UPDATE scope SET epoch = epoch + 1 WHERE id IN (SELECT scope FROM gone)
"""


class PostgresDriver(SQLDriver):
    """Keeps pages in the PostgreSQL database of an address.

    One crawler at a time works on a scope. A run is dead when its lease runs out, or it is let go.
    What fails on the way to the server is not tried again: the next call connects anew.

    Unless the URL says `durable=true`, a crash of the server can lose what the last half second
    brought; what counts for later runs is on disk when `end` or `change` returns.
    """

    _PAGES = f"SELECT page.id, name, {_COLUMNS} FROM page JOIN scope ON scope.id = page.scope WHERE"
    _ROWS = f"{_PAGES} page.id > %(after)s ORDER BY page.id LIMIT 1000"
    _ROWS_OF_SCOPE = f"""
    {_PAGES} name = %(scope)s AND (page.scope, page.id) > (scope.id, %(after)s)
    ORDER BY page.scope, page.id LIMIT 1000
    """

    def __init__(self, server: Server, *, create: bool = True) -> None:
        self._server, self._create = server, create
        self.name, self.lease = server.name, server.lease
        self._owner = secrets.randbits(63)
        # One for all calls: to make one for each takes a quarter of the time of a call.
        self._cursor: psycopg.Cursor[Any] | None = None
        self._connect()

    def append(self, known: State, record: Record, through: int, seconds: float | None) -> News:
        head = base.head_of(record)
        asked = (
            as_bytes(known.scope),
            known.last,
            known.epoch,
            through,
            known.epoch or base.new_epoch(),
            _id(record.run),
            SETTLED if record.settled else 0,
            float(record.last_seen),
            head,
            base.pack(record),
        )
        ((number, first, epoch, old),) = self._rows(_APPEND, asked, prepare=True)
        if number is None:
            return self.news(known)
        heads = (old or b"") + number.to_bytes(8, "big") + head
        return News(State(known.scope, number, epoch), first, heads, number)

    def news(self, known: State) -> News:
        for last, first, epoch, heads in self._rows(_NEWS, _known(known), prepare=True):
            return News(State(known.scope, last, epoch), first, heads or b"")
        return News(State(known.scope))

    def trim(self, scope: str, through: int) -> None:
        self._rows(_TRIM, {"scope": as_bytes(scope), "through": through})

    def load(self, known: State, numbers: Sequence[int]) -> Loaded:
        asked = _known(known) | {"numbers": _array(numbers)}
        rows = self._rows(_LOAD, asked, prepare=True)
        found = {
            number: Row(known.scope, mark, seen, body, life or "dead")
            for *_, number, mark, seen, body, life in rows
            if number is not None
        }
        last, first, epoch, heads = rows[0][:4] if rows else (0, 0, 0, b"")
        here = State(known.scope, last, epoch)
        news = None if here == known else News(here, first, heads or b"")
        return news, [found.get(number) for number in numbers]

    def change(self, scope: str, numbers: Sequence[int], mark: int, seen: float) -> None:
        self._rows(_CHANGE, {"numbers": _array(numbers), "mark": mark, "seen": float(seen)})

    def remove(self, known: State, numbers: Sequence[int]) -> State:
        for last, epoch in self._rows(_REMOVE, _known(known) | {"numbers": _array(numbers)}):
            if self._rows(_EMPTY, _known(State(known.scope, last, epoch))):
                break
            return known._replace(epoch=epoch) if epoch == known.epoch + 1 else known
        return State(known.scope)

    def begin(self, run: str, *, anew: bool = False) -> bool:
        return bool(self._rows(_BEGIN, self._of_run(run) | {"anew": anew}))

    def renew(self, run: str) -> bool:
        return bool(self._rows(_RENEW, self._of_run(run)))

    def end(self, run: str) -> bool:
        return bool(self._rows(_END, self._of_run(run)))

    def life(self, run: str) -> Life:
        rows = self._rows(_LIFE, self._of_run(run))
        return rows[0][0] if rows else "dead"

    def bury(self) -> None:
        for (run,) in self._rows(_FIND_DEAD):
            asked = {"run_id": run}
            self._rows(_BURY, asked)
            self._rows("DELETE FROM run WHERE id = %(run_id)s AND state = 'dead'", asked)

    def close(self) -> None:
        if self._cursor is not None:
            with suppress(StoreError):  # leases run out by themselves
                self._rows(_RELEASE, {"owner": self._owner})
            self._disconnect()

    def _disconnect(self) -> None:
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            cursor.connection.close()

    def _of_run(self, run: str) -> dict[str, Any]:
        lease = timedelta(seconds=self._server.lease)
        return {"run_id": _id(run), "owner": self._owner, "lease": lease}

    def _rows(
        self,
        ask: str,
        asked: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        prepare: bool | None = None,
    ) -> list[tuple[Any, ...]]:
        """Ask the server. Raises StoreError for whatever goes wrong."""
        if self._cursor is None:
            self._connect()
            self.connections += 1
        assert self._cursor is not None
        try:
            cursor = self._cursor.execute(ask, asked, prepare=prepare)
            # `description` makes an object for each column.
            return cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []
        except psycopg.Error as error:
            if error.sqlstate is None or self._cursor.connection.closed:
                self._disconnect()
            raise failure(self._server, error) from error
        except BaseException:  # interrupted: who knows in which state
            self._disconnect()
            raise

    def _connect(self) -> None:
        """Open a connection in autocommit mode, its schema made.

        Raises StoreUnavailable if the server can't be reached, StoreError if it can't be used, or
        if there is no such schema and none is to be made.
        """
        server = self._server
        settings = _SESSION | {
            "search_path": f'"{server.own["schema"].replace(chr(34), chr(34) * 2)}"',
            "statement_timeout": str(max(1, round(server.timeout * 1000))),
            "synchronous_commit": "on" if server.own["durable"].lower() == "true" else "off",
        }
        try:
            connection = PatientConnection.connect(server.url, autocommit=True)
            connection.patience = server.timeout + 1  # the server's own time-out says more
            # Whatever their size: else statements are prepared for each of several sizes.
            connection.adapters.register_dumper(int, Int8BinaryDumper)
            self._cursor = connection.cursor(binary=True)
            self._check_server(connection.info)
            self._rows(_CONFIGURE, {"names": [*settings], "values": [*settings.values()]})
            self._make(connection)
        except BaseException as error:
            self._disconnect()
            if isinstance(error, psycopg.Error):
                raise failure(server, error) from error
            raise

    def _check_server(self, info: psycopg.ConnectionInfo) -> None:
        """Refuse a server that can't do it, and a pooler that gives this connection no session.

        A pooler invents the process id that it tells its clients. One that pools transactions gives
        the session of this idle connection to the next one that asks.
        """
        version, encoding = info.server_version, info.parameter_status("server_encoding")
        if version < OLDEST_SERVER:
            what = f"the server has version {version // 10_000}; 14 or later is needed"
            raise StoreError(f"{self.name}: {what}")
        if encoding != "UTF8":
            what = f"the database is encoded in {encoding}; make one with ENCODING 'UTF8'"
            raise StoreError(f"{self.name}: {what}")
        ask = "SELECT pg_backend_pid()"
        own = self._rows(ask)[0]
        if own == (info.backend_pid,):
            return
        with psycopg.connect(self._server.url, autocommit=True, prepare_threshold=None) as other:
            if own in [other.execute(ask).fetchone() for _ in range(3)]:
                raise StoreError(
                    f"{self.name}: a pooler stands before the server, and gives no session of its"
                    " own; set pool_mode = session there, or connect to the server itself"
                )

    def _make(self, connection: PatientConnection) -> None:
        """Make the schema where there is none, all of it or nothing.

        Crawlers that start at once take turns; where nothing is to be done, nobody waits.
        """
        schema = self._server.own["schema"]
        if self._is_made():
            return
        if not self._create:
            raise StoreMissing(f"{self.name}: there is no store in schema {schema!r}")
        with connection.transaction():
            asked = {"schema": schema}
            self._rows("SELECT pg_advisory_xact_lock(hashtextextended(%(schema)s, 23))", asked)
            if self._is_made():
                return
            # Who may not make schemas can use one that is there.
            if not self._rows("SELECT 1 FROM pg_namespace WHERE nspname = %(schema)s", asked):
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            self._rows(f"CREATE TABLE simhash_gate_schema AS SELECT {VERSION} AS version")
            script = files(__package__).joinpath("postgres.sql").read_text("utf-8")
            connection.execute(sql.SQL(script))

    def _is_made(self) -> bool:
        """Tell whether the schema is there. Raises StoreError for one of another version."""
        schema = self._server.own["schema"]
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
    """Return numbers as PostgreSQL reads an array: psycopg would ask each for its size."""
    return "{" + ",".join(map(str, numbers)) + "}"


def _known(state: State) -> dict[str, Any]:
    return {"scope": as_bytes(state.scope), "last": state.last, "epoch": state.epoch}


def _id(run: str) -> int:
    return signed(base.hash64(run))


def read_url(url: str) -> Server:
    """Read `postgresql://user:password@host/db?schema=...&timeout=...&lease=...&durable=...`.

    With `durable`, each commit is on disk before it is answered. All other parameters are libpq's.
    The URL that comes back is a connection string. Raises StoreError that names what is wrong.
    """
    try:
        server = read_server("PostgreSQL", url, schema="simhash_gate", durable="false")
        schema = server.own["schema"]
        if not 0 < len(schema.encode("utf-8", "replace")) <= _LONGEST_NAME or "\0" in schema:
            raise ValueError(f"schema is a name of 1 to {_LONGEST_NAME} bytes")
        if server.own["durable"].lower() not in ("true", "false"):
            raise ValueError("durable is true or false")
        patience: dict[str, Any] = {
            "connect_timeout": max(2, round(server.timeout)),  # libpq takes no less
            "tcp_user_timeout": round(server.timeout * 1000),
            "application_name": "simhash-gate",
            "client_encoding": "UTF8",
        }
        given = psycopg.conninfo.conninfo_to_dict(server.url)
        return server._replace(url=psycopg.conninfo.make_conninfo("", **patience | given))
    except (ValueError, psycopg.Error) as error:
        raise refusal(url, f"{_one_line(error)}; use {FORM}") from None


class PatientConnection(psycopg.Connection[Any]):
    """A connection that waits no longer than `patience` seconds for an answer.

    The server keeps its own time, but says nothing when it hangs, or what is between hangs.
    """

    patience: float | None = None

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Run one exchange with the server. Raises psycopg.OperationalError when time is out."""
        return super().wait(gen, *args, **{"timeout": self.patience} | kwargs)


def failure(server: Server, error: psycopg.Error) -> StoreError:
    """Say in one line what went wrong, and whether trying again later is worth it."""
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
        what += f"; let the user create and use schema {server.own['schema']!r}"
    elif state.startswith("42"):
        what += "; its tables may be damaged, or another application's: name another schema"
        what += " in the URL (?schema=...)"
    return StoreError(what)


def _one_line(error: Exception) -> str:
    message = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    return " ".join(message.split()) or type(error).__name__
