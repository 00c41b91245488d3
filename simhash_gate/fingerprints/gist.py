"""A sample of what a page says, small enough to remember of many pages: words and pairs of words.

It tells whether a page says anything that its site has not said before. Numbers are left out: pages
of a calendar differ in nothing else. The sample is the same part of the words on every page, those
with the smallest hashes.
"""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.fingerprints.arrays import distinct
from simhash_gate.fingerprints.sketch import HashedLines

if TYPE_CHECKING:
    from collections.abc import Sequence

PAIRS = 64
WORDS = 96
_MOST = 4_000  # words of a page that are looked at


class Gist(NamedTuple):
    """Hashes of pairs of words that follow one another on a page, and of its words."""

    pairs: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()


def gist_of(blocks: Sequence[Sequence[str]], hashed: HashedLines | None = None) -> bytes:
    """Return the gist of a page, given as the words of its blocks: 4 bytes for each hash.

    `hashed` are the hashes of these words, if they are known.
    """
    hashed = hashed or HashedLines.of(blocks)
    words = list(chain.from_iterable(blocks))
    said = np.fromiter(map(str.isalpha, words), np.bool_, len(words))
    for place in np.flatnonzero(~said).tolist():
        said[place] = _no_number(words[place])
    of_said = hashed.only(said)
    if len(of_said.lines) > _MOST:
        of_said = of_said.only(of_said.lines <= of_said.lines[_MOST])
    pairs = distinct(of_said.pairs())[:PAIRS].tolist()
    return array("I", [len(pairs), *pairs, *distinct(of_said.words)[:WORDS].tolist()]).tobytes()


def read_gist(data: bytes) -> Gist:
    """Return the gist that `gist_of` wrote; an empty one for no data."""
    if not data:
        return Gist()
    numbers = array("I", data)
    count = numbers[0]
    return Gist(frozenset(numbers[1 : count + 1]), frozenset(numbers[count + 1 :]))


def _no_number(word: str) -> bool:
    return not word.isascii() and not any(map(str.isdigit, word))
