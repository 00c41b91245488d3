"""`simhash-gate store`: what a store remembers, and what fills it, for every kind of store."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice
from math import inf
from typing import Any

import click

from simhash_gate.cli.console import Console, with_chosen, with_console, with_settings
from simhash_gate.common.times import shown
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.fingerprints.contradictions import read_from_text
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.fingerprints.sketch import NO_SKETCH, decode
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.site_memory import SiteMemory
from simhash_gate.history.notes import notes_of
from simhash_gate.offline.chosen import Chosen, forget_all, forget_notes_on, left_over, texts_of
from simhash_gate.offline.exported import KINDS, blob_line, is_exported, page_line, read_exported
from simhash_gate.offline.replay import ALL_PAGES, live_run
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry, File, find
from simhash_gate.sources.open import open_kept, pages_of
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.stores import Record, Window
from simhash_gate.stores.base import HISTORY, KEPT_TEXT, SITE_MEMORY, SITE_NOTES, URL_RULES, Blob
from simhash_gate.stores.store import Store
from simhash_gate.workers.pool import ReadError

_OF_SITES = (SITE_NOTES, URL_RULES)
EVERYTHING = Window(pages=ALL_PAGES)
_TOGETHER = 200  # pages that are added at once
_NAMED = 10  # scopes in a warning
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
            store.forget(record)
            removed += 1
        if left is None:
            blobs_removed += forget_all(store, (it.blob for it in chosen.histories(store)))
            for kind in _OF_SITES:
                blobs_removed += forget_all(store, chosen.of_sites(store, kind))
            blobs_removed[SITE_NOTES] += forget_notes_on(store, chosen)
        blobs_removed += forget_all(store, left_over(store))
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
        times = {name: getattr(self, name) for name in ("oldest", "newest")}
        return {
            **vars(self),
            "pipelines": dict(self.pipelines.most_common()),
            "runs": len(self.runs),
            **{name: shown(time) if self.pages else None for name, time in times.items()},
        }


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
            seed = _Import(settings, console, store, run_name)
            for _ in console.bar(seed.each(files), lambda: find.total(given)):
                pass
            seed.gate.keep_memories()
    except BaseException:
        console.say("the import did not end: none of its pages count")
        raise
    if not seed.added + seed.copies + seed.skipped + seed.blobs.total():
        console.complain_of_nothing(find.shown(*sources), "no page in it")
    seed.tell(url)
    return console.status()


class _Import:
    """Adds pages to a store in one run, and counts what became of them."""

    def __init__(self, settings: Settings, console: Console, store: Store, run_name: str) -> None:
        self.gate = Gate(store, run=run_name, pipeline=pipeline_version(settings.options))
        self.added = self.copies = self.skipped = 0
        self.blobs: Counter[str] = Counter()  # what is kept beside pages, by kind
        self._settings = settings
        self._console = console
        self._store = store
        self._policies: dict[str, Policy] = {}  # by scope
        self._aged = self._other_versions = 0
        self._now = time.time()

    def each(self, files: Iterable[File]) -> Iterator[None]:
        """Add the pages of files, in order; yield after each page."""
        complain = self._console.complain
        things: Iterator[Any]
        for exported, same in groupby(files, is_exported):
            if exported:  # pages that were judged before, and what is known beside them
                add: Callable[[Any], None] = self._add
                things = (thing for file in same for thing in read_exported(file.path, complain))
            else:
                add = self._judge
                entries = pages_of(same, complain, self._settings.max_bytes)
                things = read_pages(entries, self._settings)
            while some := list(islice(things, _TOGETHER)):
                with self._store.batch():
                    for thing in some:
                        add(thing)
                yield from [None] * len(some)

    def tell(self, url: str) -> None:
        """Say what was added, and of what a crawl does not know all."""
        say = self._console.say
        say(f"pages added: {self.added}, copies: {self.copies}, skipped: {self.skipped}")
        for kind, known in KINDS.items():
            if self.blobs[kind]:
                say(f"{known.named} added: {self.blobs[kind]}")
        if self._other_versions:
            say(
                f"{how_many(self._other_versions, 'page')} of another pipeline version: their "
                "fingerprints are those of their Markdown, and find fewer copies"
            )
        if self._aged:
            say(
                f"{how_many(self._aged, 'page')} last seen longer ago than SIMHASH_GATE_TTL: "
                "a crawl with this setting does not compare with them"
            )
        self._warn_of_windows(url)

    def _judge(self, read: tuple[Entry, Page | ReadError | None]) -> None:
        """Judge a page as a crawl does that has a window without end."""
        entry, page = read
        if page is None:
            self.skipped += 1
            return
        if isinstance(page, ReadError):
            self._console.complain(entry.place, str(page))
            return
        if not entry.url:
            self._console.complain(entry.place, "no URL. A manifest can tell it")
            return
        if entry.of_text:
            page = self._once_html(entry, page)
        site = self._settings.policies.site_of(entry.url)
        verdict = self.gate.judge(
            page,
            replace(site.policy, window=ALL_PAGES),
            url=entry.url,
            scope=site.scope if entry.scope is None else entry.scope,
            request=entry.key,
            at=None if entry.time is None else min(entry.time, self._now),
        )
        if verdict.record is not None:
            self._count(verdict.record, site.policy)
        elif verdict.match is not None:
            self.copies += 1
        else:  # nothing to compare
            self.skipped += 1

    def _once_html(self, entry: Entry, page: Page) -> Page:
        """Return a page that was read from its text as what it was before it was text."""
        sketch = decode(page.sketch or NO_SKETCH)
        known = entry.known
        title = page.title if known is None else known.title
        sketch = read_from_text(sketch, title, entry.url)
        page = replace(page, sketch=sketch.encode(), title=title)
        if known is None or page.fingerprint is None:
            return page
        if known.pipeline != self.gate.pipeline:
            self._other_versions += 1
            return page
        return replace(page, fingerprint=known.fingerprint, words=known.words, reason=None)

    def _count(self, record: Record, policy: Policy) -> None:
        self.added += 1
        self._policies[record.scope] = policy
        self._aged += policy.ttl is not None and record.last_seen < self._now - policy.ttl

    def _add(self, thing: Record | Blob) -> None:
        """Add a page, unless this very page is there, or what is known beside pages."""
        if isinstance(thing, Blob):
            self._add_blob(thing)
            return
        record = replace(thing, run=self.gate.run)
        added, match = self._store.check_and_add(record, 0, exact=True, window=EVERYTHING)
        if not added and match is not None and match.record.request == record.request:
            self.copies += 1
            return
        if not added:
            self._store.check_and_add(record, None, window=EVERYTHING)
        self._count(record, self._settings.policies.site_of(record.url).policy)

    def _add_blob(self, blob: Blob) -> None:
        """Add what is known beside pages to what the store knows."""
        with complaining(self._console.complain, f"{KINDS[blob.kind].named} of {blob.scope}"):
            if blob.kind == HISTORY:
                blob = replace(blob, run=self.gate.run)
            else:
                known = self._store.get(blob.kind, blob.scope, blob.key)
                data = KINDS[blob.kind].merge(known, blob.data)
                blob = Blob(blob.kind, blob.scope, blob.key, data, blob.at)
            self._store.put(blob)
            self.blobs[blob.kind] += 1

    def _warn_of_windows(self, url: str) -> None:
        """Name the scopes that have more pages now than a crawl compares with."""
        with open_kept(url) as store:
            over = [
                (scope, policy.window)
                for scope, policy in self._policies.items()
                if sum(1 for _ in islice(store.records(scope), policy.window + 1)) > policy.window
            ]
        for scope, window in over[:_NAMED]:
            self._console.say(
                f"{scope}: more than {window} pages. A crawl compares with the last {window} of "
                "them, and forgets the others: see SIMHASH_GATE_WINDOW"
            )
        if len(over) > _NAMED:
            self._console.say(f"… and {len(over) - _NAMED} more scopes")
