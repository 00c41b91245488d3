"""What a page says that it is: its own address, and the numbers of the product it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

_NUMBERS = frozenset({"sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productid"})
_OTHERS = frozenset({"isRelatedTo", "isSimilarTo", "itemListElement", "hasVariant", "offers"})
_DEEP = 12


class Identity(NamedTuple):
    """`canonical` is the page's `rel=canonical` if it names the page itself, else ""."""

    canonical: str = ""
    identifiers: tuple[str, ...] = ()


def find_identity(root: HtmlElement, url: str, data: list[Any]) -> Identity:
    """Read an uncleaned tree's canonical address and, of JSON-LD and microdata, its numbers."""
    found = {f"{name.lower()} {value}" for name, value in _numbers(data, _DEEP + 1)}
    found.update(
        f"{name.lower()} {value}"
        for element in root.iter("meta", "span", "div")
        if (name := element.get("itemprop") or "").lower() in _NUMBERS
        and (value := (element.get("content") or element.text or "").strip())
    )
    return Identity(_canonical(root, url), tuple(sorted(found)))


def _canonical(root: HtmlElement, url: str) -> str:
    for link in root.iter("link"):
        if (link.get("rel") or "").lower() == "canonical":
            try:
                address = urljoin(url, (link.get("href") or "").strip())
                same = urlsplit(address).path == urlsplit(url).path
            except ValueError:
                return ""
            return address if same else ""
    return ""


def _numbers(data: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the numbers of what the data is about, and not of what it mentions."""
    if depth and isinstance(data, list):
        for entry in data:
            yield from _numbers(entry, depth - 1)
    elif depth and isinstance(data, dict):
        product = "Product" in str(data.get("@type"))
        for name, value in data.items():
            if name.lower() in _NUMBERS or (name == "@id" and product):
                yield name, str(value)
            elif name not in _OTHERS:
                yield from _numbers(value, depth - 1)
