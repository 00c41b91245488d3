"""A sample of what a page says, small enough to remember of many pages: words and pairs of words.

It tells whether a page says anything that its site has not said before. Numbers are left out: pages
of a calendar differ in nothing else. The sample is the same part of the words on every page, those
with the smallest hashes.
"""

from __future__ import annotations

from array import array
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import mmh3

if TYPE_CHECKING:
    from collections.abc import Iterable

PAIRS = 64
WORDS = 96
_MOST = 4_000  # words of a page that are looked at


class Gist(NamedTuple):
    """Hashes of pairs of words that follow one another on a page, and of its words."""

    pairs: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()


def gist_of(blocks: Iterable[list[str]]) -> bytes:
    """Return the gist of a page, given as the words of its blocks: 4 bytes for each hash."""
    words: set[str] = set()
    pairs: set[str] = set()
    seen = 0
    for tokens in blocks:
        said = [word for word in tokens if word.isalpha() or _no_number(word)]
        words.update(said)
        pairs.update(map(" ".join, pairwise(said)) if len(said) > 1 else said)
        seen += len(said)
        if seen > _MOST:
            break
    of_pairs = _smallest(pairs, PAIRS)
    return array("I", chain([len(of_pairs)], of_pairs, _smallest(words, WORDS))).tobytes()


def read_gist(data: bytes) -> Gist:
    """Return the gist that `gist_of` wrote; an empty one for no data."""
    if not data:
        return Gist()
    numbers = array("I", data)
    count = numbers[0]
    return Gist(frozenset(numbers[1 : count + 1]), frozenset(numbers[count + 1 :]))


def _no_number(word: str) -> bool:
    return not word.isascii() and not any(map(str.isdigit, word))


def _smallest(texts: Iterable[str], most: int) -> list[int]:
    return sorted({mmh3.hash(text, 0, False) for text in texts})[:most]
