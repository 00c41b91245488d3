"""`simhash-gate store`: what a store remembers, for every kind of store."""

from __future__ import annotations

import time
import uuid
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.common.times import shown
from simhash_gate.common.urls import is_of_domain, without_credentials
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.site_memory import SiteMemory
from simhash_gate.offline.exported import Repeated, Rules, memory_line, page_line, rules_line
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import StoreError, open_store
from simhash_gate.urls.saved import from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from simhash_gate.offline.console import Console
    from simhash_gate.stores import Record, Store

RENEW_INTERVAL = 20.0  # seconds
_NOTHING = "the store has no pages that count"


@dataclass(frozen=True)
class Chosen:
    """Which pages a command is about: those that agree with all of this.

    `domain` stands for its subdomains too. `age` is in seconds: pages are chosen that were first
    seen longer ago.
    """

    domain: str | None = None
    scope: str | None = None
    page: str | None = None
    age: float | None = None

    def __bool__(self) -> bool:
        """Tell if anything is asked for."""
        return self != Chosen()

    def of(self, store: Store) -> Iterator[Record]:
        """Yield the pages of a store that are chosen, oldest first."""
        page = self.page and without_credentials(self.page)  # as pages are remembered
        before = float("inf") if self.age is None else time.time() - self.age
        for record in store.records(self.scope):
            if (
                page in (None, record.url)
                and record.first_seen < before
                and (self.domain is None or is_of_domain(record.url, self.domain))
            ):
                yield record

    def scopes(self, store: Store) -> Iterator[tuple[str, bytes]]:
        """Yield the scopes that are chosen, whatever pages they have, with rules about URLs."""
        if self.page is None and self.age is None:
            for scope, rules in store.all_url_rules():
                of_domain = self.domain is None or is_of_domain(f"http://{scope}/", self.domain)
                if of_domain and self.scope in (None, scope):
                    yield scope, rules


def info(console: Console, *, url: str) -> int:
    """Print a line for each scope, the one with the most pages first."""
    scopes: defaultdict[str, _Scope] = defaultdict(_Scope)
    with open_kept(url) as store:
        for record in console.bar(store.records()):
            scopes[record.scope].add(record)
        for name, memory in store.site_memories():
            scopes[name].repeated = len(SiteMemory.of(memory))
    for name, scope in sorted(scopes.items(), key=lambda item: (-item[1].pages, item[0])):
        console.write({"scope": name, **scope.as_json()})
    if not scopes:
        console.say(_NOTHING)
    return console.status()


def list_pages(console: Console, *, url: str, chosen: Chosen) -> int:
    """Print the most important fields of each page."""
    with open_kept(url) as store:
        _print(console, (_listed(record) for record in chosen.of(store)))
    return console.status()


def export(console: Console, *, url: str, chosen: Chosen) -> int:
    """Print all of each page, then what the sites of these pages repeat, then rules about URLs."""
    with open_kept(url) as store:
        _print(console, _exported(console, store, chosen))
    return console.status()


def _print(console: Console, lines: Generator[dict[str, Any]]) -> None:
    if not console.write_lines(lines):
        console.say(_NOTHING)


def _exported(console: Console, store: Store, chosen: Chosen) -> Generator[dict[str, Any]]:
    scopes = set()
    for record in chosen.of(store):
        scopes.add(record.scope)
        yield page_line(record)
    for scope, memory in store.site_memories():
        if scope in scopes or not chosen:
            yield memory_line(Repeated(scope, memory))
    for scope, rules in sorted(chosen.scopes(store)):
        place = f"rules about URLs of {scope}"
        with complaining(console.complain, place):
            yield rules_line(Rules(scope, from_json(rules, place)))


def prune(console: Console, *, url: str, chosen: Chosen, pages: int | None) -> int:
    """Remove the pages of dead runs, those that are too old, and all but the last of each scope.

    Of the last two, those that are chosen.
    """
    with open_kept(url) as store:
        _bury(url)
        removed = _forget(console, store, chosen) if chosen.age is not None else 0
        if pages is not None:
            ageless = replace(chosen, age=None)
            surplus = _all_but_the_last(pages, ageless.of(store))
            removed += _forget(console, store, ageless, surplus)
        ruled = 0 if pages != 0 else _forget_rules(store, replace(chosen, age=None))
        store.sweep()
    console.say(f"pages removed, besides those of dead runs: {removed}")
    _say_of_rules(console, ruled)
    return console.status()


def forget(console: Console, *, url: str, chosen: Chosen) -> int:
    """Remove the pages that are chosen, rules about URLs, and what is left without pages."""
    if not chosen:
        raise click.UsageError("Name the pages to remove: --domain, --scope, --page or --age.")
    with open_kept(url) as store:
        _bury(url)
        removed = _forget(console, store, chosen)
        ruled = _forget_rules(store, chosen)
        store.sweep()
    console.say(f"pages removed: {removed}")
    _say_of_rules(console, ruled)
    return console.status()


def _bury(url: str) -> None:
    """Remove what dead runs left: every new run does."""
    with live_run(url):
        pass


def _forget(
    console: Console,
    store: Store,
    chosen: Chosen,
    too: Callable[[Record], bool] = lambda _: True,
) -> int:
    """Forget the records that are chosen, if `too` says so; return how many were there."""
    records = console.bar(chosen.of(store))
    return sum(store.forget(record) for record in records if too(record))


def _forget_rules(store: Store, chosen: Chosen) -> int:
    """Forget the rules about URLs of the scopes that are chosen; return how many had some."""
    scopes = [scope for scope, _ in chosen.scopes(store)]
    for scope in scopes:
        store.keep_url_rules(scope, b"")
    return len(scopes)


def _say_of_rules(console: Console, scopes: int) -> None:
    if scopes:
        console.say(f"rules about URLs were removed of {how_many(scopes, 'scope')}")


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
    repeated: int = 0
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
            "oldest": shown(self.oldest) if self.pages else None,
            "newest": shown(self.newest) if self.pages else None,
            "repeated_texts": self.repeated,
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
        "first_seen": shown(record.first_seen),
        "last_seen": shown(record.last_seen),
    }
