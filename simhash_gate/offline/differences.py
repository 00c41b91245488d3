"""What differs between two pages: words of their texts, and what they claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import click

from simhash_gate.common.wording import printable
from simhash_gate.fingerprints.sketch import Sketch
from simhash_gate.fingerprints.words import words
from simhash_gate.pipeline import Line

CONTEXT = 5  # words around a change
_MOST_WORDS = 40  # of one change that are shown


class FieldPair(NamedTuple):
    """One thing that two pages claim: what A says and what B says, None for nothing.

    `kind` is `names`, `offered` or `fields`. `name` is that of the field, "" for a name.
    """

    kind: str
    name: str
    a: str | None
    b: str | None

    @property
    def differs(self) -> bool:
        """Whether the two pages say different things, or one of them says nothing."""
        if self.a is None or self.b is None or self.kind != "names":
            return self.a != self.b
        return words_of_name(self.a) != words_of_name(self.b)

    def as_text(self) -> str:
        """Return a line of text: what only A has in red, what only B has in green."""
        value = _marked(self.a, self.b) if self.differs else printable(self.b or "")
        return f"{self.name or 'name':11}  {value}"


class TextChange(NamedTuple):
    """Words that only one of two texts has, the words around them, and why they were ignored.

    `ignored` is "" for what makes another page, or where that is not known.
    """

    before: Sequence[str]
    removed: Sequence[str]
    added: Sequence[str]
    after: Sequence[str]
    ignored: str = ""

    def as_text(self) -> str:
        """Return a line of text: what only A has in red, what only B has in green."""
        gone, come = (_cut(only) or None for only in (self.removed, self.added))
        before, after = (printable(" ".join(words)) for words in (self.before, self.after))
        parts = [before, _marked(gone, come), after]
        note = self.ignored and click.style(f"(ignored: {self.ignored})", dim=True)
        return " ".join(filter(None, [*parts, note]))


def _cut(words: Sequence[str]) -> str:
    more = len(words) - _MOST_WORDS
    return " ".join([*words[:_MOST_WORDS], *([f"… and {more} more words"] if more > 1 else [])])


def changed_lines(a: Sequence[Line], b: Sequence[Line]) -> Iterator[TextChange]:
    """Yield what differs between two texts, given as lines, in order."""
    one, other = ([line for line, _ in lines] for lines in (a, b))
    for _, start, end, b_start, b_end in SequenceMatcher(None, one, other, False).get_opcodes():
        sides = a[start:end], b[b_start:b_end]
        lines = ([[line] for line in side] for side in sides)
        alike = end - start == b_end - b_start  # each line of one is another one there
        for pair in zip(*lines, strict=True) if alike else [sides]:
            reasons = [why for side in pair for _, why in side]
            ignored = ", ".join(dict.fromkeys(reasons)) if all(reasons) else ""
            found = changes(*(" ".join(line for line, _ in side).split() for side in pair))
            yield from (change._replace(ignored=ignored) for change in found)


def changes(a: Sequence[str], b: Sequence[str]) -> Iterator[TextChange]:
    """Yield what differs between two texts, given as words, in order."""
    for tag, start, end, b_start, b_end in SequenceMatcher(None, a, b).get_opcodes():
        if tag != "equal":
            before, after = a[max(0, start - CONTEXT) : start], a[end : end + CONTEXT]
            yield TextChange(before, a[start:end], b[b_start:b_end], after)


def side_by_side(a: Sketch, b: Sketch) -> Iterator[FieldPair]:
    """Yield all that two pages claim."""
    names = {words_of_name(name): name for name in names_of(a)}
    others = {words_of_name(name): name for name in names_of(b)}
    both = [key for key in others if key in names]
    for key in dict.fromkeys([*both, *names, *others]):
        yield FieldPair("names", "", names.get(key), others.get(key))
    for kind, fields in (("offered", (a.offered, b.offered)), ("fields", (a.compared, b.compared))):
        one, other = map(dict, fields)
        for name in one | other:
            yield FieldPair(kind, name, one.get(name), other.get(name))


def section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a part of a text for people: an empty line, its title, its lines."""
    yield from ("", click.style(title, bold=True))
    yield from (f"   {line}".rstrip() for line in lines)


def _marked(a: str | None, b: str | None) -> str:
    """Return what only A has in red, and what only B has in green."""
    parts = [
        "" if a is None else click.style(f"[-{printable(a)}-]", fg="red"),
        "" if b is None else click.style(f"{{+{printable(b)}+}}", fg="green"),
    ]
    return " ".join(filter(None, parts))


def names_of(sketch: Sketch) -> list[str]:
    """Return the names of a page, the headline first, each once."""
    found: dict[tuple[str, ...], str] = {}
    for name in sketch.all_names:
        found.setdefault(words_of_name(name), name)
    return list(found.values())


def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words that tell a name from others. A name without words is one itself."""
    return tuple(words(name)) or (name,)


def sketch_as_json(sketch: Sketch, *, fields: bool) -> dict[str, Any]:
    """Return what a page claims, for JSON."""
    values: dict[str, Any] = {"names": names_of(sketch), "offered": dict(sketch.offered)}
    return values | {"fields": dict(sketch.compared)} if fields else values
