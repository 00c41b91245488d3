"""Pairs of pages that a person judges: shown, asked about, and kept as labels.

Labels are JSON Lines: `{"a": …, "b": …, "duplicate": true}`.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simhash_gate.common.files import open_to_append
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining, how_many, printable
from simhash_gate.fingerprints.claims import contradiction
from simhash_gate.gate.verdict import encode
from simhash_gate.offline.compare import Change, changes, side_by_side
from simhash_gate.offline.fingerprint import sketch_of
from simhash_gate.pipeline import read_closely
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.sources.open import names_store, open_pages
from simhash_gate.tuning.sampling import next_pair, strata

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from simhash_gate.collection.neighbours import Neighbour, Scope
    from simhash_gate.common.wording import Complain
    from simhash_gate.fingerprints.sketch import Sketch
    from simhash_gate.offline.compare import Claim
    from simhash_gate.settings import Settings

MOST_CHANGES = 3
"""Changes that are shown of a pair."""
_MOST_WORDS = 12  # of a change
_AHEAD = 8
"""Pairs of each stratum whose texts are read in one go through the source."""
_KEYS = {"y": True, "n": False}
_EXAMPLE = '{"a": "https://…", "b": "https://…", "duplicate": true}'


@dataclass(frozen=True)
class Label:
    """Two pages, by URL or else by path, and whether they are duplicates.

    `sampled` tells that the pair was drawn at random from those of its distance.
    """

    a: str
    b: str
    duplicate: bool
    sampled: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The two pages, in whichever order."""
        return frozenset((self.a, self.b))


def read_labels(path: str, complain: Complain, *, missing_ok: bool = False) -> list[Label]:
    """Read the labels of a file. Of two labels of one pair, the later one counts."""
    if missing_ok and not Path(path).exists():
        return []
    labels: dict[frozenset[str], Label] = {}
    for place, line in json_objects(path, complain, _EXAMPLE):
        with complaining(complain, place):
            label = _label(line)
            labels[label.names] = label
    return list(labels.values())


def _append_label(path: str, label: Label) -> None:
    """Add a line that is on disk when this returns. Raises OSError."""
    line: dict[str, Any] = {"a": label.a, "b": label.b, "duplicate": label.duplicate}
    if label.sampled:
        line["sampled"] = True
    with open_to_append(path) as file:
        file.write(encode(line))
        file.flush()
        os.fsync(file.fileno())


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
    return Label(a, b, line["duplicate"], line.get("sampled") is True)


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
    texts: Texts = {}
    paths = [source for source in sources if not names_store(source)]
    if not names:
        return texts
    for entry in open_pages(paths, _ignore, settings.max_bytes, lambda _: None).entries:
        name = without_credentials(entry.own_name)
        if name in names and name not in texts and not entry.skipped:
            reading = read_closely(
                entry.body, url=entry.url, encoding=entry.encoding, options=settings.options
            )
            texts[name] = Text(reading.words, sketch_of(reading.page))
            if len(texts) == len(names):
                break
    return texts


def names_of(pairs: Iterable[Neighbour]) -> set[str]:
    """Return the names of all pages of some pairs."""
    return {member.name for pair in pairs for member in (pair.page, pair.earlier)}


def _ignore(place: str, message: str) -> None:
    """Do nothing: bad input was complained of when the sources were first listed."""


def _cut(words: Sequence[str]) -> Sequence[str]:
    return words if len(words) <= _MOST_WORDS else [*words[:_MOST_WORDS], "…"]


def ask(
    sources: Sequence[str],
    scopes: Sequence[Scope],
    settings: Settings,
    labels: Sequence[Label],
    file: str,
    questions: int,
) -> list[Label]:
    """Ask about at most that many pairs; return the labels and the answers.

    Each answer is on disk before the next question is asked. Raises OSError if it can't be written,
    and KeyboardInterrupt and EOFError as the terminal gives them.
    """
    answers = list(labels)
    asked = {label.names for label in labels}
    line = settings.policies.default.threshold
    texts: Texts = {}
    _say(f"Is one of the two pages enough? Each answer is written to {file}.")
    for number in range(1, questions + 1):
        known = {label.names: label.duplicate for label in answers if label.sampled}
        ordered = strata(scopes, known)
        pair = next_pair(ordered, asked, line)
        if pair is None:
            _say("No pair is left to ask about.")
            break
        if not names_of([pair]) <= texts.keys():
            ahead = [
                pair
                for stratum in ordered
                for pair in [p for p in stratum.pairs if p.names not in asked][:_AHEAD]
            ]
            texts = read_texts(sources, names_of(ahead), settings)
        _show(pair, texts, number, questions)
        try:
            key = _key()
        except (KeyboardInterrupt, EOFError):
            given = how_many(len(answers) - len(labels), "answer")
            _say(f"Interrupted. {file} has the {given}.")
            raise
        if key == "q":
            break
        asked.add(pair.names)
        if key in _KEYS:
            label = Label(pair.earlier.name, pair.page.name, _KEYS[key], sampled=True)
            _append_label(file, label)
            answers.append(label)
    return answers


def _show(pair: Neighbour, texts: Texts, number: int, questions: int) -> None:
    _say("")
    _say(click.style(f"{number} of {questions}", bold=True))
    for line in show_pair(pair, texts).as_text():
        _say(line)
    click.echo("duplicates? [y]es [n]o [s]kip [q]uit ", err=True, nl=False)


def _key() -> str:
    while True:
        key = click.getchar().lower()
        if key in ("y", "n", "s", "q"):
            _say(key)
            return key


def _say(line: str) -> None:
    click.echo(line, err=True)
