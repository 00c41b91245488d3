"""Names of pages: the words that tell one from others, and when two are one.

Templates write a name with the site's part, in capitals or quotes, or cut it; a word more may be
all that tells a page from another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, compress, groupby, pairwise, takewhile
from operator import add, and_

from simhash_gate.fingerprints.words import SIGNS, unsegmented, words

LONGEST_NAME = 300
"""Characters of a name that are looked at."""

_COUNTER = re.compile(r"\A\s*[(\[]\d+[)\]]\s*")
# The version of a piece of software, as templates put it behind a name; not a size or a number.
_VERSION = re.compile(r"\b(?:api|docs?|documentation|version|release|javadoc|v)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d\.\d")
_PARTS = re.compile(r" [|\-–—:»«·•/\\~<>]+ |[|»«·•]|(?<=\w): ")
_CUT = ("…", "...")
_LONG = 50  # characters: a name that goes on elsewhere was cut


@lru_cache(maxsize=4096)
def own_words(name: str) -> frozenset[str]:
    """Return what tells a name from others: its words, without a counter before it.

    A number, or what signs follow each other, goes with the word before it. In scripts without word
    spaces, two characters make a word. The version of a piece of software is left out.
    """
    tokens = words(_plain(name)) or words(name)
    alone = set(tokens)
    pairs = set()
    for one, other, pair in _pairs(tokens):
        pairs.add(pair)
        alone -= {other} if _is_more(other) else {one, other}
    return frozenset(pairs | alone)


def own_words_of(names: Iterable[str]) -> frozenset[str]:
    """Return the words of a page's names: those of all of them, if there are any.

    What only some of them have is more often the site's part.
    """
    each = [own for own in map(own_words, names) if own]
    return frozenset.intersection(*each) or frozenset().union(*each) if each else frozenset()


def numbers_and_signs(tokens: Sequence[str], places: Iterable[int]) -> Iterator[str]:
    """Yield numbers and signs of a text, each with the word before it, as a name may have them.

    `places` are theirs in the text. Signs that follow each other are one.
    """
    for place in places:
        if place and not (tokens[place] in SIGNS and tokens[place - 1] in SIGNS):
            yield f"{_run(tokens, place - 1, -1)} {_run(tokens, place, 1)}"


def _run(tokens: Sequence[str], place: int, step: int) -> str:
    """Return a word, or all signs that follow each other from a place on, back or ahead."""
    if tokens[place] not in SIGNS:
        return tokens[place]
    places = range(place, len(tokens) if step > 0 else -1, step)
    run = list(takewhile(SIGNS.__contains__, map(tokens.__getitem__, places)))
    return "".join(run[::step])


def words_of_line(tokens: Sequence[str]) -> set[str]:
    """Return the words of a line; in scripts without word spaces, any two that follow are one."""
    characters = unsegmented(tokens)
    if not characters:
        return {*tokens}
    alone = list(map(characters.__contains__, tokens))
    return {*tokens, *compress(map(add, tokens, tokens[1:]), map(and_, alone, alone[1:]))}


def _pairs(tokens: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield two tokens that mean something only together, and how they are written then."""
    characters = unsegmented(tokens)
    for one, other in pairwise(_joined(tokens)):
        if _is_more(other):
            yield one, other, f"{one} {other}"
        elif other in characters and one in characters:
            yield one, other, one + other


def _joined(tokens: Sequence[str]) -> Sequence[str]:
    """Return words, and signs that follow each other as one."""
    signs = list(map(SIGNS.__contains__, tokens))
    if not any(map(and_, signs, signs[1:])):
        return tokens
    found: list[str] = []
    for are_signs, run in groupby(tokens, SIGNS.__contains__):
        same = list(run)
        found += ["".join(same)] if are_signs else same
    return found


def _is_more(token: str) -> bool:
    """Tell if a token is a number or signs: it says little without the word before it."""
    return "0" <= token[0] <= "9" or token[0] in SIGNS


def are_one(names: Sequence[str], others: Sequence[str]) -> bool:
    """Tell if a name of a page and one of another are the same but for what templates do to them.

    They have the same words, or one part, the longest of either; or one is the beginning of the
    other, cut.
    """
    return any(_is_one(name, other) for name in names for other in others)


def is_cut(names: Iterable[str], others: Iterable[str]) -> bool:
    """Tell if a name of one page ends in dots where one of the other goes on."""
    pairs = [(name, other) for name in names for other in others]
    return any(
        short.rstrip().endswith(_CUT) and _begins(short, long)
        for short, long in chain(pairs, ((other, name) for name, other in pairs))
    )


def _is_one(name: str, other: str) -> bool:
    if sorted(words(_plain(name))) == sorted(words(_plain(other))):
        return True
    parts, its = _parts_of(name), _parts_of(other)
    if _longest(parts) in its or _longest(its) in parts:
        return True
    short, long = sorted((name, other), key=len)
    return (len(short) >= _LONG or short.rstrip().endswith(_CUT)) and _begins(short, long)


def _begins(short: str, long: str) -> bool:
    """Tell if a name is the beginning of another, its last word, which may be cut, aside."""
    start, whole = words(_plain(short)), words(_plain(long))
    known = max(1, len(start) - 1)
    return bool(start) and whole[:known] == start[:known]


def _plain(name: str) -> str:
    before, bracket, within = name.rpartition("(")
    last = bool(bracket) and within.rstrip().find(")") == len(within.rstrip()) - 1
    is_version = last and _VERSION.search(within) and _NUMBER.search(within)
    return _COUNTER.sub("", before if is_version else name).strip()


def _parts_of(name: str) -> list[tuple[str, ...]]:
    return [part for text in _PARTS.split(_plain(name)) if (part := tuple(words(text)))]


def _longest(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return max(parts, key=lambda part: sum(map(len, part)), default=())
