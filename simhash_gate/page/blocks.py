"""A flow's text as a reader sees it: blocks, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from lxml.html import HtmlElement

from simhash_gate.page.address import is_address
from simhash_gate.page.flow import KINDS, MARKS, Flow
from simhash_gate.page.measure import size_of
from simhash_gate.page.survey import RAISED, lines_of, raised, single_spaced
from simhash_gate.page.vocabulary import CELLS

_LINKED = 0.8
_CAPTION = 200  # characters
_CAPTION_LEVELS = 5  # elements around an image and its caption, a table's at most
_WITHIN_LINKS = frozenset({"br", "input"})
_CODE = frozenset(tag for tag, mark in MARKS.items() if mark == "code")
_WITHIN_LINES = frozenset(MARKS) - _CODE - {"a"} | {"img"}
_RAISED = (("sup", None), ("sub", None))


class Block(NamedTuple):
    """A run of text with white space collapsed.

    `kind` is `text`, `code`, `choice` (what a form offers to choose from), `item` (what an entry of
    a list begins with), or what Markdown writes on one line: `heading`, `cell` or `term`.
    `linked` tells that nearly all of the text is links. `code` is the text as it stands in code,
    with its lines.
    """

    kind: str
    text: str
    linked: bool = False
    code: str = ""


def blocks(flow: Flow) -> list[Block]:
    """Return the blocks of a flow, in its order."""
    runs = _Runs(flow).found
    texts = single_spaced(text.strip() for _, text, _ in runs)
    return [
        Block(
            kind,
            text,
            bool(links)
            and sum(len(word) for part in links for word in part.split())
            > _LINKED * (len(text) - text.count(" ")),
            raw.strip("\r\n").rstrip() if kind == "code" else "",
        )
        for (kind, raw, links), text in zip(runs, texts, strict=True)
        if text
    ]


def plain_text(flow: Flow) -> str:
    """Return the blocks of a flow as lines; code keeps its own."""
    text = "\n".join(block.code or block.text for block in blocks(flow))
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Runs:
    """The runs of text of a flow: of each its kind, its text as it is, and what of it is linked."""

    def __init__(self, flow: Flow) -> None:
        self.found: list[tuple[str, str, Sequence[str]]] = []
        self._text: list[str] = []
        self._links: list[str] = []
        self._kind = "text"
        self._owner = ""  # the tag of a line of Markdown, or of code
        self._nested = 0  # elements with that tag inside
        self._layouts: list[bool] = []
        self._link = False  # a link that is open, until a line ends with text of it
        self._is_written = False
        self._in_code = False  # within a line: a name in code is said, and a link beside that
        add = self._text.append
        for token in flow.tokens:
            if isinstance(token, str):
                add(token)
                if self._link:
                    self._links += [] if self._in_code else [token]
                    self._is_written = self._is_written or not token.isspace()
            elif token[0] not in _WITHIN_LINES:
                if not token[0]:
                    self._end_line()
                elif len(token) == 2:
                    self._start(*token)
                else:
                    self._end(token[0])
            elif token in _RAISED:
                add(RAISED)
        self._flush()

    def _start(self, tag: str, value: object) -> None:
        if tag == "a":
            self._link, self._is_written = is_address(value), False
            return
        if tag in _CODE:
            self._in_code = True
            return
        if tag not in _WITHIN_LINKS:
            self._end_link()
        if tag == "br" and self._kind == "code":
            self._text.append("\n")
            return
        self._break()
        if tag == "input" and value is not None:
            self._text.append("\u2611 " if value else "\u2610 ")
        if tag == "table":
            self._layouts.append(bool(value))
        elif self._owner:
            self._nested += tag == self._owner
        elif tag in KINDS and (tag not in CELLS or self._layouts[-1:] == [False]):
            self._owner, self._kind = tag, KINDS[tag]
        elif tag == "li":
            self._kind = "item"

    def _end(self, tag: str) -> None:
        if tag == "a":
            self._link = False
            return
        if tag in _CODE:
            self._in_code = False
            return
        self._end_line()
        if tag == "table":
            self._layouts.pop()
        elif tag == self._owner:
            if self._nested:
                self._nested -= 1
            else:
                self._flush()
                self._owner, self._kind = "", "text"

    def _flush(self) -> None:
        if self._text:
            links = self._links.copy() if self._links else ()
            self.found.append((self._kind, raised("".join(self._text)), links))
            self._text.clear()
            self._links.clear()
            if self._kind == "item":
                self._kind = "text"

    def _end_line(self) -> None:
        self._end_link()
        self._break()

    def _end_link(self) -> None:
        self._link = self._link and not self._is_written  # Markdown has no links around blocks
        self._in_code = False

    def _break(self) -> None:
        if not self._owner:
            self._flush()
        elif self._kind != "code":
            self._text.append(" ")
        elif self._text and not self._text[-1].endswith("\n"):
            self._text.append("\n")


def captions(root: HtmlElement) -> Iterator[str]:
    """Yield what stands under the images of an article: of a box with an image, its short text."""
    known: set[HtmlElement] = {root}
    for image in root.iter("img", "amp-img"):
        for box in islice(image.iterancestors(), _CAPTION_LEVELS):
            if box in known:
                break
            known.add(box)
            size = size_of(box)
            if size and size <= _CAPTION and sum(map(len, found := lines_of(box))) <= _CAPTION:
                yield from found
            if size:
                break
