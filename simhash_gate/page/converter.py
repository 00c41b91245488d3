"""The tags that a flow is written with, and what markdownify makes of each once it is complete."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bs4 import Tag
from markdownify import ATX, MarkdownConverter, chomp  # type: ignore[attr-defined]

from simhash_gate.page.flow import MARKS
from simhash_gate.page.vocabulary import CELLS, HEADINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
_LINE_BEHIND = re.compile(r"\n(?=[^\n])")


class _Node(Tag):
    """A tag of BeautifulSoup that knows its name and its attributes.

    Its own constructor asks a builder how HTML treats each tag, and keeps five links between
    neighbours in order; the Markdown of the few tags here needs neither.
    """

    namespace = prefix = parser_class = None
    can_be_empty_element = hidden = False
    cdata_list_attributes = preserve_whitespace_tags = interesting_string_types = None

    def __init__(self, name: str, attributes: Mapping[str, str]) -> None:
        self.name = name
        self.attrs: Any = attributes
        self.contents = []


class _Converter(MarkdownConverter):
    """markdownify for nodes, which have no white space but what is shown."""

    def convert_li(self, el: _Node, text: str, parent_tags: Any) -> str:
        first, feed, others = text.strip().partition("\n")
        bullet = f"{el['value']}. " if el.has_attr("value") else "- "
        return _indented(bullet, f"{first.rstrip()}{feed}{others}")

    def convert_dd(self, el: _Node, text: str, parent_tags: Any) -> str:
        text = text.strip()
        return _indented(":   ", text) if text else "\n"

    def convert_tr(self, el: _Node, text: str, parent_tags: Any) -> str:
        cells = el.attrs["cells"].split()
        columns = len(cells)
        rule = f"| {' | '.join(['---'] * columns)} |\n"
        row = f"|{text}\n"
        if not el.has_attr("first"):
            return row
        if all(cell == "th" for cell in cells):
            return row + rule
        return f"| {' | '.join([''] * columns)} |\n{rule}{row}"

    def convert_list(self, el: _Node, text: str, parent_tags: Any) -> str:
        return f"\n{text.rstrip()}" if "li" in parent_tags else f"\n\n{text.strip()}\n\n"

    convert_ul = convert_list
    convert_ol = convert_list

    def convert_pre(self, el: _Node, text: str, parent_tags: Any) -> str:
        fence = "`" * max(3, _longest_run(text) + 1)
        return f"\n\n{fence}{el.get('lang', '')}\n{text}\n{fence}\n\n"

    def convert_code(self, el: _Node, text: str, parent_tags: Any) -> str:
        before, after, code = chomp(text)
        if not code:
            return ""
        run = _longest_run(code)
        fence = "`" * (run + 1)
        return f"{before}{fence} {code} {fence}{after}" if run else f"{before}`{code}`{after}"

    def convert_img(self, el: _Node, text: str, parent_tags: Any) -> str:
        alt = str(el["alt"])
        return alt if "_inline" in parent_tags else f"![{alt}]({el['src']})"

    def convert_input(self, el: _Node, text: str, parent_tags: Any) -> str:
        return "[x] " if el.has_attr("checked") else "[ ] "


_CONVERTER = _Converter(heading_style=ATX, autolinks=False, bullets="-")

_EMPTY = ("br", "hr", "img", "input", "pre")
_TAGS: dict[str, tuple[Callable[..., str], _Node]] = {
    tag: (_CONVERTER.get_conv_fn(tag), _Node(tag, {}))  # type: ignore[attr-defined]
    for tag in {"p", *_EMPTY, *MARKS.values(), *ONE_LINE, *CONTAINERS}
}


def convert(tag: str, attributes: Mapping[str, str], text: str, around: frozenset[str]) -> str:
    """Return the Markdown of a tag, by that of its contents and by what is `inside` its parent."""
    function, node = _TAGS[tag]
    return function(_Node(tag, attributes) if attributes else node, text, around)


def escape(text: str) -> str:
    """Return text that is not empty with a backslash before what Markdown takes for a mark."""
    if _MAY_BE_SPECIAL.search(text):
        for mark, escaped in _ESCAPED:
            text = text.replace(mark, escaped)
    start = _LINE_START.match(text) if text[0] in _MAY_START_LINE else None
    return f"{start[0]}\\{text[start.end() :]}" if start else text


def _longest_run(text: str) -> int:
    """Return how many backticks there are side by side in code."""
    return max(map(len, _TICKS.findall(text))) if "`" in text else 0


def _indented(bullet: str, text: str) -> str:
    """Return lines behind a bullet, indented by its width."""
    if "\n" in text:
        text = _LINE_BEHIND.sub("\n" + " " * len(bullet), text)
    return f"{bullet}{text}\n"


@lru_cache(maxsize=1024)
def inside(around: frozenset[str], name: str) -> frozenset[str]:
    """Return what markdownify is told of the tags around the contents of a tag."""
    if name in ONE_LINE:
        return around | {name, "_inline"}
    return around | ({name, "_noformat"} if name == "code" else {name})
