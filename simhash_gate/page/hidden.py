"""What a page hides at first and shows later: folds, panels of tabs, what a server sends late."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, cast

from lxml import etree

from simhash_gate.page.measure import size_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# By the axis of attributes: to ask each element for some takes three times as long.
_HIDING = etree.XPath("descendant::*/@hidden/.. | descendant::*/@style[contains(., 'none')]/..")
NOT_SHOWN = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.I)
_SENT_LATE = re.compile(r"S:(\w+)$")
_FOLD = 60  # characters, mostly outside of links: less is a label, a menu or a message
_LABEL = 200  # characters: a question, or the name of a part
_CONTROLS = ("form", "input", "textarea")


def is_hidden(element: HtmlElement) -> bool:
    """Tell if an element says itself that it is not shown.

    `visibility: hidden` does not: text that fades in has it, and text that is moved.
    """
    return "hidden" in element.attrib or NOT_SHOWN.search(element.get("style", "")) is not None


def show_later(root: HtmlElement) -> None:
    """Show what is hidden until a reader opens it, or a script has put it into its place."""
    hidden = [e for e in cast("list[HtmlElement]", _HIDING(root)) if is_hidden(e)]
    if not hidden:
        return
    kinds: dict[tuple[str, ...], list[HtmlElement]] = defaultdict(list)
    for element in hidden:
        kinds[(element.tag, *element.get("class", "").split()[:1])].append(element)
    known = set(hidden)
    for kind, alike in kinds.items():
        several = len(kind) > 1 and len(alike) > 1
        for element in alike:
            within = any(outer in known for outer in element.iterancestors())
            if _is_opened(element) or (several and not within and _is_fold(element)):
                _show(element)
    _put_in_place([e for e in hidden if e.tag == "div" and "hidden" in e.attrib], root)


def _is_opened(element: HtmlElement) -> bool:
    """Tell if a control opens an element: a tab, or a fold of what is the page's own."""
    role = element.get("role")
    if role == "tabpanel":
        return True
    named = role == "region" or "aria-labelledby" in element.attrib
    if not named or role == "dialog":
        return False
    return next(element.iterancestors("article", "main"), None) is not None


def _is_fold(element: HtmlElement) -> bool:
    """Tell if one of several alike is opened by what stands before it: an answer, a description."""
    if element.get("role") == "dialog" or next(element.iter(*_CONTROLS), None) is not None:
        return False
    before = element.getprevious()
    if before is None or is_hidden(before) or not 0 < size_of(before) <= _LABEL:
        return False
    size = size_of(element)
    return size >= _FOLD and 2 * sum(map(size_of, element.iter("a"))) < size


def _show(element: HtmlElement) -> None:
    for name in ("hidden", "style"):
        if name in element.attrib:
            del element.attrib[name]


def _put_in_place(hidden: list[HtmlElement], root: HtmlElement) -> None:
    """Put what a server sent late into its place, as React's scripts do.

    It comes in a hidden box `S:n` at the end of the page; its place is the template `B:n` or `P:n`.
    """
    late = [(box, found[1]) for box in hidden if (found := _SENT_LATE.match(box.get("id", "")))]
    if not late:
        return
    places = {place.get("id"): place for place in root.iter("template")}
    for box, number in late:
        place = places.get(f"B:{number}", places.get(f"P:{number}"))
        if place is not None:
            _show(box)
            if place not in box.iter("template"):
                box.tail = None
                place.addprevious(box)
