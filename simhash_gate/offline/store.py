"""`simhash-gate store`: what a store remembers, for every kind of store."""

from __future__ import annotations

import base64
import time
import uuid
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timezone
from math import isfinite
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining
from simhash_gate.fingerprints.hamming import from_hex, to_hex
from simhash_gate.sources.jsonl import count_lines, json_objects, shown_path
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import Record, StoreError, Window, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simhash_gate.common.wording import Complain
    from simhash_gate.offline.console import Console
    from simhash_gate.stores import Store

RENEW_INTERVAL = 20.0  # seconds
EVERYTHING = Window(pages=1 << 62)  # an import is larger than the window of one run
_EXAMPLE = "those that `simhash-gate store export` writes"
_NOTHING = "the store has no pages that count"


def info(console: Console, *, url: str) -> int:
    """Print a line for each scope, the one with the most pages first."""
    with open_kept(url) as store:
        scopes: dict[str, _Scope] = {}
        for record in console.bar(store.records()):
            scopes.setdefault(record.scope, _Scope()).add(record)
    for name, scope in sorted(scopes.items(), key=lambda item: (-item[1].pages, item[0])):
        console.write({"scope": name, **scope.as_json()})
    if not scopes:
        console.say(_NOTHING)
    return console.status()


def list_pages(console: Console, *, url: str, scope: str | None) -> int:
    """Print the most important fields of each page."""
    return _print(console, url, scope, _listed)


def export(console: Console, *, url: str, scope: str | None) -> int:
    """Print all of each page."""
    return _print(console, url, scope, _exported)


def _print(
    console: Console, url: str, scope: str | None, line: Callable[[Record], dict[str, Any]]
) -> int:
    with open_kept(url) as store:
        if not console.write_lines(line(record) for record in store.records(scope)):
            console.say(_NOTHING)
    return console.status()


def import_pages(console: Console, *, url: str, file: str) -> int:
    """Add the pages of a file as one run, which counts when all are there."""
    added = 0
    records = _read_exported(file, console.complain)
    with live_run(url) as (store, run):
        for record in console.bar(records, lambda: count_lines(file)):
            store.check_and_add(replace(record, run=run), None, window=EVERYTHING)
            added += 1
    if not added:
        console.complain_of_nothing(shown_path(file), "no page in it")
    console.say(f"pages added: {added}")
    return console.status()


def prune(console: Console, *, url: str, pages: int | None, age: float | None) -> int:
    """Remove the pages of dead runs, those of an age, and all but the last of each scope."""
    with open_kept(url) as store:
        with live_run(url):
            pass  # every new run removes the pages of dead ones
        removed = 0
        if age is not None:
            removed += _forget(console, store, None, _older_than(age))
        if pages is not None:
            removed += _forget(console, store, None, _all_but_the_last(pages, store.records()))
    console.say(f"pages removed, besides those of dead runs: {removed}")
    return console.status()


def forget(
    console: Console, *, url: str, scope: str | None, page: str | None, age: float | None
) -> int:
    """Remove the pages of a scope, of a URL, or of an age."""
    if scope is None and page is None and age is None:
        raise click.UsageError("Name the pages to remove: --scope, --page or --age.")
    page = page and without_credentials(page)  # as pages are remembered
    aged = _older_than(float("-inf") if age is None else age)
    with open_kept(url) as store:
        removed = _forget(console, store, scope, lambda r: page in (None, r.url) and aged(r))
    console.say(f"pages removed: {removed}")
    return console.status()


def _forget(
    console: Console, store: Store, scope: str | None, chosen: Callable[[Record], bool]
) -> int:
    """Forget the records that are chosen; return how many were there."""
    records = console.bar(store.records(scope))
    return sum(store.forget(record) for record in records if chosen(record))


def _older_than(seconds: float) -> Callable[[Record], bool]:
    """Choose what was first seen longer ago than that, as the window of a crawl does."""
    limit = time.time() - seconds
    return lambda record: record.first_seen < limit


def _all_but_the_last(pages: int, records: Iterable[Record]) -> Callable[[Record], bool]:
    """Choose all but the last `pages` of each scope of `records`, if asked in the same order."""
    surplus = Counter(record.scope for record in records)
    surplus.subtract(dict.fromkeys(surplus, pages))

    def chosen(record: Record) -> bool:
        surplus[record.scope] -= 1
        return surplus[record.scope] >= 0

    return chosen


@contextmanager
def live_run(url: str) -> Iterator[tuple[Store, str]]:
    """Open a store for one run, and renew the run while the block lasts; yield both.

    The run has ended normally when the block has. After an error, its pages do not count.
    """
    store, run = open_store(url), uuid.uuid4().hex
    closing = Event()

    def keep_alive() -> None:
        while not closing.wait(RENEW_INTERVAL):
            with suppress(StoreError):  # the next page fails too, and says so
                store.renew(run)

    try:
        store.begin(run)
        Thread(target=keep_alive, daemon=True).start()
        yield store, run
        store.end(run)
    finally:
        closing.set()
        store.close()


@dataclass
class _Scope:
    """What `info` says of one scope."""

    pages: int = 0
    settled: int = 0
    pipelines: Counter[str] = field(default_factory=Counter)
    runs: set[str] = field(default_factory=set)
    oldest: float = float("inf")
    newest: float = float("-inf")

    def add(self, record: Record) -> None:
        self.pages += 1
        self.settled += record.settled
        self.pipelines[record.pipeline] += 1
        self.runs.add(record.run)
        self.oldest = min(self.oldest, record.first_seen)
        self.newest = max(self.newest, record.last_seen)

    def as_json(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "settled": self.settled,
            "pipelines": dict(self.pipelines.most_common()),
            "runs": len(self.runs),
            "oldest": _shown(self.oldest),
            "newest": _shown(self.newest),
        }


def _listed(record: Record) -> dict[str, Any]:
    return {
        "scope": record.scope,
        "url": record.url,
        "title": record.title,
        "words": record.words,
        "fingerprint": to_hex(record.fingerprint),
        "pipeline": record.pipeline,
        "run": record.run,
        "settled": record.settled,
        "first_seen": _shown(record.first_seen),
        "last_seen": _shown(record.last_seen),
    }


def _exported(record: Record) -> dict[str, Any]:
    """Return all of a record, as `_read_exported` reads it; times are Unix times."""
    line = {item.name: getattr(record, item.name) for item in fields(record)}
    hexadecimal = {name: to_hex(line[name]) for name in ("fingerprint", "digest")}
    return line | hexadecimal | {"sketch": base64.b64encode(record.sketch).decode("ascii")}


def _read_exported(path: str, complain: Complain) -> Iterator[Record]:
    """Yield the records of a file that `store export` wrote."""
    for place, line in json_objects(path, complain, _EXAMPLE):
        with complaining(complain, place):
            yield _record(line)


def _record(line: dict[str, Any]) -> Record:
    """Return the record of an exported line. Raises ValueError that names the key and its value."""
    values: dict[str, Any] = {}
    for item in fields(Record):
        name = item.name
        if name in ("run", "settled"):  # those of the run that imports it
            continue
        if name not in line:
            raise ValueError(f"no {name!r}: expected a line such as {_EXAMPLE}")
        value = line[name]
        try:
            values[name] = _value(name, value)
        except ValueError as error:
            raise ValueError(f"{name!r} is {value!r}: {error}") from None
    return Record(**values, run="")


def _value(name: str, value: Any) -> Any:
    if name in ("fingerprint", "digest"):
        return from_hex(_checked(value, str))
    if name in ("first_seen", "last_seen"):
        seconds = float(_checked(value, int, float))
        if not isfinite(seconds):
            raise ValueError("expected a time")
        return seconds
    if name == "words":
        if not 0 <= _checked(value, int) < 1 << 63:
            raise ValueError("expected a count")
        return value
    text = _checked(value, str)
    return base64.b64decode(text, validate=True) if name == "sketch" else text


def _checked(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise ValueError("expected a string" if str in kinds else "expected a number")
    return value


def _shown(seconds: float) -> str:
    try:
        time_of_day = datetime.fromtimestamp(seconds, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return str(seconds)
    return time_of_day.isoformat(timespec="seconds").replace("+00:00", "Z")
