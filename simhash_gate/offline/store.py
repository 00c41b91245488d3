"""`simhash-gate store`: what a store remembers, by the contract that all stores keep."""

from __future__ import annotations

import base64
import time
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timezone
from math import isfinite
from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.hamming import from_hex, to_hex
from simhash_gate.offline.live_run import live_run
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.stores import Record, StoreError, Window, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from simhash_gate.common.complaints import Complain
    from simhash_gate.stores import Store

# What one run brings is not what a window of it is: an import evicts nothing.
EVERYTHING = Window(pages=1 << 62)
_OF_A_CRAWL = "that of a spider is sqlite:///.scrapy/simhash_gate/SPIDER.sqlite"
_EXAMPLE = "those that `simhash-gate store export` writes"


@contextmanager
def opened(url: str) -> Iterator[Store]:
    """Open a store that is there. Raises StoreError, and makes none."""
    if url.partition(":")[0].lower() == "memory":
        raise StoreError(f"store URL {url!r}: what is in memory is gone with its crawl")
    if url == "sqlite:":
        raise StoreError(f"store URL {url!r}: name the file; {_OF_A_CRAWL}")
    with closing(open_store(url, create=False)) as store:
        yield store


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


def info(records: Iterable[Record]) -> Generator[dict[str, Any]]:
    """Yield a line for each scope, the one with the most pages first."""
    scopes: dict[str, _Scope] = {}
    for record in records:
        scopes.setdefault(record.scope, _Scope()).add(record)
    for name, scope in sorted(scopes.items(), key=lambda item: (-item[1].pages, item[0])):
        yield {
            "scope": name,
            "pages": scope.pages,
            "settled": scope.settled,
            "pipelines": dict(scope.pipelines.most_common()),
            "runs": len(scope.runs),
            "oldest": _shown(scope.oldest),
            "newest": _shown(scope.newest),
        }


def listed(record: Record) -> dict[str, Any]:
    """Return what a person wants to see of a record."""
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


def exported(record: Record) -> dict[str, Any]:
    """Return all of a record, as `imported` reads it; times are Unix times."""
    line = {item.name: getattr(record, item.name) for item in fields(record)}
    hexadecimal = {name: to_hex(line[name]) for name in ("fingerprint", "digest")}
    return line | hexadecimal | {"sketch": base64.b64encode(record.sketch).decode("ascii")}


def read_exported(path: str, complain: Complain) -> Iterator[Record]:
    """Yield the records of a file that `exported` lines were written to."""
    for place, line in json_objects(path, complain, _EXAMPLE):
        try:
            yield _record(line)
        except ValueError as error:
            complain(place, str(error))


def add_all(url: str, records: Iterable[Record]) -> int:
    """Add records as one run, which counts when all are there; return how many were added."""
    added = 0
    with live_run(url) as (store, run):
        for record in records:
            store.check_and_add(replace(record, run=run), None, window=EVERYTHING)
            added += 1
    return added


def remove_dead_runs(url: str) -> None:
    """Remove the pages of runs that died: every new run does that when it begins."""
    with live_run(url):
        pass


def forget(store: Store, records: Iterable[Record], chosen: Callable[[Record], bool]) -> int:
    """Forget those of the records that are chosen; return how many were there."""
    return sum(store.forget(record) for record in records if chosen(record))


def older_than(seconds: float) -> Callable[[Record], bool]:
    """Choose what was first seen longer ago than that, as the window of a crawl does."""
    limit = time.time() - seconds
    return lambda record: record.first_seen < limit


def all_but_the_last(pages: int, records: Iterable[Record]) -> Callable[[Record], bool]:
    """Choose all but the last `pages` of each scope of `records`, if asked in the same order."""
    surplus = Counter(record.scope for record in records)
    surplus.subtract(dict.fromkeys(surplus, pages))

    def chosen(record: Record) -> bool:
        surplus[record.scope] -= 1
        return surplus[record.scope] >= 0

    return chosen


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
