"""The tags that a flow is written with, and what markdownify makes of each once it is complete."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from threading import local
from typing import Any

from bs4 import Tag
from markdownify import ATX, MarkdownConverter

from simhash_gate.page.flow import MARKS
from simhash_gate.page.vocabulary import CELLS, HEADINGS

ONE_LINE = HEADINGS | CELLS | {"dt"}
"""Tags whose content Markdown writes on one line."""

CONTAINERS = frozenset({"blockquote", "ul", "ol", "li", "dl", "dd", "table", "tr"})
"""Tags of blocks that contain blocks."""

_MAY_BE_SPECIAL = re.compile(r"[\\`*_\[\]<|~]")
_SPECIAL = ("\\", "`", "*", "_", "[", "]", "<", "|", "~~")  # the backslash first
_ESCAPED = [(mark, "\\" + mark) for mark in _SPECIAL]
_MAY_START_LINE = frozenset("0123456789#+->")
_LINE_START = re.compile(r"(\d{0,9})(?=(?:#{1,6}|[-+>]|(?<=\d)[.)])(?:\s|$))")
_TICKS = re.compile("`+")


class _Converter(MarkdownConverter):
    """markdownify, with what it can't do: rows that are no tree, fences in code, boxes to check."""

    def convert_tr(self, el: Tag, text: str, parent_tags: Any) -> str:
        cells = str(el["cells"]).split()
        rule = f"| {' | '.join(['---'] * len(cells))} |\n"
        row = f"|{text}\n"
        if not el.has_attr("first"):
            return row
        if all(cell == "th" for cell in cells):
            return row + rule
        return f"| {' | '.join([''] * len(cells))} |\n{rule}{row}"

    def convert_pre(self, el: Tag, text: str, parent_tags: Any) -> str:
        longest = max(map(len, _TICKS.findall(text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"\n\n{fence}{el.get('lang', '')}\n{text}\n{fence}\n\n"

    def convert_input(self, el: Tag, text: str, parent_tags: Any) -> str:
        return "[x] " if el.has_attr("checked") else "[ ] "


_EMPTY = ("br", "hr", "img", "input", "pre")
_CONVERTER = _Converter(heading_style=ATX, autolinks=False, bullets="-")
_FUNCTIONS: dict[str, Callable[..., str]] = {
    tag: _CONVERTER.get_conv_fn(tag)  # type: ignore[attr-defined]
    for tag in {"p", *_EMPTY, *MARKS.values(), *ONE_LINE, *CONTAINERS}
}


class _Tags(local):
    """The tags that a thread converts: one of a name, for to make one takes longer than that."""

    def __init__(self) -> None:
        root = Tag(name="[document]")
        self.ordered = Tag(name="ol")
        self.of = {name: Tag(name=name) for name in (*_FUNCTIONS, "numbered")}
        for name, tag in self.of.items():
            tag.parent = self.ordered if name == "numbered" else root


_TAGS = _Tags()


def convert(name: str, attributes: dict[str, Any], text: str, parent_tags: frozenset[str]) -> str:
    """Return the Markdown of a tag, by that of its contents and by the `inner_tags` of its parent.

    The `start` of an item is its number: it is the first of a list of its own.
    """
    tag = _TAGS.of[name]
    if "start" in attributes:
        tag = _TAGS.of["numbered"]
        _TAGS.ordered.attrs = attributes
    tag.attrs = attributes
    return _FUNCTIONS[name](tag, text, parent_tags)


def escape(text: str) -> str:
    """Return text that is not empty with a backslash before what Markdown takes for a mark."""
    if _MAY_BE_SPECIAL.search(text):
        for mark, escaped in _ESCAPED:
            text = text.replace(mark, escaped)
    start = _LINE_START.match(text) if text[0] in _MAY_START_LINE else None
    return f"{start[0]}\\{text[start.end() :]}" if start else text


@lru_cache(maxsize=1024)
def inner_tags(parent_tags: frozenset[str], name: str) -> frozenset[str]:
    """Return what markdownify is told of the tags around the contents of a tag."""
    if name in ONE_LINE:
        return parent_tags | {name, "_inline"}
    return parent_tags | ({name, "_noformat"} if name == "code" else {name})
