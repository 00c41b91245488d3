"""An article's tree -> one flow of tokens: its text, and the tags that Markdown has a mark for.

Both the words of a page and its Markdown are made from this flow and from nothing else, so that
they never tell two stories. It is small.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import iterwalk

from simhash_gate.page.address import image_source
from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE, LAYOUT, LISTS

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MARKS = {tag: tag for tag in ("strong", "em", "code", "del", "sup", "sub", "math", "a")}
MARKS |= {"b": "strong", "i": "em", **dict.fromkeys(("kbd", "samp", "tt"), "code")}
MARKS |= dict.fromkeys(("s", "strike"), "del")
"""Tags of marks within a line, and the tag that stands for each."""

EMPTY = frozenset({"br", "hr", "img", "input"})
"""Tags without an end."""

_STRUCTURE = HEADINGS | CELLS | LISTS | {"li", "dt", "dd", "table", "tr", "blockquote", "fieldset"}
_STRUCTURE |= {"br", "hr", "pre"}
# `language-sh`, GitHub's `highlight-source-sh`, pandoc's `sourceCode sh`, Org's `src src-sh`,
# `brush: sh`
_LANGUAGE = re.compile(
    r"(?:\b(?:language|lang|hljs|highlight)-(?:source-|text-)?|\bsrc\s+src-|\bbrush:\s*"
    r"|\b(?:sourceCode|hljs)\s+(?!\w+-))([\w+#.-]+)"
)
_find_language = lru_cache(256)(_LANGUAGE.search)  # many elements have the class of one
_AS_BLOCK = re.compile(r"display\s*:\s*block")
_NO_LANGUAGE = ("default", "none", "plaintext", "text", "nohighlight", "no-highlight")

KINDS = dict.fromkeys(HEADINGS, "heading") | dict.fromkeys(CELLS, "cell")
KINDS |= {"dt": "term", "pre": "code", "fieldset": "choice"}
"""What a block is, by the tag that it is in; elsewhere it is `text`."""

Start = tuple[str, object]
"""The start of an element: its tag, and what Markdown shows of its attributes.

`a`: its href. `img`: its alt and its address. `input`: whether it is checked.
`li`: its number. `math`: whether it stands alone. `ol`: its start. `pre`: its language. `table`:
whether it only places things on the page. `td`, `th`: how many columns and rows it is in, if more.
"""
End = tuple[str]
"""The end of an element: its tag alone, where a start has two parts; those of `EMPTY` have none."""
BREAK: End = ("",)
"""The edge of any other block, of which Markdown tells only that a line ends there."""

Token = str | Start | End


class Flow(NamedTuple):
    """An element's tokens, how many elements are in it, and what `<base>` says, else None."""

    tokens: list[Token]
    elements: int
    base: str | None = None

    def pack(self) -> bytes:
        """Return the flow as bytes, from which `unpack` makes it again."""
        return pickle.dumps(tuple(self), pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Flow:
    """Return the flow that was packed."""
    return Flow(*pickle.loads(packed))


def flow(root: HtmlElement) -> Flow:
    """Return an element as a flow of tokens, in document order.

    White space is text within a line and in code, and left out where a line begins.
    """
    tokens: list[Token] = [BREAK]
    add, role_of = tokens.append, _ROLES.get
    elements = codes = 0
    new_line = True
    for event, element in iterwalk(root, events=("start", "end")):
        role = role_of(element.tag, _BLOCK)
        if codes and role is not _CODE and _AS_BLOCK.search(element.get("style", "")):
            role = _BLOCK
        token: Token | None
        if event == "start":
            elements += 1
            codes += role is _CODE
            token, text = role.start, element.text
            if role.value is not None:
                token = element.tag, role.value(element)
            new_line = new_line if token is None else role.is_line
        else:
            codes -= role is _CODE
            token, text = role.end, element.tail if element is not root else None
            new_line = new_line or (token is not None and role.is_line)
        if token is not None and (token is not BREAK or tokens[-1] is not BREAK):
            add(token)
        if text and not (new_line and not codes and text.isspace()):
            add(text)
            new_line = False
    return Flow(tokens, elements)


def is_layout(table: HtmlElement) -> bool:
    """Tell if a table only places things on the page: most of its cells hold lists, or any more.

    A table of one column is one too, and one of lists in one row: there is nothing to compare.
    """
    if next(table.iterdescendants(*LAYOUT), None) is not None:
        return True
    rows = [list(row.iter(*CELLS)) for row in table.iter("tr")]
    if all(len(cells) < 2 for cells in rows):
        return True
    if next(table.iterdescendants(*LISTS), None) is None:
        return False
    filled = [cell for cells in rows for cell in cells if "".join(cell.itertext()).strip()]
    lists = sum(next(cell.iterdescendants(*LISTS), None) is not None for cell in filled)
    return len(rows) < 2 or 2 * lists > len(filled)


def _spans(cell: HtmlElement) -> tuple[int, int] | None:
    """Return how many columns and rows of its part of the table a cell is in; None for one."""
    wide, high = (cell.get(name, "") for name in ("colspan", "rowspan"))
    if wide in ("", "1") and high in ("", "1"):
        return None
    columns = int(wide) if wide.isdecimal() and len(wide) < 5 else 1
    rows = int(high) if high.isdecimal() and len(high) < 6 else 1
    row = cell.getparent()
    below = 1 + sum(1 for _ in islice(row.itersiblings("tr"), min(rows or _MOST, _MOST) - 1))
    return max(1, min(columns, _MOST)), below


def _language(pre: HtmlElement) -> str:
    for element in (pre, *islice(pre.iter("code"), 20), *islice(pre.iterancestors(), 2)):
        found = _find_language(element.get("class", "")[:1_000])
        said = element.get("data-lang") or element.get("data-language")
        language = said or (found[1] if found else "")
        if language and language.isprintable() and " " not in language:
            return "" if language.lower() in _NO_LANGUAGE else language
    return ""


_MOST = 1000  # columns, which HTML says; and rows, for each cell counts them


@dataclass(frozen=True, slots=True)
class _Role:
    """What stands in a flow for an element: nothing, or its start, and its end unless it is empty.

    `value` reads what its start says; `is_line` tells that a line ends there.
    """

    start: Start | End | None = None
    end: End | None = None
    is_line: bool = False
    value: Callable[[HtmlElement], object] | None = None


_VALUES: dict[str, Callable[[HtmlElement], object]] = {
    "a": lambda element: element.get("href"),
    "img": lambda image: (image.get("alt") or "", image_source(image)),
    "input": lambda box: "checked" in box.attrib if box.get("type") == "checkbox" else None,
    "li": lambda element: element.get("value"),
    "math": lambda element: "display" in element.attrib,
    "ol": lambda element: element.get("start"),
    "pre": _language,
    "table": is_layout,
    **dict.fromkeys(CELLS, _spans),
}
_BLOCK = _Role(BREAK, BREAK, True)
_ROLES = dict.fromkeys(INLINE, _Role()) | {
    tag: _Role((tag, None), None if tag in EMPTY else (tag,), tag in _STRUCTURE, _VALUES.get(tag))
    for tag in _STRUCTURE | EMPTY | MARKS.keys()
}
_CODE = _ROLES["pre"]
