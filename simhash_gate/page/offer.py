"""What a page offers, and what a user's own CSS selectors find on it.

The data of a page say the number and price of a product, or the place of an event. Where there are
no data, the price and the number count that stand by the headline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import cast

from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement

from simhash_gate.page.blocks import Block
from simhash_gate.page.facts import Facts
from simhash_gate.page.money import AMOUNT, Money, find_money, read_money
from simhash_gate.page.structured import (
    Node,
    nodes_on_top,
    offers_of,
    prices_of,
    text,
    types,
    values,
)

Field = tuple[str, str]

NUMBERS = ("sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productID", "isbn")
_EVENT_OR_JOB = ("Event", "Festival", "Hackathon", "JobPosting")  # what their types end with
_MOST = 8  # values of one field
_LONGEST = 80
_NEAR = 12  # blocks after the headline
_LINES = 200  # of an article
_SHORT = 60  # characters: what is longer tells of something
_LABEL = 20
_DIGIT = re.compile(r"\d")
_LABELLED = re.compile(
    rf"^(?:price|preis|prix|precio|prezzo|preço|цена)\s*:?\s+({AMOUNT})$", re.IGNORECASE
)
_NUMBER = re.compile(
    r"\b(?:SKU|EAN|GTIN|ISBN|MPN|(?:Art(?:ikel|icle|\.)?|Item|Model|Part|Product)[\s-]*"
    r"(?:n(?:umme)?r|no|number|code|#)\b)\.?\s*:?\s*#?([\w./-]*\d[\w./-]*)",
    re.IGNORECASE,
)
_BASKET = re.compile(
    r"\b(?:add[-_]?to[-_]?)?(?:cart|basket|bag|buy|product|variations?)\b|warenkorb|panier",
    re.IGNORECASE,
)
_MENUS = ("nav", "header", "footer")


def find_offer(facts: Facts) -> tuple[Field, ...]:
    """Return what a page's data say is offered: names of fields, and what they say."""
    found: dict[str, list[str]] = {}
    for name, value in _fields(facts):
        texts = found.setdefault(name, [])
        if value and value not in texts and len(texts) < _MOST:
            texts.append(value[:_LONGEST])
    return tuple((name, ", ".join(sorted(texts))) for name, texts in sorted(found.items()) if texts)


def has_price(texts: Iterable[str], of: str = "") -> bool:
    """Tell if there is a price in some short texts, one or two after the other: one of those `of` a
    product, if they are known.
    """
    known = of.replace(",", "").split()
    found = find_money(" ".join(text[:_SHORT] for text in texts))
    return any(not known or price.amount in known for price in found)


def offer_by_headline(blocks: list[Block]) -> tuple[Field, ...]:
    """Return the prices in the short lines after a headline, and the first number of the article.

    What a label stands before, in a table or a list, counts wherever it is.
    """
    prices: list[Money] = []
    labelled = number = ""
    start = next((at + 1 for at, block in enumerate(blocks) if block.kind == "heading"), 0)
    for place, line in _short_lines(blocks[start : start + _LINES]):
        if place < _NEAR:
            prices += find_money(line)
        if not number or not labelled:
            number = number or next(iter(_NUMBER.findall(line)), "")
            labelled = labelled or next(iter(_LABELLED.findall(line)), "")
    price = ", ".join(sorted(set(map(str, prices or read_money(labelled))))[:_MOST])
    return tuple(field for field in (("shown number", number), ("shown price", price)) if field[1])


def _short_lines(blocks: list[Block]) -> Iterator[tuple[int, str]]:
    """Yield short lines with a digit, by their place; a label with the line after it."""
    label = ""
    for place, block in enumerate(blocks):
        if len(block.text) > _SHORT or block.linked:
            label = ""
            continue
        line = f"{label} {block.text}" if label else block.text
        label = block.text if len(block.text) <= _LABEL else ""
        if _DIGIT.search(block.text):
            yield place, line


def _fields(facts: Facts) -> Iterator[Field]:
    if facts.kind == "product":
        yield from _product(facts.main, facts)
    if facts.sells:  # many a shop gives no data
        yield from _chosen(facts)
    events_or_jobs = [
        node
        for node in nodes_on_top(facts.data)
        if any(kind.endswith(_EVENT_OR_JOB) for kind in types(node))
    ]
    for node in events_or_jobs if len(events_or_jobs) == 1 else ():  # of several it is a list
        for name in ("startDate", "endDate"):
            yield name, text(node.get(name))
        for place in (*values(node.get("location")), *values(node.get("jobLocation"))):
            yield "place", _place(place)
        for salary in values(node.get("baseSalary")):
            yield "salary", " ".join(_leaves(salary, 3))


def _product(main: Node, facts: Facts) -> Iterator[Field]:
    for name in NUMBERS:
        yield name.lower(), text(main.get(name))
    for price in prices_of(main, facts.meta):
        yield "price", str(price)
    offers = offers_of(main)
    for offer in offers:
        yield "availability", _local_name(text(offer.get("availability")))
        if len(offers) == 1:
            for name in NUMBERS:
                yield f"offer {name.lower()}", text(offer.get(name))
    if not offers:
        yield "availability", _local_name(facts.meta.get("product:availability", ""))
    yield "item", facts.meta.get("product:retailer_item_id", "")


def _chosen(facts: Facts) -> Iterator[Field]:
    """Yield what is chosen in the form that puts a product into the basket, or beside any form.

    The form nearest to the headline is that of the page's own product. A form that only asks for
    another page puts nothing into a basket, and a list beside any form may sort what is shown.
    """
    elements, found = facts.elements, []
    headline = [e for h1 in elements.by_tag["h1"][:1] for e in h1.iterancestors()]
    depths = {box: depth for depth, box in enumerate(reversed(headline))}
    for element in elements.chosen[: _MOST * _MOST]:
        field = next(element.iterancestors("select"), None) if element.tag == "option" else element
        if field is None:
            continue
        form = next(field.iterancestors("form", *_MENUS), None)
        if form is None:
            fills, depth = facts.kind == "product" or field.tag != "select", -1
        else:
            kind = "-".join(form.get(name, "") for name in ("action", "class", "id"))
            kind = kind.replace("_", "-")  # which is a part of a word
            fills = form.get("method", "").lower() == "post" and bool(_BASKET.search(kind))
            depth = next((depths[e] for e in (form, *form.iterancestors()) if e in depths), 0)
        if fills:
            label = "".join(element.itertext()) or element.get("value") or ""
            found.append((depth, " ".join(label.split())))
    nearest = max(found, default=(0, ""))[0]
    yield from (("chosen", label) for depth, label in found if depth in (nearest, -1))


def _place(place: object) -> str:
    if not isinstance(place, dict):
        return text(place)
    address = place.get("address")
    parts = [text(place.get("name")), *_leaves(address, 2)]
    return " ".join(filter(None, parts))


def _leaves(node: object, depth: int) -> Iterable[str]:
    """Yield what the properties of a node say, in the order of their names."""
    if not isinstance(node, dict):
        yield from filter(None, [text(node)])
    elif depth:
        for name in sorted(node, key=str):
            if not name.startswith("@"):
                for value in values(node[name]):
                    yield from _leaves(value, depth - 1)


def _local_name(address: str) -> str:
    """Return the name of a value, without the address of its vocabulary."""
    return re.split("[/:#]", address)[-1]


_compiled = lru_cache(partial(CSSSelector, translator="html"))
_LONGEST_FIELD = 100_000  # characters


def find_fields(root: HtmlElement, selectors: Iterable[str]) -> tuple[Field, ...]:
    """Return each selector, and the text of what it selects in an uncleaned tree, "" for nothing.

    A selector that ends in `@name` gives the attribute in place of the text.
    """
    found = []
    for selector in selectors:
        css, _, attribute = selector.rpartition("@")
        if not (css and attribute.replace("-", "").replace(":", "").isalnum()):
            css, attribute = selector, ""
        texts, size = [], 0
        for element in cast("list[HtmlElement]", _compiled(css.strip())(root)):
            texts.append(element.get(attribute) or "" if attribute else "".join(element.itertext()))
            size += len(texts[-1])
            if size > _LONGEST_FIELD:
                break
        found.append((selector, " ".join(" ".join(texts).split())))
    return tuple(found)
