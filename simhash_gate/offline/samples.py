"""Pairs to judge by eye: who they are, how near, and the words that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simhash_gate.offline.comparison import Change, changes
from simhash_gate.offline.sources import names_store, open_pages
from simhash_gate.pipeline import read_closely
from simhash_gate.wording import how_many

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from simhash_gate.offline.neighbours import Neighbour
    from simhash_gate.settings import Settings

MOST_CHANGES = 3
_MOST_WORDS = 12  # of a change

Texts = dict[str, list[str]]
"""The words of pages, by their names."""


class Sample(NamedTuple):
    """A pair, and the first changes between its texts; None where these are not at hand."""

    pair: Neighbour
    changes: list[Change] | None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON can say it, `a` being the earlier page."""
        page, earlier, distance = self.pair
        return {
            "distance": distance,
            "a": {"name": earlier.name, "title": earlier.title, "words": earlier.words},
            "b": {"name": page.name, "title": page.title, "words": page.words},
            "changes": None if self.changes is None else [c._asdict() for c in self.changes],
        }

    def as_text(self) -> Iterator[str]:
        """Yield the lines that a person reads."""
        for number, member in enumerate((self.pair.earlier, self.pair.page)):
            bits = how_many(self.pair.distance, "bit") if number == 0 else ""
            yield f"{bits:>7}  {printable(member.name)}"
            yield f"         {printable(member.title)} ({how_many(member.words, 'word')})"
        if self.changes is not None:
            for change in self.changes:
                yield f"         {change.as_text()}"
            if not self.changes:
                yield "         no word differs"


def sample(pair: Neighbour, texts: Texts) -> Sample:
    """Return a pair with what differs between its texts, if both are there."""
    names = pair.earlier.name, pair.page.name
    if not all(name in texts for name in names):
        return Sample(pair, None)
    found: list[Change] = []
    for change in changes(*(texts[name] for name in names)):
        if len(found) == MOST_CHANGES:
            break
        found.append(change._replace(removed=_cut(change.removed), added=_cut(change.added)))
    return Sample(pair, found)


def read_texts(path: str, names: Collection[str], settings: Settings) -> Texts:
    """Return the words of the pages of these names; a store, or what is gone, has none.

    The source is gone through once more, and only these pages are read.
    """
    texts: Texts = {}
    if names_store(path) or not names:
        return texts
    for entry in open_pages(path, _ignore, settings.max_bytes).entries:
        name = entry.url or entry.path
        if name in names and name not in texts and not entry.skipped:
            reading = read_closely(
                entry.body, url=entry.url, encoding=entry.encoding, options=settings.options
            )
            texts[name] = reading.words
            if len(texts) == len(names):
                break
    return texts


def names_of(pairs: Iterable[Neighbour]) -> set[str]:
    """Return the names of all pages of some pairs."""
    return {member.name for pair in pairs for member in (pair.page, pair.earlier)}


def printable(text: str) -> str:
    """Return what a page said of itself without what a terminal would obey."""
    return "".join(char if char.isprintable() else " " for char in click.unstyle(text))


def _ignore(place: str, message: str) -> None:
    """What can't be used was complained of when the source was first gone through."""


def _cut(words: Sequence[str]) -> Sequence[str]:
    return words if len(words) <= _MOST_WORDS else [*words[:_MOST_WORDS], "…"]
