"""A sample of a page's words and pairs of words, small enough to be kept for many pages.

It tells whether a page says anything new on its site. Numbers are left out: the pages of a calendar
differ in nothing else. The sample has the words with the smallest hashes: so a word is in the
samples of all its pages, or of none.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from simhash_gate.fingerprints.arrays import distinct
from simhash_gate.fingerprints.folding import WITH_NUMBER, HashedLines

PAIRS = 64
WORDS = 96
_MOST = 4_000  # words of a page that are sampled


class Sample(NamedTuple):
    """Hashes of pairs of successive words of a page, and of its words."""

    pairs: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()


def sample_of(hashed: HashedLines) -> bytes:
    """Return the sample of a page's words as bytes, 4 for each hash."""
    hashed = hashed.only(~hashed.are(WITH_NUMBER))
    if len(hashed.lines) > _MOST:
        hashed = hashed.only(hashed.lines <= hashed.lines[_MOST])
    pairs = distinct(hashed.pairs())[:PAIRS].tolist()
    return array("I", [len(pairs), *pairs, *distinct(hashed.words)[:WORDS].tolist()]).tobytes()


def read_sample(data: bytes) -> Sample:
    """Return the sample that `sample_of` wrote, an empty one for no data."""
    if not data:
        return Sample()
    numbers = array("I", data)
    count = numbers[0]
    return Sample(frozenset(numbers[1 : count + 1]), frozenset(numbers[count + 1 :]))
