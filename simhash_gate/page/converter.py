"""What stands within a line -> Markdown, and what markdownify makes of each tag."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from threading import local
from typing import Any
from unicodedata import category

from bs4 import Tag
from markdownify import ATX, MarkdownConverter

from simhash_gate.page.flow import MARKS
from simhash_gate.page.vocabulary import CELLS, HEADINGS

ONE_LINE = HEADINGS | CELLS
"""Tags whose content Markdown writes on one line."""

LISTS = frozenset({"ul", "ol", "dl"})
CONTAINERS = LISTS | {"blockquote", "li", "table", "tr"}
"""Tags of blocks that contain blocks."""

_SPECIAL = re.compile(r"[\\`*_\[\]<|]|(?<!\s)~|(?<!\s)\$(?!\d)|&(?=#?\w+;)")
_LINE_START = re.compile(r"^(\d{0,9})(?=(?:#{1,6}|[-+]|(?<=\d)[.)])(?:\s|$)|>|:?[-=][-=\s:]*$)", re.M)
_LAST_HASHES = re.compile(r"(?<!\S)(#+)$")
_PARENTHESES = re.compile(r"(?:[^()]|\([^()]*\))*")
_TICKS = re.compile("`+")


class Part:
    """A tag of Markdown that is open, or complete: its contents are texts and parts.

    These are no nodes of BeautifulSoup: such ones are slow to ask for anything.
    """

    __slots__ = ("attributes", "contents", "markdown", "tag")

    def __init__(self, tag: str, **attributes: Any) -> None:
        self.tag = tag
        self.attributes = attributes
        self.contents: list[Any] = []
        self.markdown = ""


class _Converter(MarkdownConverter):
    """markdownify, with what it can't do: fences in code, formulas, boxes to check, HTML."""

    def convert_tr(self, el: Tag, text: str, parent_tags: Any) -> str:
        row, width = f"|{text}\n", int(str(el["width"]))
        rule = f"|{' --- |' * width}\n"
        if el["head"] == "th":
            return row + rule
        return f"|{'  |' * width}\n{rule}{row}" if el["head"] else row

    def convert_pre(self, el: Tag, text: str, parent_tags: Any) -> str:
        longest = max(map(len, _TICKS.findall(text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{el.get('lang', '')}\n{text}\n{fence}"

    def convert_input(self, el: Tag, text: str, parent_tags: Any) -> str:
        return "[x] " if el.has_attr("checked") else "[ ] "

    def convert_math(self, el: Tag, text: str, parent_tags: Any) -> str:
        mark = "$$" if el["display"] else "$"
        return f"{mark}{text.strip()}{mark}" if text.strip() else ""


_OPTIONS = {"heading_style": ATX, "autolinks": False, "bullets": "-"}
_CONVERTER = _Converter(
    **_OPTIONS, keep_inline_images_in=["[document]"], sup_symbol="<sup>", sub_symbol="<sub>"
)
_BLOCKS = {"p", "hr", "pre", "ul", "ol", "li", "blockquote", "tr", *ONE_LINE}
_FUNCTIONS: dict[str, Callable[..., str]] = {
    tag: _CONVERTER.get_conv_fn(tag)  # type: ignore[attr-defined]
    for tag in {*_BLOCKS, "img", "input", *MARKS.values()}
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


@lru_cache(maxsize=64)
def _around(tag: str) -> frozenset[str]:
    return frozenset({tag})


def convert(name: str, attributes: dict[str, Any], text: str, parent: str = "") -> str:
    """Return the Markdown of a tag in another, by that of its contents, without lines around it.

    The `start` of an item is its number: it is the first of a list of its own.
    """
    tag = _TAGS.of[name]
    if "start" in attributes:
        tag = _TAGS.of["numbered"]
        _TAGS.ordered.attrs = attributes
    tag.attrs = attributes
    return _FUNCTIONS[name](tag, text, _around(parent))


_HTML = {"strong", "em", "del"}  # where a mark would be none: `a**"b"**`
# What a mark begins and ends with, as its neighbour sees it.
_EDGES = {"strong": "*", "em": "*", "del": "~", "code": "`", "br": "\n", "input": "["}


def inline(contents: Sequence[Any], line_break: str, *, cell: bool = False) -> str:
    """Return the Markdown of what stands within a line: texts, and parts for marks.

    `cell` tells that it is in a table, where a bar ends a cell.
    """
    pieces: list[tuple[Part | None, str]] = []
    for is_text, group in groupby(contents, lambda each: isinstance(each, str)):
        if is_text:
            pieces.append((None, _SPECIAL.sub(r"\\\g<0>", "".join(group))))
            continue
        for part in group:
            if part.tag == "code" and any(not isinstance(each, str) for each in part.contents):
                pieces += [(p, _inner(p, line_break, cell)) for p in _parts_of_code(part)]
            else:
                pieces.append((part, _inner(part, line_break, cell)))
    line = ""
    out: list[str] = []
    before = ""
    for place, (part, text) in enumerate(pieces):
        if part is not None:
            following = pieces[place + 1] if place + 1 < len(pieces) else None
            text = _marked(part, text, before, _edge(following))
        elif text.endswith("!") and place + 1 < len(pieces):
            following_part = pieces[place + 1][0]
            if following_part is not None and following_part.tag == "a":
                text = f"{text[:-1]}\\!"
        if text:
            out.append(text)
            before = text[-1]
    return line.join(out)
