"""`simhash-gate store`: what a store remembers, for every kind of store."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.common.times import shown
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.site_memory import SiteMemory
from simhash_gate.history.notes import notes_of
from simhash_gate.identity import saved
from simhash_gate.offline.chosen import (
    digests_of,
    forget_histories,
    forget_notes,
    forget_texts,
)
from simhash_gate.offline.exported import (
    Notes,
    Repeated,
    Rules,
    Text,
    history_line,
    memory_line,
    notes_line,
    page_line,
    rules_line,
    text_line,
)
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import StoreError, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from simhash_gate.offline.chosen import Chosen
    from simhash_gate.offline.console import Console
    from simhash_gate.stores import Record, Store

RENEW_INTERVAL = 20.0  # seconds
_NOTHING = "the store has no pages that count"


def info(console: Console, *, url: str) -> int:
    """Print a line for each scope, the one with the most pages first."""
    scopes: defaultdict[str, _Scope] = defaultdict(_Scope)
    with open_kept(url) as store:
        for record in console.bar(store.records()):
            scopes[record.scope].add(record)
        for name, memory in store.site_memories():
            scopes[name].repeated = len(SiteMemory.of(memory))
        for history in store.histories():
            scopes[history.scope].histories += 1
        for text in store.texts():
            scopes[text.scope].texts += 1
            scopes[text.scope].text_bytes += text.size
        for name, notes in store.all_site_notes():
            scopes[name].notes = tuple(sorted(notes_of(notes)))
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
    """Print all of each page, then what is known of its visits, its texts, and of its site."""
    with open_kept(url) as store:
        _print(console, _exported(console, store, chosen))
    return console.status()


def _print(console: Console, lines: Generator[dict[str, Any]]) -> None:
    if not console.write_lines(lines):
        console.say(_NOTHING)


def _exported(console: Console, store: Store, chosen: Chosen) -> Generator[dict[str, Any]]:
    scopes, texts = set(), set()
    for record in chosen.of(store):
        scopes.add(record.scope)
        texts.add((record.scope, record.digest))
        yield page_line(record)
    for history in chosen.histories(store):
        texts |= digests_of(history)
        yield history_line(history)
    for text in store.texts(chosen.scope):
        if not chosen or (text.scope, text.digest) in texts:
            data = store.text(text.scope, text.digest)
            yield text_line(Text(text.scope, text.digest, text.at, data))
    for scope, memory in store.site_memories():
        if scope in scopes or not chosen:
            yield memory_line(Repeated(scope, memory))
    for scope, notes in sorted(chosen.scopes(store.all_site_notes())):
        yield notes_line(Notes(scope, notes))
    for scope, rules in sorted(chosen.scopes(saved.all_kept(store))):
        place = f"rules about URLs of {scope}"
        with complaining(console.complain, place):
            yield rules_line(Rules(scope, saved.from_json(rules, place)))


def prune(console: Console, *, url: str, chosen: Chosen, pages: int | None) -> int:
    """Remove the pages of dead runs, those that are too old, and all but the last of each scope.

    Of the last two, those that are chosen.
    """
    with open_kept(url) as store:
        _bury(url)
        ageless = replace(chosen, age=None)
        gone = _Gone()
        if chosen.age is not None:
            gone.pages = _forget(console, store, chosen)
            gone.histories = forget_histories(store, chosen.histories(store))
        if pages is not None:
            surplus = _all_but_the_last(pages, ageless.of(store))
            gone.pages += _forget(console, store, ageless, surplus, visits=True)
        if pages == 0:
            gone.add_all(store, ageless)
        gone.texts = forget_texts(store)
        store.sweep()
    console.say(f"pages removed, besides those of dead runs: {gone.pages}")
    gone.tell(console)
    return console.status()


def forget(console: Console, *, url: str, chosen: Chosen) -> int:
    """Remove the pages that are chosen, all that is known of them, and of whole sites."""
    if not chosen:
        raise click.UsageError("Name the pages to remove: --domain, --scope, --page or --age.")
    with open_kept(url) as store:
        _bury(url)
        gone = _Gone(_forget(console, store, chosen))
        gone.add_all(store, chosen)
        gone.texts = forget_texts(store)
        store.sweep()
    console.say(f"pages removed: {gone.pages}")
    gone.tell(console)
    return console.status()


@dataclass
class _Gone:
    """How much was removed; `ruled` and `noted` are scopes."""

    pages: int = 0
    histories: int = 0
    texts: int = 0
    ruled: int = 0
    noted: int = 0

    def add_all(self, store: Store, chosen: Chosen) -> None:
        """Remove the histories of the pages that are chosen, and what whole sites have."""
        self.histories += forget_histories(store, chosen.histories(store))
        self.ruled = _forget_rules(store, chosen)
        self.noted = forget_notes(store, chosen)

    def tell(self, console: Console) -> None:
        """Say what was removed besides pages."""
        if self.histories:
            console.say(f"histories removed: {self.histories}")
        if self.texts:
            console.say(f"texts removed: {self.texts}")
        if self.noted:
            console.say(f"notes were removed of {how_many(self.noted, 'scope')}")
        if self.ruled:
            console.say(f"rules about URLs were removed of {how_many(self.ruled, 'scope')}")


def _bury(url: str) -> None:
    """Remove what dead runs left: every new run does."""
    with live_run(url):
        pass


def _forget(
    console: Console,
    store: Store,
    chosen: Chosen,
    too: Callable[[Record], bool] = lambda _: True,
    *,
    visits: bool = False,
) -> int:
    """Forget the records that are chosen, if `too` says so, and maybe the `visits` to their pages.

    Return how many were there.
    """
    removed = 0
    for record in console.bar(chosen.of(store)):
        if too(record):
            removed += store.forget(record)
            if visits:
                store.forget_history(record.scope, record.request)
    return removed


def _forget_rules(store: Store, chosen: Chosen) -> int:
    """Forget the rules about URLs of the scopes that are chosen; return how many had some."""
    scopes = [scope for scope, _ in chosen.scopes(saved.all_kept(store))]
    for scope in scopes:
        saved.forget(store, scope)
    return len(scopes)


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
    histories: int = 0
    texts: int = 0
    text_bytes: int = 0
    notes: tuple[str, ...] = ()
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
            "histories": self.histories,
            "texts": self.texts,
            "text_bytes": self.text_bytes,
            "notes": self.notes,
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
