"""Which pages and sites a `simhash-gate store` command is about, and what goes with them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from simhash_gate.common.urls import is_of_domain, without_credentials
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.history.notes import without_domain
from simhash_gate.history.texts import KeptPage, unpack
from simhash_gate.history.versions import History
from simhash_gate.identity.keys import key_of, own_key
from simhash_gate.stores import Blob, Record
from simhash_gate.stores.base import HISTORY, KEPT_TEXT, SITE_MEMORY, SITE_NOTES
from simhash_gate.stores.histories import PageHistory
from simhash_gate.stores.store import Store


@dataclass(frozen=True)
class Chosen:
    """Which pages a command is about: those that agree with all of this.

    `domain` stands for its subdomains too; `page` is any address of a page. `age` is in seconds:
    pages are chosen whose own URL was last seen longer ago.
    """

    domain: str | None = None
    scope: str | None = None
    page: str | None = None
    age: float | None = None

    def __bool__(self) -> bool:
        return self != Chosen()

    def of(self, store: Store) -> Iterator[Record]:
        """Yield the pages of a store that are chosen, oldest first."""
        is_page = self._page_test()
        for record in store.records(self.scope):
            if self._has(record.url, record.last_seen) and is_page(record):
                yield record

    def histories(self, store: Store) -> Iterator[PageHistory]:
        """Yield what is known of the visits to the pages that are chosen, in any order."""
        is_page = self._page_test()
        for history in map(PageHistory.of, store.blobs(HISTORY, self.scope)):
            if self._has(history.url, history.seen) and is_page(history):
                yield history

    def notes(self, store: Store) -> Iterator[Blob]:
        """Yield the notes on the scopes that are chosen, whatever pages they have."""
        if self.page is None and self.age is None:
            for blob in store.blobs(SITE_NOTES, self.scope):
                of_site = f"http://{blob.scope}/"
                if self.domain is None or is_of_domain(of_site, self.domain):
                    yield blob

    def _has(self, url: str, seen: float) -> bool:
        return (self.age is None or seen < time.time() - self.age) and (
            self.domain is None or is_of_domain(url, self.domain)
        )

    def _page_test(self) -> Callable[[Record | PageHistory], bool]:
        if self.page is None:
            return lambda _: True
        page = without_credentials(self.page)  # as pages are remembered

        def is_page(kept: Record | PageHistory) -> bool:
            if kept.key.endswith("#"):  # its other addresses show another page
                return kept.key == own_key(page)
            return key_of(page) in (kept.key, key_of(kept.url))

        return is_page


def forget_all(store: Store, blobs: Iterable[Blob]) -> Counter[str]:
    """Forget what is kept beside pages; return how much it was of each kind."""
    known = [*blobs]
    for blob in known:
        store.put(replace(blob, data=b"", run=""))
    return Counter(blob.kind for blob in known)


def forget_notes_on(store: Store, chosen: Chosen) -> int:
    """Forget the notes on a domain in scopes that have several; return in how many."""
    if chosen.domain is None or chosen.page is not None or chosen.age is not None:
        return 0
    parts = 0
    for blob in [*store.blobs(SITE_NOTES, chosen.scope)]:
        left = without_domain(blob.data, chosen.domain)
        if left != blob.data:
            store.put(replace(blob, data=left))
            parts += 1
    return parts


def left_over(store: Store) -> Iterator[Blob]:
    """Yield the texts of no page that is remembered, and what sites repeat that have no pages."""
    texts = [*store.blobs(KEPT_TEXT, data=False)]
    if texts:
        known = {(record.scope, to_hex(record.digest)) for record in store.records()}
        for history in map(PageHistory.of, store.blobs(HISTORY)):
            known |= texts_of(history)
        yield from (text for text in texts if (text.scope, text.key) not in known)
    for memory in [*store.blobs(SITE_MEMORY, data=False)]:
        if next(store.records(memory.scope), None) is None:
            yield memory


def text_of(store: Store, scope: str, digest: int) -> KeptPage | None:
    """Return the kept text of a page of this digest, or None. Raises ValueError for other data."""
    data = store.get(KEPT_TEXT, scope, to_hex(digest))
    return unpack(data) if data else None


def texts_of(history: PageHistory) -> set[tuple[str, str]]:
    """Return under which scope and key a store keeps the texts of a page's versions."""
    with suppress(ValueError):  # of a later release
        versions = History.decode(history.history).versions
        return {(history.scope, to_hex(version.digest)) for version in versions}
    return set()
