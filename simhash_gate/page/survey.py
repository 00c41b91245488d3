"""All that one walk over what a page shows can tell: its lines, its sizes, how its tags are nested.

To walk over a tree takes a fifth of what it takes to parse it; so this is done once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from simhash_gate.page.flow import KINDS, MARKS, is_layout
from simhash_gate.page.measure import Measures
from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE

if TYPE_CHECKING:
    Tree = dict[str, "Tree"]  # the tags of all children, each once

# Marks within a line are left out: they come and go with every edit of a text.
_BOXES = HEADINGS | CELLS | {"ul", "ol", "li", "dl", "dt", "dd", "table", "tbody", "tr", "p", "hr"}
_BOXES |= {"html", "body", "div", "section", "article", "main", "header", "footer", "nav", "aside"}
_BOXES |= {"form", "fieldset", "details", "thead", "tfoot", "pre", "blockquote", "figure"}
_IN_LINES = INLINE | MARKS.keys() | {"img"}
_LINKS = frozenset({"a", "area"})
_ENDLESS = _IN_LINES | {"br", "hr", "input"}
END_OF_LINE = "\0"
"""What stands for the end of a line in texts of a tree: no tree can hold it."""


class Survey(NamedTuple):
    """What a tree shows.

    `lines` are the texts of the blocks of its body's flow, and `measures` the sizes of all its
    elements. `tags` are how its tags are nested, each once in the same place, and `hrefs` the
    addresses that it links to.
    """

    lines: list[str]
    measures: Measures
    tags: Tree
    hrefs: set[str]


def survey(root: HtmlElement) -> Survey:
    """Walk over a tree, or an element of one."""
    measures = Measures()
    tags: Tree = {}
    hrefs = set()
    lines = _Lines()
    add = lines.texts.append
    stack = []  # of each element that is open: characters, those in links, and tags before it
    size, linked, place = 0, 0, tags
    for event, element in iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "start":
            stack.append((size, linked, place))
            if tag not in _IN_LINES:
                lines.start(element)
                if tag in _BOXES:
                    place = place.setdefault(tag, {})
            if tag in _LINKS:
                hrefs.add(element.get("href"))
            text = element.text
        else:
            if tag not in _ENDLESS:
                lines.end(element)
            before, links, place = stack.pop()
            if tag == "a":
                linked = links + size - before
            measures.text[element] = size - before
            measures.links[element] = linked - links
            text = element.tail
        if text and stack:
            add(text)
            size += len("".join(text.split()))
    hrefs.discard(None)
    texts = single_spaced("".join(lines.texts).split(END_OF_LINE))
    return Survey(list(filter(None, texts)), measures, tags, hrefs)


class _Lines:
    """The texts of a tree, and between them, where a line ends; a head has none."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._owner: HtmlElement | None = None  # a line of Markdown, or code
        self._layouts = [True]  # of the tables that are open

    def start(self, element: HtmlElement) -> None:
        """Begin a block."""
        tag = element.tag
        self._end_line()
        if tag == "table":
            self._layouts.append(is_layout(element))
        elif self._owner is None and tag in KINDS and not (tag in CELLS and self._layouts[-1]):
            self._owner = element
        elif tag == "body":
            self.texts.clear()

    def end(self, element: HtmlElement) -> None:
        """End a block."""
        if element is self._owner:
            self._owner = None
        elif element.tag == "table":
            self._layouts.pop()
        self._end_line()

    def _end_line(self) -> None:
        self.texts.append(END_OF_LINE if self._owner is None else " ")


def lines_of(root: HtmlElement) -> list[str]:
    """Return the texts of the blocks of an element's flow."""
    return survey(root).lines


def single_spaced(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts with white space collapsed."""
    for text in map(str.strip, texts):
        # Of white space, only the blank is printable; most lines of prose are as they shall be.
        yield text if "  " not in text and text.isprintable() else " ".join(text.split())
