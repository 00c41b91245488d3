"""What a user's own CSS selectors find on a page."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, cast

from lxml.cssselect import CSSSelector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

_MOST = 20  # elements
_LONGEST = 500  # characters


def find_fields(root: HtmlElement, selectors: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return each selector, and the text of what it selects in an uncleaned tree, "" for nothing.

    A selector that ends in `@name` gives the attribute in place of the text.
    """
    return tuple((selector, _text(root, selector)) for selector in selectors)


def _text(root: HtmlElement, selector: str) -> str:
    css, attribute = split_selector(selector)
    found = islice(cast("list[HtmlElement]", _compiled(css)(root)), _MOST)
    return " ".join(_said(found, attribute))[:_LONGEST]


def split_selector(selector: str) -> tuple[str, str]:
    """Return the CSS and the attribute that a selector names, "" if it names none."""
    css, sign, attribute = selector.rpartition("@")
    named = sign and attribute.replace("-", "").replace(":", "").isalnum()
    return (css.strip(), attribute) if named else (selector.strip(), "")


def _said(found: Iterable[HtmlElement], attribute: str) -> Iterator[str]:
    for element in found:
        said = element.get(attribute) or "" if attribute else "".join(element.itertext())
        yield from said.split()


@lru_cache
def _compiled(css: str) -> CSSSelector:
    return CSSSelector(css, translator="html")
