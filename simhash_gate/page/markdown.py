"""A flow -> GitHub-flavoured Markdown, by markdownify."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from markdownify import ATX, MarkdownConverter

from simhash_gate.page.blocks import blocks
from simhash_gate.page.soup import ONE_LINE, Node, soup

if TYPE_CHECKING:
    from collections.abc import Callable

    from simhash_gate.page.flow import Flow

_MAY_BE_SPECIAL = re.compile(r"[\\`*_\[\]<|~]")
_SPECIAL = re.compile(r"([\\`*_\[\]<|]|~~)")
_MAY_START_LINE = frozenset("0123456789#+->")
_LINE_START = re.compile(r"(\d{0,9})(?=(?:#{1,6}|[-+>]|(?<=\d)[.)])(?:\s|$))")
_BLANK_LINES = re.compile(r"\n{3,}")
_ELEMENTS = 20_000


class Draft(NamedTuple):
    """What Markdown is made from: a flow, and the address that its links are relative to."""

    flow: Flow
    base: str = ""

    def render(self) -> str:
        """Return the Markdown; paragraphs without marks, if it is too large for markdownify."""
        if self.flow.elements > _ELEMENTS:
            return "\n\n".join(block.text for block in blocks(self.flow))
        return _tidy(_CONVERTER.convert_soup(soup(self.flow, self.base)))


def _tidy(text: str) -> str:
    if "```" not in text:
        return _BLANK_LINES.sub("\n\n", text).strip()
    parts = re.split(r"(^(`{3,})[^\n]*\n.*?^\2$)", text, flags=re.M | re.S)
    # split yields: prose, a fenced block, its fence, prose, ...
    kept = [
        _BLANK_LINES.sub("\n\n", part) if i % 3 == 0 else part
        for i, part in enumerate(parts)
        if i % 3 != 2
    ]
    return "".join(kept).strip()


class _Converter(MarkdownConverter):
    """markdownify for soups that `soup` wrote: white space is in order there already."""

    def process_tag(self, node: Node, parent_tags: frozenset[str] | None = None) -> str:
        around = parent_tags or frozenset()
        inside = _inside(around, node.name)
        as_it_is = "_noformat" in inside
        parts: list[str] = []
        for child in node.contents:
            if not isinstance(child, str):
                part = self.process_tag(child, inside)
            else:
                part = child if as_it_is else _escape(child)
            if part.startswith("\n") and parts and parts[-1].endswith("\n"):
                _strip_end(parts)
                part = "\n\n" + part.lstrip("\n")
            if part:
                parts.append(part)
        text = "".join(parts)
        convert = cast("Callable[..., str] | None", self.get_conv_fn_cached(node.name))  # type: ignore[attr-defined]
        return text if convert is None else convert(node, text, parent_tags=around)

    def convert_li(self, el: Node, text: str, parent_tags: Any) -> str:
        bullet = f"{el['value']}. " if el.has_attr("value") else "- "
        indent = " " * len(bullet)
        lines = [indent + line if line else "" for line in text.strip().split("\n")]
        return f"{bullet}{lines[0].strip()}\n" + "".join(f"{line}\n" for line in lines[1:])

    def convert_tr(self, el: Node, text: str, parent_tags: Any) -> str:
        columns = len(el.contents)
        rule = f"| {' | '.join(['---'] * columns)} |\n"
        row = f"|{text}\n"
        if el.parent is None or el.parent.contents[0] is not el:
            return row
        if all(cell.name == "th" for cell in el.contents if isinstance(cell, Node)):
            return row + rule
        return f"| {' | '.join([''] * columns)} |\n{rule}{row}"

    def convert_list(self, el: Node, text: str, parent_tags: Any) -> str:
        return f"\n{text.rstrip()}" if "li" in parent_tags else f"\n\n{text.strip()}\n\n"

    convert_ul = convert_list
    convert_ol = convert_list

    def convert_pre(self, el: Node, text: str, parent_tags: Any) -> str:
        runs = [len(run) for run in re.findall(r"`{3,}", text)]
        fence = "`" * max(3, max(runs, default=2) + 1)
        return f"\n\n{fence}{el.get('lang', '')}\n{text}\n{fence}\n\n"

    def convert_input(self, el: Node, text: str, parent_tags: Any) -> str:
        return "[x] " if el.has_attr("checked") else "[ ] "


def _escape(text: str) -> str:
    if _MAY_BE_SPECIAL.search(text):
        text = _SPECIAL.sub(r"\\\1", text)
    mark = _LINE_START.match(text) if text[:1] in _MAY_START_LINE else None
    return f"{mark[0]}\\{text[mark.end() :]}" if mark else text


@lru_cache(maxsize=1024)
def _inside(around: frozenset[str], name: str) -> frozenset[str]:
    """Return what markdownify is told of a node's ancestors, the node with them."""
    if name in ONE_LINE:
        return around | {name, "_inline"}
    return around | ({name, "_noformat"} if name in ("code", "pre") else {name})


def _strip_end(parts: list[str]) -> None:
    """Take the line feeds off the end of a text in parts."""
    while parts:
        last = parts.pop().rstrip("\n")
        if last:
            parts.append(last)
            return


_CONVERTER = _Converter(heading_style=ATX, autolinks=False, bullets="-")
