"""A sample of what a page says, small enough to remember of many pages: words and pairs of words.

It tells whether a page says anything that its site has not said before. Numbers are left out: pages
of a calendar differ in nothing else. The sample is the same part of the words on every page, those
with the smallest hashes.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from simhash_gate.fingerprints.arrays import distinct
from simhash_gate.fingerprints.folding import WITH_NUMBER, HashedLines

PAIRS = 64
WORDS = 96
_MOST = 4_000  # words of a page that are looked at


class Sample(NamedTuple):
    """Hashes of pairs of words that follow one another on a page, and of its words."""

    pairs: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()


def sample_of(hashed: HashedLines) -> bytes:
    """Return the sample of what a page says: 4 bytes for each hash."""
    hashed = hashed.only(~hashed.are(WITH_NUMBER))
    if len(hashed.lines) > _MOST:
        hashed = hashed.only(hashed.lines <= hashed.lines[_MOST])
    pairs = distinct(hashed.pairs())[:PAIRS].tolist()
    return array("I", [len(pairs), *pairs, *distinct(hashed.words)[:WORDS].tolist()]).tobytes()


def read_sample(data: bytes) -> Sample:
    """Return the sample that `sample_of` wrote; an empty one for no data."""
    if not data:
        return Sample()
    numbers = array("I", data)
    count = numbers[0]
    return Sample(frozenset(numbers[1 : count + 1]), frozenset(numbers[count + 1 :]))
