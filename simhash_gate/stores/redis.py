"""Redis or Valkey: a scope is one hash and one string, and whatever is done to it one script."""

from __future__ import annotations

import logging
import os
import re
import struct
import time
from contextlib import suppress
from functools import lru_cache, partial
from heapq import merge
from importlib.resources import files
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

import numpy as np
import redis
from redis import exceptions as errors

from simhash_gate.common.encoded import as_bytes, as_text
from simhash_gate.stores import base
from simhash_gate.stores.base import Blob, Record, StoreError, StoreUnavailable
from simhash_gate.stores.driver import DEAD, DURABLE, SETTLED, Driver, News, Row, Run, State
from simhash_gate.stores.urls import Server, read_server, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simhash_gate.stores.driver import Loaded

logger = logging.getLogger(__name__)

_ROW = 1 + base.HEAD_BYTES // 8  # numbers in a row of heads
_RUN = 6  # which of them is the hash of the page's run
_OF_PAGE = ("", "m", "s")  # what the fields of a page begin with: body, mark, when it was seen
_AT_ONCE = 500  # pages or blobs
_SITE_SECONDS = 90 * 24 * 3600  # what sites repeat is as large as all pages of a small site
_ADDED = struct.Struct(">d")  # before each body: when the page was added, by its crawler's clock
_OF_BLOB = struct.Struct(">dI")  # when it was true last, and its size
_NAMELESS = "%-"  # the scope "" in a key: what is between empty braces is no hash tag
redis_py: Any = redis  # it has types for some of it only
_PORTS = {"cluster": 6379, "sentinel": 26379}
_NO_PORT = "its port is no number; write / ? # @ in a password as %2F %3F %23 %40"
_ERRORS = (errors.RedisError, errors.RedisClusterException, OSError)
_NOT_ALLOWED = (errors.AuthenticationError, errors.AuthorizationError, errors.NoPermissionError)
_UNAVAILABLE = (errors.ConnectionError, errors.TimeoutError, errors.RedisClusterException)
# What a script stumbles on comes as text in some versions, as an error of its kind in others.
_PASSING = re.compile(
    r"\b(OOM|MISCONF|LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS)\b"
    r"|ClusterDownError|MasterDownError|OutOfMemoryError|ReadOnlyError"
)
_REFUSED = re.compile(r"\b(WRONGPASS|NOAUTH|NOPERM|invalid username-password|invalid password)\b")
_FOREIGN = re.compile(r"\b(WRONGTYPE|FOREIGN)\b|bad argument")


class RedisDriver(Driver):
    """Keeps pages on the Redis server of an address.

    A run lives as long as its lease, a key that expires. In a cluster, the keys of a scope lie on
    one node, and those of runs on another: whether the run of a page lives is asked apart.
    """

    def __init__(self, server: Server) -> None:
        self.name, self.lease = server.name, server.lease
        self._milliseconds = int(server.lease * 1000)
        self._owner = os.urandom(8)
        self._prefix = server.own["prefix"]
        self._runs = f"{self._prefix}{{runs}}"
        self._live, self._ended = f"{self._runs}:live", f"{self._runs}:ended"
        self._warned = False
        self._begun: set[str] = set()
        self._known: set[int] = set()  # hashes of runs that need not be asked about: own, and ended
        self._client: Any = connect(server, self._connected)
        script = files(__package__).joinpath("redis.lua").read_text("utf-8")
        self._script = self._client.register_script(script)

    def append(self, known: State, record: Record, through: int, seconds: float | None) -> News:
        head = base.head_of(record)
        page = head + _ADDED.pack(time.time()) + base.pack(record)
        mark = SETTLED if record.settled else 0
        expiry = 0 if seconds is None else int(min(seconds, 1e9) * 1000)
        news = self._ask(known, "append", mark, through, base.new_epoch(), expiry, data=page)
        assert news is not None
        own = news.number.to_bytes(8, "big") + head if news.number else b""
        return news._replace(heads=news.heads + own)

    def news(self, known: State) -> News:
        news = self._ask(known, "news")
        assert news is not None
        return news

    def trim(self, known: State, through: int) -> None:
        self._ask(known, "trim", through)

    def load(self, known: State, numbers: Sequence[int], runs: Sequence[int] = ()) -> Loaded:
        key = self._keys("scope", known.scope)[0]
        fields = ["last", "epoch", *(f"{what}{number}" for number in numbers for what in _OF_PAGE)]
        # Who is asked on the way costs no round trip of their own.
        if others := [*{*runs} - self._known]:
            asked = self._client.pipeline(transaction=False).hmget(key, fields)
            for run in others:
                self._ask_run(asked, b"%016x" % run)
            (last, epoch, *found), *told = self._call(asked.execute)
        else:
            (last, epoch, *found), told = self._call(self._client.hmget, key, fields), []
        states = {run: self._told(run, *told[3 * at : 3 * at + 3]) for at, run in enumerate(others)}
        rows = [
            _row(known.scope, found[3 * at : 3 * at + 3], states.get(run))
            for at, run in enumerate(runs or [0] * len(numbers))
        ]
        here = State(known.scope, int(last or 0), int(epoch or 0))
        return None if here == known else self.news(known), rows

    def change(self, known: State, numbers: Sequence[int], mark: int, seen: float) -> bool:
        if seen > base.NEVER:
            pairs = zip(numbers, self.load(known, numbers)[1], strict=True)
            numbers = [number for number, row in pairs if row and row.record.last_seen < seen]
        at = repr(seen) if seen > base.NEVER else "-"
        return self._ask(known, "change", mark, at, data=_listed(numbers)) is not None

    def remove(self, known: State, numbers: Sequence[int]) -> State | None:
        news = self._ask(known, "remove", base.new_epoch(), data=_listed(numbers))
        return news and news.state._replace(last=min(news.state.last, known.last))

    def rows(self, scope: str | None) -> Iterator[Row]:
        # Over all scopes, the order is that of the crawlers' clocks.
        scopes = self._scopes("scope") if scope is None else [scope]
        for _, row in merge(*map(self._rows_of, scopes), key=itemgetter(0)):
            yield row

    def begin(self, run: str, at: float, *, anew: bool = False) -> bool:
        if not self._warned:
            self._warned = True
            self._warn()
        name, lease, client = _name(run), self._lease(run), self._client
        if not anew and self._call(client.zscore, self._ended, name) is not None:
            return False
        taken = self._call(client.set, lease, self._owner, px=self._milliseconds, nx=not anew)
        if not taken and self._call(client.get, lease) != self._owner:
            return False  # else the answer to the first attempt got lost
        self._begun.add(run)
        self._known.add(base.hash64(run))
        self._call(client.zadd, self._live, {name: at})
        self._call(client.zrem, self._ended, name)
        return True

    def renew(self, run: str) -> bool:
        lease, life = self._lease(run), self._milliseconds
        return bool(self._call(self._client.set, lease, self._owner, px=life, xx=True))

    def end(self, run: str) -> bool:
        known = self.run(run)
        if known.state == "dead":
            return False
        self._call(self._client.zadd, self._ended, {_name(run): known.begun})
        self._call(self._client.zrem, self._live, _name(run))
        self._call(self._client.delete, self._lease(run))
        self._begun.discard(run)
        return True

    def run(self, run: str) -> Run:
        asked = self._client.pipeline(transaction=False)
        self._ask_run(asked, _name(run))
        return self._told(base.hash64(run), *self._call(asked.execute))

    def _ask_run(self, asked: Any, name: bytes) -> None:
        lease = f"{self._runs}:lease:{name.decode()}"
        asked.zscore(self._ended, name).exists(lease).zscore(self._live, name)

    def _told(self, run: int, over: Any, lives: Any, begun: Any) -> Run:
        if over is not None:
            self._known.add(run)
            return Run("ended", over)
        return Run("live", begun) if lives and begun is not None else DEAD

    def bury(self) -> None:
        names = self._call(self._client.zrange, self._live, 0, -1)
        leases = [f"{self._runs}:lease:{name.decode()}" for name in names]
        pairs = zip(names, leases, strict=True)
        dead = [name for name, lease in pairs if not self._call(self._client.exists, lease)]
        if not dead:
            return
        runs = np.array([int(name, 16) for name in dead], np.uint64)
        for scope in self._scopes("scope"):
            while not self._bury_in(scope, runs):
                pass
        self._call(self._client.zrem, self._live, *dead)

    def blob(self, kind: str, scope: str, key: str) -> bytes:
        return self._call(self._client.hget, self._keys(kind, scope)[0], as_bytes(key)) or b""

    def swap(self, blob: Blob, old: bytes | None) -> bytes | None:
        values = (blob.data, _OF_BLOB.pack(blob.at, len(blob.data)))
        expiry = _SITE_SECONDS if blob.kind == base.SITE_MEMORY else 0
        asked = ("swap", as_bytes(blob.key), int(old is not None), old or b"", *values, expiry)
        there: bytes | None = self._call(self._script, self._keys(blob.kind, blob.scope), asked)
        return there

    def blobs(self, kind: str, scope: str | None, *, data: bool) -> Iterator[Blob]:
        for name in self._scopes(kind) if scope is None else [scope]:
            values, heads = self._keys(kind, name)
            cursor, yielded = None, set()
            while cursor != 0:
                scan = partial(self._client.hscan, heads, cursor or 0, count=_AT_ONCE)
                cursor, some = self._call(scan)
                keys = [key for key in some if key not in yielded]
                yielded.update(keys)
                found = self._call(self._client.hmget, values, keys) if data and keys else ()
                for key, value in zip(keys, found or [b""] * len(keys), strict=True):
                    at, size = _OF_BLOB.unpack(some[key])
                    if value is not None:
                        yield Blob(kind, name, as_text(key), value, at, size=size)

    def close(self) -> None:
        with suppress(StoreError):  # leases run out by themselves
            for run in self._begun:
                self._call(self._client.delete, self._lease(run))
        self._client.close()

    def _connected(self) -> None:
        self.connections += 1

    def _call(self, command: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Ask the server. Raises StoreError for whatever goes wrong."""
        try:
            return command(*arguments, **options)
        except _ERRORS as error:
            raise failure(self.name, error) from error

    def _ask(self, known: State, what: str, *numbers: Any, data: bytes = b"") -> News | None:
        """Run the script on a scope that is known in a state; None if it does nothing."""
        asked = " ".join(map(str, (known.last, known.epoch, *numbers)))
        keys = self._keys("scope", known.scope)
        answer = self._call(self._script, keys, (what, asked, data))
        if answer is None:
            return None
        *numbers, heads = answer.split(b" ", 4)
        number, last, first, epoch = map(int, numbers)
        return News(State(known.scope, last, epoch), first, heads, number)

    def _heads(self, scope: str) -> Any:
        """Return the numbers and heads of a scope, a row each."""
        heads = self._call(self._client.get, self._keys("scope", scope)[1]) or b""
        return np.frombuffer(heads, ">u8").reshape(-1, _ROW)

    def _rows_of(self, scope: str) -> Iterator[tuple[float, Row]]:
        """Yield the pages of a scope, and when each was added."""
        pages, _ = self._keys("scope", scope)
        numbers = self._heads(scope)[:, 0].tolist()
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            fields = [f"{what}{number}" for number in some for what in _OF_PAGE]
            found = self._call(self._client.hmget, pages, fields)
            for at in range(0, len(found), 3):
                row = _row(scope, found[at : at + 3])
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
        return self.remove(State(scope, int(last), int(epoch)), gone) is not None

    def _scopes(self, kind: str) -> list[str]:
        """Return all scopes of which the server has something of a kind; in no order."""
        start = f"{self._prefix}{kind}:{{"
        pattern = re.sub(r"([*?[\]\\])", r"\\\1", start) + "*}"
        scan = partial(self._client.scan_iter, pattern, count=1000, _type="hash")
        keys = self._call(lambda: set(scan()))
        names = (key[len(as_bytes(start)) : -1].decode().replace(_NAMELESS, "") for key in keys)
        return [unquote(name, errors="surrogatepass") for name in names]

    def _keys(self, kind: str, scope: str) -> list[str]:
        """Return the keys of what there is of a kind and of its heads, in a cluster on one node."""
        return [f"{self._prefix}{kind}{part}:{_tag(scope)}" for part in ("", "-heads")]

    def _lease(self, run: str) -> str:
        return f"{self._runs}:lease:{_name(run).decode()}"

    def _warn(self) -> None:
        """Warn of settings by which the server forgets, where it tells its settings."""
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


@lru_cache(4096)
def _tag(scope: str) -> str:
    return f"{{{quote(scope, safe='', errors='surrogatepass') or _NAMELESS}}}"


def _name(run: str) -> bytes:
    return b"%016x" % base.hash64(run)


def _listed(numbers: Sequence[int]) -> bytes:
    return b" ".join(b"%d" % number for number in numbers)


def _row(scope: str, kept: Sequence[bytes | None], run: Run | None = None) -> Row | None:
    body, mark, seen = kept
    if body is None:
        return None
    at = base.NEVER if seen is None else float(seen)
    return Row.read(scope, int(mark or 0), at, body[_ADDED.size :], run)


def read_url(url: str) -> Server:
    """Take a store URL apart. Raises StoreError for a value that can't be used."""
    try:
        server = read_server("Redis", url, prefix="simhash_gate:")
        if not {"{", "}"}.isdisjoint(server.own["prefix"]):
            raise ValueError("take a prefix without braces")
    except ValueError as error:
        raise refusal(url, str(error)) from None
    return server


def connect(server: Server, on_connect: Callable[[], None]) -> Any:
    """Return a client for the server of a URL; `on_connect` is called after each connecting.

    It asks nothing twice: who asks again can't know whether the first answer got lost, and would
    meet their own page. Raises StoreError for a URL that names no server.
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
    except (ValueError, TypeError) as error:  # redis-py passes on whatever parameters a URL has
        # What is taken for a port may be part of a password.
        why = _NO_PORT if str(error).startswith("Port ") else error
        raise StoreError(f"{server.name}: {why}") from None
    return client


def failure(name: str, error: Exception) -> StoreError:
    """Say in one line what went wrong with the server, and what to do."""
    text = " ".join(str(error).split()).rstrip(".")
    if _FOREIGN.search(text):
        why = "another application's keys are where the store's should be"
        return StoreError(f"{name}: {why}; take another prefix= ({text})")
    what = f"{name}: {text or type(error).__name__}"
    if isinstance(error, _NOT_ALLOWED) or _REFUSED.search(text):
        return StoreError(f"{what}; see to the user and the password")
    if isinstance(error, _UNAVAILABLE) or _PASSING.search(f"{type(error).__name__} {text}"):
        return StoreUnavailable(what)
    return StoreError(what)


def _client(url: str, settings: dict[str, Any]) -> Any:
    parts = urlsplit(url)
    scheme, _, kind = parts.scheme.partition("+")
    if not kind:
        return redis_py.Redis.from_url(url, **settings)
    user, _, names = parts.netloc.rpartition("@")
    servers = [urlsplit(f"//{name}") for name in names.split(",")]
    hosts = [(server.hostname or "localhost", server.port or _PORTS[kind]) for server in servers]
    # What the URL says to every connection, read as that of one host.
    one = f"{scheme}://{user and user + '@'}localhost?{parts.query}"
    named = redis_py.connection.parse_url(one)
    del named["host"]
    named.pop("connection_class", None)
    settings |= named | {"ssl": scheme == "rediss"}
    if kind == "cluster":
        nodes = [redis_py.cluster.ClusterNode(host, port) for host, port in hosts]
        return redis_py.RedisCluster(startup_nodes=nodes, **settings)
    service, _, database = unquote(parts.path.strip("/")).partition("/")
    if not service:
        raise ValueError("the name of the service follows the hosts")
    settings["db"] = int(database or 0)
    return redis_py.sentinel.Sentinel(hosts, **settings).master_for(service)
