"""The client under a Redis store: which server a URL names, and what its failures mean."""

from __future__ import annotations

import re
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
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    TimeoutError,  # noqa: A004
)
from redis.retry import Retry
from redis.sentinel import Sentinel

from simhash_gate.stores.base import StoreError, StoreUnavailable
from simhash_gate.stores.urls import read_server, refusal, without_password

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

    `name` is that of the store in messages; `lease` and `timeout` are in seconds.
    """

    url: str
    name: str
    prefix: str
    lease: float
    timeout: float


def read_address(url: str) -> Address:
    """Take a store URL apart. Raises StoreError for a value that can't be used."""
    try:
        server = read_server(url, "prefix")
    except ValueError as error:
        raise refusal(url, str(error)) from None
    prefix = server.own.get("prefix", PREFIX)
    if "{" in prefix or "}" in prefix:
        raise refusal(url, "take a prefix without braces")
    name = f"Redis store {without_password(url)}"
    return Address(server.url, name, prefix, server.lease, server.timeout)


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
    try:
        client = _client(address.url, settings)
        client.ping()
    except (RedisError, OSError) as error:
        raise failure(address, error) from error
    except (ValueError, TypeError) as error:  # redis-py passes on whatever parameters a URL has
        # What is taken for a port may be part of a password.
        why = _NO_PORT if str(error).startswith("Port ") else error
        raise StoreError(f"{address.name}: {why}") from None
    return client


def failure(address: Address, error: Exception) -> StoreError:
    """Say in one line what went wrong with the server, and what to do."""
    text = " ".join(str(error).split()).rstrip(".")
    what = f"{address.name}: {text or type(error).__name__}"
    if _FOREIGN.search(text):
        why = "another application's keys are where the store's should be"
        return StoreError(f"{address.name}: {why}; take another prefix= ({text})")
    if isinstance(error, _NOT_ALLOWED) or _REFUSED.search(text):
        return StoreError(f"{what}; see to the user and the password")
    if isinstance(error, _UNAVAILABLE) or _PASSING.search(text):
        return StoreUnavailable(what)
    return StoreError(what)


def _client(url: str, settings: dict[str, Any]) -> Redis | RedisCluster:
    kind = urlsplit(url).scheme.partition("+")[2]
    if not kind:
        return Redis.from_url(url, **settings)
    hosts, path, named = _hosts(url, _PORTS[kind])
    settings |= named
    if kind == "cluster":
        nodes = [cluster_node(host, port) for host, port in hosts]
        return RedisCluster(startup_nodes=nodes, **settings)
    service, _, database = path.partition("/")
    if not service:
        raise ValueError("the name of the service follows the hosts")
    settings["db"] = int(database or 0)
    client: Redis = sentinel(hosts, **settings).master_for(service)
    return client


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
