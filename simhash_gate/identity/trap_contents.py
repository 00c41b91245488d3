"""What a scope has said so far: names, pairs of words, and words, as far as memory goes.

What is forgotten counts as new when it comes again: a shape is then thought better of than it is,
never worse.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from mmh3 import hash64

if TYPE_CHECKING:
    from simhash_gate.fingerprints.gist import Gist

MOST_KEPT = 400_000
"""Hashes in all scopes together, about 70 bytes each."""
MOST_OF_SCOPE = 60_000

_WORD = re.compile(r"[^\W\d_]+")
_NEW_SHARE = 0.15
_NEW_PAIRS = 3
_MOSTLY = 0.5


class Novelty(NamedTuple):
    """What a page says that its scope has not said yet.

    `content` tells if that is worth a fetch, `mostly` if it is at least half of the page; `name` if
    its name without its numbers is a new one; `words` are the new ones in its gist.
    """

    content: bool
    mostly: bool
    name: bool
    words: int


class _Contents:
    """What one scope has said: two sets of each kind, of which the older one is let go."""

    def __init__(self) -> None:
        self.young: set[int] = set()
        self.old: set[int] = set()

    def __len__(self) -> int:
        return len(self.young) + len(self.old)

    def new(self, said: frozenset[int]) -> int:
        """Return how many of some hashes are new, and remember all."""
        found = said - self.young
        count = len(found - self.old)
        self.young |= found
        if len(self.young) > MOST_OF_SCOPE // 2:
            self.old, self.young = self.young, set()
        return count


class Contents:
    """Remembers what scopes have said. Those that were met longest ago are forgotten first."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._scopes: OrderedDict[str, _Contents] = OrderedDict()
        self._kept = 0

    def __len__(self) -> int:
        return self._kept

    def learn(self, scope: str, title: str, gist: Gist) -> Novelty:
        """Return what is new about a page, and remember what it says."""
        own = self._scopes.get(scope)
        if own is None:
            own = self._scopes[scope] = _Contents()
        self._scopes.move_to_end(scope)
        before = len(own)
        named = _WORD.findall(title.lower())
        names = own.new(frozenset(stable_hash(f" {word}") for word in named))
        name = own.new(frozenset([stable_hash(" ".join(named))] if named else ()))
        pairs = own.new(gist.pairs)
        words = own.new(frozenset(word << 1 for word in gist.words))
        self._kept += len(own) - before
        while self._kept > self._most and len(self._scopes) > 1:
            self._kept -= len(self._scopes.popitem(last=False)[1])
        enough = pairs >= max(_NEW_PAIRS, _NEW_SHARE * len(gist.pairs))
        mostly = pairs >= max(_NEW_PAIRS, _MOSTLY * len(gist.pairs))
        return Novelty(bool(names) or enough, mostly, bool(name), words)


def stable_hash(text: str) -> int:
    """Return a hash that is the same in every process."""
    return int(hash64(text.encode("utf-8", "surrogatepass"))[0])
