"""Which duplicates are doubtful: names that contradict, other prices, and what else differs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.compare.names import words_apart
from simhash_gate.compare.offers import other_prices
from simhash_gate.report.judged import LoggedVerdict

MANY = 5
"""Fewer pages of other names may be chance."""
SHARE = 0.05
"""So may a smaller share of the pages that are as near."""
ADVICE = (
    "These pages have much the same text, so no distance tells them from copies. Their names, "
    "offers and words do, if SIMHASH_GATE_VERIFY is on. To compare more of them, name the fields "
    "that differ in SIMHASH_GATE_COMPARE, or use another SIMHASH_GATE_EXTRACTOR."
)


@lru_cache(maxsize=1024)
def contradict(title: str, other: str) -> bool:
    """Tell if each of two titles has a word that the other lacks; the gate reads texts as well."""
    return all(words_apart([title], [other]))


def has_another_name(page: LoggedVerdict) -> bool:
    """Tell if the name of a page and that of the kept one contradict each other."""
    known = page.kept is not None and contradict(page.title, page.kept.title)
    return known or page.differs == "names"


@dataclass(slots=True)
class Named:
    """Counts pages within the threshold of another; `others` are those with another name.

    `dropped` counts the others that were dropped.
    """

    near: int = 0
    others: int = 0
    dropped: int = 0

    def add(self, *, other: bool, dropped: bool) -> None:
        """Count a page."""
        self.near += 1
        self.others += other
        self.dropped += other and dropped

    @property
    def are_many(self) -> bool:
        """Whether so many have another name that distances say little of these pages."""
        return self.others >= MANY and self.others >= SHARE * self.near

    def __str__(self) -> str:
        return f"{self.others:,} of {self.near:,} pages within the threshold have another name"


ORDER = (
    "Pages with another name come first, then those with another price or offer, another title, "
    "another length, other words. Bits decide only between pages that differ in the same way."
)
"""The order of duplicates, for a reader."""

_SAME = ("text", "text at a closer look", "entries, in any order", "name, number and price")


class Doubt(NamedTuple):
    """What differs, the gravest first: pages are ranked by it as by any tuple.

    `growth` is the share of its words that a page has more or less, or that differ if both texts
    are known. `words` tells that the verdict names words that differ.
    """

    name: bool = False
    offer: bool = False
    title: bool = False
    growth: float = 0.0
    words: bool = False
    bits: int = 0


def doubt(page: LoggedVerdict) -> Doubt:
    """Return what differs between a page and the one that it is a duplicate of."""
    detail, words, growth = _detail(page), page.words, 0.0
    title = page.kept is not None and page.kept.title != page.title
    if page.kept is not None and words and page.kept.words:
        growth = abs(words - page.kept.words) / max(words, page.kept.words)
    before, _, after = detail.partition(" → ")
    offer = page.differs in ("offers", "fields") or other_prices(before, after)
    return Doubt(has_another_name(page), offer, title, growth, bool(detail), page.distance or 0)


def difference(page: LoggedVerdict, found: Doubt | None = None) -> list[str]:
    """Return what differs between a page and the kept one, in a few words each."""
    found = found or doubt(page)
    phrases = ["another name"] * found.name + ["another price or offer"] * found.offer
    phrases += ["another title"] * (found.title and not found.name)
    if page.kept is not None and page.words is not None and page.kept.words is not None:
        more = page.words - page.kept.words
        if more:
            phrases.append(how_many(more, "word", "+,"))
    return [*phrases, *filter(None, [_detail(page)])]


def _detail(page: LoggedVerdict) -> str:
    """Return what the reason of a verdict says of the words that differ."""
    detail = page.reason.partition("; but ")[0].partition("; ")[2]  # why it passed is no detail
    return "" if detail.removeprefix("the same ") in _SAME else detail
