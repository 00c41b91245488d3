"""The client under a Redis store: which server a URL names, and what its failures mean."""

from __future__ import annotations

import os
import re
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.connection import parse_url as untyped_parse_url
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 - as everyone who knows redis-py calls it
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004
)
from redis.retry import Retry
from redis.sentinel import Sentinel

from simhash_gate.stores.base import StoreError, StoreUnavailable
from simhash_gate.stores.urls import lease_and_timeout, take_parameters, without_password

if TYPE_CHECKING:
    from collections.abc import Callable

# redis-py has types for some of it only.
cluster_node: Any = ClusterNode
sentinel: Any = Sentinel
parse_url: Any = untyped_parse_url

PREFIX = "simhash_gate:"

_ONE_HOST = ("host", "connection_class")
_PORTS = {"cluster": 6379, "sentinel": 26379}
_NO_PORT = "its port is no number; write / ? # @ in a password as %2F %3F %23 %40"
_NOT_ALLOWED = (AuthenticationError, AuthorizationError, NoPermissionError)
_UNAVAILABLE = (
    ConnectionError,
    TimeoutError,
    ClusterDownError,
    RedisClusterException,
    OutOfMemoryError,
    ReadOnlyError,
)
# What a script stumbles on comes as text in some versions, as an error of its kind in others.
_PASSING = re.compile(
    r"\b(OOM|MISCONF|LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS)\b"
)
_REFUSED = re.compile(r"\b(WRONGPASS|NOAUTH|NOPERM|invalid username-password|invalid password)\b")
_FOREIGN = re.compile(r"\b(WRONGTYPE|FOREIGN)\b|bad argument")


class Address(NamedTuple):
    """What a store URL says: the server as redis-py writes it, and what is the store's own.

    `lease` and `timeout` are in seconds.
    """

    url: str
    shown: str
    prefix: str
    lease: float
    timeout: float


def read_address(url: str) -> Address:
    """Take a store URL apart. Raises StoreError for a value that can't be used."""
    shown = without_password(url)
    server, own = take_parameters(url, ("prefix", "lease", "timeout"))
    prefix = own.get("prefix", PREFIX)
    if "{" in prefix or "}" in prefix:
        raise StoreError(f"Redis store {shown}: take a prefix without braces")
    try:
        lease, timeout = lease_and_timeout(own)
    except ValueError as error:
        raise StoreError(f"Redis store {shown}: {error}") from None
    return Address(server, shown, prefix, lease, timeout)


def connect(address: Address, on_connect: Callable[[], None]) -> Redis | RedisCluster:
    """Return a client for the server of a URL; `on_connect` is called after each connecting.

    It asks nothing twice: who asks again can't know whether the first answer got lost, and would
    meet their own page. Raises StoreError for a URL that names no server.
    """

    def connected(connection: Any) -> None:
        connection.on_connect()
        on_connect()

    settings: dict[str, Any] = {
        "socket_timeout": address.timeout,
        "socket_connect_timeout": address.timeout,
        "retry": Retry(NoBackoff(), 0),
        "redis_connect_func": connected,
        "protocol": 2,
    }
    kind = urlsplit(address.url).scheme.partition("+")[2]
    try:
        if not kind:
            return Redis.from_url(address.url, **settings)
        hosts, path, named = _hosts(address.url, _PORTS[kind])
        settings |= named
        if kind == "cluster":
            nodes = [cluster_node(host, port) for host, port in hosts]
            return RedisCluster(startup_nodes=nodes, **settings)
        service, _, database = path.partition("/")
        if not service:
            raise ValueError("the name of the service follows the hosts")
        settings["db"] = int(database or 0)
        client: Redis = sentinel(hosts, **settings).master_for(service)
    except (ValueError, TypeError) as error:
        # What is taken for a port may be part of a password.
        why = _NO_PORT if str(error).startswith("Port ") else error
        raise StoreError(f"Redis store {address.shown}: {why}") from None
    return client


class Line:
    """One connection that is kept for the calls of each page.

    What redis-py's client does around a command takes as long as the server does to answer it. A
    process that was forked off leaves it to its parent, and takes one of its own.
    """

    def __init__(self, client: Redis) -> None:
        self._pool: Any = client.connection_pool
        self._connection: Any = None
        self._lock = Lock()
        self._process = os.getpid()

    def evalsha(self, sha: str, key: str, *arguments: bytes) -> Any:
        """Run a script on one key. Raises what redis-py does; the next call connects anew."""
        command = _command(b"EVALSHA", sha.encode(), b"1", key.encode(), *arguments)
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), Lock()
            self._drop()
        with self._lock:
            connection = self._ready()
            try:
                connection.send_packed_command([command])
                return connection.read_response(disable_decoding=True)
            except ResponseError:
                raise
            except BaseException:  # the answer may still come, and must not be that of the next
                self._drop()
                raise

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            self._drop()

    def _ready(self) -> Any:
        """Return the connection, another one if the server has closed it in the meantime."""
        try:
            # What can be read is the end of the connection, for nothing was asked.
            if self._connection is not None and self._connection.can_read():
                self._drop()
        except (RedisError, OSError):
            self._drop()
        if self._connection is None:
            self._connection = self._pool.get_connection()
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.disconnect()
            self._pool.release(connection)


def _command(*parts: bytes) -> bytes:
    """Return a command as the server reads it."""
    lines = [b"*%d\r\n" % len(parts)]
    lines += [b"$%d\r\n%b\r\n" % (len(part), part) for part in parts]
    return b"".join(lines)


def failure(address: Address, error: Exception) -> StoreError:
    """Say in one line what went wrong with the server, and what to do."""
    text = " ".join(str(error).split()).rstrip(".")
    if _FOREIGN.search(text):
        why = "another application's keys are where the store's should be"
        return StoreError(f"Redis store {address.shown}: {why}; take another prefix= ({text})")
    if isinstance(error, _NOT_ALLOWED) or _REFUSED.search(text):
        return StoreError(f"Redis store {address.shown}: {text}; see to the user and the password")
    if isinstance(error, _UNAVAILABLE) or _PASSING.search(text):
        return StoreUnavailable(f"Redis store {address.shown}: {text or type(error).__name__}")
    return StoreError(f"Redis store {address.shown}: {text}")


def _hosts(url: str, port: int) -> tuple[list[tuple[str, int]], str, dict[str, Any]]:
    """Return the hosts of a URL, its path, and what it says to every connection."""
    parts = urlsplit(url)
    user, _, names = parts.netloc.rpartition("@")
    servers = [urlsplit(f"//{name}") for name in names.split(",")]
    hosts = [(server.hostname or "localhost", server.port or port) for server in servers]
    scheme = parts.scheme.partition("+")[0]
    parsed = parse_url(f"{scheme}://{user and user + '@'}localhost?{parts.query}")
    named = {name: value for name, value in parsed.items() if name not in _ONE_HOST}
    return hosts, unquote(parts.path.strip("/")), named | {"ssl": scheme == "rediss"}


__all__ = [
    "PREFIX",
    "Address",
    "Line",
    "NoScriptError",
    "Redis",
    "RedisError",
    "connect",
    "failure",
    "read_address",
]
