"""Which pages and sites a `simhash-gate store` command is about, and what goes with them."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simhash_gate.common.urls import is_of_domain, without_credentials
from simhash_gate.history.notes import without_domain
from simhash_gate.history.versions import History

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simhash_gate.stores import PageHistory, Record, Store


@dataclass(frozen=True)
class Chosen:
    """Which pages a command is about: those that agree with all of this.

    `domain` stands for its subdomains too. `age` is in seconds: pages are chosen whose own URL was
    last seen longer ago.
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
        for record in store.records(self.scope):
            if self._has(record.url, record.last_seen):
                yield record

    def histories(self, store: Store) -> Iterator[PageHistory]:
        """Yield what is known of the visits to the pages that are chosen, in any order."""
        for history in store.histories(self.scope):
            if self._has(history.url, history.seen):
                yield history

    def scopes(self, kept: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
        """Yield the scopes that are chosen, whatever pages they have, and what is kept of them."""
        if self.page is None and self.age is None:
            for scope, data in kept:
                of_domain = self.domain is None or is_of_domain(f"http://{scope}/", self.domain)
                if of_domain and self.scope in (None, scope):
                    yield scope, data

    def _has(self, url: str, seen: float) -> bool:
        page = self.page and without_credentials(self.page)  # as pages are remembered
        return (
            page in (None, url)
            and (self.age is None or seen < time.time() - self.age)
            and (self.domain is None or is_of_domain(url, self.domain))
        )


def forget_histories(store: Store, histories: Iterable[PageHistory]) -> int:
    """Forget all visits to these pages; return how many pages there were."""
    pages = [(history.scope, history.request) for history in histories]
    for page in pages:
        store.forget_history(*page)
    return len(pages)


def forget_notes(store: Store, chosen: Chosen) -> int:
    """Forget the notes on the sites that are chosen; return of how many scopes there were some."""
    whole = [scope for scope, _ in chosen.scopes(store.all_site_notes())]
    for scope in whole:
        store.keep_site_notes(scope, b"")
    if chosen.domain is None or chosen.page is not None or chosen.age is not None:
        return len(whole)
    parts = 0
    for scope, notes in [*store.all_site_notes()]:  # a scope can have several domains
        left = without_domain(notes, chosen.domain)
        if chosen.scope in (None, scope) and left != notes:
            store.keep_site_notes(scope, left)
            parts += 1
    return len(whole) + parts


def forget_texts(store: Store) -> int:
    """Forget the texts of no page that is remembered; return how many there were."""
    if not store.texts_size():
        return 0
    known = {(record.scope, record.digest) for record in store.records()}
    for history in store.histories():
        known |= digests_of(history)
    gone = [text for text in store.texts() if (text.scope, text.digest) not in known]
    for text in gone:
        store.forget_text(text.scope, text.digest)
    return len(gone)


def digests_of(history: PageHistory) -> set[tuple[str, int]]:
    """Return under what a store keeps the texts of a page's versions."""
    with suppress(ValueError):  # of a later release
        versions = History.decode(history.history).versions
        return {(history.scope, version.digest) for version in versions}
    return set()
