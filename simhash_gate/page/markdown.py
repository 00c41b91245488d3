"""A flow -> GitHub-flavoured Markdown, in the tags that markdownify has a mark for.

What carried the same content comes out the same, whatever tags, classes or white space carried it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise, product
from typing import Any, cast

from simhash_gate.page.address import Base, joined
from simhash_gate.page.blocks import blocks
from simhash_gate.page.converter import (
    BLOCKS,
    ONE_LINE,
    Part,
    convert,
    fenced,
    heading,
    inline,
    paragraph,
)
from simhash_gate.page.flow import MARKS, Flow, Token
from simhash_gate.page.vocabulary import CELLS, HEADINGS, LISTS

_TABLE = CELLS | {"table", "tr"}
_ITEMS = frozenset({"li", "dt", "dd"})
_MERGED = frozenset({"strong", "em", "del", "code"})
_WHITE = re.compile(r"\s+")
_NESTING = 30
_ELEMENTS = 20_000
_PLACES = 10  # of a table, for each of its cells: with more, its spans are not filled
_APART = "\n\n<!-- -->\n\n"  # between two lists that were one without it


def write(flow: Flow, url: str = "", without: Collection[str] = ()) -> str:
    """Write a flow as Markdown, links and images made absolute against the page's URL.

    `without` are tags that are left out; the text in them stays. A flow that is too large for
    markdownify gives paragraphs without marks.
    """
    if without:
        tokens = [t for t in flow.tokens if isinstance(t, str) or t[0] not in without]
        flow = flow._replace(tokens=tokens)
    if flow.elements > _ELEMENTS:
        return "\n\n".join(block.text for block in blocks(flow))
    return _Writer(flow, joined(url, flow.base)).write()


class _Writer:
    """Opens a part where a tag starts, and has it converted where it ends, inner ones first.

    An item of a list ends where the next one begins, or with its list: what is between is in it.
    """

    def __init__(self, flow: Flow, base: str) -> None:
        self._tokens = iter(flow.tokens)
        self._base = Base(base)
        self._open: list[Part] = [Part("[document]")]
        self._opened: list[bool] = []  # for every element around: whether it is in `_open`
        self._layouts: list[bool] = []
        self._line: list[Part] = []  # the line that is open, and the marks within, innermost last
        self._spaced = True  # where white space would show nothing
        self._link: str | None = None  # where a link leads in which nothing is written yet

    def write(self) -> str:
        for token in self._tokens:
            if isinstance(token, str):
                self._text(token)
            elif len(token) == 2:
                _STARTS.get(token[0], _Writer._start)(self, *token)
            elif not token[0]:
                self._end_line()
            elif token[0] in MARKS:
                self._end_mark(MARKS[token[0]])
            else:
                self._end(token[0])
        self._end_line()
        return _joined(self._open[0])

    def _start(self, tag: str, value: object) -> None:
        self._end_line()
        if tag == "table":
            self._layouts.append(bool(value))
        block = self._open[-1]
        opens = tag in BLOCKS and block.tag not in ONE_LINE and len(self._open) <= _NESTING
        if tag in _TABLE:
            opens = opens and self._layouts[-1:] == [False]
        if opens and tag in _ITEMS and (block.tag in LISTS or _is_item(block)):
            self._start_item(tag, value)
            opens = False
        elif block.tag in CELLS and tag in LISTS | _ITEMS:
            self._add_html(f"<{tag}>")
        elif opens := opens and tag not in ("dt", "dd"):
            self._open.append(Part(tag, value=value))
        self._opened.append(opens)

    def _end(self, tag: str) -> None:
        self._end_line()
        block = self._open[-1]
        if self._opened.pop():
            if _is_item(block):
                self._close_block()
            self._close_block()
        elif block.tag in CELLS and tag in LISTS | _ITEMS:
            self._add_html(f"</{tag}>")
        elif tag in _ITEMS and _is_item(block) and not block.contents:
            self._open.pop()
        if tag == "table":
            self._layouts.pop()

    def _start_item(self, tag: str, value: object) -> None:
        """Begin an item of the innermost list; what defines a term is in the item of that."""
        if _is_item(self._open[-1]):
            if tag == "dd" and self._open[-1].attributes["item"] == "dt":
                return
            self._close_block()
        outer = self._open[-1]
        item = Part("li", item=tag)
        if outer.tag == "ol":
            last = outer.attributes.get("last", _number(outer.attributes["value"], 1) - 1)
            outer.attributes["last"] = item.attributes["number"] = _number(value, last + 1)
        self._open.append(item)

    def _close_block(self) -> None:
        """Convert the innermost block, and put it into the one around it."""
        block = self._open.pop()
        tag, contents = block.tag, block.contents
        outer = self._open[-1]
        if tag in HEADINGS:
            block.markdown = heading(tag, contents)
        elif tag in CELLS:
            while contents and _is_break(contents[-1]):
                contents.pop()
            block.markdown = inline(contents, "<br>", cell=True).strip()
        elif tag == "tr":
            outer.contents += [part for part in contents if part.tag not in CELLS]
            block.contents = [part for part in contents if part.tag in CELLS]
        elif tag == "table":
            outer.contents += _table(contents)
            return
        elif tag in LISTS:
            block.markdown = _joined(block)
        elif contents:
            number = block.attributes.get("number")
            attributes = {} if number is None else {"start": str(number)}
            block.markdown = convert(tag, attributes, _joined(block)).strip("\n")
        if block.markdown or tag in _TABLE:
            outer.contents.append(block)

    def _add(self, tag: str, markdown: str) -> None:
        part = Part(tag)
        part.markdown = markdown
        if markdown:
            self._open[-1].contents.append(part)

    def _start_line(self) -> list[Part]:
        block = self._open[-1]
        self._line.append(block if block.tag in ONE_LINE else Part("p"))
        if self._link is not None:
            self._line.append(Part("a", target=self._link))
        return self._line

    def _end_line(self) -> None:
        if not self._line:
            return
        while len(self._line) > 1:
            self._close_mark()
        line = self._line.pop()
        self._spaced = True
        if line.tag in ONE_LINE:
            if line.contents and not _is_break(line.contents[-1]):
                line.contents.append(Part("br"))
        else:
            line.markdown = paragraph(line.contents)
            if line.markdown:
                self._open[-1].contents.append(line)

    def _add_html(self, source: str) -> None:
        """Put a tag of a list into a cell, where Markdown has no lists."""
        contents = self._open[-1].contents
        if contents and contents[-1].tag == "br":
            contents.pop()
        contents.append(Part("html", source=source))

    def _text(self, text: str) -> None:
        if "  " in text or not text.isprintable():  # of white space, only the blank is printable
            text = _WHITE.sub(" ", text)
        if self._spaced and text[0] == " ":
            text = text[1:]
        if text:
            (self._line or self._start_line())[-1].contents.append(text)
            self._spaced = text[-1] == " "
            self._link = self._link if text == " " else None

    def _start_mark(self, tag: str, value: object) -> None:
        self._open_mark(Part(MARKS[tag], display=value))

    def _start_link(self, _: str, value: object) -> None:
        self._link = self._base.absolute(value)
        if self._link is not None and self._line:
            self._open_mark(Part("a", target=self._link))

    def _open_mark(self, mark: Part) -> None:
        line = self._line or self._start_line()
        around = [part for part in line if part.tag == mark.tag]
        if around:
            around[0].attributes["nested"] = around[0].attributes.get("nested", 0) + 1
        elif mark.tag == "a" or not any(part.tag in ("code", "math") for part in line):
            before = line[-1].contents[-1:]
            if mark.tag in _MERGED and before and getattr(before[0], "tag", "") == mark.tag:
                mark = line[-1].contents.pop()
            line.append(mark)

    def _end_mark(self, tag: str) -> None:
        if tag == "a":
            self._link = None
        for mark in self._line[1:]:
            if mark.tag == tag:
                nested = mark.attributes.get("nested", 0)
                mark.attributes["nested"] = max(0, nested - 1)
                if not nested and mark is self._line[-1]:
                    self._close_mark()

    def _close_mark(self) -> None:
        mark = self._line.pop()
        if mark.contents:
            last = [mark.contents.pop()] if _is_break(mark.contents[-1]) else []
            self._line[-1].contents += [mark, *last]

    def _img(self, _: str, value: object) -> None:
        alt, address = cast("tuple[str, str]", value)
        source = self._base.absolute(address)
        if source is not None:
            image = Part("img", target=source, alt=" ".join(alt.split()))
            (self._line or self._start_line())[-1].contents.append(image)
            self._spaced, self._link = False, None

    def _br(self, *_: object) -> None:
        """End a line of a paragraph; two of these end it, and its marks go on in the next one."""
        inner = next((part for part in reversed(self._line) if part.contents), None)
        if inner is None:
            return
        if _is_break(inner.contents[-1]):
            link = self._link
            marks = [part for part in self._line[1:] if part.tag != "a" or link is not None]
            self._end_line()
            self._link = None  # it is one of the marks
            for mark in marks:
                self._open_mark(Part(mark.tag, **mark.attributes))
            self._link = link
        else:
            inner.contents.append(Part("br"))
            self._spaced = True

    def _hr(self, *_: object) -> None:
        self._end_line()
        block = self._open[-1]
        if block.tag not in ONE_LINE and (block.contents or block.tag != "li"):  # `- ---` is none
            self._add("hr", "---")

    def _input(self, _: str, value: object) -> None:
        if value is not None:
            box = Part("html", source="[x] " if value else "[ ] ")
            (self._line or self._start_line())[-1].contents.append(box)

    def _pre(self, _: str, value: object) -> None:
        self._end_line()
        text = _code(self._tokens)
        if self._open[-1].tag not in ONE_LINE:
            text = text.strip("\n").rstrip()
            self._add("pre", fenced(text, str(value)) if text else "")
        elif text.strip():
            self._open_mark(Part("code"))
            self._text(text)
            self._end_line()


_STARTS: dict[str, Callable[[_Writer, str, object], None]] = {
    **dict.fromkeys(MARKS, _Writer._start_mark),
    "a": _Writer._start_link,
    "br": _Writer._br,
    "hr": _Writer._hr,
    "img": _Writer._img,
    "input": _Writer._input,
    "pre": _Writer._pre,
}


def _is_item(block: Part) -> bool:
    return "item" in block.attributes


def _is_break(content: Any) -> bool:
    return isinstance(content, Part) and content.tag == "br"


def _number(value: object, otherwise: int) -> int:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 10 else otherwise


def _joined(block: Part) -> str:
    """Return the Markdown of blocks, with a blank line between any two that want one."""
    parts = block.contents
    texts = [parts[0].markdown] if parts else []
    # `- text` and not `- <paragraph>`: a list is loose only where it has real paragraphs.
    tight = block.tag == "li" and not any(part.tag == "p" for part in parts[1:])
    for before, part in pairwise(parts):
        number, follows = part.attributes.get("number"), before.attributes.get("number", 0) + 1
        apart = "\n\n"
        if part.tag == before.tag == "li":
            apart = "\n" if number in (None, follows) else _APART
        elif part.tag == before.tag == "ol":
            apart = _APART
        elif tight and before.tag == "p" and part.tag in LISTS and part.contents[0].tag == "li":
            apart = "\n" if part.contents[0].attributes.get("number", 1) == 1 else apart
        texts += [apart, part.markdown]
    return "".join(texts)


def _table(contents: list[Part]) -> list[Part]:
    """Return the parts of a table: what is said above its rows, the rows, and what is below."""
    rows = [part for part in contents if part.tag == "tr" and part.contents]
    if not rows:
        return [part for part in contents if part.markdown]
    table = Part("table")
    cells = _grid(rows)
    width = max(map(len, cells))
    lines = [
        "|" + "".join(convert("td", {}, cell.markdown if cell else "") for cell in row)
        for row in cells
    ]
    lines[0] += "  |" * (width - len(cells[0]))
    head = [lines.pop(0)] if all(c and c.tag == "th" for c in cells[0]) else [f"|{'  |' * width}"]
    table.markdown = "\n".join([*head, f"|{' --- |' * width}", *lines])
    first = contents.index(rows[0])
    others = [[p for p in part if p.markdown] for part in (contents[:first], contents[first:])]
    return [*others[0], table, *others[1]]


def _grid(rows: list[Part]) -> list[list[Part | None]]:
    """Return the cells of rows by their columns, each in all places that it spans."""
    count = sum(len(row.contents) for row in rows)
    places: dict[tuple[int, int], Part] = {}
    begun = set()
    for y, row in enumerate(rows):
        x = 0
        for cell in row.contents:
            while (y, x) in places:
                x += 1
            begun.add(x)
            wide, high = cast("tuple[int, int]", cell.attributes["value"] or (1, 1))
            if len(places) + wide * high > _PLACES * count:
                wide = high = 1
            for down, right in product(range(high), range(wide)):
                places.setdefault((y + down, x + right), cell)
            x += wide
    if len(rows) * len(begun) > _PLACES * count:
        return [list(row.contents) for row in rows]
    return [[places.get((y, x)) for x in sorted(begun)] for y in range(len(rows))]


def _code(tokens: Iterator[Token]) -> str:
    """Take the tokens of a `pre`, and return its text; blocks within begin and end a line."""
    parts: list[str] = []
    nested = 0
    for token in tokens:
        if isinstance(token, str):
            parts.append(token)
        elif token[0] == "br":
            parts.append("\n")
        elif token[0] not in MARKS and token[0] != "img":
            if token[0] == "pre":
                nested += 1 if len(token) == 2 else -1
                if nested < 0:
                    break
            if parts and not parts[-1].endswith("\n"):
                parts.append("\n")
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
