"""What two pages offer, compared: numbers, prices, variants, dates and places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from itertools import chain

from simhash_gate.compare.sketch import Offered, Sketch
from simhash_gate.page.money import Money, find_money

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
# Another field that one page lacks is a selector that was not named when that was read.
_OFFERED = frozenset({*IN_DATA, *chain(*IN_DATA.values()), "availability", "file"})
_NUMBERS = frozenset({"sku", "mpn", "productid", "item", "offer sku", "shown number"})
_PRICES = ("price", "shown price")


def read_from_text(sketch: Sketch, title: str, url: str) -> Sketch:
    """Return the sketch of a page whose title and text are known, but not its data.

    It contradicts all data of another page that its text does not show: it may be another product,
    event or job. Two such pages contradict each other, unless they have the same URL.
    """
    shown = dict(sketch.offered)
    unknown = [name for field, names in IN_DATA.items() if field not in shown for name in names]
    offers = dict.fromkeys(unknown, UNKNOWN) | shown | {TEXT_ALONE: url}
    offered = tuple(sorted(offers.items()))
    return replace(sketch, headline=sketch.headline or title, offered=offered)


def fields_apart(kept: Offered, new: Offered) -> list[tuple[str, str | None, str | None]]:
    """Return the fields in which two pages differ, and what each says, None for nothing."""
    before, now = dict(kept), dict(new)
    fields = [(name, before.get(name), now.get(name)) for name in before | now]
    return [it for it in fields if differs(*it) and (it[0] in _OFFERED or None not in it)]


def differs(field: str, value: str | None, other: str | None) -> bool:
    """Tell whether what two pages say in a field is different. Prices are compared as money."""
    if field not in _PRICES or value is None or other is None:
        return value != other
    prices, others = _prices(value), _prices(other)
    agree = all(price.agrees(it) for price, it in zip(prices, others, strict=False))
    return len(prices) != len(others) or not agree


def contradicting_offers(kept: Sketch, new: Sketch) -> str:
    """Return in words how the offers of two pages contradict each other; "" if they don't.

    A field that only one of them has is no contradiction: a print view has no data. The numbers
    and the price that its text shows are compared with those that the other's data give.
    """
    if reason := contradicting_fields(kept.offered, new.offered):
        return reason
    before, now = _numbers(kept), _numbers(new)
    if before and now and before.isdisjoint(now):
        return f"{', '.join(sorted(before))} → {', '.join(sorted(now))}"
    price, other = _price(kept), _price(new)
    return f"price {price} → {other}" if price and other and not price.agrees(other) else ""


def contradicting_fields(kept: Offered, new: Offered) -> str:
    """Return in words the first field that two pages both have and that differs; "" for none."""
    for field, before, now in fields_apart(kept, new):
        if before is not None and now is not None:
            return f"{field} {before or 'none'} → {now or 'none'}"
    return ""


def same_offer(kept: Sketch, new: Sketch) -> bool:
    """Tell whether two pages give a number and the price of one product."""
    price, other = _price(kept), _price(new)
    agree = price is not None and other is not None and price.agrees(other)
    return agree and not _numbers(kept).isdisjoint(_numbers(new))


def other_prices(text: str, other: str) -> bool:
    """Tell if each of two texts says an amount of money that the other does not say."""
    one, its = find_money(text), find_money(other)
    return _lacks(one, its) and _lacks(its, one)


def _lacks(prices: Collection[Money], others: Collection[Money]) -> bool:
    by_amount = defaultdict(set)
    for price in others:
        by_amount[price.amount].add(price)
    return any(not any(map(price.agrees, by_amount[price.amount])) for price in {*prices})


def _numbers(page: Sketch) -> set[str]:
    values = [value for name, value in page.offered if name in _NUMBERS]
    return {number.casefold() for value in values for number in value.split(", ")}


def _prices(value: str) -> list[Money]:
    return list(map(Money.parse, value.split(", ")))


def _price(page: Sketch) -> Money | None:
    """Return the lowest price in the data, else in the text: it may show the old price, too."""
    offered = dict(page.offered)
    value = next(filter(None, map(offered.get, _PRICES)), "")
    if not value:
        return None
    return min(_prices(value), key=lambda it: (len(it.amount.partition(".")[0]), it.amount))
