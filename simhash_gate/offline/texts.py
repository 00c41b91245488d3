"""The texts of pages that a report shows, read where the pages are: only those that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining
from simhash_gate.journal.contents import drops, load
from simhash_gate.page import Page
from simhash_gate.sources import Entry
from simhash_gate.sources.read_pages import read_pages

if TYPE_CHECKING:
    from simhash_gate.common.wording import Complain
    from simhash_gate.journal.contents import Found
    from simhash_gate.report.pairs import Texts
    from simhash_gate.settings import Settings

Named = Callable[[Collection[str]], Iterator[tuple[str, Entry]]]
"""Given the names of pages, yields those that a source has, in its order, each with its name."""


def texts_of(sources: Sequence[Named], settings: Settings) -> Texts:
    """Return what reads the Markdown of pages anew, in sources that are asked in turn.

    The first page of a name counts.
    """

    def texts(names: Collection[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for source in sources:
            order: list[str] = []
            for place, (_, page) in enumerate(
                read_pages(_wanted(source, set(names) - found.keys(), order), settings)
            ):
                if isinstance(page, Page) and not page.unreadable:
                    found[order[place]] = page.markdown
        return found

    return texts


def _wanted(source: Named, left: set[str], order: list[str]) -> Iterator[Entry]:
    """Yield the first page of each name that is left, and put the names in `order`."""
    for name, entry in source(left) if left else ():
        if name in left and not entry.skipped:
            left.discard(name)
            order.append(name)
            yield entry
        if not left:
            return


def of_pages(entries: Callable[[], Iterator[Entry]]) -> Named:
    """Return what finds pages among those of a source, which is read anew from its beginning."""

    def find(names: Collection[str]) -> Iterator[tuple[str, Entry]]:
        for entry in entries():
            known = entry.name, *([] if entry.id is None else [str(entry.id)])
            yield from ((name, entry) for name in known if name in names)

    return find


def entry_of(found: Found) -> Entry:
    """Return a dropped page of a journal. Raises `DamagedError` and OSError."""
    encoding = found.drop.response.get("encoding")
    body = load(found.place).body
    return Entry(str(found.place), body, url=found.drop.url, encoding=encoding)


def of_journal(path: str, complain: Complain) -> Named:
    """Return what finds pages in a journal of dropped pages."""

    def find(names: Collection[str]) -> Iterator[tuple[str, Entry]]:
        for found in drops(path, complain):
            name = without_credentials(found.drop.url)
            if name not in names:
                continue
            with complaining(complain, str(found.place)):
                yield name, entry_of(found)

    return find
