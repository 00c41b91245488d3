"""The elements of a page by their tags, and those with rare attributes, found in one walk.

An XPath over attributes takes twice as long as a walk over the tree; so this is done once. What is
taken out of the tree later is still among them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from lxml.html import HtmlElement

NOT_SHOWN = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.I)
PRESSED = ("aria-pressed", "aria-checked")
_ITEM = frozenset({"itemprop", "itemscope"})
_TABS = frozenset({"tablist", "tab", "tabpanel"})
_RARE = _ITEM | {"role", "hidden", "style", "itemtype", "selected", "checked", *PRESSED}


class Elements(NamedTuple):
    """The elements of a tree, each list in document order.

    `hidden` are those within the root that say themselves that they are not shown, `chosen` the
    options and buttons that are on, and `items` what its microdata consist of. `itemtypes` are what
    these are about: the addresses of types. `tabs` are also the rows of tabs, and their panels.
    """

    by_tag: defaultdict[str, list[HtmlElement]]
    hidden: list[HtmlElement]
    chosen: list[HtmlElement]
    items: list[HtmlElement]
    itemtypes: set[str]
    tabs: list[HtmlElement]


def find_elements(root: HtmlElement) -> Elements:
    """Return the elements of a tree, before any is taken out."""
    found = Elements(defaultdict(list), [], [], [], set(), [])
    by_tag = found.by_tag
    for element in root.iter("*"):
        by_tag[element.tag].append(element)
        names = element.keys()
        if names and not _RARE.isdisjoint(names):
            if is_hidden(element) and element is not root:
                found.hidden.append(element)
            if not _ITEM.isdisjoint(names):
                found.items.append(element)
            if "itemtype" in names:
                found.itemtypes.add(element.get("itemtype", ""))
            if _is_chosen(element):
                found.chosen.append(element)
            if element.get("role") in _TABS:
                found.tabs.append(element)
    return found


def is_hidden(element: HtmlElement) -> bool:
    """Tell if an element says itself that it is not shown.

    `visibility: hidden` does not: text that fades in has it, and text that is moved. Nor does
    `hidden=until-found`: a reader who searches sees it.
    """
    style = element.get("style", "")
    shown = "none" not in style.lower() or NOT_SHOWN.search(style) is None
    return not shown or element.get("hidden", "until-found") != "until-found"


def _is_chosen(element: HtmlElement) -> bool:
    if "true" in map(element.get, PRESSED):
        return True
    if element.tag == "input":
        return element.get("type") == "radio" and element.get("checked") is not None
    return element.tag == "option" and element.get("selected") is not None
