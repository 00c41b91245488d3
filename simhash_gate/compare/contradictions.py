"""Contradictions between the claims of two pages: their names, and their offers.

They tell apart two pages that only look alike because of their template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from simhash_gate.compare.names import are_one, is_cut, own_words, own_words_of

if TYPE_CHECKING:
    from simhash_gate.compare.sketch import Offered, Sketch

_SHOWN = 60
UNKNOWN = "unknown"
"""The value of a field that only the data of a page would tell, if these are not known."""

_PRODUCT = ("sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productid", "isbn")
IN_DATA = {
    "shown number": (*_PRODUCT, *(f"offer {name}" for name in _PRODUCT), "item"),
    "shown price": ("price",),
    "": ("chosen", "startDate", "endDate", "place", "salary"),
}
"""Fields that only data have, by the field of a text that says the same ("" if none does)."""
TEXT_ALONE = "the text alone of"
"""The field of a page that was read from its text. Its value is the URL."""
_NUMBERS = frozenset({"sku", "mpn", "productid", "item", "offer sku", "shown number"})


def read_from_text(sketch: Sketch, title: str, url: str) -> Sketch:
    """Return the sketch of a page whose title and text are known, but not its data.

    It contradicts all data of another page that its text does not show: it may be another product,
    event or job. Two such pages contradict each other, unless they have the same URL.
    """
    shown = dict(sketch.offered)
    unknown = {
        name: UNKNOWN for field, names in IN_DATA.items() if field not in shown for name in names
    }
    offered = tuple(sorted((unknown | shown | {TEXT_ALONE: url}).items()))
    return replace(sketch, headline=sketch.headline or title, offered=offered)


Differs = Literal["names", "offers", "fields", "texts", "repeats", "carried"]
CONTRADICTIONS: frozenset[Differs] = frozenset({"names", "offers", "fields"})


class Difference(NamedTuple):
    """In what two pages differ, and a description."""

    differs: Differs
    reason: str


def contradiction(kept: Sketch, new: Sketch, *, offers: bool = True) -> Difference | None:
    """Return the contradiction between two pages, None if there is none.

    Names contradict if each has a word that the article and the names of the other page lack. They
    also contradict if one name has an additional word that is nowhere on the other page, unless
    `are_one` finds that templates made the difference. Offers contradict if a common field differs.
    """
    if reason := _of_fields(kept.compared, new.compared):
        return Difference("fields", reason)
    if reason := _of_names(kept, new):
        return Difference("names", reason)
    if offers and (reason := _of_fields(kept.offered, new.offered) or _of_offers(kept, new)):
        return Difference("offers", reason)
    return None


def same_name(kept: Sketch, new: Sketch) -> bool:
    """Tell whether both pages have the same name."""
    return bool(new.all_names) and kept.name_key == new.name_key


def agreement(kept: Sketch, new: Sketch) -> bool:
    """Tell whether two pages claim to show one product, by its name, its number and its price."""
    one = not _numbers(kept).isdisjoint(_numbers(new))
    return one and same_name(kept, new) and _price(kept) == _price(new) != ""


def _of_offers(kept: Sketch, new: Sketch) -> str:
    """Compare numbers and prices in data with those in text: a print view has no data."""
    before, now = _numbers(kept), _numbers(new)
    if before and now and before.isdisjoint(now):
        return f"{', '.join(sorted(before))} → {', '.join(sorted(now))}"
    price, other = _price(kept), _price(new)
    return f"price {price} → {other}" if price and other and price != other else ""


def _numbers(page: Sketch) -> set[str]:
    values = [value for name, value in page.offered if name in _NUMBERS]
    return {number.casefold() for value in values for number in value.split(", ")}


def _price(page: Sketch) -> str:
    """Return the lowest price in the data, else in the text: it may show the old price, too."""
    offered = dict(page.offered)
    prices = offered.get("price") or offered.get("shown price") or ""
    amounts = [part.split(" ")[0] for part in prices.split(", ")]
    return min(amounts, key=lambda amount: (len(amount.partition(".")[0]), amount))


def _of_fields(kept: Offered, new: Offered) -> str:
    before = dict(kept)
    for name, value in new:
        if name in before and before[name] != value:
            return f"{name} {before[name] or 'none'} → {value or 'none'}"
    return ""


def _of_names(kept: Sketch, new: Sketch) -> str:
    headlines = kept.headline, new.headline
    if not all(map(own_words, headlines)):
        return _contradict(kept, kept.all_names, new, new.all_names)
    reason = _contradict(kept, headlines[:1], new, headlines[1:])
    reason = reason or _contradict(kept, [kept.heading], new, [new.heading])
    if reason or _has_own_headline(kept) or _has_own_headline(new):
        return reason
    return _contradict(kept, kept.all_names, new, new.all_names)


def _contradict(kept: Sketch, before: Sequence[str], new: Sketch, now: Sequence[str]) -> str:
    kept_words, new_words = own_words_of(before), own_words_of(now)
    gone, come = kept_words - new_words, new_words - kept_words
    # A number that begins one name follows a word in the other: "5 bees", "Print: 5 bees".
    first = [word for word in gone | come if word.isdecimal()]
    moved = {word for word in gone | come if len(first) == 1 and word.split(" ")[-1] in first}
    if moved & gone and moved & come:
        gone, come = gone - moved, come - moved
    if not (kept_words and new_words and (gone or come)) or is_cut(before, now):
        return ""
    if gone and come:
        other = _lacks(new, gone, article=True) and _lacks(kept, come, article=True)
        return f"another name: {_shown(before)} → {_shown(now)}" if other else ""
    if not (_lacks(new, gone) or _lacks(kept, come)):
        return ""
    one = are_one(before, new.all_names) or are_one(kept.all_names, now)
    return "" if one else f"a longer name: {_shown(before)} → {_shown(now)}"


def _has_own_headline(page: Sketch) -> bool:
    """Tell whether the headline is the name of the page, and not that of a part ("Description").

    The title shares a word with the name of its page.
    """
    headline_words = own_words(page.headline)
    others = list(map(own_words, page.names))
    return not others or any(not headline_words.isdisjoint(name) for name in others)


def _lacks(page: Sketch, words: Iterable[str], *, article: bool = False) -> bool:
    """Tell whether a page, or its article, lacks one of these words."""
    named = {word for name in page.all_names for word in own_words(name)}
    return any(word not in named and not page.words.have(word, own=article) for word in words)


def _shown(names: Sequence[str]) -> str:
    return " / ".join(repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…") for name in names)
