"""The connection under a PostgreSQL store: URL, session, schema, and what errors mean."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.types.composite import CompositeInfo, register_composite

from simhash_gate.stores.base import StoreError, StoreMissing, StoreUnavailable
from simhash_gate.stores.urls import Server, read_server, refusal, without_password

if TYPE_CHECKING:
    from collections.abc import Generator

FORM = "postgresql://user:password@host/database?schema=NAME&timeout=SECONDS&lease=SECONDS&durable=true"
SCHEMA = "simhash_gate"
VERSION = 8
"""Of the tables and functions in `schema.sql`."""
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
        answer = CompositeInfo.fetch(connection, "answer")
        assert answer is not None
        register_composite(answer, connection)
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
        connection.execute(sql.SQL(files(__package__).joinpath("schema.sql").read_text("utf-8")))


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
