"""Redis or Valkey: a scope is one hash and one string. A script changes both in one step."""

from __future__ import annotations

import logging
import re
import secrets
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from hashlib import sha1
from importlib.resources import files
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import numpy as np
import redis
from redis import exceptions as errors

from simhash_gate.common.encoded import as_bytes, as_text
from simhash_gate.stores import base
from simhash_gate.stores.base import Blob, Record, Server, StoreError, StoreUnavailable
from simhash_gate.stores.driver import DURABLE, ROW_BYTES, SETTLED, Driver, Loaded, News, Row, State

logger = logging.getLogger(__name__)

_HINTS = 2  # the column of hints in a row of four; its third and fourth byte stand for the run
_AT_ONCE = 500  # pages or blobs that are read at once
_IDLE = 1.0  # seconds after which a connection is checked before it is used
_SITE_SECONDS = 90 * 24 * 3600  # site memory expires: it can be as large as the pages of a site
_GAVE = struct.Struct(">Q")
_PAGE = struct.Struct(">BdQ")  # mark, last seen, what it gave
_OF_BLOB = struct.Struct(">dI")  # time, size
_NAMELESS = "%-"  # the scope "" in a key: empty braces are no hash tag
redis_py: Any = redis  # redis-py has types for some of its parts only
_PORTS = {"cluster": 6379, "sentinel": 26379}
_ERRORS = (errors.RedisError, errors.RedisClusterException, OSError)
_NOT_ALLOWED = (errors.AuthenticationError, errors.AuthorizationError, errors.NoPermissionError)
_UNAVAILABLE = (errors.ConnectionError, errors.TimeoutError, errors.RedisClusterException)
# Errors inside a script come as text in some versions, as exceptions of their own in others.
_PASSING = re.compile(
    r"\b(OOM|MISCONF|LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS)\b"
    r"|ClusterDownError|MasterDownError|OutOfMemoryError|ReadOnlyError"
)
_REFUSED = re.compile(r"\b(WRONGPASS|NOAUTH|NOPERM|invalid username-password|invalid password)\b")
_TLS = re.compile(r"certificate verify|wrong.version.number", re.IGNORECASE)
_FOREIGN = re.compile(r"\b(WRONGTYPE|FOREIGN)\b|bad argument")


class RedisDriver(Driver):
    """Keeps pages on a Redis server. In a cluster, the keys of a scope lie on one node."""

    def __init__(self, server: Server) -> None:
        self.name, self.lease = server.name, server.lease
        self._owner = 0
        self._prefix = server.options["prefix"]
        self._client: Any = connect(server, self._connected)
        self._answered = time.monotonic()
        self._script = files(__package__).joinpath("redis.lua").read_bytes()
        self._digest = sha1(self._script, usedforsecurity=False).hexdigest()

    def append(self, earlier: State, record: Record, through: int, seconds: float | None) -> News:
        head = base.head_of(record)
        page = _PAGE.pack(SETTLED * record.settled, record.last_seen, record.gave)
        expiry = 0 if seconds is None else int(min(seconds, 1e9) * 1000)
        data = b"".join((head, page, base.pack(record)))
        news = self._ask(earlier, b"append", data, through, expiry)
        if not news.number:
            return news
        return news._replace(heads=news.heads + news.number.to_bytes(8, "big") + head)

    def news(self, earlier: State) -> News:
        return self._ask(earlier, b"news")

    def trim(self, scope: str, through: int) -> None:
        self._ask(State(scope), b"trim", b"", through)

    def load(self, earlier: State, numbers: Sequence[int]) -> Loaded:
        command = ("HMGET", self._keys("scope", earlier.scope)[0], b"state", *numbers)
        ((state, *pages),) = self._call(self._exchange, command)
        rows = [page and _row(earlier.scope, page) for page in pages]
        last, _, removals, _ = map(int, (state or b"0 0 0 0").split())
        return None if (last, removals) == earlier[1:] else self.news(earlier), rows

    def change(
        self, scope: str, numbers: Sequence[int], mark: int, seen: float, gave: int | None = None
    ) -> None:
        data = b"" if gave is None else _GAVE.pack(gave)  # numbers of Lua have 53 bits
        self._ask(State(scope), b"change", _listed(numbers), mark, repr(float(seen)), data)

    def remove(self, scope: str, numbers: Sequence[int]) -> State:
        return self._ask(State(scope), b"remove", _listed(numbers)).state

    def rows(self, scope: str | None) -> Iterator[Row]:
        for name in sorted(self._scopes("scope")) if scope is None else [scope]:
            yield from (row for _, row in self._pages(name, self._heads(name)))

    def pages_of(self, run: int) -> Iterator[tuple[str, Sequence[int]]]:
        for scope in self._scopes("scope"):
            heads = self._heads(scope)
            pages = self._pages(scope, heads[(heads[:, _HINTS] >> 16 & 0xFFFF) == run % 2**16])
            if numbers := [number for number, row in pages if _is_of(row, run)]:
                yield scope, numbers

    def claim(self) -> int:
        if not self._owner:
            self._owner = secrets.randbits(63)
            self._warn()
        return self._owner

    def clock(self) -> float:
        seconds, microseconds = self._call(self._evaluate, *self._keys(base.RUN, "live"), b"clock")
        return int(seconds) + int(microseconds) / 1e6

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        return self._call(self._client.hget, self._keys(kind, scope)[0], as_bytes(key)) or b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        values = (blob.data, _OF_BLOB.pack(blob.at, len(blob.data)))
        expiry = _SITE_SECONDS if blob.kind == base.SITE_MEMORY else 0
        args = (b"swap", as_bytes(blob.key), int(old is not None), old or b"", *values, expiry)
        keys = self._keys(blob.kind, blob.scope)
        current: bytes | None = self._call(self._evaluate, *keys, *args)
        return current

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        for name in self._scopes(kind) if scope is None else [scope]:
            values, heads = self._keys(kind, name)
            cursor, yielded = None, set()
            while cursor != 0:
                scan = partial(self._client.hscan, heads, cursor or 0, count=_AT_ONCE)
                cursor, heads_of_keys = self._call(scan)
                keys = [key for key in heads_of_keys if key not in yielded]
                yielded.update(keys)
                datas = self._call(self._client.hmget, values, keys) if data and keys else ()
                for key, value in zip(keys, datas or [b""] * len(keys), strict=True):
                    at, size = _OF_BLOB.unpack(heads_of_keys[key])
                    if value is not None:
                        yield Blob(kind, name, as_text(key), value, at, size=size)

    def close(self) -> None:
        self._client.close()

    def _connected(self) -> None:
        self.connections += 1

    def _call(self, command: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a command of the client. Raises StoreError for any failure."""
        connection = getattr(self._client, "connection", None)
        try:
            if connection and time.monotonic() - self._answered > _IDLE and _is_lost(connection):
                connection.disconnect()
            answer = command(*arguments, **options)
            self._answered = time.monotonic()
            return answer
        except _ERRORS as error:
            raise failure(self.name, error) from error

    def _exchange(self, *commands: tuple[Any, ...]) -> list[Any]:
        """Send commands together, and read all answers."""
        # The connection is used itself: the other layers of redis-py take as long as a call.
        connection = getattr(self._client, "connection", None)
        if connection is None:  # the client of a cluster has no connection of its own
            pipeline = self._client.pipeline()
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = pipeline.execute()
            return answers
        try:
            connection.send_packed_command(connection.pack_commands(commands))
            return [connection.read_response() for _ in commands]
        except BaseException as error:
            if len(commands) > 1 or not isinstance(error, errors.ResponseError):
                connection.disconnect()  # else the next call would read the answers that are left
            raise

    def _evaluate(self, *keys_and_arguments: Any) -> Any:
        args = (self._digest, 2, *keys_and_arguments)
        try:
            (answer,) = self._exchange(("EVALSHA", *args))
        except errors.NoScriptError:
            (answer,) = self._exchange(("EVAL", self._script, *args[1:]))
        return answer

    def _ask(self, earlier: State, verb: bytes, data: bytes = b"", *numbers: Any) -> News:
        """Run an action of the script on a scope. Return the news since an earlier state."""
        keys = self._keys("scope", earlier.scope)
        args = (verb, earlier.last, earlier.removals, data, *numbers)
        answer = self._call(self._evaluate, *keys, *args)
        number, last, first, removals, heads = answer.split(b" ", 4)
        return News(State(earlier.scope, int(last), int(removals)), int(first), heads, int(number))

    def _heads(self, scope: str) -> Any:
        heads = self._call(self._client.get, self._keys("scope", scope)[1]) or b""
        return np.frombuffer(heads, ">u8").reshape(-1, ROW_BYTES // 8)

    def _pages(self, scope: str, heads: Any) -> Iterator[tuple[int, Row]]:
        for start in range(0, len(heads), _AT_ONCE):
            numbers = heads[start : start + _AT_ONCE, 0].tolist()
            pages = self._call(self._client.hmget, self._keys("scope", scope)[0], numbers)
            found = zip(numbers, pages, strict=True)
            yield from ((number, _row(scope, page)) for number, page in found if page)

    def _scopes(self, kind: str) -> list[str]:
        start = f"{self._prefix}{kind}:{{"
        pattern = re.sub(r"([*?[\]\\])", r"\\\1", start) + "*}"
        keys = self._call(set, self._client.scan_iter(pattern, count=1000, _type="hash"))
        names = (key[len(as_bytes(start)) : -1].decode().replace(_NAMELESS, "") for key in keys)
        return [unquote(name, errors="surrogatepass") for name in names]

    def _keys(self, kind: str, scope: str) -> list[str]:
        """Return the key for the values of a kind and the key for its heads, on one node."""
        return [f"{self._prefix}{kind}{part}:{_tag(scope)}" for part in ("", "-heads")]

    def _warn(self) -> None:
        config: dict[str, str] = {}
        try:
            for name in ("save", "appendonly", "maxmemory-policy"):  # Redis 6.2 takes one at once
                config |= self._client.config_get(name)
        except _ERRORS:
            return  # not allowed, as a rule
        if not config.get("save", "x") and config.get("appendonly") == "no":
            logger.warning(
                "%s: the server keeps nothing on disk (`save` is empty, `appendonly` is no). After "
                "a restart, pages of earlier crawls pass once more. Set appendonly yes",
                self.name,
            )
        if (policy := config.get("maxmemory-policy", "noeviction")) != "noeviction":
            logger.warning(
                "%s: with full memory the server forgets whole scopes (`maxmemory-policy` is %s), "
                "and their duplicates pass. Set maxmemory-policy noeviction",
                self.name,
                policy,
            )


@lru_cache(4096)
def _tag(scope: str) -> str:
    return f"{{{quote(scope, safe='', errors='surrogatepass') or _NAMELESS}}}"


def _listed(numbers: Sequence[int]) -> bytes:
    return b" ".join(b"%d" % number for number in numbers)


def _row(scope: str, page: bytes) -> Row:
    mark, seen, gave = _PAGE.unpack_from(page)
    return Row(scope, mark, seen, gave, page[_PAGE.size :])


def _is_of(row: Row, run: int) -> bool:
    return not row.mark & DURABLE and base.hash64(base.split(row.body)[0][base.RUN_FIELD]) == run


def _is_lost(connection: Any) -> bool:
    try:
        return bool(connection.can_read())
    except _ERRORS:
        return True


def driver_opener(url: str, **_: bool) -> Callable[[], RedisDriver]:
    """Return a function that opens the store of a URL. Raises StoreError for an invalid URL."""
    try:
        server = base.read_server("Redis", url, prefix="simhash_gate:")
        if not {"{", "}"}.isdisjoint(server.options["prefix"]):
            raise ValueError("take a prefix without braces")
        scheme, kind = url.partition(":")[0].partition("+")[::2]
        parts = urlsplit(server.url)
        database = parts.path.strip("/")
        if kind == "sentinel":
            service, database = database.partition("/")[::2]
            if not service:
                raise ValueError("the name of the service follows the hosts")
        if database and not database.isdecimal() and scheme != "unix":
            raise ValueError("the database is a number")
        redis_py.ConnectionPool.from_url(f"{scheme}://localhost?{parts.query}").make_connection()
    except TypeError as error:  # redis-py passes on whatever parameters a URL has
        raise base.refusal(url, f"unknown parameter {str(error).rpartition(' ')[2]}") from None
    except (ValueError, *_ERRORS) as error:
        raise base.refusal(url, str(error)) from None
    return partial(RedisDriver, server)


def connect(server: Server, on_connect: Callable[[], None]) -> Any:
    """Return a client for the server of a URL. `on_connect` is called after each connecting.

    The client repeats no command: if only the answer got lost, a repeated `append` would match its
    own page. Raises StoreError if no server answers.
    """

    def connected(connection: Any) -> None:
        connection.on_connect()
        on_connect()

    settings: dict[str, Any] = {
        "socket_timeout": server.timeout,
        "socket_connect_timeout": server.timeout,
        "retry": redis_py.retry.Retry(redis_py.backoff.NoBackoff(), 0),
        "redis_connect_func": connected,
        "protocol": 2,
    }
    try:
        client = _client(server.url, settings)
        client.ping()
    except _ERRORS as error:
        raise failure(server.name, error) from error
    return client


def failure(name: str, error: Exception) -> StoreError:
    """Return an error that says in one line what went wrong with the server, and what to do."""
    text = " ".join(str(error).split()).rstrip(".")
    if _FOREIGN.search(text):
        why = "another application's keys are where the store's should be"
        return StoreError(f"{name}: {why}; take another prefix= ({text})")
    what = f"{name}: {text or type(error).__name__}"
    if isinstance(error, _NOT_ALLOWED) or _REFUSED.search(text):
        return StoreError(f"{what}; see to the user and the password")
    if _TLS.search(text):
        return StoreError(f"{what}; see to rediss:// and ssl_ca_certs in the URL")
    if _PASSING.search(f"{type(error).__name__} {text}"):
        return StoreUnavailable(what)
    if isinstance(error, _UNAVAILABLE):
        return StoreUnavailable(f"{what}; the server is down, or can't be reached")
    return StoreError(what)


def _client(url: str, settings: dict[str, Any]) -> Any:
    parts = urlsplit(url)
    scheme, _, kind = parts.scheme.partition("+")
    if not kind:
        return _alone(redis_py.Redis.from_url(url, **settings))
    user, _, names = parts.netloc.rpartition("@")
    servers = [urlsplit(f"//{name}") for name in names.split(",")]
    hosts = [(server.hostname or "localhost", server.port or _PORTS[kind]) for server in servers]
    # The other settings of the URL are read as those of one host.
    one = f"{scheme}://{user and user + '@'}localhost?{parts.query}"
    named = redis_py.connection.parse_url(one)
    del named["host"]
    named.pop("connection_class", None)
    settings |= named | {"ssl": scheme == "rediss"}
    if kind == "cluster":
        nodes = [redis_py.cluster.ClusterNode(host, port) for host, port in hosts]
        return redis_py.RedisCluster(startup_nodes=nodes, **settings)
    service, _, database = unquote(parts.path.strip("/")).partition("/")
    settings["db"] = int(database or 0)
    return _alone(redis_py.sentinel.Sentinel(hosts, **settings).master_for(service))


def _alone(client: Any) -> Any:
    """Return a client with one connection, which need not take one from a pool at each call."""
    alone = client.client()
    alone.auto_close_connection_pool = True
    return alone
