"""How doubtful it is that a duplicate is one: by what of it differs from the kept page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.wording import how_many

if TYPE_CHECKING:
    from simhash_gate.report.judged import LoggedVerdict

ORDER = (
    "Pages with another name come first, then those with another price or offer, another title, "
    "another length, other words. Bits decide only between pages that differ in the same way."
)
"""The order of duplicates, for a reader."""

_MONEY = "$\u00a2-\u00a5\u20a0-\u20cf"
_CODE = "EUR|USD|GBP|CHF|JPY|CNY|INR|TRY|PLN|SEK|NOK|DKK|CZK|RUB|BRL|AUD|CAD"
_AMOUNT = r"\d[\d.,']{0,15}"
_PRICE = re.compile(
    rf"(?:[{_MONEY}]|\b(?:{_CODE})\b)\s?{_AMOUNT}|{_AMOUNT}\s?(?:[{_MONEY}]|(?:{_CODE})\b)"
)
_ROUND = re.compile(r"[.,]00(?!\d)")


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

    @property
    def in_words(self) -> list[str]:
        """What differs, in a few words each, but for the length."""
        if self.name:
            return ["another name"] + ["another price or offer"] * self.offer
        return ["another price or offer"] * self.offer + ["another title"] * self.title


def doubt(page: LoggedVerdict) -> Doubt:
    """Return what differs between a page and the one that it is a duplicate of."""
    said = _said(page)
    title = page.kept is not None and page.kept.title != page.title
    before, _, after = said.partition(" → ")
    offer = page.differs in ("offers", "fields") or other_prices(before, after)
    return Doubt(
        page.has_another_name, offer, title, abs(_growth(page)), bool(said), page.distance or 0
    )


def difference(page: LoggedVerdict, found: Doubt | None = None) -> list[str]:
    """Return what differs between a page and the kept one, in a few words each."""
    said = list((found or doubt(page)).in_words)
    if page.kept is not None and page.words is not None and page.kept.words is not None:
        more = page.words - page.kept.words
        if more:
            said.append(how_many(more, "word", "+,"))
    return [*said, _said(page)] if _said(page) else said


def other_prices(kept: str, page: str) -> bool:
    """Tell if each of two texts says an amount of money that the other does not say."""
    before, now = _amounts(kept), _amounts(page)
    return not (before <= now or now <= before)


def _amounts(text: str) -> set[str]:
    """Return the amounts of money in a text, however they are written: 12,50 € is $12.50."""
    found = (_ROUND.sub("", price) for price in _PRICE.findall(text))
    return {"".join(filter(str.isdigit, price)) for price in found}


def _said(page: LoggedVerdict) -> str:
    """Return what the reason of a verdict says of the words that differ."""
    said = page.reason.partition("; ")[2]
    return "" if said in _SAME else said


_SAME = ("the same text", "the same name, number and price")


def _growth(page: LoggedVerdict) -> float:
    """Return by what share the number of words differs from that of the kept page."""
    if page.kept is None or not page.words or not page.kept.words:
        return 0.0
    return (page.words - page.kept.words) / max(page.words, page.kept.words)
