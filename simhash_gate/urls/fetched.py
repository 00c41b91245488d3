"""Pages that were fetched: what is kept of them, and whether two have one content."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import mmh3

from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.fingerprints.sketch import NAME_BYTES

if TYPE_CHECKING:
    from simhash_gate.urls.parts import Parts

NEAR = 8
"""Fingerprints of more bits of distance are of different contents."""
MOST_WORDS = 32
"""Hashes of words by which two pages are compared."""
SHARED, SHARED_BY_NAME = 1 / 2, 1 / 3
"""Two pages that share less of their words are of different contents: with other names, and with
the same. Of a short text, what the page says around it is much."""
ALIKE = 0.9
"""Two pages of one name that share so much of their words look like one in two views."""


class Fetched(NamedTuple):
    """A page that was fetched.

    `content` is a number that pages of one content share; `said` is its name and hashes of its
    words, as `name_and_words` has them, empty if they are not known.
    """

    url: str
    parts: Parts
    content: int
    fingerprint: int | None = None
    said: bytes = b""
    shape: str = ""


def relation(page: Fetched, other: Fetched) -> bool | None:
    """Tell whether two pages have one content; None if that is not sure.

    They have not if their fingerprints are far apart, and they share too few of their words: of a
    short page, a line more makes another fingerprint.
    """
    if page.content == other.content:
        return True
    if page.fingerprint is None or other.fingerprint is None or not (page.said and other.said):
        return None
    if hamming_distance(page.fingerprint, other.fingerprint) <= NEAR:
        return None
    few = SHARED_BY_NAME if _have_one_name(page, other) else SHARED
    return False if _shared(page.said, other.said) < few else None


def _have_one_name(page: Fetched, other: Fetched) -> bool:
    name = page.said[:NAME_BYTES]
    return any(name) and name == other.said[:NAME_BYTES]


def are_alike(page: Fetched, other: Fetched) -> bool:
    """Tell whether two pages look like one in two views."""
    return _have_one_name(page, other) and _shared(page.said, other.said) >= ALIKE


def _shared(said: bytes, other: bytes) -> float:
    """Estimate the Jaccard index of two sets of words by the least hashes of each.

    Source: Broder, On the resemblance and containment of documents (1997), section 3.
    """
    mine, theirs = _words(said), _words(other)
    least = sorted(mine | theirs)[:MOST_WORDS]
    common = mine & theirs
    return sum(word in common for word in least) / len(least)


@lru_cache(maxsize=1024)
def _words(said: bytes) -> frozenset[int]:
    """Return the hashes of words in what a page said."""
    hashes = said[NAME_BYTES:]
    return frozenset(struct.unpack(f">{len(hashes) // 2}H", hashes))


def content_of(url: str) -> int:
    """Return the number of the content that the page of a URL has, if it is kept."""
    return mmh3.hash64(url, signed=False)[0]
