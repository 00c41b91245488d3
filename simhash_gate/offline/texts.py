"""The texts of pages that a report shows, read where the pages are: only those that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import why
from simhash_gate.journal.contents import drops, load
from simhash_gate.journal.dropped import DamagedError
from simhash_gate.page import Page
from simhash_gate.sources import Entry
from simhash_gate.sources.read_pages import read_pages

if TYPE_CHECKING:
    from simhash_gate.common.wording import Complain
    from simhash_gate.settings import Settings

Named = Callable[[Collection[str]], Iterator[tuple[str, Entry]]]
"""Given the names of pages, yields those that a source has, in its order, each with its name."""


class PageTexts:
    """Reads pages anew, from sources that are asked in turn for what is still missing.

    The first page of a name counts.
    """

    def __init__(self, settings: Settings, sources: list[Named]) -> None:
        self._settings = settings
        self._sources = sources

    def __call__(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the Markdown of the pages of these names that the sources have."""
        found: dict[str, str] = {}
        for source in self._sources:
            missing = {name for name in names if name not in found}
            if missing:
                found |= self._read(source(missing), missing)
        return found

    def _read(self, named: Iterator[tuple[str, Entry]], missing: set[str]) -> Mapping[str, str]:
        wanted = first_of_each(named, missing)
        found: dict[str, str] = {}
        order: list[str] = []

        def entries() -> Iterator[Entry]:
            for name, entry in wanted:
                order.append(name)
                yield entry

        for place, (_, page) in enumerate(read_pages(entries(), self._settings)):
            if isinstance(page, Page) and not page.unreadable:
                found[order[place]] = page.markdown
        return found


def first_of_each(
    named: Iterator[tuple[str, Entry]], missing: Collection[str]
) -> Iterator[tuple[str, Entry]]:
    """Yield the first page of each name, until there is one of all."""
    left = set(missing)
    for name, entry in named:
        if name in left and not entry.skipped:
            left.discard(name)
            yield name, entry
            if not left:
                return


def of_pages(entries: Callable[[], Iterator[Entry]]) -> Named:
    """Return what finds pages among those of a source, which is read anew from its beginning."""

    def find(names: Collection[str]) -> Iterator[tuple[str, Entry]]:
        for entry in entries():
            known = entry.name, *([] if entry.id is None else [str(entry.id)])
            yield from ((name, entry) for name in known if name in names)

    return find


def of_journal(path: str, complain: Complain) -> Named:
    """Return what finds pages in a journal of dropped pages."""

    def find(names: Collection[str]) -> Iterator[tuple[str, Entry]]:
        for found in drops(path, complain):
            name = without_credentials(found.drop.url)
            if name not in names:
                continue
            try:
                body = load(found.place).body
            except (DamagedError, OSError) as error:
                reason = why(error) if isinstance(error, OSError) else str(error)
                complain(str(found.place), reason)
                continue
            encoding = found.drop.response.get("encoding")
            yield name, Entry(str(found.place), body, url=found.drop.url, encoding=encoding)

    return find
