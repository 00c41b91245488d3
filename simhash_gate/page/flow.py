"""An article's tree -> one flow of tokens: its text, and the tags that Markdown has a mark for.

Both the words of a page and its Markdown are made from this flow and from nothing else, so that
they never tell two stories. It is small, and can be pickled.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE, LAYOUT

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MARKS = {
    "b": "strong",
    "strong": "strong",
    "i": "em",
    "em": "em",
    "code": "code",
    "kbd": "code",
    "samp": "code",
    "tt": "code",
    "del": "del",
    "s": "del",
    "strike": "del",
    "a": "a",
}
"""Tags of marks within a line, and the tag that stands for each."""

_STRUCTURE = HEADINGS | CELLS | {"blockquote", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr"}
_LAZY = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-srcset", "srcset", "src")
_LANGUAGE = re.compile(r"(?:language|lang|hljs|highlight)-([\w+#.-]+)")


class Start(NamedTuple):
    """The start of an element; `value` is what Markdown shows of its attributes.

    `a`: its href. `img`: its alt and the addresses to choose from. `input`: whether it is checked.
    `ol`: its start. `pre`: its language. `table`: whether it only places things on the page.
    """

    tag: str
    value: object = None


class End(NamedTuple):
    """The end of an element; no `img`, `br`, `hr` or `input` has one."""

    tag: str


BREAK = End("")
"""The edge of any other block, of which Markdown tells only that a line ends there."""

Token = str | Start | End


class Flow(NamedTuple):
    """The tokens of an element, and how many elements are in it."""

    tokens: list[Token]
    elements: int


# What stands in the flow for the start and the end of an element; None for nothing at all.
_EDGES: dict[str, tuple[Start | End | None, End | None]] = {
    **dict.fromkeys(INLINE, (None, None)),
    **{tag: (Start(tag), End(tag)) for tag in (*MARKS, *_STRUCTURE, "pre")},
    **{tag: (Start(tag), None) for tag in ("img", "br", "hr", "input")},
}
_BLOCK = (BREAK, BREAK)


def flow(root: HtmlElement) -> Flow:
    """Return an element as a flow of tokens, in document order."""
    tokens: list[Token] = []
    add = tokens.append
    elements = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        start, end = _EDGES.get(tag, _BLOCK)
        if event == "start":
            elements += 1
            if start is not None and not (start is BREAK and tokens and tokens[-1] is BREAK):
                value = _VALUES.get(tag)
                add(start if value is None else Start(tag, value(element)))
            if text := element.text:
                add(text)
        else:
            if end is not None and not (end is BREAK and tokens[-1] is BREAK):
                add(end)
            if element is not root and (text := element.tail):
                add(text)
    return Flow(tokens, elements)


def is_address(href: object) -> bool:
    """Tell if an `a` with this href leads to another address, one that Markdown shows."""
    return (
        isinstance(href, str)
        and (start := href.lstrip()[:11].lower()) != ""
        and not start.startswith(("javascript:", "data:"))
    )


def _is_layout(table: HtmlElement) -> bool:
    """Tell if a table only places things on the page: its cells hold more than a line each.

    A table of one column is one too: there is nothing to compare across.
    """
    if next(table.iterdescendants(*LAYOUT), None) is not None:
        return True
    return all(sum(1 for _ in row.iter(*CELLS)) < 2 for row in table.iter("tr"))


def _sources(image: HtmlElement) -> tuple[str, tuple[str, ...]]:
    found = []
    for name in _LAZY:
        source = (image.get(name) or "").strip()
        if name.endswith("srcset"):
            source = source.split(",")[0].split(" ")[0]
        if source:
            found.append(source)
    return image.get("alt") or "", tuple(found)


def _checked(box: HtmlElement) -> bool | None:
    return box.get("checked") is not None if box.get("type") == "checkbox" else None


def _language(pre: HtmlElement) -> str:
    for element in (pre, *pre.iter("code"), *islice(pre.iterancestors(), 2)):
        found = _LANGUAGE.search(element.get("class") or "")
        if found:
            return found[1]
    return ""


_VALUES = {
    "a": lambda element: element.get("href"),
    "img": _sources,
    "input": _checked,
    "ol": lambda element: element.get("start"),
    "pre": _language,
    "table": _is_layout,
}
