"""Layers that ask for consent to cookies, known by what they say and do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

from lxml.etree import XPath, tostring
from lxml.html import HtmlElement

from simhash_gate.page.title import Titles
from simhash_gate.page.vocabulary import INVISIBLE

_COOKIE = re.compile("cookie", re.I)
_MENTIONS = XPath("descendant::text()[contains(., 'ookie') or contains(., 'OOKIE')]")
_SHOWN = XPath(
    "descendant::text()[not(parent::script or parent::style or parent::noscript)]",
    smart_strings=False,
)
_MAIN_TAGS = ("main", "article", "head")
_LINK_STARTS = ("http", "/", "#", ".", "?")
_SUBJECT = re.compile("cookie|consent|gdpr|privacy|cmp", re.I)
_NAME = re.compile("cookie|consent|gdpr", re.I)  # a word of its own, or a glued one
_CHARACTERS_PER_MENTION = 400  # characters for each mention: a longer text is about something else
_LONGEST = 20_000
_NEAR = 4  # boxes around a layer, body and html among them
_DEEP = 30  # around what it says


def consent_layers(root: HtmlElement, titles: Titles) -> list[HtmlElement]:
    """Return the layers of a page that is not itself about cookies, in document order.

    A layer stands near the root, outside of what is the page's own. It speaks of cookies, has
    something to press, and an address, class or id in it names the subject. It speaks of them again
    and again, or is itself called after them.
    for: sites whose consent tool has a name that tells nothing.
    """
    if _COOKIE.search(f"{titles.title} {titles.whole}"):
        return []
    found: dict[HtmlElement, None] = {}
    verdicts: dict[HtmlElement, bool | None] = {}
    for element in _mentions(root):
        if found.keys().isdisjoint(element.iterancestors()) and element.tag not in INVISIBLE:
            layer = _layer(element, verdicts)
            if layer is not None:
                found[layer] = None
    return [layer for layer in found if found.keys().isdisjoint(layer.iterancestors())]


def _mentions(root: HtmlElement) -> Iterator[HtmlElement]:
    """Yield what speaks of cookies in the boxes of a page, in document order.

    Most boxes don't: to write out the text of one takes a tenth of asking each text in it.
    """
    for part in root.iterchildren("*"):
        for box in part if part.tag == "body" else (part,):
            if box.tag not in ("head", "script", "style"):
                text = tostring(box, encoding="utf-8", method="text", with_tail=False)
                if b"ookie" in text or b"OOKIE" in text:
                    yield from dict.fromkeys(map(_parent, cast("list[Any]", _MENTIONS(box))))


def _parent(text: Any) -> HtmlElement:
    """Return the element that a text is in. (XPath takes quadratic time to go there.)"""
    element: HtmlElement = text.getparent()
    return element.getparent() if text.is_tail else element


def _layer(element: HtmlElement, verdicts: dict[HtmlElement, bool | None]) -> HtmlElement | None:
    """Return the outermost box around an element that is a layer, if any is."""
    boxes = [element, *islice(element.iterancestors(), _DEEP)]
    if boxes[-1].getparent() is not None or any(box.tag in _MAIN_TAGS for box in boxes[1:]):
        return None
    layer = None
    for box in boxes[-_NEAR - 1 :]:
        if box not in verdicts:
            verdicts[box] = _judge(box)
        if verdicts[box] is None:
            break
        layer = box if verdicts[box] else layer
    return layer


def _judge(box: HtmlElement) -> bool | None:
    """Tell if a box is a layer; None if it is none, and nothing around it is one."""
    if box.tag in ("html", "body") or next(box.iter("h1"), None) is not None:
        return None
    text = "".join(cast("list[str]", _SHOWN(box)))
    if len(text) > _LONGEST:
        return None
    is_frequent = len(_COOKIE.findall(text)) * _CHARACTERS_PER_MENTION >= len(text)
    is_named = _NAME.search(f"{box.get('class', '')} {box.get('id', '')}")
    return (is_frequent or is_named is not None) and _asks_for_consent(box)


def _asks_for_consent(box: HtmlElement) -> bool:
    has_control = next(box.iter("button", "input"), None) is not None or any(
        element.get("role") == "button" or not (element.get("href") or "j").startswith(_LINK_STARTS)
        for element in box.iter("a")
    )
    return has_control and any(
        _SUBJECT.search(value)
        for inner in box.iter("*")
        for name, value in inner.items()
        if name in ("class", "id", "href")
    )
