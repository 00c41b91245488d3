"""Pairs of pages that a person has judged: their labels, and what differs between the two.

Labels are JSON Lines: `{"a": …, "b": …, "duplicate": true}`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining, how_many, printable
from simhash_gate.fingerprints.claims import contradiction
from simhash_gate.offline.differences import Change, changes, side_by_side, sketch_of
from simhash_gate.offline.logs import OF_A_LOG
from simhash_gate.offline.texts import first_of_each
from simhash_gate.pipeline import read_closely
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import names_store, open_pages
from simhash_gate.sources.read_pages import extract_pages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from simhash_gate.collection.neighbours import Neighbour, Scope
    from simhash_gate.common.wording import Complain
    from simhash_gate.fingerprints.sketch import Sketch
    from simhash_gate.offline.differences import Claim
    from simhash_gate.options import Options
    from simhash_gate.settings import Settings

MOST_CHANGES = 3
"""Changes that are shown of a pair."""
_MOST_WORDS = 12  # of a change
_EXAMPLE = '{"a": "https://…", "b": "https://…", "duplicate": true}'


@dataclass(frozen=True)
class Label:
    """Two pages, by URL or else by path, and whether they are duplicates."""

    a: str
    b: str
    duplicate: bool

    @property
    def names(self) -> frozenset[str]:
        """The two pages, in whichever order."""
        return frozenset((self.a, self.b))


def read_labels(path: str, complain: Complain) -> list[Label]:
    """Read the labels of a file, or those of an audit in a verdict log.

    Of two labels of one pair, the later one counts.
    """
    labels: dict[frozenset[str], Label] = {}
    for place, line in json_objects(path, complain, _EXAMPLE):
        if "a" not in line and not OF_A_LOG.isdisjoint(line):
            continue
        with complaining(complain, place):
            label = _label(line)
            labels[label.names] = label
    return list(labels.values())


def with_distances(labels: Iterable[Label], scopes: Iterable[Scope]) -> Iterator[tuple[Label, int]]:
    """Yield each label whose two pages are in one of the scopes, with their distance."""
    pages: dict[str, dict[str, int]] = {}
    for scope in scopes:
        for page in scope.pages:
            pages.setdefault(page.name, {}).setdefault(page.scope, page.fingerprint)
    for label in labels:
        a, b = pages.get(label.a, {}), pages.get(label.b, {})
        for name in sorted(a.keys() & b.keys()):
            yield label, (a[name] ^ b[name]).bit_count()


def unknown(labels: Sequence[Label], scopes: Sequence[Scope]) -> int:
    """Return how many labels name two pages that are not in one scope."""
    known = {label.names for label, _ in with_distances(labels, scopes)}
    return sum(label.names not in known for label in labels)


def _label(line: dict[str, Any]) -> Label:
    for key in ("a", "b"):
        if not isinstance(line.get(key), str):
            raise ValueError(f"{key!r} is {line.get(key)!r}: expected a URL, or a path")
    if not isinstance(line.get("duplicate"), bool):
        raise ValueError(f"'duplicate' is {line.get('duplicate')!r}: expected true or false")
    a, b = without_credentials(line["a"]), without_credentials(line["b"])
    return Label(a, b, line["duplicate"])


class Text(NamedTuple):
    """The words of a page, and what it claims to be."""

    words: list[str]
    sketch: Sketch


Texts = dict[str, Text]
"""The texts of pages by their names."""


class ShownPair(NamedTuple):
    """A pair with what its pages claim, and the first changes between its texts.

    Both are None if the texts are not at hand.
    """

    pair: Neighbour
    claims: list[Claim] | None
    changes: list[Change] | None

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON. `a` is the earlier page."""
        page, earlier, distance = self.pair
        return {
            "distance": distance,
            "a": {"name": earlier.name, "title": earlier.title, "words": earlier.words},
            "b": {"name": page.name, "title": page.title, "words": page.words},
            "claims": None if self.claims is None else [c._asdict() for c in self.claims],
            "changes": None if self.changes is None else [c._asdict() for c in self.changes],
        }

    def as_text(self) -> Iterator[str]:
        """Yield lines of text."""
        for number, member in enumerate((self.pair.earlier, self.pair.page)):
            bits = how_many(self.pair.distance, "bit") if number == 0 else ""
            yield f"{bits:>7}  {printable(member.name)}"
            yield f"         {printable(member.title)} ({how_many(member.words, 'word')})"
        for claim in self.claims or ():
            yield f"         {claim.as_text()}"
        for change in self.changes or ():
            yield f"         {change.as_text()}"
        if self.changes == []:
            yield f"         no word{' of the text' if self.claims else ''} differs"


def show_pair(pair: Neighbour, texts: Texts) -> ShownPair:
    """Return a pair with what differs between its texts, if both are there."""
    names = pair.earlier.name, pair.page.name
    if not all(name in texts for name in names):
        return ShownPair(pair, None, None)
    a, b = (texts[name] for name in names)
    claims = [claim for claim in side_by_side(a.sketch, b.sketch) if claim.differs]
    found: list[Change] = []
    for change in changes(a.words, b.words):
        if len(found) == MOST_CHANGES:
            break
        found.append(change._replace(removed=_cut(change.removed), added=_cut(change.added)))
    return ShownPair(pair, claims, found)


def contradicting(pairs: Iterable[Neighbour], texts: Texts) -> Counter[str]:
    """Count pairs by what contradicts, "" for nothing. Pairs without texts are left out."""
    counted: Counter[str] = Counter()
    for page, earlier, _ in pairs:
        if page.name in texts and earlier.name in texts:
            found = contradiction(texts[earlier.name].sketch, texts[page.name].sketch)
            counted[found.differs if found else ""] += 1
    return counted


def read_texts(sources: Sequence[str], names: Collection[str], settings: Settings) -> Texts:
    """Return what the pages of these names say. A store has no texts.

    The sources are listed once more, and only these pages are read.
    """
    paths = [source for source in sources if not names_store(source)]
    if not names:
        return {}
    entries = open_pages(paths, _ignore, settings.max_bytes, lambda _: None).entries
    named = ((without_credentials(entry.own_name), entry) for entry in entries)
    wanted = (entry for _, entry in first_of_each(named, names))
    return {
        without_credentials(entry.own_name): text
        for entry, text in extract_pages(wanted, settings, _text)
        if isinstance(text, Text)
    }


def _text(body: bytes, url: str, encoding: str | None, options: Options) -> Text:
    reading = read_closely(body, url=url, encoding=encoding, options=options)
    return Text(reading.words, sketch_of(reading.page))


def names_of(pairs: Iterable[Neighbour]) -> set[str]:
    """Return the names of all pages of some pairs."""
    return {member.name for pair in pairs for member in (pair.page, pair.earlier)}


def _ignore(place: str, message: str) -> None:
    """Do nothing: bad input was complained of when the sources were first listed."""


def _cut(words: Sequence[str]) -> Sequence[str]:
    return words if len(words) <= _MOST_WORDS else [*words[:_MOST_WORDS], "…"]
