"""`simhash-gate store import`: a store is filled from files of pages, corpora and other stores."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, islice
from typing import TYPE_CHECKING

from simhash_gate.common.wording import complaining, how_many
from simhash_gate.fingerprints.claims import NO_CLAIMS, decode_claims, read_from_text
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.site_memory import SiteMemory
from simhash_gate.history.notes import merged
from simhash_gate.identity.saved import keep
from simhash_gate.offline.exported import (
    Notes,
    Repeated,
    Rules,
    Text,
    is_exported,
    read_exported,
)
from simhash_gate.offline.store import live_run
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.sources import find
from simhash_gate.sources.jsonl import STDIN
from simhash_gate.sources.open import open_kept, pages_of
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.stores import PageHistory, Record, StoreError, Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.gate.policy import Policy
    from simhash_gate.offline.console import Console
    from simhash_gate.settings import Settings
    from simhash_gate.sources import Entry, File
    from simhash_gate.stores import Store
    from simhash_gate.workers.pool import ReadError

_ALL = 1 << 62  # pages: an import is larger than the window of a crawl
EVERYTHING = Window(pages=_ALL)
_TOGETHER = 200  # pages that are added at once
_NAMED = 10  # scopes in a warning


def run(settings: Settings, console: Console, *, url: str, sources: Sequence[str]) -> int:
    """Add the pages of the sources, as one run that counts when all are there."""
    if url.partition(":")[0].lower() == "memory":
        raise StoreError(f"store URL {url!r}: a store in memory ends with this command")
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
        self.sites = self.ruled = self.histories = self.texts = self.noted = 0
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
        pages = self.added + self.copies + self.skipped
        return bool(pages + self.sites + self.ruled + self.histories + self.texts + self.noted)

    def tell(self, url: str) -> None:
        """Say what was added, and of what a crawl does not know all."""
        say = self._console.say
        say(f"pages added: {self.added}, copies: {self.copies}, skipped: {self.skipped}")
        if self.histories:
            say(f"histories added: {self.histories}")
        if self.texts:
            say(f"texts added: {self.texts}")
        if self.noted:
            say(f"notes were added of {how_many(self.noted, 'scope')}")
        if self.sites:
            say(f"what sites repeat was added of {how_many(self.sites, 'scope')}")
        if self.ruled:
            say(f"rules about URLs were added of {how_many(self.ruled, 'scope')}")
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
            _endless(site.policy),
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
        claims = decode_claims(page.claims or NO_CLAIMS)
        known = entry.known
        title = page.title if known is None else known.title
        claims = read_from_text(claims, title, entry.url)
        page = replace(page, claims=claims.encode(), title=title)
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
                        self._add_known(thing)
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

    def _add_known(self, thing: PageHistory | Text | Repeated | Notes | Rules) -> None:
        """Add what is known of a page's past, or of a site."""
        if isinstance(thing, PageHistory):
            self._store.keep_history(replace(thing, run=self.gate.run))
            self.histories += 1
        elif isinstance(thing, Text):
            self._store.keep_text(thing.scope, thing.digest, thing.data, thing.at, _ALL)
            self.texts += 1
        elif isinstance(thing, Repeated):
            self._merge(thing)
        elif isinstance(thing, Notes):
            known = self._store.site_notes(thing.scope)
            self._store.keep_site_notes(thing.scope, merged(known, thing.notes))
            self.noted += 1
        else:
            self._add_rules(thing)

    def _merge(self, repeated: Repeated) -> None:
        """Add what a site repeats to what the store knows of it."""
        known = self._store.site_memory(repeated.scope)
        merged = SiteMemory.of(known, repeated.memory)
        self._store.keep_site_memory(repeated.scope, merged.encode())
        self.sites += 1

    def _add_rules(self, rules: Rules) -> None:
        """Add rules about the URLs of a scope; each takes the place of the same one."""
        place = f"rules about URLs of {rules.scope}"
        with complaining(self._console.complain, place):
            keep(self._store, rules.scope, rules.entries)
            self.ruled += 1

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
    return file.kind == find.JSONL and (file.path == STDIN or is_exported(file.path))


@lru_cache
def _endless(policy: Policy) -> Policy:
    return replace(policy, window=_ALL)
