"""Structured data of a page: JSON-LD and microdata, as one kind of nodes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from simhash_gate.page.money import Money, read_money

Node = dict[str, Any]
"""A thing that is described: its `@type`, and its properties, as JSON-LD writes them."""

_DEEP = 12
_MANY = 2_000  # nodes or properties: more are a list of what others sell
_MOST_TYPES = 20  # of one node
_ADDRESSES = {"a": "href", "link": "href", "area": "href", "img": "src"}
_VALUES = {"data": "value", "meter": "value", "time": "datetime"}
_OPENING = re.compile(r"\A(?:<!--|(?://|/\*)?\s{0,9}<!\[CDATA\[)(?:\s{0,9}\*/)?")


def read_json_ld(scripts: Iterable[HtmlElement]) -> list[Any]:
    """Return what each of a page's scripts of JSON-LD says; one that makes no sense says None."""
    found = (script for script in scripts if "ld+json" in script.get("type", "").lower())
    return [_load(script.text or "") for script in found]


def _load(text: str) -> Any:
    """Read JSON as its authors write it: in a comment, with anything after it."""
    text = _OPENING.sub("", text.lstrip(), 1).lstrip()
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def nodes_on_top(data: list[Any]) -> list[Node]:
    """Return the nodes that JSON-LD has on top, in their order: what is in none of the others."""
    return list(islice(_nodes(data, _DEEP), _MANY))


def _nodes(data: Any, depth: int) -> Iterator[Node]:
    if depth and isinstance(data, list):
        for entry in data:
            yield from _nodes(entry, depth - 1)
    elif depth and isinstance(data, dict):
        if "@type" in data:
            yield data
        if "@graph" in data:
            yield from _nodes(data["@graph"], depth - 1)


def read_microdata(items: list[HtmlElement]) -> list[Node]:
    """Return the top nodes of microdata, in order; `items` have an `itemprop` or `itemscope`."""
    top: list[Node] = []
    scopes: dict[HtmlElement, Node] = {}
    for element in items[:_MANY]:
        names = dict.fromkeys((element.get("itemprop") or "").split())
        node: Node | None = None
        if "itemscope" in element.attrib:
            kinds = (element.get("itemtype") or "").split()
            node = scopes[element] = {"@type": [kind.rsplit("/", 1)[-1] for kind in kinds]}
            if not names:
                top.append(node)
        outer = next((scopes[e] for e in element.iterancestors() if e in scopes), {})
        for name in names:
            outer.setdefault(name, []).append(element if node is None else node)
    for node in scopes.values():
        node.update({name: found[0] for name, found in node.items() if len(found) == 1})
    return top


def _value(element: HtmlElement) -> str:
    attributes = ("content", _VALUES.get(element.tag, "content"))
    value = next(filter(None, map(element.get, attributes)), None) or "".join(element.itertext())
    return value or element.get(_ADDRESSES.get(element.tag, "href")) or ""


def types(node: Node) -> frozenset[str]:
    """Return the types of a node, without the address of their vocabulary."""
    names = values(node.get("@type"))[:_MOST_TYPES]
    return frozenset(re.split("[/:#]", name[-80:])[-1] for name in names if isinstance(name, str))


def values(data: Any) -> list[Any]:
    """Return the values of a property: one, or several."""
    return data if isinstance(data, list) else [] if data is None else [data]


def nodes(data: Any) -> list[Node]:
    """Return those values of a property that are things with properties of their own."""
    return [value for value in values(data) if isinstance(value, dict)]


def text(data: Any) -> str:
    """Return the first value that is a text, in one line; of a node, its name."""
    return next(filter(None, map(_text_of, values(data))), "")


def _text_of(value: Any) -> str:
    if isinstance(value, dict):
        value = next(iter(values(value.get("name", value.get("@value")))), None)
    if isinstance(value, etree.ElementBase):
        return " ".join(_value(value).split())
    return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""


def offers_of(main: Node) -> list[Node]:
    """Return the offers of a product, and of its variants; of several that are one, each part."""
    products = (main, *nodes(main.get("hasVariant")))
    offers = [offer for product in products for offer in nodes(product.get("offers"))]
    return [part for offer in offers for part in nodes(offer.get("offers")) or [offer]]


def prices_of(main: Node, meta: Mapping[str, str]) -> list[Money]:
    """Return the prices of a product: those of its offers, or else the one of the metadata."""
    found = [price for offer in offers_of(main) for price in _prices_of(offer)]
    for name in ("product:price", "og:price"):
        amount, currency = (meta.get(f"{name}:{part}", "") for part in ("amount", "currency"))
        found = found or read_money(amount, currency)
    return found


def _prices_of(offer: Node) -> list[Money]:
    """Return the prices of an offer, or else those of the first part of it that has one."""
    for node in (offer, *nodes(offer.get("priceSpecification"))):
        currency = text(node.get("priceCurrency")) or text(offer.get("priceCurrency"))
        amounts = (text(node.get(name)) for name in ("price", "lowPrice", "highPrice"))
        if found := [price for amount in amounts for price in read_money(amount, currency)]:
            return found
    return []
