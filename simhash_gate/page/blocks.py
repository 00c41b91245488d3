"""A flow's text as a reader sees it: blocks, one after the other."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import iterwalk

from simhash_gate.page.address import is_address
from simhash_gate.page.flow import MARKS, End, Start, is_layout
from simhash_gate.page.measure import size_of
from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from simhash_gate.page.flow import Flow

_KINDS = dict.fromkeys(HEADINGS, "heading") | dict.fromkeys(CELLS, "cell")
_KINDS |= {"dt": "term", "pre": "code", "fieldset": "choice"}

_LINKED = 0.8
_CAPTION = 200  # characters
_FRAMES = 5  # elements around an image and its caption, a table's at most
_WITHIN_LINKS = frozenset({"br", "input"})
_CODE = frozenset(tag for tag, mark in MARKS.items() if mark == "code")
_IN_LINES = INLINE | MARKS.keys() | {"img"}
_VOID = _WITHIN_LINKS | {"hr"}
_WITHIN_LINES = frozenset(MARKS) - _CODE - {"a"} | {"img"}


class Block(NamedTuple):
    """A run of text with white space collapsed.

    `kind` is `text`, `code`, `choice` (what a form offers to choose from), or what Markdown writes
    on one line: `heading`, `cell` or `term`.
    `linked` tells that nearly all of the text is links.
    """

    kind: str
    text: str
    linked: bool = False


def blocks(flow: Flow) -> list[Block]:
    """Return the blocks of a flow, in its order."""
    return _Writer().write(flow)


def lines_of(root: HtmlElement) -> list[str]:
    """Return the texts of the blocks of an element's flow, for half of what it takes to make it."""
    found: list[str] = []
    texts: list[str] = []
    owner: HtmlElement | None = None  # a line of Markdown, or code
    layouts = [True]
    for event, element in iterwalk(root, events=("start", "end")):
        tag = element.tag
        starts = event == "start"
        if tag not in _IN_LINES and (starts or tag not in _VOID):
            if owner is not None and owner is not element:
                texts.append(" ")
            elif texts:
                found.append(_in_one_line(texts))
                texts.clear()
            if tag == "table":
                layouts.append(is_layout(element)) if starts else layouts.pop()
            elif owner is element:
                owner = None
            elif starts and owner is None and tag in _KINDS:
                owner = None if tag in CELLS and layouts[-1] else element
        said = element.text if starts else element.tail if element is not root else None
        if said:
            texts.append(said)
    return list(filter(None, [*found, _in_one_line(texts)]))


def _in_one_line(texts: list[str]) -> str:
    text = "".join(texts).strip()
    if "  " in text or not text.isprintable():  # of white space, only the blank is printable
        text = " ".join(text.split())
    return text


def plain_text(flow: Flow) -> str:
    """Return the blocks of a flow as lines; code keeps its own."""
    return "\n".join(block.text for block in _PlainWriter().write(flow))


class _Writer:
    def __init__(self) -> None:
        self.found: list[Block] = []
        self.text: list[str] = []
        self.links: list[str] = []
        self._kind = "text"
        self._owner = ""  # the tag of a line of Markdown, or of code
        self._nested = 0  # elements with that tag inside
        self._layouts: list[bool] = []
        self._in_code = False  # within a line, where Markdown shows no links
        self.anchors = 0

    def write(self, flow: Flow) -> list[Block]:
        """Return the blocks of a flow."""
        add, links = self.text.append, self.links.append
        for token in flow.tokens:
            if isinstance(token, str):
                add(token)
                if self.anchors:
                    links(token)
            elif token.tag not in _WITHIN_LINES:
                if not token.tag:  # a `BREAK`, be it another after pickling
                    self.end_line()
                elif isinstance(token, Start):
                    self.start(token)
                else:
                    self.end(token)
        self.flush()
        return self.found

    def start(self, token: Start) -> None:
        tag = token.tag
        if tag == "a":
            self.anchors += not self._in_code and is_address(token.value)
            return
        if tag in _CODE:
            self._in_code = True
            return
        if tag not in _WITHIN_LINKS:
            self.anchors = 0
            self._in_code = False
        self._break()
        if tag == "table":
            self._layouts.append(bool(token.value))
        elif self._owner:
            self._nested += tag == self._owner
        elif tag in _KINDS and (tag not in CELLS or self._layouts[-1:] == [False]):
            self._owner, self._kind = tag, _KINDS[tag]

    def end(self, token: End) -> None:
        tag = token.tag
        if tag == "a":
            self.anchors = 0
            return
        if tag in _CODE:
            self._in_code = False
            return
        self.end_line()
        if tag == "table":
            self._layouts.pop()
        elif tag and tag == self._owner:
            if self._nested:
                self._nested -= 1
            else:
                self.flush()
                self._owner, self._kind = "", "text"

    def flush(self) -> None:
        text = _in_one_line(self.text)
        if text:
            letters = len(text) - text.count(" ")
            linked = bool(self.links) and _size(self.links) > _LINKED * letters
            self.found.append(Block(self._kind, text, linked))
        self.text.clear()
        self.links.clear()

    def end_line(self) -> None:
        self.anchors = 0  # Markdown has no links around blocks
        self._in_code = False
        self._break()

    def _break(self) -> None:
        if self._owner:
            self.text.append(" ")
        elif self.text:
            self.flush()


class _PlainWriter(_Writer):
    """Keeps the lines of code."""

    def start(self, token: Start) -> None:
        if token.tag == "br" and self._kind == "code":
            self.text.append("\n")
        else:
            super().start(token)

    def flush(self) -> None:
        text = "".join(self.text).replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
        if self._kind != "code" or not text:
            super().flush()
            return
        self.found.append(Block(self._kind, text))
        self.text.clear()
        self.links.clear()

    def _break(self) -> None:
        if self._kind != "code":
            super()._break()
        elif self.text and not self.text[-1].endswith("\n"):
            self.text.append("\n")


def captions(root: HtmlElement) -> Iterator[str]:
    """Yield what stands under the images of an article: of a box with an image, its short text."""
    known: set[HtmlElement] = {root}
    for image in root.iter("img", "amp-img"):
        for box in islice(image.iterancestors(), _FRAMES):
            if box in known:
                break
            known.add(box)
            size = size_of(box)
            if size and size <= _CAPTION and sum(map(len, found := lines_of(box))) <= _CAPTION:
                yield from found
            if size:
                break


def _size(parts: list[str]) -> int:
    return sum(map(len, (word for part in parts for word in part.split())))
