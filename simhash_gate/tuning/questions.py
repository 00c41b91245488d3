"""Pairs to judge by eye: who they are, how near, and the words that differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.claims import contradiction
from simhash_gate.offline.claimed import claims_of, printable, side_by_side
from simhash_gate.offline.comparison import Change, changes
from simhash_gate.pipeline import read_closely
from simhash_gate.sources.open import names_store, open_pages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from simhash_gate.collection.neighbours import Neighbour
    from simhash_gate.fingerprints.claims import Claims
    from simhash_gate.offline.claimed import Claimed
    from simhash_gate.settings import Settings

MOST_CHANGES = 3
_MOST_WORDS = 12  # of a change


class Text(NamedTuple):
    """The words of a page, and what it claims to be."""

    words: list[str]
    claims: Claims


Texts = dict[str, Text]
"""What was read of pages, by their names."""


class Sample(NamedTuple):
    """A pair, and what it claims and the first changes between its texts.

    Both are None where the texts are not at hand.
    """

    pair: Neighbour
    claimed: list[Claimed] | None
    changes: list[Change] | None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON can say it, `a` being the earlier page."""
        page, earlier, distance = self.pair
        return {
            "distance": distance,
            "a": {"name": earlier.name, "title": earlier.title, "words": earlier.words},
            "b": {"name": page.name, "title": page.title, "words": page.words},
            "claims": None if self.claimed is None else [c._asdict() for c in self.claimed],
            "changes": None if self.changes is None else [c._asdict() for c in self.changes],
        }

    def as_text(self) -> Iterator[str]:
        """Yield the lines that a person reads."""
        for number, member in enumerate((self.pair.earlier, self.pair.page)):
            bits = how_many(self.pair.distance, "bit") if number == 0 else ""
            yield f"{bits:>7}  {printable(member.name)}"
            yield f"         {printable(member.title)} ({how_many(member.words, 'word')})"
        for claimed in self.claimed or ():
            yield f"         {claimed.as_text()}"
        for change in self.changes or ():
            yield f"         {change.as_text()}"
        if self.changes == []:
            yield (
                "         no word of the text differs"
                if self.claimed
                else "         no word differs"
            )


def sample(pair: Neighbour, texts: Texts) -> Sample:
    """Return a pair with what differs between its texts, if both are there."""
    names = pair.earlier.name, pair.page.name
    if not all(name in texts for name in names):
        return Sample(pair, None, None)
    a, b = (texts[name] for name in names)
    claimed = [each for each in side_by_side(a.claims, b.claims) if each.differs]
    found: list[Change] = []
    for change in changes(a.words, b.words):
        if len(found) == MOST_CHANGES:
            break
        found.append(change._replace(removed=_cut(change.removed), added=_cut(change.added)))
    return Sample(pair, claimed, found)


def contradicting(pairs: Iterable[Neighbour], texts: Texts) -> Counter[str]:
    """Count pairs by what contradicts, "" for nothing; those whose texts are not there left out."""
    counted: Counter[str] = Counter()
    for page, earlier, _ in pairs:
        if page.name in texts and earlier.name in texts:
            found = contradiction(texts[earlier.name].claims, texts[page.name].claims)
            counted[found.differs if found else ""] += 1
    return counted


def read_texts(path: str, names: Collection[str], settings: Settings) -> Texts:
    """Return what the pages of these names say; a store, or what is gone, has none.

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
            texts[name] = Text(reading.words, claims_of(reading.page))
            if len(texts) == len(names):
                break
    return texts


def names_of(pairs: Iterable[Neighbour]) -> set[str]:
    """Return the names of all pages of some pairs."""
    return {member.name for pair in pairs for member in (pair.page, pair.earlier)}


def _ignore(place: str, message: str) -> None:
    """What can't be used was complained of when the source was first gone through."""


def _cut(words: Sequence[str]) -> Sequence[str]:
    return words if len(words) <= _MOST_WORDS else [*words[:_MOST_WORDS], "…"]
