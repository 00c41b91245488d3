"""The gate of a crawl, over pages on disk."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import Any

from simhash_gate.common.wording import Complain
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.verdict import Verdict, line_of
from simhash_gate.gate.visit import Visit
from simhash_gate.options import pipeline_version
from simhash_gate.page import Page
from simhash_gate.settings import SQLITE_DEFAULT, Settings
from simhash_gate.sources import Entry
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.stores import StoreError, open_store
from simhash_gate.stores.store import Store
from simhash_gate.values import PREFIX, SettingsError
from simhash_gate.workers.pool import ReadError

RENEW_INTERVAL = 20.0  # seconds
ALL_PAGES = 1 << 62
"""The window of a command that compares a page with all kept pages of its scope."""


def replay(
    entries: Iterable[Entry], settings: Settings, complain: Complain
) -> Generator[dict[str, Any]]:
    """Yield a line for each entry, in order. Complain of those that could not be judged.

    Raises `StoreError` if the store can't be opened, `SettingsError` if a replay can't use it.
    """
    with open_gate(settings) as gate:
        for entry, page in read_pages(entries, settings):
            verdict = judge(gate, settings, entry, page, visits=True)
            if verdict.outcome == "error":
                complain(entry.place, verdict.reason)
            dropped, size = verdict.rejected and verdict.action == "drop", len(entry.body)
            yield line_of(verdict, url=entry.name, id=entry.id, dropped=dropped, size=size)


@contextmanager
def open_gate(settings: Settings) -> Iterator[Gate]:
    """Open the settings' store, in memory if they name none, for one run.

    The run has ended normally when the block has: after an error its pages don't count.
    """
    if settings.store == SQLITE_DEFAULT:
        raise SettingsError(
            f"{PREFIX}STORE = {SQLITE_DEFAULT!r}: only a crawl knows which file this is. "
            "Name the file: sqlite:///path"
        )
    with live_run(settings.store or "memory:") as (store, run):
        yield Gate(store, run=run, pipeline=pipeline_version(settings.options))


def judge(
    gate: Gate,
    settings: Settings,
    entry: Entry,
    page: Page | ReadError | None,
    *,
    visits: bool = False,
) -> Verdict:
    """Return the verdict on one entry, as a crawl would reach it.

    With `visits`, the times of an entry count: at another time, its URL was another crawl's visit.
    Without, all pages are those of one crawl, and no history of them is kept.
    """
    site = settings.policies.site_of(entry.url)
    policy = site.policy
    if page is None:
        return Verdict("skipped", entry.skipped, policy)
    if isinstance(page, ReadError):
        return Verdict("error", str(page), policy)
    visit = Visit(entry.name, site.scope if entry.scope is None else entry.scope, entry.key)
    if not visits:
        policy = replace(policy, history=0, revisit_after=None)
    elif entry.visit and entry.time is not None:
        visit = replace(visit, at=entry.time)
        policy = replace(policy, revisit_after=policy.revisit_after or 1e-3)
    try:
        return gate.judge(page, policy, visit)
    except StoreError as error:
        return Verdict("error", str(error), policy, page)


class CorpusJudge:
    """Judges pages as one crawl would, scope by scope, and knows what each is a copy of.

    If it `converts`, pages of a corpus that was written by a gate are kept: they were judged then.
    `scopes` counts those in which a page was kept so far.
    """

    def __init__(self, gate: Gate, settings: Settings, *, converts: bool = False) -> None:
        self.gate = gate
        self._converts = converts
        self._settings = settings
        self._scope: str | None = None
        self.scopes = 0
        self._names: dict[tuple[object, ...], Any] = {}  # of the pages that are kept of a scope

    def judge(
        self, entry: Entry, page: Page | ReadError | None, name: Any
    ) -> tuple[Verdict, bool, Any]:
        """Return the verdict, whether the page is kept, and the name of the page that it is a copy
        of; None for none.
        """
        if self._converts and "pipeline" in entry.fields and isinstance(page, Page):
            before = Verdict("new", "judged before", self._settings.policies.default, page)
            return before, True, None
        verdict = judge(self.gate, self._settings, entry, page)
        # A page that the disk kept from being judged is no copy of another.
        kept = verdict.means.kept or (verdict.outcome == "error" and isinstance(page, Page))
        if (record := verdict.record) is not None:
            if record.scope != self._scope:
                self._scope, self._names = record.scope, {}
                self.scopes += 1
            self._names[record.identity] = name
        original = None
        if verdict.outcome == "duplicate" and verdict.match is not None:
            original = self._names.get(verdict.match.record.identity)
        return verdict, kept, original


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
                store.begin(run)

    try:
        store.begin(run)
        Thread(target=keep_alive, daemon=True).start()
        yield store, run
        store.end(run)
    finally:
        closing.set()
        store.close()
