"""`simhash-gate fingerprint`: what the pipeline makes of each file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.offline.reading import read_pages
from simhash_gate.pages import Page

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from simhash_gate.offline.entry import Entry
    from simhash_gate.settings import Settings


def fingerprints(entries: Iterable[Entry], settings: Settings) -> Generator[dict[str, Any]]:
    """Yield a line for each entry, in order; one without a fingerprint has a reason."""
    for entry, page in read_pages(entries, settings):
        line: dict[str, Any] = {"path": entry.path}
        if entry.id is not None:
            line["id"] = entry.id
        if isinstance(page, Page):
            line |= describe(page)
        else:
            reason = f"unreadable: {page}" if page else entry.skipped
            line |= {"fingerprint": None, "title": "", "words": 0, "reason": reason}
        yield line


def describe(page: Page) -> dict[str, Any]:
    """Return what a line says of a page; its reason only where there is no fingerprint."""
    digits = None if page.fingerprint is None else to_hex(page.fingerprint)
    line = {"fingerprint": digits, "title": page.title, "words": page.words}
    return line if digits else line | {"reason": page.reason}
