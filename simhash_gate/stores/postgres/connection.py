"""The connection under a PostgreSQL store: URL, session, schema, and what errors mean."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg import generators, sql
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, Format

from simhash_gate.stores.base import StoreError, StoreUnavailable
from simhash_gate.stores.urls import lease_and_timeout, take_parameters, without_password

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

FORM = "postgresql://user:password@host/database?schema=NAME&timeout=SECONDS&lease=SECONDS&durable=true"
SCHEMA = "simhash_gate"
OLDEST_SERVER = 140000
_BINARY = Format.BINARY
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
}


@dataclass(frozen=True)
class Address:
    """A store URL taken apart: what psycopg is told, and the store's own parameters.

    `shown` has no password. `timeout` and `lease` are in seconds; with `durable` each commit is on
    disk before it is answered.
    """

    conninfo: str
    shown: str
    schema: str
    timeout: float
    lease: float
    durable: bool


def read_address(url: str) -> Address:
    """Read `postgresql://user:password@host/db?schema=...&timeout=...&lease=...&durable=...`.

    All other parameters are libpq's. Raises StoreError that names what is wrong.
    """
    shown = without_password(url)

    def refuse(why: str) -> StoreError:
        return StoreError(f"store URL {shown!r}: {why}; use {FORM}")

    server, own = take_parameters(url, ("schema", "timeout", "lease", "durable"))
    schema = own.get("schema", SCHEMA)
    if not 0 < len(schema.encode("utf-8", "replace")) <= _LONGEST_NAME or "\0" in schema:
        raise refuse(f"schema is a name of 1 to {_LONGEST_NAME} bytes")
    try:
        lease, timeout = lease_and_timeout(own)
    except ValueError as error:
        raise refuse(str(error)) from None
    durable = own.get("durable", "false").lower()
    if durable not in ("true", "false"):
        raise refuse("durable is true or false")
    try:
        given = psycopg.conninfo.conninfo_to_dict(server)
    except psycopg.Error as error:
        raise refuse(_one_line(error)) from None
    patience: dict[str, Any] = {
        "connect_timeout": max(2, round(timeout)),  # libpq takes no less
        "tcp_user_timeout": round(timeout * 1000),
        "application_name": "simhash-gate",
        "client_encoding": "UTF8",
    }
    conninfo = psycopg.conninfo.make_conninfo("", **{**patience, **given})
    return Address(conninfo, shown, schema, timeout, lease, durable == "true")


class Prepared(NamedTuple):
    """A statement that gives one value, and the types of what it is asked with."""

    types: str
    statement: str


class PatientConnection(psycopg.Connection[Any]):
    """A connection that waits no longer than `patience` seconds for an answer.

    The server keeps its own time, but says nothing when it hangs, or what is between hangs.
    """

    patience = float("inf")
    _asking: psycopg.Cursor[Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names: dict[Prepared, bytes] = {}

    def prepared_value(self, prepared: Prepared, asked: Sequence[bytes | None]) -> bytes | None:
        """Return the value that a statement gives; it and what is asked with are in binary form.

        There is no cursor: with one, the crawler would work half as long again.
        """
        name = self._names.get(prepared)
        if name is None:
            name = f"asked_{len(self._names)}".encode()
            self.execute(f"PREPARE {name.decode()} ({prepared.types}) AS {prepared.statement}")
            self._names[prepared] = name
        self.pgconn.send_query_prepared(name, asked, [_BINARY] * len(asked), _BINARY)
        result = self.wait(generators.execute(self.pgconn))[-1]
        if result.status != ExecStatus.TUPLES_OK:
            raise error_from_result(result)
        value: bytes | None = result.get_value(0, 0)
        return value

    def ask(
        self, statement: str, asked: Sequence[Any] | dict[str, Any], *, prepare: bool | None
    ) -> list[tuple[Any, ...]]:
        """Return the rows of an answer. One cursor serves all: making one is not for nothing."""
        if self._asking is None:
            self._asking = self.cursor(binary=True)
        return self._asking.execute(statement, asked, prepare=prepare).fetchall()

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
    """Open a connection in autocommit mode, its schema made, or brought to the newest version.

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
        _migrate(connection, address, create=create)
    except psycopg.Error as error:
        close(connection)
        raise failure(address, error) from error
    except BaseException:
        close(connection)
        raise
    return connection


def close(connection: PatientConnection) -> None:
    """Close a connection, whatever state it is in."""
    with suppress(psycopg.Error, OSError):
        connection.close()


def failure(address: Address, error: psycopg.Error) -> StoreError:
    """Say in one line what went wrong, and whether trying again later is worth it."""
    what = f"PostgreSQL store {address.shown}: {_one_line(error)}"
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
            f"PostgreSQL store {address.shown}: the server has version {version // 10_000}; "
            f"14 or later is needed"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"PostgreSQL store {address.shown}: the database is encoded in {encoding}; "
            "make one with ENCODING 'UTF8'"
        )


def _migrate(connection: PatientConnection, address: Address, *, create: bool) -> None:
    """Run the numbered scripts that the schema has not seen, all or none.

    Crawlers that start at once take turns; where nothing is to be done, nobody waits.
    """
    scripts = sorted(
        (entry for entry in files(__package__).iterdir() if entry.name.startswith("schema_")),
        key=lambda entry: entry.name,
    )
    version = _version(connection, address, len(scripts))
    if version == len(scripts):
        return
    if version is None and not create:
        raise StoreError(
            f"PostgreSQL store {address.shown}: there is no store in schema {address.schema!r}"
        )
    schema = sql.Identifier(address.schema)
    with connection.transaction():
        lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 23))"
        connection.execute(lock, (address.schema,))
        version = _version(connection, address, len(scripts))
        if version is None:
            known = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
            if not connection.execute(known, (address.schema,)).fetchone():
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
            connection.execute("CREATE TABLE simhash_gate_schema (version integer NOT NULL)")
            connection.execute("INSERT INTO simhash_gate_schema VALUES (0)")
        for script in scripts[version or 0 :]:
            connection.execute(sql.SQL(script.read_text("utf-8")))
        connection.execute("UPDATE simhash_gate_schema SET version = %s", (len(scripts),))


def _version(connection: PatientConnection, address: Address, newest: int) -> int | None:
    """Return the version of the schema, None if it is not ours yet."""
    find = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'simhash_gate_schema'"
    if not connection.execute(find, (address.schema,)).fetchone():
        return None
    row = connection.execute("SELECT max(version) FROM simhash_gate_schema").fetchone()
    version = int(row[0] or 0) if row else 0
    if version > newest:
        raise StoreError(
            f"PostgreSQL store {address.shown}: schema {address.schema!r} has version {version}, "
            f"this simhash-gate knows {newest}; update simhash-gate, or name another schema"
        )
    return version
