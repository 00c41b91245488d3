"""Kept pages in Redis or Valkey, for crawlers on as many machines as there are."""

from __future__ import annotations

from functools import cache, partial
from heapq import merge
from importlib.resources import files
from itertools import islice
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.hamming import require_distance, require_fingerprint
from simhash_gate.stores.base import (
    DEFAULT_WINDOW,
    Answer,
    Match,
    Record,
    Store,
    StoreError,
    Window,
)
from simhash_gate.stores.redis.client import (
    Line,
    NoScriptError,
    Redis,
    RedisError,
    connect,
    failure,
    read_address,
)
from simhash_gate.stores.redis.codec import (
    DURABLE,
    SETTLED,
    added_at,
    identity,
    numbers_in,
    pack,
    query,
    run_digest,
    run_of,
    scope_key,
    scope_of,
    site_key,
    unpack,
)
from simhash_gate.stores.redis.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_PAGES_AT_ONCE = 200
_SITE_SECONDS = 90 * 24 * 3600
# How many bits of each 16-bit value are set, as a letter; in Lua, counting is slow.
_ONES = f"local ONES = '{''.join(chr(ord('0') + value.bit_count()) for value in range(1 << 16))}'"


class RedisStore(Store):
    """Remembers kept pages on the Redis server that `url` names.

    A scope is one key. A run lives as long as its lease is renewed; the records of a run that has
    died are removed by the next `begin` or `records`, or when one of them would match. Until then
    they take up places in the window. After `StoreUnavailable` a page may have been added or not:
    an answer that got lost can't be asked for again.
    """

    def __init__(self, url: str) -> None:
        self._address = read_address(url)
        self._connections = 0
        self._closed = False
        self._lock = Lock()
        try:
            self._client: Any = connect(self._address, self._connected)
            self._client.ping()
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error
        except TypeError as error:  # redis-py passes on whatever parameters a URL has
            raise StoreError(f"Redis store {self._address.shown}: {error}") from error
        # The nodes of a cluster are found by redis-py for each call.
        self._line = Line(self._client) if isinstance(self._client, Redis) else None
        self._check = self._script("match", "keep", "write", "add")
        self._change = self._script("write", "change")
        self._bury = self._script("write", "bury")
        keys = [f"{self._address.prefix}{{runs}}:{name}" for name in ("leases", "ended", "names")]
        ask = partial(self._run, self._client.register_script(_read("runs")), keys)
        self._runs = Runs(ask, self._address.lease)

    def begin(self, run: str) -> None:
        """Open a run and take its lease; remove what dead runs left."""
        self._require_open()
        self._reap()
        with self._lock:
            if self._runs.is_live(run) or not self._runs.begin(run, self._connections):
                raise self._error(f"run {run!r} was begun before; take a new name")

    def renew(self, run: str) -> None:
        """Renew the lease of a run; announce it again if the server lost it."""
        self._require_live(run)
        self._runs.renew(run, self._connections)

    def end(self, run: str) -> None:
        """Close a run: its records count, whatever becomes of its lease."""
        self._require_live(run)
        self._runs.end(run)

    def check_and_add(
        self,
        record: Record,
        radius: int | None,
        dismissed: Collection[Record] = (),
        *,
        near: int = 0,
        exact: bool = False,
        window: Window = DEFAULT_WINDOW,
    ) -> Answer:
        """Look and add in one script; see `Store.check_and_add`."""
        require_fingerprint(record.fingerprint)
        if radius is not None:
            require_distance(radius)
        self._require_live(record.run)
        self._keep_alive(record.run)
        key = scope_key(self._address.prefix, record.scope)
        refused = [identity(other) for other in dismissed if other.scope == record.scope]
        arguments = [pack(record), query(record, radius, near, exact, window), *refused]
        while True:
            connections = self._connections
            answer = self._ask(key, arguments)
            if self._connections != connections:
                self._keep_alive(record.run)
            if answer == b"\1":
                return Answer(True, None)
            added, distance = answer[:2]
            match = self._counting(record.scope, answer[2:])
            if match or added:
                return Answer(bool(added), Match(match, distance) if match else None)

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        return bool(self._change_pages("forget", 0, [record]))

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark records settled, those of one scope in one step."""
        self._require_open()
        for scope in {record.scope for record in records}:
            together = [record for record in records if record.scope == scope]
            self._change_pages("mark", SETTLED | DURABLE if durable else SETTLED, together)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None."""
        page = self._change_pages("current", 0, [record])
        return self._counting(record.scope, page) if page else None

    def is_live(self, run: str) -> bool:
        """Tell whether a run has a lease that has not run out."""
        self._require_open()
        return self._runs.find(run_digest(run)).state == "live"

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered, oldest first; read in parts, so that others can go on.

        Over all scopes, the order is that of the servers' clocks.
        """
        self._require_open()
        self._reap()
        scopes = self._scopes() if scope is None else [scope]
        find = cache(self._runs.find)
        for _, page, name in merge(*map(self._pages, scopes), key=itemgetter(0)):
            record = unpack(name, page, find(run_of(page)))
            if record:
                yield record

    def site_memory(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        self._require_open()
        try:
            found: bytes | None = self._client.get(site_key(self._address.prefix, scope))
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error
        return found or b""

    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Write it in place of what was there; it goes a while after it was written last."""
        self._require_open()
        try:
            self._client.set(site_key(self._address.prefix, scope), memory, ex=_SITE_SECONDS)
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error

    def close(self) -> None:
        """Let go of the server and of the leases of all runs; who was not ended is dead now."""
        with self._lock:
            if self._closed:
                return
            try:
                for run in self._runs.live:
                    self._runs.release(run)
            except StoreError:
                pass  # the leases run out by themselves
            self._closed = True
            if self._line is not None:
                self._line.close()
            self._client.close()

    def _script(self, *names: str) -> Any:
        """Return a script on a scope, made of these parts."""
        parts = [_ONES, *map(_read, ("scope", *names))]
        return self._client.register_script("\n".join(parts))

    def _ask(self, key: str, arguments: list[bytes]) -> Any:
        """Check and add."""
        if self._line is None:
            return self._run(self._check, [key], *arguments)
        try:
            return self._line.evalsha(self._check.sha, key, *arguments)
        except NoScriptError:
            return self._run(self._check, [key], *arguments)
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error

    def _run(self, script: Any, keys: list[str], *arguments: object) -> Any:
        self._require_open()
        try:
            try:
                return self._client.evalsha(script.sha, len(keys), *keys, *arguments)
            except NoScriptError:
                return script(keys, arguments)  # sends it first
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error

    def _connected(self) -> None:
        self._connections += 1

    def _keep_alive(self, run: str) -> None:
        """Announce a run again where the server may have lost it, or the lease run out."""
        if self._runs.is_live(run) and self._runs.must_renew(run, self._connections):
            self._runs.renew(run, self._connections)

    def _change_pages(self, operation: str, flags: int, records: list[Record]) -> Any:
        """Do something to records of one scope."""
        keys = [scope_key(self._address.prefix, records[0].scope)]
        return self._run(self._change, keys, operation, flags, *map(identity, records))

    def _counting(self, scope: str, page: bytes) -> Record | None:
        """Return the record of a page, or None if it died with its run: that is removed then."""
        run = run_of(page)
        record = unpack(scope, page, self._runs.find(run))
        if record is None:
            self._bury_in(scope, run)
        return record

    def _reap(self) -> None:
        """Remove the records of runs found dead."""
        dead = self._runs.dead()
        scopes = self._scopes() if dead else []
        for run in dead:
            durable = [self._bury_in(scope, run) for scope in scopes]
            self._runs.bury(run, durable=any(durable))

    def _bury_in(self, scope: str, run: bytes) -> bool:
        """Remove the records of a dead run from a scope; tell whether durable ones are left."""
        cursor, durable = b"0", False
        while True:
            keys = [scope_key(self._address.prefix, scope)]
            cursor, seen = self._run(self._bury, keys, run, cursor)
            durable = durable or seen > 0
            if cursor == b"0":
                return durable

    def _scopes(self) -> list[str]:
        """Return all scopes that the server knows, in no order."""
        prefix = self._address.prefix
        escaped = "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in prefix)
        pattern = f"{escaped}scope:{{*}}"
        try:
            keys = set(self._client.scan_iter(match=pattern, count=1000, _type="hash"))
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error
        return [scope_of(prefix, key.decode()) for key in keys]

    def _pages(self, scope: str) -> Iterator[tuple[int, bytes, str]]:
        """Yield when each page of a scope was added, the page and the scope; oldest first."""
        key = scope_key(self._address.prefix, scope)
        head = self._read(key, "scope")[0]
        if head is None:
            return
        numbers = iter(numbers_in(head))
        while some := list(islice(numbers, _PAGES_AT_ONCE)):
            for page in self._read(key, *some):
                if page is not None:
                    yield added_at(page), page, scope

    def _read(self, key: str, *fields: object) -> list[Any]:
        self._require_open()
        try:
            values: list[Any] = self._client.hmget(key, fields)
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error
        return values

    def _error(self, what: str) -> StoreError:
        return StoreError(f"Redis store {self._address.shown}: {what}")

    def _require_open(self) -> None:
        if self._closed:
            raise self._error("it is closed")

    def _require_live(self, run: str) -> None:
        self._require_open()
        if not self._runs.is_live(run):
            raise self._error(f"run {run!r} is not live here; begin it first")


def _read(name: str) -> str:
    return files(__package__).joinpath(f"{name}.lua").read_text("utf-8")
