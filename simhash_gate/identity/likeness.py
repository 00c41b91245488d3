"""Whether two pages that the gate did not find to be one are clearly two."""

from __future__ import annotations

import struct
from functools import lru_cache

from simhash_gate.fingerprints.sketch import NAME_BYTES

MOST_WORDS = 32
"""Hashes of words by which two pages are compared."""
SHARED, SHARED_BY_NAME = 1 / 2, 1 / 3
"""Two pages that share less of their words are of different contents: with other names, and with
the same. Of a short text, what the page says around it is much."""
ALIKE = 0.9
"""Two pages of one name that share so much of their words look like one in two views."""


def are_unlike(said: bytes, other: bytes) -> bool:
    """Tell whether two pages are of different contents, by their names and words.

    Each is what `name_and_words` returns. What is not known is unlike anything.
    """
    if not said or not other:
        return True
    return _shared(said, other) < (SHARED_BY_NAME if _have_one_name(said, other) else SHARED)


def are_alike(said: bytes, other: bytes) -> bool:
    """Tell whether two pages look like one in two views."""
    return _have_one_name(said, other) and _shared(said, other) >= ALIKE


def _have_one_name(said: bytes, other: bytes) -> bool:
    name = said[:NAME_BYTES]
    return any(name) and name == other[:NAME_BYTES]


def _shared(said: bytes, other: bytes) -> float:
    """Estimate the Jaccard index of two sets of words by the least hashes of each.

    Source: Broder, On the resemblance and containment of documents (1997), section 3.
    """
    mine, theirs = _words(said), _words(other)
    least = sorted(mine | theirs)[:MOST_WORDS]
    common = mine & theirs
    return sum(word in common for word in least) / max(1, len(least))


@lru_cache(maxsize=1024)
def _words(said: bytes) -> frozenset[int]:
    """Return the hashes of words in what a page said."""
    hashes = said[NAME_BYTES:]
    return frozenset(struct.unpack(f">{len(hashes) // 2}H", hashes))
