"""Fill a store: with pages that are judged as a crawl would, or with what another store has."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

from simhash_gate.common.wording import Complain, complaining, how_many
from simhash_gate.compare.offers import read_from_text
from simhash_gate.compare.sketch import NO_SKETCH, decode
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.visit import Visit
from simhash_gate.offline.exported import KINDS, is_exported, read_exported
from simhash_gate.offline.replay import ALL_PAGES
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry, File
from simhash_gate.sources.open import open_kept, pages_of
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.stores import Record, Window
from simhash_gate.stores.base import Blob
from simhash_gate.stores.store import Store
from simhash_gate.workers.pool import ReadError

_EVERYTHING = Window(pages=ALL_PAGES)
_TOGETHER = 200  # pages that are added at once
_NAMED = 10  # scopes in a warning


class Import:
    """Adds pages to a store in one run, and counts what became of them."""

    def __init__(self, settings: Settings, store: Store, run_name: str, complain: Complain) -> None:
        self.gate = Gate(store, run=run_name, pipeline=pipeline_version(settings.options))
        self.added = self.copies = self.skipped = 0
        self.blobs: Counter[str] = Counter()  # what is kept beside pages, by kind
        self._settings = settings
        self._complain = complain
        self._store = store
        self._policies: dict[str, Policy] = {}  # by scope
        self._aged = self._other_versions = 0
        self._now = time.time()

    def each(self, files: Iterable[File]) -> Iterator[None]:
        """Add the pages of files, in order; yield after each page."""
        complain = self._complain
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

    def told(self, url: str) -> Iterator[str]:
        """Yield what was added to the store at `url`, and of what a crawl does not know all."""
        yield f"pages added: {self.added}, copies: {self.copies}, skipped: {self.skipped}"
        for kind, known in KINDS.items():
            if self.blobs[kind]:
                yield f"{known.named} added: {self.blobs[kind]}"
        if self._other_versions:
            yield (
                f"{how_many(self._other_versions, 'page')} of another pipeline version: their "
                "fingerprints are those of their Markdown, and find fewer copies"
            )
        if self._aged:
            yield (
                f"{how_many(self._aged, 'page')} last seen longer ago than SIMHASH_GATE_TTL: "
                "a crawl with this setting does not compare with them"
            )
        with open_kept(url) as store:  # scopes that have more pages now than a crawl compares with
            over = [
                (scope, policy.window)
                for scope, policy in self._policies.items()
                if sum(1 for _ in islice(store.records(scope), policy.window + 1)) > policy.window
            ]
        for scope, window in over[:_NAMED]:
            yield (
                f"{scope}: more than {window} pages. A crawl compares with the last {window} of "
                "them, and forgets the others: see SIMHASH_GATE_WINDOW"
            )
        if len(over) > _NAMED:
            yield f"… and {len(over) - _NAMED} more scopes"

    def _judge(self, read: tuple[Entry, Page | ReadError | None]) -> None:
        """Judge a page as a crawl does that has a window without end."""
        entry, page = read
        if page is None:
            self.skipped += 1
            return
        if isinstance(page, ReadError):
            self._complain(entry.place, str(page))
            return
        if not entry.url:
            self._complain(entry.place, "no URL. A manifest can tell it")
            return
        if entry.of_text:
            page = self._once_html(entry, page)
        site = self._settings.policies.site_of(entry.url)
        scope = site.scope if entry.scope is None else entry.scope
        at = self._now if entry.time is None else min(entry.time, self._now)
        visit = Visit(entry.url, scope, entry.key, at)
        verdict = self.gate.judge(page, replace(site.policy, window=ALL_PAGES), visit)
        if verdict.record is not None:
            self._count(verdict.record, site.policy)
        elif verdict.match is not None:
            self.copies += 1
        else:  # nothing to compare
            self.skipped += 1

    def _once_html(self, entry: Entry, page: Page) -> Page:
        """Return a page that was read from its text as what it was before it was text."""
        known = entry.known
        title = page.title if known is None else known.title
        sketch = read_from_text(decode(page.sketch or NO_SKETCH), title, entry.url)
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
            with complaining(self._complain, f"{KINDS[thing.kind].named} of {thing.scope}"):
                known = self._store.get(thing.kind, thing.scope, thing.key, run=self.gate.run)
                if (data := KINDS[thing.kind].merge(known, thing.data)) != known:
                    at, run = thing.at, self.gate.run
                    self._store.put(Blob(thing.kind, thing.scope, thing.key, data, at, run))
                self.blobs[thing.kind] += 1
            return
        record = replace(thing, run=self.gate.run)
        added, match = self._store.check_and_add(record, 0, exact=True, window=_EVERYTHING)
        if not added and match is not None and match.record.key == record.key:
            self.copies += 1
            return
        if not added:
            self._store.check_and_add(record, None, window=_EVERYTHING)
        self._count(record, self._settings.policies.site_of(record.url).policy)
