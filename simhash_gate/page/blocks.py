"""An element's text as a reader sees it: blocks, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE, LAYOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

_KINDS = dict.fromkeys(HEADINGS, "heading") | dict.fromkeys(CELLS, "cell") | {"dt": "term"}


_LINKED = 0.8
_CAPTION = 200  # characters
_WITHIN_LINKS = frozenset({"br", "img", "input"})


class Block(NamedTuple):
    """A run of text with white space collapsed.

    `kind` is `text`, `code`, or what Markdown writes on one line: `heading`, `cell` or `term`.
    `linked` tells that nearly all of the text is links.
    """

    kind: str
    text: str
    linked: bool = False


def blocks(root: HtmlElement) -> list[Block]:
    """Return the blocks of an element in document order."""
    writer = _Writer()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            writer.start(element)
        else:
            writer.end(element)
            if element is not root:
                writer.write(element.tail)
    writer.flush()
    return writer.found


class _Writer:
    def __init__(self) -> None:
        self.found: list[Block] = []
        self._text: list[str] = []
        self._links: list[str] = []
        self._kind = "text"
        self._owner: HtmlElement | None = None  # of a line of Markdown, or of code
        self._layouts: list[bool] = []
        self._anchors = 0

    def start(self, element: HtmlElement) -> None:
        tag = element.tag
        self._break(tag)
        if tag == "a":
            self._anchors += is_link(element)
        elif tag == "table":
            self._layouts.append(is_layout(element))
        elif self._owner is None and (
            tag == "pre" or (tag in _KINDS and not (tag in CELLS and any(self._layouts[-1:])))
        ):
            self._owner, self._kind = element, _KINDS.get(tag, "code")
        self.write(element.text)

    def end(self, element: HtmlElement) -> None:
        self._break(element.tag)
        if element.tag == "a":
            self._anchors = 0
        elif element.tag == "table":
            self._layouts.pop()
        elif element is self._owner:
            self.flush()
            self._owner, self._kind = None, "text"

    def write(self, text: str | None) -> None:
        if text:
            self._text.append(text)
            if self._anchors:
                self._links.append(text)

    def flush(self) -> None:
        words = "".join(self._text).split()
        if words:
            linked = _size(self._links) > _LINKED * sum(map(len, words))
            self.found.append(Block(self._kind, " ".join(words), linked))
        self._text.clear()
        self._links.clear()

    def _break(self, tag: str) -> None:
        if tag not in INLINE:
            if tag not in _WITHIN_LINKS:
                self._anchors = 0  # Markdown has no links around blocks
            if self._owner is None:
                self.flush()
            else:
                self._text.append(" ")


def captions(root: HtmlElement) -> Iterator[Block]:
    """Yield what stands under the images of an article: of a box with an image, its short text."""
    for image in root.iter("img", "amp-img"):
        for box in image.iterancestors():
            if box is root:
                break
            if found := blocks(box):
                if sum(len(block.text) for block in found) <= _CAPTION:
                    yield from found
                break


def is_link(element: HtmlElement) -> bool:
    """Tell if an `a` leads to another address, one that Markdown shows."""
    href = (element.get("href") or "").lstrip().lower()
    return bool(href) and not href.startswith(("javascript:", "data:"))


def _size(parts: list[str]) -> int:
    return sum(len(word) for part in parts for word in part.split())


def is_layout(table: HtmlElement) -> bool:
    """Tell if a table only places things on the page: its cells hold more than a line each.

    A table of one column is one too: there is nothing to compare across.
    """
    if next(table.iterdescendants(*LAYOUT), None) is not None:
        return True
    return all(sum(1 for _ in row.iter(*CELLS)) < 2 for row in table.iter("tr"))
