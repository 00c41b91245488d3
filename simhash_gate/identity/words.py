"""Which words in paths are names: where many were met at one place, those that come seldom."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable

from simhash_gate.identity.address import ANY, SIGNS

MANY = 30
"""After so many words at one place of a path, those that come seldom are names there: less than
four times, or than in one of as many."""
MOST_PLACES = 2_000


class Words:
    """The words at each place of paths. The parts of a path are those that `mask` returns.

    Its memory is bounded; of places that were met longest ago no more is known.
    """

    def __init__(self) -> None:
        self._met: OrderedDict[str, Counter[str]] = OrderedDict()
        self._often: OrderedDict[str, frozenset[str]] = OrderedDict()

    def masked(self, before: str, parts: Iterable[str]) -> str:
        """Return a place, and the parts of a path below it; `*` stands for names."""
        for part in parts:
            before += f"/{self.word(before, part)}"
        return before

    def word(self, before: str, word: str) -> str:
        """Return a word at a place, or `*` for a name."""
        often = self._often.get(before)
        return word if often is None or word in often or word in SIGNS else ANY

    def count(self, before: str, parts: Iterable[str]) -> str:
        """Count the words of a path; return the place where they are names from now on, or ""."""
        many = ""
        for word in parts:
            if before not in self._often and word not in SIGNS:
                met = self._met.setdefault(before, Counter())
                met[word] += 1
                many = many or (before if len(met) >= MANY else "")
                if len(self._met) > MOST_PLACES:
                    self._met.popitem(last=False)
            before += f"/{self.word(before, word)}"
        if many:
            met = self._met.pop(many)
            least = max(4, met.total() / MANY)
            self._often[many] = frozenset(word for word in met if met[word] >= least)
            if len(self._often) > MOST_PLACES:
                self._often.popitem(last=False)
        return many

    def forget_counts(self) -> None:
        """Count anew, but for places of which it is known already what is a name."""
        self._met.clear()
