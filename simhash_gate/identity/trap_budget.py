"""Budgets: how many fetches that bring nothing a shape of URLs has left.

This is a sequential test (CUSUM; Page, Continuous inspection schemes, 1954) in whole fetches: it
tells a yield of 1 % from one of 20 %. A shape of which one fetch in 15 or more brings something new
keeps its budget; one of less loses it in the end. A shape that has brought much may bring nothing
for longer: variants of what is known may wait for the end of a crawl, and a few pages among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FULL = 48
"""Fetches in a row that may bring nothing."""
SHARE = 4
"""A shape may bring nothing for a quarter as many fetches as brought something."""
GAIN = 14
"""What one fetch that brings something new gives back."""
FIRST_PROBE = 4
"""The request held back that is fetched all the same; then the 8th, the 16th and so on."""


@dataclass(slots=True, eq=False)
class Budget:
    """What is left to the requests of one kind.

    `fetched` and `fruits` count all pages that were judged and those that brought something new;
    `held` counts requests held back since it ran out, `probes` those that were fetched all the same
    to look. `examples` are the first two URLs that brought nothing since the last that did.
    """

    left: int = FULL
    fetched: int = 0
    fruits: int = 0
    held: int = 0
    probes: int = 0
    limited: bool = False
    examples: list[str] = field(default_factory=list)

    def spend(self, url: str) -> bool:
        """Take a page that brought nothing; tell if with it the budget ran out."""
        self.fetched += 1
        if len(self.examples) < 2:
            self.examples.append(url)
        self.left = max(0, self.left - 1)
        ends = not self.left and not self.limited
        self.limited = not self.left
        if ends:
            self.held = 0
        return ends

    def gain(self, *, fetched: bool = True) -> bool:
        """Take a page that brought something new, or led to one; tell if there is one again."""
        self.fetched += fetched
        self.fruits += 1
        self.left = min(max(FULL, self.fruits // SHARE), self.left + GAIN)
        self.examples.clear()
        recovers, self.limited = self.limited, False
        return recovers

    def probe(self) -> bool:
        """Count a request that is held back; tell if it is to be fetched all the same."""
        self.held += 1
        due = self.held >= FIRST_PROBE and self.held & (self.held - 1) == 0
        self.probes += due
        return due
