"""Which pages and sites a `simhash-gate store` command is about, and what goes with them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from simhash_gate.common.urls import is_of_domain
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.history.notes import without_domain
from simhash_gate.history.texts import KeptPage, unpack
from simhash_gate.history.versions import History
from simhash_gate.identity.keys import key_of, own_key
from simhash_gate.journal.warc import Drop
from simhash_gate.stores import Blob, Record
from simhash_gate.stores.base import HISTORY, KEPT_TEXT, SITE_MEMORY, SITE_NOTES
from simhash_gate.stores.histories import PageHistory
from simhash_gate.stores.store import Store


@dataclass(frozen=True)
class Chosen:
    """Which pages a command is about: those that agree with all of this.

    `domain` stands for its subdomains too; `page` is any address of a page: where none has its key,
    the one whose address only adds parameters. `age` is in seconds: pages are chosen whose own URL
    was last seen longer ago. `keys` are more keys of the page.
    """

    domain: str | None = None
    scope: str | None = None
    page: str | None = None
    age: float | None = None
    keys: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self != Chosen()

    def of(self, store: Store) -> Iterator[Record]:
        """Yield the pages of a store that are chosen, oldest first."""
        chosen = self.resolved(store)
        for record in store.records(self.scope):
            if chosen._has(record.url, record.last_seen) and chosen._is_page(record):
                yield record

    def histories(self, store: Store) -> Iterator[PageHistory]:
        """Yield what is known of the visits to the pages that are chosen, in any order."""
        chosen = self.resolved(store)
        for history in map(PageHistory.of, store.blobs(HISTORY, self.scope)):
            if chosen._has(history.url, history.seen) and chosen._is_page(history):
                yield history

    def resolved(self, store: Store, drops: Iterable[Drop] = ()) -> Chosen:
        """Return this with the keys of all addresses of the page that a store and drops know."""
        if self.page is None or self.keys:
            return self
        keys, like = {key_of(self.page)}, self.like(store)
        if len(like) == 1 and not any(map(self._is_page, store.records(self.scope))):
            keys.update(map(key_of, like))
        pairs = [*map(_keys_of, drops)]
        while more := {key for pair in pairs if keys & pair for key in pair} - keys:
            keys |= more
        return replace(self, keys=frozenset(keys))

    def like(self, store: Store) -> set[str]:
        """Return the URLs that are that of the page, and more parameters."""
        pages = [PageHistory.of(blob).url for blob in store.blobs(HISTORY, self.scope)]
        pages += [record.url for record in store.records(self.scope)]
        key = key_of(self.page or "")
        return {url for url in pages if key_of(url.partition("?")[0]) == key != key_of(url)}

    def notes(self, store: Store) -> Iterator[Blob]:
        """Yield the notes on the scopes that are chosen, whatever pages they have."""
        if self.page is None and self.age is None:
            for blob in store.blobs(SITE_NOTES, self.scope):
                of_site = f"http://{blob.scope}/"
                if self.domain is None or is_of_domain(of_site, self.domain):
                    yield blob

    def has_dropped(self, drop: Drop) -> bool:
        """Tell whether a dropped page is chosen, itself or as a copy of one that is."""
        is_page = self.page is None or not self.keys.isdisjoint(_keys_of(drop))
        return is_page and self._has(drop.url, drop.time)

    def _has(self, url: str, seen: float) -> bool:
        return (self.age is None or seen < time.time() - self.age) and (
            self.domain is None or is_of_domain(url, self.domain)
        )

    def _is_page(self, kept: Record | PageHistory) -> bool:
        if self.page is None:
            return True
        if kept.key.endswith("#"):  # its other addresses show another page
            return kept.key == own_key(self.page)
        keys = {kept.key, key_of(kept.url)}
        return key_of(self.page) in keys or not keys.isdisjoint(self.keys)


def _keys_of(drop: Drop) -> set[str]:
    """Return the keys of a dropped page and, if it is a copy, of its kept page."""
    return {key_of(drop.url), *([key_of(drop.matched_url)] if drop.outcome == "duplicate" else ())}


def forget_all(store: Store, blobs: Iterable[Blob]) -> Counter[str]:
    """Forget what is kept beside pages; return how much it was of each kind."""
    known = [*blobs]
    for blob in known:
        store.put(replace(blob, data=b"", run=""))
    return Counter(blob.kind for blob in known)


def forget_notes_on(store: Store, chosen: Chosen) -> int:
    """Forget the notes on a domain in scopes that have several; return in how many."""
    if chosen != Chosen(chosen.domain, chosen.scope) or chosen.domain is None:
        return 0
    parts = 0
    for blob in [*store.blobs(SITE_NOTES, chosen.scope)]:
        if (left := without_domain(blob.data, chosen.domain)) != blob.data:
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
