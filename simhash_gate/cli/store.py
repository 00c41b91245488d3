"""`simhash-gate store`: what a store remembers, and what fills it, for every kind of store."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import inf
from typing import Any

import click

from simhash_gate.cli.console import Console, with_chosen, with_console, with_settings
from simhash_gate.common.times import shown
from simhash_gate.compare.site_memory import SiteMemory
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.history.notes import notes_of
from simhash_gate.journal.segments import drops
from simhash_gate.journal.segments import forget as forget_dropped
from simhash_gate.offline.chosen import Chosen, forget_all, forget_notes_on, left_over
from simhash_gate.offline.exported import KINDS, exported
from simhash_gate.offline.imported import Import
from simhash_gate.offline.replay import live_run
from simhash_gate.settings import Settings
from simhash_gate.sources import find
from simhash_gate.sources.open import open_kept
from simhash_gate.stores import Record
from simhash_gate.stores.base import HISTORY, KEPT_TEXT, SITE_MEMORY, SITE_NOTES

_NOTHING = "the store has no pages that count"


@click.group(epilog="Example: simhash-gate store info sqlite:///pages.sqlite")
def store() -> None:
    """Fill a store, or list, remove or move the pages that it remembers.

    URL is written as in SIMHASH_GATE_STORE: sqlite:///path, redis://… or postgresql://….
    """


@store.command(
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
            scopes[blob.scope].repeated_texts = len(SiteMemory(blob.data))
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
        if not console.write_lines(_listed(record) for record in chosen.of(store)):
            console.say(_NOTHING)
    return console.status()


@store.command(
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
        if not console.write_lines(exported(store, chosen, console.complain)):
            console.say(_NOTHING)
    return console.status()


@store.command(
    short_help="Remove the pages of a domain, a URL or an age, or all.",
    epilog="Example: simhash-gate store forget sqlite:///pages.sqlite --domain example.com",
)
@click.argument("url")
@click.option("--all", "everything", is_flag=True, help="Remove everything that is remembered.")
@click.option("--journal", metavar="PATH", help="Remove them and their copies from it, too.")
@click.option("--dry-run", is_flag=True, help="Remove nothing. Print the pages, as `list` does.")
@with_chosen
@with_console
def forget(
    console: Console,
    url: str,
    chosen: Chosen,
    everything: bool,
    journal: str | None,
    dry_run: bool,
) -> int:
    """Remove the pages that match all of the options. Pages like them are new again.

    Their histories and texts, what is remembered of sites that have no pages left, and the pages of
    dead runs go too: of crawls that did not end normally. At least one of the options is needed.
    """
    if bool(chosen) is everything:
        raise click.UsageError(
            "Name the pages to remove: --domain, --scope, --page, --age, or --all"
        )
    if journal and chosen.scope:
        raise click.UsageError("a journal has no scopes: --journal goes with the other options")
    removed = dropped = 0
    copies = (found.drop for found in drops(journal, lambda *_: None)) if journal else ()
    with open_kept(url) as store:
        if not dry_run:
            with live_run(url):
                pass  # every new run removes what dead runs left
        chosen = chosen.resolved(store, copies)
        blobs = [*(it.blob for it in chosen.histories(store)), *chosen.notes(store)]
        for record in console.bar(chosen.of(store)):
            removed += 1
            console.write(_listed(record)) if dry_run else store.forget(record)
        counts = Counter(blob.kind for blob in blobs)
        like = set() if removed else chosen.like(store)
        if not dry_run:
            forget_all(store, blobs)
            counts[SITE_NOTES] += forget_notes_on(store, chosen)
            counts += forget_all(store, left_over(store))
    if journal:
        dropped = forget_dropped(journal, chosen.has_dropped, console.complain, dry_run=dry_run)
    named = chosen.page or chosen.domain or chosen.scope
    if named and chosen.age is None and not removed + len(blobs) + (0 if like else dropped):
        hint = f". Is it one of these? {', '.join(sorted(like)[:3])}" if like else ""
        console.complain(named, f"nothing is remembered of it{hint}")
    done = "to remove" if dry_run else "removed"
    console.say(f"pages {done}: {removed}")
    told = Counter({known.named: counts[kind] for kind, known in KINDS.items()})
    told["dropped pages in the journal"] = dropped
    for what, number in (+told).items():
        console.say(f"{what} {done}: {number}")
    return console.status()


@dataclass
class _Scope:
    """What `info` says of one scope, in this order."""

    pages: int = 0
    settled: int = 0
    pipelines: Counter[str] = field(default_factory=Counter)
    runs: set[str] = field(default_factory=set)
    oldest: float = inf
    newest: float = -inf
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
        counts = {"pipelines": dict(self.pipelines.most_common()), "runs": len(self.runs)}
        ends = ("oldest", "newest")
        times = {end: shown(getattr(self, end)) if self.pages else None for end in ends}
        return vars(self) | counts | times


def _listed(record: Record) -> dict[str, Any]:
    line = {name: getattr(record, name) for name in ("scope", "url", "title", "words")}
    line["fingerprint"] = to_hex(record.fingerprint)
    line |= {name: getattr(record, name) for name in ("pipeline", "run", "settled")}
    return line | {"first_seen": shown(record.first_seen), "last_seen": shown(record.last_seen)}


@store.command(
    "import",
    short_help="Fill a store from an archive, a corpus or another store.",
    epilog="Example: simhash-gate store import sqlite:///pages.sqlite archive/ corpus.jsonl",
)
@click.argument("url")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@with_settings
@with_console
def import_(settings: Settings, console: Console, url: str, sources: tuple[str, ...]) -> int:
    """Add the pages of SOURCEs to the store at URL, so that a new crawl knows them.

    SOURCE is anything with pages: WARC, WACZ, Scrapy's HttpCache, HTML, JSON Lines, Parquet, and
    folders of them; a corpus that `dedupe` made; or the output of `store export`, which is also
    read from stdin if no SOURCE is named.

    The store then has the pages that a crawl would keep that meets all pages in this order. The
    settings should be those of your crawl. All pages are one run: they count when all are added.
    """
    if url.lower().startswith("memory:"):
        raise click.UsageError(f"store URL {url!r}: a store in memory ends with this command")
    sources = sources or ("-",)
    given = find.look_at(sources, console.complain, console.say, fingerprints=True)
    files = find.files_of(given, console.complain)
    try:
        with live_run(url) as (store, run_name):
            seed = Import(settings, store, run_name, console.complain)
            for _ in console.bar(seed.each(files), lambda: find.total(given)):
                pass
            seed.gate.keep_memories()
    except BaseException:
        console.say("the import did not end: none of its pages count")
        raise
    if not seed.added + seed.copies + seed.skipped + seed.blobs.total():
        console.complain_of_nothing(find.shown(*sources), "no page in it")
    for message in seed.told(url):
        console.say(message)
    return console.status()
