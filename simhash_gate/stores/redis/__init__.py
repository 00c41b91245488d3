"""Kept pages in Redis or Valkey: each call about a page is one script."""

from __future__ import annotations

from functools import cache, partial
from heapq import merge
from importlib.resources import files
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

from redis.exceptions import RedisError

from simhash_gate.stores.base import ADDED, Answer, Lookup, Match, Record, Store, StoreError
from simhash_gate.stores.redis.client import connect, failure, read_address
from simhash_gate.stores.redis.codec import (
    DURABLE,
    SETTLED,
    added_at,
    identity,
    note_key,
    numbers_in,
    pack,
    query,
    run_digest,
    run_of,
    scope_key,
    scope_of,
    site_key,
    unpack,
    url_key,
)
from simhash_gate.stores.redis.histories import Histories
from simhash_gate.stores.redis.runs import Runs
from simhash_gate.stores.redis.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from simhash_gate.stores.base import KeptText, PageHistory

_PAGES_AT_ONCE = 200
_CHECK = ("scope", "match", "keep", "write", "add")
_SITE_SECONDS = 90 * 24 * 3600
# How many bits of each 16-bit value are set, as a letter; in Lua, counting is slow.
_ONES = f"local ONES = '{''.join(chr(ord('0') + value.bit_count()) for value in range(1 << 16))}'"


class RedisStore(Store):
    """Remembers kept pages on the Redis server that `url` names.

    A scope is one key. A run lives as long as its lease is renewed; the records of a run that has
    died are removed by the next `begin` or `sweep`, or when one of them would match. Until then
    they take up places in the window. After `StoreUnavailable` a page may have been added or not:
    an answer that got lost can't be asked for again.
    """

    def __init__(self, url: str) -> None:
        self._address = read_address(url)
        super().__init__(self._address.name)
        self._runs = Runs(self._ask_runs, self._address.lease, self._lost)
        self._client: Any = connect(self._address, self._runs.connected)
        self._check = self._script(_ONES, *map(_read, _CHECK))
        self._change = self._script(*map(_read, ("scope", "write", "change")))
        self._bury = self._script(*map(_read, ("scope", "write", "bury")))
        self._runs_script = self._script(_read("runs"))
        prefix = self._address.prefix
        visits = self._script(_read("histories"))
        self._histories = Histories(self._client, self._call, visits, prefix, self._runs)
        self._texts = Texts(self._client, self._call, self._script(_read("texts")), prefix)

    def forget(self, record: Record) -> bool:
        """Remove the record with this identity; False if there is none."""
        return bool(self._change_pages("forget", 0, [record]))

    def settle(self, records: Collection[Record], *, durable: bool = False) -> None:
        """Mark records settled, those of one scope in one step."""
        self._require_open()
        for scope in {record.scope for record in records}:
            together = [record for record in records if record.scope == scope]
            self._change_pages("mark", SETTLED | DURABLE if durable else SETTLED, together)
        for record in records if durable else ():
            self._histories.make_durable(record.scope, record.request, record.run)

    def current(self, record: Record) -> Record | None:
        """Return the record with this identity as it is now, or None."""
        page = self._change_pages("current", 0, [record])
        return self._counting(record.scope, page) if page else None

    def see(self, record: Record, at: float) -> None:
        """Move `last_seen` of the record, if it is there."""
        self._change_pages("see", at, [record])

    def is_live(self, run: str) -> bool:
        """Tell whether a run has a lease that has not run out."""
        self._require_open()
        return self._runs.find(run_digest(run)).state == "live"

    def records(self, scope: str | None = None) -> Iterator[Record]:
        """Yield what is remembered, oldest first; read in parts, so that others can go on.

        Over all scopes, the order is that of the servers' clocks.
        """
        self._require_open()
        scopes = self._scopes() if scope is None else [scope]
        find = cache(self._runs.find)
        for _, page, name in merge(*map(self._pages, scopes), key=itemgetter(0)):
            record = unpack(name, page, find(run_of(page)))
            if record:
                yield record

    def site_memory(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        return self._call(self._client.get, site_key(self._address.prefix, scope)) or b""

    def keep_site_memory(self, scope: str, memory: bytes) -> None:
        """Write it in place of what was there; it goes a while after it was written last."""
        keep = partial(self._client.set, ex=_SITE_SECONDS)
        self._call(keep, site_key(self._address.prefix, scope), memory)

    def site_memories(self) -> Iterator[tuple[str, bytes]]:
        """Yield them, asked for one by one."""
        for scope in self._scopes("site"):
            memory = self.site_memory(scope)
            if memory:
                yield scope, memory

    def url_rules(self, scope: str) -> bytes:
        """Return what a crawl has kept last."""
        return self._call(self._client.get, url_key(self._address.prefix, scope)) or b""

    def keep_url_rules(self, scope: str, rules: bytes) -> None:
        """Write it in place of what was there; it goes a while after it was written last."""
        key = url_key(self._address.prefix, scope)
        if rules:
            self._call(partial(self._client.set, ex=_SITE_SECONDS), key, rules)
        else:
            self._call(self._client.delete, key)

    def all_url_rules(self) -> Iterator[tuple[str, bytes]]:
        """Yield them, asked for one by one."""
        for scope in self._scopes("urls"):
            rules = self.url_rules(scope)
            if rules:
                yield scope, rules

    def site_notes(self, scope: str) -> bytes:
        """Return what was noted last."""
        return self._call(self._client.get, note_key(self._address.prefix, scope)) or b""

    def keep_site_notes(self, scope: str, notes: bytes) -> None:
        """Write them in place of what was there; they stay as long as pages can."""
        key = note_key(self._address.prefix, scope)
        if notes:
            self._call(self._client.set, key, notes)
        else:
            self._call(self._client.delete, key)

    def all_site_notes(self) -> Iterator[tuple[str, bytes]]:
        """Yield them, asked for one by one."""
        for scope in self._scopes("notes"):
            notes = self.site_notes(scope)
            if notes:
                yield scope, notes

    def history(self, scope: str, request: str, run: str) -> bytes:
        """Return what counts for the run."""
        return self._histories.get(scope, request, run)

    def forget_history(self, scope: str, request: str, run: str | None = None) -> None:
        """Remove it."""
        self._histories.forget(scope, request, run)

    def histories(self, scope: str | None = None) -> Iterator[PageHistory]:
        """Yield them, read in parts."""
        self._require_open()
        for name in self._scopes("visits") if scope is None else [scope]:
            yield from self._histories.counting(name)

    def text(self, scope: str, digest: int) -> bytes:
        """Return it."""
        return self._texts.get(scope, digest)

    def keep_text(self, scope: str, digest: int, data: bytes, at: float, budget: int) -> None:
        """Keep it, and let the oldest go."""
        self._texts.keep(scope, digest, data, at, budget)

    def forget_text(self, scope: str, digest: int) -> None:
        """Remove it."""
        self._texts.forget(scope, digest)

    def texts(self, scope: str | None = None) -> Iterator[KeptText]:
        """Yield which there are, read in parts."""
        return self._texts.listed(scope)

    def texts_size(self) -> int:
        """Return how many bytes they have."""
        return self._texts.size()

    def sweep(self) -> None:
        """Remove them; a scope without pages has no key any more."""
        self._reap()
        empty = set(self._runs.ended())  # these get no more pages
        scopes = self._scopes()
        for scope in scopes:
            empty.difference_update(run_of(page) for _, page, _ in self._pages(scope))
        for scope in self._scopes("visits"):
            empty.difference_update(self._histories.runs(scope))
        for run in empty:
            self._runs.forget(run)
        for scope in set(self._scopes("site")).difference(scopes):
            if not self._call(self._client.exists, scope_key(self._address.prefix, scope)):
                self._call(self._client.delete, site_key(self._address.prefix, scope))

    def _begin(self, run: str) -> bool:
        """Take the lease of a run; remove what dead runs left."""
        self._reap()
        return self._runs.begin(run)

    def _renew(self, run: str) -> None:
        self._runs.renew(run)

    def _end(self, run: str) -> None:
        """Let the records of a run count, whatever becomes of its lease."""
        self._runs.end(run)

    def _look_up(self, lookup: Lookup) -> Answer:
        """Look and add in one script, once more for each dead run whose page would match."""
        record = lookup.record
        refused = [identity(other) for other in lookup.dismissed if other.scope == record.scope]
        arguments = [pack(record), query(lookup), *refused]
        keys = [scope_key(self._address.prefix, record.scope)]
        while True:
            self._runs.keep_alive(record.run)
            answer = self._call(self._check, keys, arguments)
            self._runs.keep_alive(record.run)  # it may have been another server that answered
            if answer == b"\1":
                return ADDED
            added, distance = answer[:2]
            match = self._counting(record.scope, answer[2:])
            if match or added:
                return Answer(bool(added), Match(match, distance) if match else None)

    def _keep_history(self, history: PageHistory) -> None:
        self._runs.keep_alive(history.run)
        self._histories.keep(history)

    def _close(self) -> None:
        """Let go of the server and of the leases of all runs."""
        try:
            for run in self._live:
                self._runs.release(run)
        except StoreError:
            pass  # the leases run out by themselves
        self._client.close()

    def _script(self, *parts: str) -> Callable[..., Any]:
        script: Callable[..., Any] = self._client.register_script("\n".join(parts))
        return script

    def _call(self, command: Callable[..., Any], *arguments: Any) -> Any:
        """Ask the server. Raises StoreError for whatever goes wrong."""
        self._require_open()
        try:
            return command(*arguments)
        except (RedisError, OSError) as error:
            raise failure(self._address, error) from error

    def _ask_runs(self, *arguments: object) -> Any:
        keys = [f"{self._address.prefix}{{runs}}:{name}" for name in ("leases", "ended", "names")]
        return self._call(self._runs_script, keys, arguments)

    def _change_pages(self, operation: str, what: float, records: list[Record]) -> Any:
        """Do something to records of one scope."""
        keys = [scope_key(self._address.prefix, records[0].scope)]
        return self._call(self._change, keys, [operation, repr(what), *map(identity, records)])

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
        visited = self._scopes("visits") if dead else []
        for run in dead:
            durable = [self._bury_in(scope, run) for scope in scopes]
            durable += [self._histories.bury(scope, run) for scope in visited]
            self._runs.bury(run, durable=any(durable))

    def _bury_in(self, scope: str, run: bytes) -> bool:
        """Remove the records of a dead run from a scope; tell whether durable ones are left."""
        cursor, durable = b"0", False
        keys = [scope_key(self._address.prefix, scope)]
        while True:
            cursor, seen = self._call(self._bury, keys, [run, cursor])
            durable = durable or seen > 0
            if cursor == b"0":
                return durable

    def _scopes(
        self, kind: Literal["scope", "site", "urls", "notes", "visits"] = "scope"
    ) -> list[str]:
        """Return all scopes that the server has pages of, or something else; in no order."""
        prefix = self._address.prefix
        escaped = "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in prefix)
        held = "hash" if kind in ("scope", "visits") else "string"
        scan = partial(self._client.scan_iter, f"{escaped}{kind}:{{*}}", count=1000, _type=held)
        keys = self._call(lambda: set(scan()))
        return [scope_of(key.decode()[len(prefix) :]) for key in keys]

    def _pages(self, scope: str) -> Iterator[tuple[int, bytes, str]]:
        """Yield when each page of a scope was added, the page and the scope; oldest first."""
        key = scope_key(self._address.prefix, scope)
        head = self._call(self._client.hget, key, "scope")
        numbers = iter(numbers_in(head) if head is not None else ())
        while some := list(islice(numbers, _PAGES_AT_ONCE)):
            for page in self._call(self._client.hmget, key, some):
                if page is not None:
                    yield added_at(page), page, scope


def _read(name: str) -> str:
    return files(__package__).joinpath(f"{name}.lua").read_text("utf-8")
