"""All that one walk over what a page shows can tell: its lines, its sizes, how its tags are nested.

To walk over a tree takes a fifth of what it takes to parse it; so this is done once.
"""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.page.flow import KINDS, MARKS, is_layout
from simhash_gate.page.measure import Measures
from simhash_gate.page.vocabulary import CELLS, HEADINGS, INLINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    Tree = dict[str, "Tree"]  # the tags of all children, each once
    _Span = tuple[HtmlElement, int, int, int, int]  # texts before it and at its end; links alike

# Marks within a line are left out: they come and go with every edit of a text.
_BOXES = HEADINGS | CELLS | {"ul", "ol", "li", "dl", "dt", "dd", "table", "tbody", "tr", "p", "hr"}
_BOXES |= {"html", "body", "div", "section", "article", "main", "header", "footer", "nav", "aside"}
_BOXES |= {"form", "fieldset", "details", "thead", "tfoot", "pre", "blockquote", "figure"}
_IN_LINES = INLINE | MARKS.keys() | {"img"}
_LINKS = ("a", "area")
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
    tags: Tree = {}
    lines = _Lines()
    texts: list[str] = []
    spans: list[_Span] = []
    links: list[tuple[int, int, int]] = []  # of each: texts before it and at its end, links before
    opened: list[tuple[HtmlElement, int, int, Tree]] = []  # texts, links and tags before each
    place = tags
    # Where an element ends shows when the next one is in another: `iterwalk` takes twice the time.
    for element in chain(root.iter("*"), (None,)):
        parent = None if element is None else element.getparent()
        while opened and opened[-1][0] is not parent:
            ended, before, linked, place = opened.pop()
            tag = ended.tag
            if tag not in _ENDLESS:
                lines.end(ended)
            if tag == "a":
                links.append((before, len(texts), linked))
            spans.append((ended, before, len(texts), linked, len(links)))
            if opened and (text := ended.tail):
                texts.append(text)
                lines.add(text)
        if element is not None:
            opened.append((element, len(texts), len(links), place))
            tag = element.tag
            if tag not in _IN_LINES:
                lines.start(element)
                if tag in _BOXES:
                    place = place.setdefault(tag, {})
            if text := element.text:
                texts.append(text)
                lines.add(text)
    found = filter(None, single_spaced(["".join(lines.texts)]))
    hrefs = {href for link in root.iter(*_LINKS) if (href := link.get("href")) is not None}
    return Survey(list(found), _measures(texts, spans, links), tags, hrefs)


def _measures(texts: list[str], spans: list[_Span], links: list[tuple[int, int, int]]) -> Measures:
    """Count characters: what is said in links within a link counts once."""
    sizes = map(len, "".join(END_OF_LINE.join(texts).split()).split(END_OF_LINE))
    size = [0, *accumulate(sizes)]
    linked = [0]
    for before, end, within in links:
        linked.append(linked[within] + size[end] - size[before])
    measures = Measures()
    for element, before, end, first, last in spans:
        measures.text[element] = size[end] - size[before]
        measures.links[element] = linked[last] - linked[first]
    return measures


class _Lines:
    """The texts of a tree, and between them, where a line ends; a head has none."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.add = self.texts.append
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
        self.add(END_OF_LINE if self._owner is None else " ")


def lines_of(root: HtmlElement) -> list[str]:
    """Return the texts of the blocks of an element's flow."""
    return survey(root).lines


def single_spaced(texts: Iterable[str]) -> Iterator[str]:
    """Return texts with white space collapsed: of one that holds ends of lines, each line."""
    joined = " ".join(END_OF_LINE.join(texts).split())
    return map(str.strip, joined.split(END_OF_LINE))
