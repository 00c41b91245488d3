"""`simhash-gate store import`: a store is filled from files of pages, corpora and other stores."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, islice

import click

from simhash_gate.cli.console import Console, with_console, with_settings
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.fingerprints.contradictions import read_from_text
from simhash_gate.fingerprints.sketch import NO_SKETCH, decode
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.offline.exported import KINDS, is_exported, read_exported
from simhash_gate.offline.replay import live_run
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry, File, find
from simhash_gate.sources.find import JSONL
from simhash_gate.sources.jsonl import STDIN
from simhash_gate.sources.open import open_kept, pages_of
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.stores import Blob, Record, StoreError, Window
from simhash_gate.stores.base import HISTORY
from simhash_gate.stores.store import Store
from simhash_gate.workers.pool import ReadError

_ALL_PAGES = 1 << 62
EVERYTHING = Window(pages=_ALL_PAGES)
_TOGETHER = 200  # pages that are added at once
_NAMED = 10  # scopes in a warning


@click.command(
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
    if url.partition(":")[0].lower() == "memory":
        raise StoreError(f"store URL {url!r}: a store in memory ends with this command")
    sources = sources or ("-",)
    given = find.look_at(sources, console.complain, console.say, fingerprints=True)
    files = find.files_of(given, console.complain)
    with _all_or_nothing(console), live_run(url) as (store, run_name):
        seed = _Import(settings, console, store, run_name)
        for _ in console.bar(seed.each(files), lambda: find.total(given)):
            pass
        seed.gate.keep_memories()
    if not seed.found_something:
        console.complain_of_nothing(find.shown(*sources), "no page in it")
    seed.tell(url)
    return console.status()


@contextmanager
def _all_or_nothing(console: Console) -> Iterator[None]:
    """Say that nothing counts, if the import ends early."""
    try:
        yield
    except BaseException:
        console.say("the import did not end: none of its pages count")
        raise


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
        for exported, same in groupby(files, _is_exported):
            add = self._records if exported else self._pages
            yield from add(same)

    @property
    def found_something(self) -> bool:
        """Tell if the sources had anything."""
        return bool(self.added + self.copies + self.skipped + self.blobs.total())

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

    def _pages(self, files: Iterable[File]) -> Iterator[None]:
        """Judge pages as a crawl does that has a window without end."""
        entries = pages_of(files, self._console.complain, self._settings.max_bytes)
        pages = read_pages(entries, self._settings)
        while some := list(islice(pages, _TOGETHER)):
            with self._store.batch():
                for entry, page in some:
                    self._judge(entry, page)
            yield from [None] * len(some)

    def _judge(self, entry: Entry, page: Page | ReadError | None) -> None:
        if page is None:
            self.skipped += 1
            return
        if not isinstance(page, Page) or page.unreadable:
            reason = page.reason if isinstance(page, Page) else str(page)
            self._console.complain(entry.place, reason or "")
            return
        if not entry.url:
            self._console.complain(entry.place, "no URL. A manifest can tell it")
            return
        if entry.of_text:
            page = self._once_html(entry, page)
        site = self._settings.policies.site_of(entry.url)
        verdict = self.gate.judge(
            page,
            replace(site.policy, window=_ALL_PAGES),
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

    def _records(self, files: Iterable[File]) -> Iterator[None]:
        """Add what other stores had: pages that were judged before."""
        things = (
            thing for file in files for thing in read_exported(file.path, self._console.complain)
        )
        while some := list(islice(things, _TOGETHER)):
            with self._store.batch():
                for thing in some:
                    if isinstance(thing, Record):
                        self._add(replace(thing, run=self.gate.run))
                    else:
                        self._add_blob(thing)
            yield from [None] * len(some)

    def _add(self, record: Record) -> None:
        """Add a page, unless this very page is there."""
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


def _is_exported(file: File) -> bool:
    return file.kind == JSONL and (file.path == STDIN or is_exported(file.path))
