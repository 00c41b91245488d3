"""What the pages of one host turned out to be, and which of them are clearly others."""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import islice

from simhash_gate.fingerprints.sketch import NAME_BYTES

MOST_KNOWN = 100_000
"""Addresses of a host of which it is known what they show; those met longest ago go first."""
MOST_WORDS = 32
"""Hashes of words by which two pages are compared."""
SHARED, SHARED_BY_NAME = 1 / 2, 1 / 3
"""Two pages that share less of their words are of different contents: with other names, and with
the same. Of a short text, what the page says around it is much."""
ALIKE = 0.9
"""Two pages of one name that share so much of their words look like one in two views."""


class Contents:
    """The contents of pages by their addresses: the address by which each came first.

    `apart` has those that a verdict told apart, and whether they are nearly the same.
    """

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self._hashes: dict[str, bytes] = {}
        self._apart: dict[tuple[str, str], bool] = {}

    def add(self, url: str, kept: str, *, same: bool, nearly: bool, hashes: bytes) -> str:
        """Take notice of a page, by what a verdict tells of it; return its content."""
        content = self.of.get(kept, kept) if same else url
        self._hashes.setdefault(content, hashes)
        if kept and not same:
            self._apart[content, self.of.get(kept, kept)] = nearly
        self.of[url] = content
        return content

    def are_two(self, one: str, other: str) -> bool:
        """Tell whether two contents are others: told apart by a verdict, or hardly alike.

        What is not known is unlike anything.
        """
        if one == other:
            return False
        if self.nearly(one, other) is not None:
            return True
        mine, theirs = self._both(one, other)
        if not mine or not theirs:
            return True
        return _shared(mine, theirs) < (SHARED_BY_NAME if _have_one_name(mine, theirs) else SHARED)

    def nearly(self, one: str, other: str) -> bool | None:
        """Tell whether what a verdict told apart is nearly the same; None if none did."""
        return self._apart.get((one, other), self._apart.get((other, one)))

    def look_alike(self, one: str, other: str) -> bool:
        """Tell whether two contents look like one in two views."""
        mine, theirs = self._both(one, other)
        return one == other or (_have_one_name(mine, theirs) and _shared(mine, theirs) >= ALIKE)

    def make_room(self) -> set[str]:
        """Forget what was met longest ago if there are too many; return these addresses."""
        old = {*islice(self.of, MOST_KNOWN // 10)} if len(self.of) > MOST_KNOWN else set()
        for url in old:
            del self.of[url]
            self._hashes.pop(url, None)
        if old:
            self._apart = {pair: flag for pair, flag in self._apart.items() if old.isdisjoint(pair)}
        return old

    def _both(self, one: str, other: str) -> tuple[bytes, bytes]:
        """Return what `name_and_words` returned of two contents."""
        return self._hashes.get(one, b""), self._hashes.get(other, b"")


def _have_one_name(one: bytes, other: bytes) -> bool:
    name = one[:NAME_BYTES]
    return any(name) and name == other[:NAME_BYTES]


def _shared(one: bytes, other: bytes) -> float:
    """Estimate the Jaccard index of two sets of words by the least hashes of each.

    Source: Broder, On the resemblance and containment of documents (1997), section 3.
    """
    mine, theirs = _words(one), _words(other)
    least = sorted(mine | theirs)[:MOST_WORDS]
    common = mine & theirs
    return sum(word in common for word in least) / max(1, len(least))


@lru_cache(maxsize=1024)
def _words(hashes: bytes) -> frozenset[int]:
    words = hashes[NAME_BYTES:]
    return frozenset(struct.unpack(f">{len(words) // 2}H", words))
