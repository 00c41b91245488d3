"""The contents of the pages of one host, and which of them clearly differ."""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import islice

from simhash_gate.fingerprints.sketch import NAME_BYTES

MOST_KNOWN = 100_000
"""Addresses of a host whose content is remembered. The oldest are forgotten first."""
MOST_WORDS = 32
"""Hashes of words by which two pages are compared."""
SHARED, SHARED_BY_NAME = 1 / 2, 1 / 3
"""Two pages that share less of their words have different contents. The second bound is for pages
of one name: where the text is short, most words are those around it."""
ALIKE = 0.9
"""Two pages of one name that share this much of their words look like two views of one page."""


class Contents:
    """The contents of pages. A content is named by the address where it came first.

    `of` maps an address to its content.
    """

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self._hashes: dict[str, bytes] = {}
        # Contents that a verdict told apart, and whether they are nearly the same.
        self._apart: dict[tuple[str, str], bool] = {}

    def add(self, url: str, kept: str, *, same: bool, nearly: bool, hashes: bytes) -> str:
        """Note what a verdict says of a page, as `Host.saw` takes it. Return its content."""
        content = self.of.get(kept, kept) if same else url
        self._hashes.setdefault(content, hashes)
        if kept and not same:
            self._apart[content, self.of.get(kept, kept)] = nearly
        self.of[url] = content
        return content

    def are_two(self, one: str, other: str) -> bool:
        """Tell whether two contents differ: a verdict told them apart, or they share few words.

        A content without hashes differs from all others.
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
        """Tell whether two contents that a verdict told apart are nearly the same, else None."""
        return self._apart.get((one, other), self._apart.get((other, one)))

    def look_alike(self, one: str, other: str) -> bool:
        """Tell whether two contents look like two views of one page."""
        mine, theirs = self._both(one, other)
        return one == other or (_have_one_name(mine, theirs) and _shared(mine, theirs) >= ALIKE)

    def make_room(self) -> set[str]:
        """Forget the oldest addresses if there are too many. Return those."""
        old = {*islice(self.of, MOST_KNOWN // 10)} if len(self.of) > MOST_KNOWN else set()
        for url in old:
            del self.of[url]
            self._hashes.pop(url, None)
        if old:
            self._apart = {pair: flag for pair, flag in self._apart.items() if old.isdisjoint(pair)}
        return old

    def _both(self, one: str, other: str) -> tuple[bytes, bytes]:
        return self._hashes.get(one, b""), self._hashes.get(other, b"")


def _have_one_name(one: bytes, other: bytes) -> bool:
    name = one[:NAME_BYTES]
    return any(name) and name == other[:NAME_BYTES]


def _shared(one: bytes, other: bytes) -> float:
    """Estimate the Jaccard index of two sets of words by their least hashes.

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
