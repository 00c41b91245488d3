"""Near pages whose names contradict each other: how many there are, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from simhash_gate.fingerprints.claims import Claims, contradiction

MANY = 5
"""So many pages of other names are no chance."""
SHARE = 0.05
"""Nor is this share of the pages that are as near."""
ADVICE = (
    "What was read of such pages is much the same on all of them, and no distance tells them from "
    "copies: what they call themselves and offer does, as long as SIMHASH_GATE_VERIFY is 'names' "
    "or 'text'. To tell them apart by more: name what is their own in SIMHASH_GATE_COMPARE, take a "
    "profile that compares the text, or another SIMHASH_GATE_EXTRACTOR."
)


@lru_cache(maxsize=1024)
def contradict(title: str, other: str) -> bool:
    """Tell if each of two titles has a word that the other has not.

    The texts, in which the gate looks for such a word too, are not at hand.
    """
    if not title or not other or title == other:
        return False
    named = (Claims(name, (name,)) for name in (title, other))
    return contradiction(*named) is not None


@dataclass(slots=True)
class Named:
    """Counts pages at most the threshold away from another, `others` those of another name.

    `dropped` are the others that were dropped.
    """

    near: int = 0
    others: int = 0
    dropped: int = 0

    def add(self, *, other: bool, dropped: bool = False) -> None:
        """Count a page."""
        self.near += 1
        self.others += other
        self.dropped += other and dropped

    def update(self, more: Named) -> None:
        """Count what was counted elsewhere."""
        self.near += more.near
        self.others += more.others
        self.dropped += more.dropped

    @property
    def are_many(self) -> bool:
        """Whether so many are of other names that distances say little of these pages."""
        return self.others >= MANY and self.others >= SHARE * self.near

    def __str__(self) -> str:
        return f"{self.others:,} of {self.near:,} pages within the threshold have another name"
