"""`simhash-gate store`: what a store remembers, for every kind of store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import click

from simhash_gate.cli.console import Console, with_chosen, with_console
from simhash_gate.cli.store_import import import_
from simhash_gate.common.times import shown
from simhash_gate.common.wording import complaining
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.site_memory import SiteMemory
from simhash_gate.history.notes import notes_of
from simhash_gate.offline.chosen import Chosen, forget_all, forget_notes_on, left_over, texts_of
from simhash_gate.offline.exported import KINDS, blob_line, page_line
from simhash_gate.offline.replay import live_run
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import Record
from simhash_gate.stores.base import HISTORY, KEPT_TEXT, SITE_MEMORY, SITE_NOTES, URL_RULES, Blob
from simhash_gate.stores.store import Store

_OF_SITES = (SITE_NOTES, URL_RULES)
_NOTHING = "the store has no pages that count"


@click.group(epilog="Example: simhash-gate store info sqlite:///pages.sqlite")
def store() -> None:
    """Fill a store, or list, remove or move the pages that it remembers.

    URL is written as in SIMHASH_GATE_STORE: sqlite:///path, redis://… or postgresql://….
    """


@store.command(
    "info",
    short_help="Count the pages of each scope.",
    epilog="Example: simhash-gate store info sqlite:///pages.sqlite",
)
@click.argument("url")
@with_console
def info(console: Console, url: str) -> int:
    """Print one line of JSON for each scope, the largest first.

    It counts pages, runs, the texts that the site repeats, histories and texts of pages, and has
    the pipeline versions, the kinds of notes on the site, and the oldest and newest time.
    """
    scopes: defaultdict[str, _Scope] = defaultdict(_Scope)
    with open_kept(url) as store:
        for record in console.bar(store.records()):
            scopes[record.scope].add(record)
        for blob in store.blobs(SITE_MEMORY):
            scopes[blob.scope].repeated_texts = len(SiteMemory.of(blob.data))
        for blob in store.blobs(HISTORY):
            scopes[blob.scope].histories += 1
        for blob in store.blobs(KEPT_TEXT, data=False):
            scopes[blob.scope].texts += 1
            scopes[blob.scope].text_bytes += blob.size
        for blob in store.blobs(SITE_NOTES):
            scopes[blob.scope].notes = tuple(sorted(notes_of(blob.data)))
    for name, scope in sorted(scopes.items(), key=lambda item: (-item[1].pages, item[0])):
        console.write({"scope": name, **scope.as_json()})
    if not scopes:
        console.say(_NOTHING)
    return console.status()


@store.command(
    "list",
    short_help="List the pages.",
    epilog="Example: simhash-gate store list sqlite:///pages.sqlite --scope example.com",
)
@click.argument("url")
@with_chosen
@with_console
def list_(console: Console, url: str, chosen: Chosen) -> int:
    """Print one line of JSON for each page, the oldest first. Pages of dead runs are left out.

    A page must match all of the options.
    """
    with open_kept(url) as store:
        _print(console, (_listed(record) for record in chosen.of(store)))
    return console.status()


@store.command(
    "export",
    short_help="Print everything that is remembered, for `store import`.",
    epilog="Example: simhash-gate store export sqlite:///pages.sqlite > pages.jsonl",
)
@click.argument("url")
@with_chosen
@with_console
def export(console: Console, url: str, chosen: Chosen) -> int:
    """Print one line of JSON for each page, with all data that the store has, the oldest first.

    After the pages come lines with their histories, their texts, and what is known of their sites.
    A page must match all of the options.
    """
    with open_kept(url) as store:
        _print(console, _exported(console, store, chosen))
    return console.status()


@store.command(
    "forget",
    short_help="Remove the pages of a domain, a URL or an age, or those that are too many.",
    epilog="Example: simhash-gate store forget sqlite:///pages.sqlite --domain example.com",
)
@click.argument("url")
@click.option(
    "--pages",
    type=click.IntRange(min=0),
    metavar="N",
    help="Keep the last N of these pages of each scope.",
)
@with_chosen
@with_console
def forget(console: Console, url: str, chosen: Chosen, pages: int | None) -> int:
    """Remove the pages that match all of the options. Pages like them are new again.

    Their histories and texts, what is remembered of sites that have no pages left, and the pages of
    dead runs go too: of crawls that did not end normally. At least one of the options is needed.
    """
    if not chosen and pages is None:
        raise click.UsageError(
            "Name the pages to remove: --domain, --scope, --page, --age or --pages."
        )
    with open_kept(url) as store:
        with live_run(url):
            pass  # every new run removes what dead runs left
        blobs_removed: Counter[str] = Counter()
        left = Counter(record.scope for record in chosen.of(store)) if pages else None
        removed = 0
        for record in console.bar(chosen.of(store)):
            if left is not None:
                left[record.scope] -= 1
                if left[record.scope] < (pages or 0):
                    continue
                store.put(Blob(HISTORY, record.scope, record.request, b""))
            removed += store.forget(record)
        if left is None:
            blobs_removed[HISTORY] += forget_all(store, (it.blob for it in chosen.histories(store)))
            for kind in _OF_SITES:
                blobs_removed[kind] += forget_all(store, chosen.of_sites(store, kind))
            blobs_removed[SITE_NOTES] += forget_notes_on(store, chosen)
        for blob in [*left_over(store)]:
            blobs_removed[blob.kind] += forget_all(store, [blob])
    console.say(f"pages removed: {removed}")
    for kind, known in KINDS.items():
        if blobs_removed[kind]:
            console.say(f"{known.named} removed: {blobs_removed[kind]}")
    return console.status()


def _print(console: Console, lines: Generator[dict[str, Any]]) -> None:
    if not console.write_lines(lines):
        console.say(_NOTHING)


def _exported(console: Console, store: Store, chosen: Chosen) -> Generator[dict[str, Any]]:
    scopes, texts = set(), set()
    for record in chosen.of(store):
        scopes.add(record.scope)
        texts.add((record.scope, to_hex(record.digest)))
        yield page_line(record)
    for history in chosen.histories(store):
        texts |= texts_of(history)
        with complaining(console.complain, f"history of {history.url}"):
            yield blob_line(history.blob)
    for text in store.blobs(KEPT_TEXT, chosen.scope, data=False):
        if not chosen or (text.scope, text.key) in texts:
            data = store.get(KEPT_TEXT, text.scope, text.key)
            with complaining(console.complain, f"text of {text.scope}"):
                yield blob_line(replace(text, data=data))
    memories = (it for it in store.blobs(SITE_MEMORY) if it.scope in scopes or not chosen)
    for blob in chain(memories, *(chosen.of_sites(store, kind) for kind in _OF_SITES)):
        with complaining(console.complain, f"{KINDS[blob.kind].named} of {blob.scope}"):
            yield blob_line(blob)


@dataclass
class _Scope:
    """What `info` says of one scope, in this order."""

    pages: int = 0
    settled: int = 0
    pipelines: Counter[str] = field(default_factory=Counter)
    runs: set[str] = field(default_factory=set)
    oldest: float = float("inf")
    newest: float = float("-inf")
    repeated_texts: int = 0
    histories: int = 0
    texts: int = 0
    text_bytes: int = 0
    notes: tuple[str, ...] = ()

    def add(self, record: Record) -> None:
        self.pages += 1
        self.settled += record.settled
        self.pipelines[record.pipeline] += 1
        self.runs.add(record.run)
        self.oldest = min(self.oldest, record.first_seen)
        self.newest = max(self.newest, record.last_seen)

    def as_json(self) -> dict[str, Any]:
        times = {name: getattr(self, name) for name in ("oldest", "newest")}
        return {
            **vars(self),
            "pipelines": dict(self.pipelines.most_common()),
            "runs": len(self.runs),
            **{name: shown(time) if self.pages else None for name, time in times.items()},
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


store.add_command(import_)
