"""Redis or Valkey: a scope is one hash and one string, and whatever is done to it one script."""

from __future__ import annotations

import logging
import os
import re
import struct
import time
from functools import lru_cache, partial
from heapq import merge
from importlib.resources import files
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import numpy as np
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

from simhash_gate.common.encoded import as_bytes, as_text
from simhash_gate.stores.base import (
    HEAD_BYTES,
    SITE_MEMORY,
    Blob,
    Record,
    StoreError,
    StoreUnavailable,
    hash64,
    head_of,
    pack,
    unpack,
)
from simhash_gate.stores.driver import (
    DEAD,
    DURABLE,
    NEVER,
    SETTLED,
    Driver,
    News,
    Row,
    Run,
    State,
    new_epoch,
)
from simhash_gate.stores.urls import read_server, refusal, without_password

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simhash_gate.stores.driver import Mark

logger = logging.getLogger(__name__)

_ERRORS = (RedisError, RedisClusterException, OSError)
_ROW = 8 + HEAD_BYTES
_RUN = 6  # which of the numbers of a row is the hash of its run
_AT_ONCE = 500  # pages or blobs
_SITE_SECONDS = 90 * 24 * 3600  # what sites repeat is as large as all pages of a small site
_ADDED = struct.Struct(">d")  # before each body: when the page was added, by its crawler's clock
_OF_BLOB = struct.Struct(">dI")  # when it was true last, and its size
_NAMELESS = "%-"  # the scope "" in a key: what is between empty braces is no hash tag
_SWAP = """
local there = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if ARGV[2] == '1' and there ~= ARGV[3] then return there end
for number, key in ipairs(KEYS) do
    local value = ARGV[3 + number]
    if ARGV[4] == '' then
        redis.call('HDEL', key, ARGV[1])
    else
        redis.call('HSET', key, ARGV[1], value)
        if ARGV[6] ~= '0' then redis.call('EXPIRE', key, ARGV[6]) end
    end
end
return false
"""

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


class RedisDriver(Driver):
    """Keeps pages on the Redis server of an address.

    A run lives as long as its lease, a key that expires. In a cluster, the keys of a scope lie on
    one node, and those of runs on another: whether the run of a page lives is asked apart.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self.name, self.lease = address.name, address.lease
        self._milliseconds = int(address.lease * 1000)
        self._owner = os.urandom(8)
        self._client: Any = connect(address, self._connected)
        script = files(__package__).joinpath("redis.lua").read_text("utf-8")
        self._scope_script = self._client.register_script(script)
        self._swap_script = self._client.register_script(_SWAP)
        self._warned = False

    def append(
        self, scope: str, state: State, record: Record, through: int, seconds: float | None
    ) -> State | News:
        """Add a page."""
        answer = self._ask(
            scope,
            state,
            "append",
            head_of(record),
            _ADDED.pack(time.time()) + pack(record),
            SETTLED if record.settled else 0,
            through,
            0 if state.last else new_epoch(),
            0 if seconds is None else int(min(seconds, 1e9) * 1000),
        )
        return answer if isinstance(answer, News) else State(int(answer[0]), int(answer[1]))

    def load(self, scope: str, state: State, numbers: Sequence[int]) -> list[Row | None] | News:
        """Return pages."""
        answer = self._ask(scope, state, "load", *numbers)
        return answer if isinstance(answer, News) else [_row(scope, *each) for each in answer[0]]

    def change(
        self, scope: str, state: State, numbers: Sequence[int], mark: Mark, seen: float
    ) -> News | None:
        """Mark pages."""
        later = ""
        if seen > NEVER:
            rows = self.load(scope, state, numbers)
            if isinstance(rows, News):
                return rows
            later = repr(seen)
            pairs = zip(numbers, rows, strict=True)
            numbers = [number for number, row in pairs if row and row.record.last_seen < seen]
        answer = self._ask(scope, state, "change", mark, later, *numbers)
        return answer if isinstance(answer, News) else None

    def remove(self, scope: str, state: State, numbers: Sequence[int]) -> State | News:
        """Remove pages."""
        rows = self._heads(scope)
        rows = rows[~np.isin(rows[:, 0], np.array(numbers, np.uint64))]
        heads = rows.tobytes()
        answer = self._ask(scope, state, "remove", new_epoch(), len(heads), heads, *numbers)
        return answer if isinstance(answer, News) else State(int(answer[0]), int(answer[1]))

    def rows(self, scope: str | None) -> Iterator[Row]:
        """Yield pages; over all scopes, the order is that of the crawlers' clocks."""
        scopes = self._scopes("scope") if scope is None else [scope]
        for _, row in merge(*map(self._rows_of, scopes), key=itemgetter(0)):
            yield row

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        """Take the lease of a run."""
        self._warn()
        live, ended, lease, name = self._keys_of(run)
        if not anew and self._call(self._client.zscore, ended, name) is not None:
            return False
        take = partial(self._client.set, px=self._milliseconds, nx=not anew)
        taken = self._call(take, lease, self._owner)
        if not taken and self._call(self._client.get, lease) != self._owner:
            return False  # else the answer to the first attempt got lost
        self._call(self._client.zadd, live, {name: at})
        self._call(self._client.zrem, ended, name)
        return True

    def renew(self, run: str) -> bool:
        """Renew the lease of a run."""
        lease = self._keys_of(run)[2]
        renew = partial(self._client.set, px=self._milliseconds, xx=True)
        return bool(self._call(renew, lease, self._owner))

    def end(self, run: str) -> bool:
        """Let the pages of a run count, whatever becomes of its lease."""
        live, ended, lease, name = self._keys_of(run)
        known = self.run(run)
        if known.state == "dead":
            return False
        self._call(self._client.zadd, ended, {name: known.begun})
        self._call(self._client.zrem, live, name)
        self._call(self._client.delete, lease)
        return True

    def release(self, run: str) -> None:
        """Let go of the lease of a run."""
        self._call(self._client.delete, self._keys_of(run)[2])

    def run(self, run: str) -> Run:
        """Return what is known of a run."""
        live, ended, lease, name = self._keys_of(run)
        asked = self._client.pipeline(transaction=False)
        asked.zscore(ended, name).exists(lease).zscore(live, name)
        over, lives, begun = self._call(asked.execute)
        if over is not None:
            return Run("ended", over)
        return Run("live", begun) if lives and begun is not None else DEAD

    def bury(self) -> None:
        """Remove what dead runs left of all scopes."""
        live = f"{self._address.prefix}{{runs}}:live"
        names = self._call(self._client.zrange, live, 0, -1)
        dead = [name for name in names if not self._call(self._client.exists, self._lease(name))]
        if not dead:
            return
        numbers = np.array([int(name, 16) for name in dead], np.uint64)
        for scope in self._scopes("scope"):
            while not self._bury_in(scope, numbers):
                pass
        self._call(self._client.zrem, live, *dead)

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        """Return what is kept."""
        return self._call(self._client.hget, self._keys(kind, scope)[0], as_bytes(key)) or b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        """Put data in place of others."""
        asked = [
            as_bytes(blob.key),
            int(old is not None),
            old or b"",
            blob.data,
            _OF_BLOB.pack(blob.at, len(blob.data)),
            _SITE_SECONDS if blob.kind == SITE_MEMORY else 0,
        ]
        there: bytes | None = self._call(
            self._swap_script, self._keys(blob.kind, blob.scope), asked
        )
        return there

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        """Yield what is kept."""
        for name in self._scopes(kind) if scope is None else [scope]:
            values, heads = self._keys(kind, name)
            read, cursor, yielded = heads, None, set()
            while cursor != 0:
                scan = partial(self._client.hscan, read, cursor or 0, count=_AT_ONCE)
                cursor, some = self._call(scan)
                keys = [key for key in some if key not in yielded]
                yielded.update(keys)
                found = self._call(self._client.hmget, values, keys) if data and keys else ()
                for key, read_data in zip(keys, found or [b""] * len(keys), strict=True):
                    at, size = _OF_BLOB.unpack(some[key])
                    if not data or read_data is not None:
                        yield Blob(kind, name, as_text(key), read_data, at, size=size)

    def close(self) -> None:
        """Let go of the server."""
        self._client.close()

    def _connected(self) -> None:
        self.connections += 1

    def _call(self, command: Callable[..., Any], *arguments: Any) -> Any:
        """Ask the server. Raises StoreError for whatever goes wrong."""
        try:
            return command(*arguments)
        except _ERRORS as error:
            raise failure(self._address, error) from error

    def _ask(self, scope: str, state: State, operation: str, *arguments: Any) -> Any:
        """Run the script on a scope; return its answer, or what is new there."""
        asked = [state.last, state.epoch, operation, *arguments]
        answer = self._call(self._scope_script, self._keys("scope", scope), asked)
        if len(answer) != _NEWS:
            return answer
        last, first, epoch, heads = answer
        here = State(int(last), int(epoch))
        return News(here, int(first), heads, here.epoch != state.epoch)

    def _heads(self, scope: str) -> Any:
        """Return the numbers and heads of a scope, a row each."""
        heads = self._call(self._client.get, self._keys("scope", scope)[1]) or b""
        return np.frombuffer(heads, ">u8").reshape(-1, _ROW // 8)

    def _rows_of(self, scope: str) -> Iterator[tuple[float, Row]]:
        """Yield the pages of a scope, and when each was added."""
        pages, _ = self._keys("scope", scope)
        numbers = self._heads(scope)[:, 0].tolist()
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            fields = [f"{what}{number}" for number in some for what in ("", "m", "s")]
            found = self._call(self._client.hmget, pages, fields)
            for at in range(0, len(found), 3):
                row = _row(scope, *found[at : at + 3])
                if row is not None:
                    yield _ADDED.unpack_from(found[at])[0], row

    def _bury_in(self, scope: str, runs: Any) -> bool:
        """Remove the pages of dead runs from a scope; False if somebody changed it meanwhile."""
        pages, _ = self._keys("scope", scope)
        last, epoch = self._call(self._client.hmget, pages, "last", "epoch")
        rows = self._heads(scope)
        numbers = rows[np.isin(rows[:, _RUN], runs), 0].tolist()
        fields = [f"m{number}" for number in numbers]
        marks = self._call(self._client.hmget, pages, fields) if fields else ()
        pairs = zip(numbers, marks, strict=True)
        gone = [number for number, mark in pairs if int(mark or 0) < DURABLE]
        if not gone or last is None:
            return True
        return isinstance(self.remove(scope, State(int(last), int(epoch)), gone), State)

    def _scopes(self, kind: str) -> list[str]:
        """Return all scopes of which the server has something of a kind; in no order."""
        prefix = self._address.prefix
        escaped = "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in prefix)
        scan = partial(self._client.scan_iter, f"{escaped}{kind}:{{*}}", count=1000, _type="hash")
        keys = self._call(lambda: set(scan()))
        start = len(as_bytes(f"{prefix}{kind}:")) + 1
        names = (key[start:-1].decode() for key in keys)
        return [
            "" if name == _NAMELESS else unquote(name, errors="surrogatepass") for name in names
        ]

    def _keys(self, kind: str, scope: str) -> list[str]:
        """Return the keys of what there is of a kind and of its heads, in a cluster on one node."""
        return [f"{self._address.prefix}{kind}{part}:{_tag(scope)}" for part in ("", "-heads")]

    def _keys_of(self, run: str) -> tuple[str, str, str, bytes]:
        name = b"%016x" % hash64(run)
        runs = f"{self._address.prefix}{{runs}}"
        return f"{runs}:live", f"{runs}:ended", self._lease(name), name

    def _lease(self, name: bytes) -> str:
        return f"{self._address.prefix}{{runs}}:lease:{name.decode()}"

    def _warn(self) -> None:
        """Warn once of settings by which the server forgets, where it tells its settings."""
        if self._warned:
            return
        self._warned = True
        told: dict[str, str] = {}
        try:
            for name in ("save", "appendonly", "maxmemory-policy"):  # Redis 6.2 takes one at once
                told |= self._client.config_get(name)
        except _ERRORS:
            return  # not allowed, as a rule
        if not told.get("save", "x") and told.get("appendonly") == "no":
            logger.warning(
                "%s: the server keeps nothing on disk (`save` is empty, `appendonly` is no). After "
                "a restart, pages of earlier crawls pass once more. Set appendonly yes",
                self.name,
            )
        if (policy := told.get("maxmemory-policy", "noeviction")) != "noeviction":
            logger.warning(
                "%s: with full memory the server forgets whole scopes (`maxmemory-policy` is %s), "
                "and their duplicates pass. Set maxmemory-policy noeviction",
                *(self.name, policy),
            )


_NEWS = 4  # parts that the script answers with where something is new


@lru_cache(4096)
def _tag(scope: str) -> str:
    return f"{{{quote(scope, safe='', errors='surrogatepass') or _NAMELESS}}}"


def _row(scope: str, body: bytes | None, mark: bytes | None, seen: bytes | None) -> Row | None:
    if body is None:
        return None
    record = unpack(scope, body[_ADDED.size :])
    return Row(record if seen is None else record.seen(float(seen)), int(mark or 0))


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
    except _ERRORS as error:
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
