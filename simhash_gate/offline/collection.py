"""A collection of pages, as fingerprints: what is compared with one another, or counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.gate.policy import scope_of
from simhash_gate.offline.reading import read_pages
from simhash_gate.offline.sources import open_source
from simhash_gate.offline.store import opened
from simhash_gate.pipeline import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simhash_gate.offline.entry import Complain
    from simhash_gate.settings import Settings


class Member(NamedTuple):
    """One page of a collection that has a fingerprint; `name` is its URL, else its path.

    `pipeline` is the version that a store keeps beside it; "" where it was read just now.
    """

    name: str
    scope: str
    fingerprint: int
    title: str
    words: int
    pipeline: str = ""


def members(path: str, settings: Settings, complain: Complain) -> Iterator[Member]:
    """Yield the pages of a source, or of the store at a URL, in order; others are passed over.

    A page that can't be read is complained of. Raises `StoreError` and `MissingExtraError`.
    """
    if "://" in path:
        with opened(path) as store:
            for record in store.records():
                yield Member(
                    record.url,
                    record.scope,
                    record.fingerprint,
                    record.title,
                    record.words,
                    record.pipeline,
                )
        return
    source = open_source(path, complain, settings.max_bytes)
    for entry, page in read_pages(source.entries, settings):
        if isinstance(page, Page):
            if page.unreadable:
                complain(entry.place, page.reason or "")
            elif page.fingerprint is not None:
                scope = entry.scope or scope_of(entry.url, settings.scope)
                yield Member(
                    entry.url or entry.path, scope, page.fingerprint, page.title, page.words
                )
        elif page is not None:
            complain(entry.place, str(page))
