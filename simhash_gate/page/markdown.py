"""A flow -> GitHub-flavoured Markdown, in the tags that markdownify has a mark for.

What carried the same content comes out the same, whatever tags, classes or white space carried it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, cast

from simhash_gate.page.address import Base, joined
from simhash_gate.page.blocks import blocks
from simhash_gate.page.converter import CONTAINERS, ONE_LINE, convert, escape, inner_tags
from simhash_gate.page.flow import MARKS, Flow, Token, is_start
from simhash_gate.page.vocabulary import CELLS

_TABLE = CELLS | {"table", "tr"}
_NESTING = 30
_ELEMENTS = 20_000
_BLANK_LINES = re.compile(r"\n{3,}")
_NO_ATTRIBUTES: dict[str, Any] = {}


class _Part:
    """A tag of Markdown that is open, or complete.

    A mark, and what is written on one line, contains Markdown; any other contains parts. These are
    no nodes of BeautifulSoup: such ones are slow to ask for anything.
    """

    __slots__ = ("attributes", "contents", "inner_tags", "markdown", "tag")

    def __init__(
        self, tag: str, parent_tags: frozenset[str], attributes: dict[str, Any] = _NO_ATTRIBUTES
    ) -> None:
        self.tag = tag
        self.inner_tags = inner_tags(parent_tags, tag)
        self.attributes = attributes
        self.contents: list[Any] = []
        self.markdown = ""


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
    return _tidy(_Writer(flow, joined(url, flow.base)).write())


def _tidy(text: str) -> str:
    if "\n\n\n" not in text:  # most of the time
        return text.strip()
    if "```" not in text:
        return _BLANK_LINES.sub("\n\n", text).strip()
    parts = re.split(r"(^(`{3,})[^\n]*\n.*?(?:^\2$|\Z))", text, flags=re.M | re.S)
    # split yields: prose, a fenced block, its fence, prose, ...
    kept = [
        _BLANK_LINES.sub("\n\n", part) if i % 3 == 0 else part
        for i, part in enumerate(parts)
        if i % 3 != 2
    ]
    return "".join(kept).strip()


class _Writer:
    """Opens a part where a tag starts, and has it converted where it ends, inner ones first."""

    def __init__(self, flow: Flow, base: str) -> None:
        self._tokens = iter(flow.tokens)
        self._base = Base(base)
        self._open: list[_Part] = [_Part("[document]", frozenset())]
        self._opened: list[bool] = []  # for every element around: whether it is in `_open`
        self._next: list[int] = []
        self._layouts: list[bool] = []
        self._line: list[_Part] = []  # the line that is open, and the marks within, innermost last
        self._spaced = True  # where white space would show nothing

    def write(self) -> str:
        for token in self._tokens:
            if isinstance(token, str):
                self._text(token)
            elif is_start(token):
                _STARTS.get(token[0], _Writer._start)(self, *token)
            elif not token[0]:
                self._end_line()
            elif token[0] not in MARKS:
                self._end(token[0])
            elif self._line and self._line[-1].tag == MARKS[token[0]]:
                self._end_mark()
        self._end_line()
        return _joined(self._open[0].contents)

    def _start(self, tag: str, value: object) -> None:
        self._end_line()
        if tag == "table":
            self._layouts.append(bool(value))
        self._opened.append(self._is_block(tag))
        if self._opened[-1]:
            self._open_block(tag, value)

    def _end(self, tag: str) -> None:
        self._end_line()
        if self._opened.pop():
            self._close_block()
        if tag == "table":
            self._layouts.pop()

    def _is_block(self, tag: str) -> bool:
        if self._open[-1].tag in ONE_LINE or len(self._open) > _NESTING:
            return False
        if tag in _TABLE:
            return self._layouts[-1:] == [False]
        return tag in CONTAINERS or tag in ONE_LINE

    def _open_block(self, tag: str, value: object) -> None:
        outer = self._open[-1]
        block = _Part(tag, outer.inner_tags)
        if tag == "ol":
            start = str(value)
            self._next.append(int(start) if start.isdecimal() and len(start) < 10 else 1)
        elif tag == "li" and outer.tag == "ol":
            block.attributes = {"start": str(self._next[-1])}
            self._next[-1] += 1
        elif tag == "tr" and not outer.contents:
            block.attributes = {"first": ""}
        self._open.append(block)

    def _close_block(self) -> None:
        block = self._open.pop()
        contents = block.contents
        if block.tag == "ol":
            self._next.pop()
        if block.tag in ONE_LINE:
            if contents or block.tag in CELLS:
                self._add(block, "".join(contents))
        elif contents:
            if block.tag == "li":
                _tighten(contents)
            elif block.tag == "tr":
                cells = " ".join(part.tag for part in contents)
                block.attributes = {**block.attributes, "cells": cells}
            self._add(block, _joined(contents))

    def _add(self, part: _Part, text: str) -> None:
        """Put a complete part, with the Markdown of its contents, into the innermost block."""
        outer = self._open[-1]
        part.markdown = convert(part.tag, part.attributes, text, outer.inner_tags)
        outer.contents.append(part)

    def _start_line(self) -> list[_Part]:
        block = self._open[-1]
        self._line.append(block if block.tag in ONE_LINE else _Part("p", block.inner_tags))
        return self._line

    def _end_line(self) -> None:
        if not self._line:
            return
        while len(self._line) > 1:
            self._end_mark()
        line = self._line.pop()
        self._spaced = True
        if line.tag in ONE_LINE:
            line.contents.append(" ")
        else:
            self._add(line, "".join(line.contents))

    def _text(self, text: str) -> None:
        if "  " in text or not text.isprintable():  # of white space, only the blank is printable
            text = _single_spaced(text)
        if self._spaced and text[0] == " ":
            text = text[1:]
            if not text:
                return
        inner = (self._line or self._start_line())[-1]
        inner.contents.append(text if "_noformat" in inner.inner_tags else escape(text))
        self._spaced = text[-1] == " "

    def _start_mark(self, tag: str, _: object) -> None:
        self._open_mark(MARKS[tag])

    def _start_link(self, _: str, value: object) -> None:
        href = self._base.absolute(value)
        if href is not None:
            self._open_mark("a", {"href": href})

    def _open_mark(self, tag: str, attributes: dict[str, Any] = _NO_ATTRIBUTES) -> None:
        line = self._line or self._start_line()
        parent_tags = line[-1].inner_tags
        if tag not in parent_tags:
            line.append(_Part(tag, parent_tags, attributes))

    def _end_mark(self) -> None:
        mark = self._line.pop()
        outer = self._line[-1]
        outer.contents.append(
            convert(mark.tag, mark.attributes, "".join(mark.contents), outer.inner_tags)
        )

    def _add_inline(self, tag: str, attributes: dict[str, Any] = _NO_ATTRIBUTES) -> None:
        """Put a tag without contents into the line."""
        inner = (self._line or self._start_line())[-1]
        inner.contents.append(convert(tag, attributes, "", inner.inner_tags))

    def _img(self, _: str, value: object) -> None:
        alt, sources = cast("tuple[str, tuple[str, ...]]", value)
        source = next(filter(None, map(self._base.absolute, sources)), None)
        if source is not None:
            self._add_inline("img", {"src": source, "alt": " ".join(alt.split())})
            self._spaced = False

    def _br(self, *_: object) -> None:
        if self._line:
            self._add_inline("br")
            self._spaced = True

    def _hr(self, *_: object) -> None:
        self._end_line()
        if self._open[-1].tag not in ONE_LINE:
            self._add(_Part("hr", frozenset()), "")

    def _input(self, _: str, value: object) -> None:
        if value is not None:
            self._add_inline("input", {"checked": ""} if value else _NO_ATTRIBUTES)

    def _pre(self, _: str, value: object) -> None:
        self._end_line()
        text = _code(self._tokens)
        if self._open[-1].tag in ONE_LINE:
            if text:
                self._text(text)
            self._end_line()
        elif text.strip():
            code = _Part("pre", frozenset(), {"lang": str(value)})
            self._add(code, text.strip("\n").rstrip())


_STARTS = {
    **dict.fromkeys(MARKS, _Writer._start_mark),
    "a": _Writer._start_link,
    "br": _Writer._br,
    "hr": _Writer._hr,
    "img": _Writer._img,
    "input": _Writer._input,
    "pre": _Writer._pre,
}


def _single_spaced(text: str) -> str:
    words = text.split()
    if text[0].isspace():
        words.insert(0, "")
    if text[-1].isspace():
        words.append("")
    return " ".join(words)


def _tighten(item: list[_Part]) -> None:
    """Write `- text` and not `- <paragraph>`: a list is loose only where it has real paragraphs."""
    first, *others = item
    if first.tag == "p" and not any(part.tag == "p" for part in others):
        first.markdown = "".join(first.contents)


def _joined(parts: list[_Part]) -> str:
    """Return the Markdown of blocks, with one blank line between any two that want some."""
    if len(parts) == 1:
        return parts[0].markdown
    texts: list[str] = []
    for part in parts:
        text = part.markdown
        if text.startswith("\n") and texts and texts[-1].endswith("\n"):
            texts[-1] = texts[-1].rstrip("\n")
            text = "\n\n" + text.lstrip("\n")
        if text:
            texts.append(text)
    return "".join(texts)


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
                nested += 1 if is_start(token) else -1
                if nested < 0:
                    break
            if parts and not parts[-1].endswith("\n"):
                parts.append("\n")
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
