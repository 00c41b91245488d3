"""Names of pages: the words that tell pages apart, and whether two names mean one page.

Templates add the name of the site, use capitals or quotes, or cut a name. But a single word can
also be the only difference between two pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, pairwise, product, takewhile

from simhash_gate.fingerprints.words import SIGNS, unsegmented, words

LONGEST_NAME = 300
"""Characters of a name that are compared."""

_COUNTER = re.compile(r"\A\s*[(\[]\d+[)\]]\s*")
# The version of a piece of software behind a name, such as "(v 1.2)"; not a size or a number.
_VERSION = re.compile(r"\b(?:api|docs?|documentation|version|release|javadoc|v)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d\.\d")
_PARTS = re.compile(r" [|\-–—:»›«·•/\\~<>]+ |[|»«·•]|(?<=\w): ")
_CUT = ("…", "...")


@lru_cache(maxsize=4096)
def own_words(name: str) -> frozenset[str]:
    """Return the words that tell a name from others.

    A number, or a run of signs, is joined with the word before it. In scripts without word spaces,
    two characters make a word. A counter before the name, and the version of a piece of software
    behind it, are left out.
    """
    tokens = words(_plain(name)) or words(name)
    alone = set(tokens)
    pairs = set()
    for one, other, pair in _pairs(tokens):
        pairs.add(pair)
        alone -= {other} if _is_more(other) else {one, other}
    return frozenset(pairs | alone)


def own_words_of(names: Iterable[str]) -> frozenset[str]:
    """Return the words that all names of a page share or, if they share none, all their words.

    A word of only some names is more often part of the site's name.
    """
    of_names = list(filter(None, map(own_words, names)))
    shared = frozenset.intersection(*of_names) if of_names else frozenset()
    return shared or frozenset().union(*of_names)


def words_apart(names: Sequence[str], others: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the words that only the names of one page have, and those only of the other.

    If each has such a word, the names contradict each other. None counts if one page has no name,
    or a name that is cut where the other goes on.
    """
    words_of_names, its_words = own_words_of(names), own_words_of(others)
    own, its_own = {*words_of_names - its_words}, {*its_words - words_of_names}
    # A number that begins one name follows a word in the other: "5 bees", "Print: 5 bees".
    first = [word for word in own | its_own if word.isdecimal()]
    moved = {word for word in own | its_own if len(first) == 1 and word.split(" ")[-1] in first}
    if moved & own and moved & its_own:
        own, its_own = own - moved, its_own - moved
    compared = words_of_names and its_words and not _is_cut(names, others)
    return (own, its_own) if compared else (set(), set())


def words_of_name(name: str) -> tuple[str, ...]:
    """Return what is equal of two names that say the same: the words, or a name without any."""
    return tuple(words(name)) or (name,)


def numbers_and_signs(tokens: Sequence[str], places: Iterable[int]) -> Iterator[str]:
    """Yield the numbers and signs at `places` of a text, each with the word before it.

    They are written as in `own_words`. Successive signs count as one.
    """
    for place in places:
        if place and not (tokens[place] in SIGNS and tokens[place - 1] in SIGNS):
            yield f"{_run(tokens, place - 1, -1)} {_run(tokens, place, 1)}"


def _run(tokens: Sequence[str], place: int, step: int) -> str:
    """Return the word at a place, or the run of signs from there, backwards if `step` is -1."""
    if tokens[place] not in SIGNS:
        return tokens[place]
    places = range(place, len(tokens) if step > 0 else -1, step)
    run = list(takewhile(SIGNS.__contains__, map(tokens.__getitem__, places)))
    return "".join(run[::step])


def _pairs(tokens: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each two tokens that mean something only together, and how they are joined."""
    characters = unsegmented(tokens)
    runs = groupby(tokens, SIGNS.__contains__)
    joined = chain.from_iterable(["".join(run)] if are_signs else run for are_signs, run in runs)
    for one, other in pairwise(joined):
        if _is_more(other):
            yield one, other, f"{one} {other}"
        elif other in characters and one in characters:
            yield one, other, one + other


def _is_more(token: str) -> bool:
    """Tell whether a token is a number or signs, which say little without the word before."""
    return "0" <= token[0] <= "9" or token[0] in SIGNS


def is_set_off(names: Iterable[str], longer: Iterable[str], shown: Collection[str]) -> bool:
    """Tell whether a longer name is another one and what a template adds: "Print: X", "X | Site".

    Behind a name, a template adds to the title alone. Words that are `shown` there are more of the
    name, as in "X - Large print", and so are those after a colon, as in "X: Volume 2".
    """
    alone = {*map(own_words, names)}
    for name in longer:
        edges = [(found.span(), found[0] != ": ") for found in _PARTS.finditer(name)]
        for start in (0, *(end for (_, end), _ in edges)):
            rest = own_words(name[start:])
            parts = [own_words(name[start:end]) for (end, _), ends in edges if ends and end > start]
            if any(it in alone and (rest - it).isdisjoint(shown) for it in (rest, *parts)):
                return True
    return False


def _is_cut(names: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether a name of one page ends in dots where a name of the other goes on."""
    return any(
        short.rstrip().endswith(_CUT)
        and (start := " ".join(words(_plain(short))))  # its last word may be cut
        and " ".join(words(_plain(long))).startswith(start)
        for short, long in chain(product(names, others), product(others, names))
    )


def _plain(name: str) -> str:
    before, bracket, within = name.rpartition("(")
    last = bool(bracket) and within.rstrip().find(")") == len(within.rstrip()) - 1
    is_version = last and _VERSION.search(within) and _NUMBER.search(within)
    return _COUNTER.sub("", before if is_version else name).strip()
