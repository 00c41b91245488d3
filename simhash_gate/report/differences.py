"""What differs between two pages: the words of their texts, and what they claim."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeVar

from simhash_gate.common.urls import text_without_credentials
from simhash_gate.common.wording import shortened
from simhash_gate.compare.names import words_of_name
from simhash_gate.compare.offers import differs
from simhash_gate.compare.sketch import Sketch
from simhash_gate.fingerprints.words import UNSEGMENTED

T = TypeVar("T")
Line = tuple[str, str]
"""A line of a page, and why it makes no other page; "" if it does, or if that is not known."""

_MOST_COMPARED = 2_000  # lines of each text, and words, from the first to the last that differs
_LONGEST_WORD = 100
_CONTEXT = 6  # words around a change
_BETWEEN = 2  # fewer words that agree do not part two changes
_LONGEST_CHANGE = 300  # characters

_WORD = re.compile(rf"(?:[{UNSEGMENTED}]|[^\s{UNSEGMENTED}]+)\s*")
_LINE = re.compile(r".+\n*")
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"]{0,500}\")?\)")
_EMPHASIS = "*_`"


class FieldPair(NamedTuple):
    """One thing that two pages claim: what A says and what B says, None for nothing.

    `kind` is `names`, `offered` or `fields`. `name` is that of the field, "" for a name. Both pages
    have a name if they write it with the same words.
    """

    kind: str
    name: str
    a: str | None
    b: str | None

    @property
    def differs(self) -> bool:
        """Whether the two pages say different things, or one of them says nothing."""
        both = self.a is not None and self.b is not None
        return not both if self.kind == "names" else differs(self.name, self.a, self.b)


class Part(NamedTuple):
    """A part of two texts: the same words in both, or words that only A and only B has.

    White space stands at the end of each word. `ignored` says why the part makes no other page.
    """

    same: bool
    a: Sequence[str]
    b: Sequence[str]
    ignored: str = ""

    @property
    def sides(self) -> tuple[Sequence[str], Sequence[str]]:
        """What the part is in A, and in B."""
        return self.a, self.b


class TextChange(NamedTuple):
    """What only one of two texts says, the words around it, and why it was ignored.

    `ignored` is "" for what makes another page, or where that is not known.
    """

    before: str
    removed: str
    added: str
    after: str
    ignored: str = ""

    def shown(self) -> TextChange:
        """Return the change with what is too long cut."""
        return self._replace(
            removed=shortened(self.removed, _LONGEST_CHANGE),
            added=shortened(self.added, _LONGEST_CHANGE),
        )


def lines_of(markdown: str) -> list[Line]:
    """Return the lines of a text. Links are told by their words."""
    text = text_without_credentials(markdown)
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))  # an image may be in a link
    return [(line, "") for line in _LINE.findall(text)]


def parts_of(a: Sequence[Line], b: Sequence[Line]) -> list[Part]:
    """Return two texts, given as lines, as parts that agree and parts that do not.

    Lines are compared first, then the words of those that differ. The time is bounded.
    """
    one, other = ([(_words_of(line), why) for line, why in lines] for lines in (a, b))
    all_one, all_other = _joined(one), _joined(other)
    if [*map(_key, all_one)] == [*map(_key, all_other)]:  # at most, lines end elsewhere
        return [Part(True, all_one, all_other)] if all_one else []
    found: list[Part] = []
    for same, left, right in _runs(one, other, lambda line: tuple(map(_key, line[0]))):
        if same:
            _add(found, Part(True, _joined(left), _joined(right)))
            continue
        known = any(why for _, why in (*left, *right))
        by_line = known and len(left) == len(right)  # each line of one is another one there
        blocks = [([a], [b]) for a, b in zip(left, right, strict=False)]
        for gone, come in blocks if by_line else [(left, right)]:
            reasons = [why for _, why in (*gone, *come)]
            ignored = ", ".join(dict.fromkeys(reasons)) if all(reasons) else ""
            for part in _changed(_joined(gone), _joined(come)):
                _add(found, part if part.same else part._replace(ignored=ignored))
    return found


def _words_of(line: str) -> list[str]:
    found = _WORD.findall(line if line.endswith("\n") else f"{line}\n")
    return [word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}… " for word in found]


def _joined(lines: Iterable[tuple[list[str], str]]) -> list[str]:
    return [word for line, _ in lines for word in line]


def _key(word: str) -> str:
    """Return what of a word is compared: it may be emphasised on one page only."""
    stripped = word.rstrip()
    return stripped.strip(_EMPHASIS) or stripped


def _runs(
    a: Sequence[T], b: Sequence[T], key: Callable[[T], Any]
) -> Iterator[tuple[bool, Sequence[T], Sequence[T]]]:
    """Yield what agrees in two sequences and what does not, as far as they are looked at."""
    one, other = [key(item) for item in a], [key(item) for item in b]
    start = _begin_alike(one, other)
    end = _begin_alike(one[start:][::-1], other[start:][::-1])
    a_end, b_end = len(a) - end, len(b) - end
    a_most, b_most = (min(last, start + _MOST_COMPARED) for last in (a_end, b_end))
    found = [(True, a[:start], b[:start])]
    matcher = SequenceMatcher(None, one[start:a_most], other[start:b_most])
    for tag, *places in matcher.get_opcodes():
        a_from, a_to, b_from, b_to = (start + place for place in places)
        found.append((tag == "equal", a[a_from:a_to], b[b_from:b_to]))
    found += [(False, a[a_most:a_end], b[b_most:b_end]), (True, a[a_end:], b[b_end:])]
    yield from ((same, left, right) for same, left, right in found if left or right)


def _begin_alike(one: Sequence[Any], other: Sequence[Any]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _changed(a: list[str], b: list[str]) -> list[Part]:
    """Compare words. Changes with next to nothing between them are one."""
    runs = [*_runs(a, b, _key)]
    found: list[Part] = []
    for place, (same, left, right) in enumerate(runs):
        agree = same and not (0 < place < len(runs) - 1 and len(left) < _BETWEEN)
        _add(found, Part(agree, left, right), join=True)
    return found


def _add(found: list[Part], part: Part, *, join: bool = False) -> None:
    """Add a part to what agrees before it; if they `join`, also to what differs."""
    if found and found[-1].same == part.same and (part.same or join):
        last = found.pop()
        part = part._replace(a=[*last.a, *part.a], b=[*last.b, *part.b])
    found.append(part)


def changes_in(parts: Sequence[Part]) -> list[TextChange]:
    """Return what differs, with the words around it in its line."""
    found = []
    for place, part in enumerate(parts):
        if part.same:
            continue
        side = 0 if part.a else 1
        before = after = ""
        if place and parts[place - 1].same:
            before = "".join(parts[place - 1].sides[side][-_CONTEXT:]).rpartition("\n")[2]
        ends = place + 1 == len(parts) or part.sides[side][-1].endswith("\n")
        if not ends and parts[place + 1].same:
            after = "".join(parts[place + 1].sides[side][:_CONTEXT]).partition("\n")[0]
        removed, added = _plain("".join(part.a)), _plain("".join(part.b))
        found.append(TextChange(_plain(before), removed, added, _plain(after), part.ignored))
    return found


def _plain(text: str) -> str:
    return " ".join(text.split())


def side_by_side(a: Sketch, b: Sketch) -> Iterator[FieldPair]:
    """Yield all that two pages claim."""
    names, others = names_of(a), names_of(b)
    both = [key for key in others if key in names]
    for key in dict.fromkeys([*both, *names, *others]):
        yield FieldPair("names", "", names.get(key), others.get(key))
    for kind, fields in (("offered", (a.offered, b.offered)), ("fields", (a.compared, b.compared))):
        one, other = map(dict, fields)
        for name in one | other:
            yield FieldPair(kind, name, one.get(name), other.get(name))


def names_of(sketch: Sketch) -> dict[tuple[str, ...], str]:
    """Return the names of a page by their words, the headline first, each once."""
    found: dict[tuple[str, ...], str] = {}
    for name in sketch.all_names:
        found.setdefault(words_of_name(name), name)
    return found
