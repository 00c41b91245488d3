"""How much text each element of a tree holds, and how elements are taken out of it.

The text after an element that goes stays, and so do the sums of what is left.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lxml.etree import tostring

from simhash_gate.page.parse import printable

if TYPE_CHECKING:
    from collections.abc import Collection

    from lxml.html import HtmlElement


LARGEST = 0.4  # of the page's text: what holds more is no chrome, whatever it is called

_LISTING = 0.6
_TIMES_READ = 8
_WHITE = b" \t\n\v\f\r"


def said_in(element: HtmlElement) -> str:
    """Return the text in an element, without white space."""
    return "".join(tostring(element, encoding="unicode", method="text", with_tail=False).split())


def size_of(element: HtmlElement) -> int:
    """Return how many characters are in an element, white space not counted."""
    text = tostring(element, encoding="utf-8", method="text", with_tail=False)
    text = text.translate(None, _WHITE)
    return len(text) if text.isascii() else len("".join(text.decode().split()))


class Measure:
    """Characters of text in an element, white space not counted, and how many are in links."""

    __slots__ = ("links", "text")

    def __init__(self) -> None:
        self.text = 0
        self.links = 0

    def add(self, other: Measure) -> None:
        """Count what the other counts as well."""
        self.text += other.text
        self.links += other.links

    @property
    def prose(self) -> int:
        """Characters outside of links."""
        return self.text - self.links


Measures = dict["HtmlElement", Measure]


def is_listing(size: Measure) -> bool:
    """Tell if most of the text is links to other pages."""
    return size.links > _LISTING * size.text


def measure(root: HtmlElement) -> Measures:
    """Measure every element of a tree; they come in document order."""
    return survey(root, Left(list(root.iter("*")), [], [], {}, 0))


class Left(NamedTuple):
    """What is left of a tree, in document order, and which of it is chrome that is too large.

    Of `large` the outer ones come first, and of neighbours the last; `forms` are chrome if they are
    small. `lost` are the characters that links have lost: they are as long as they were. `size` is
    how many characters there were in all.
    """

    elements: list[HtmlElement]
    large: list[HtmlElement]
    forms: list[HtmlElement]
    lost: dict[HtmlElement, int]
    size: int


def survey(root: HtmlElement, left: Left) -> Measures:
    """Measure what is left of a tree."""
    measures = {element: Measure() for element in left.elements}
    lost = left.lost.get
    # In reverse document order, every element comes after all that is in it.
    for element, own in reversed(measures.items()):
        size = own.text
        text = element.text
        if text:
            own.text = size = size + len("".join(text.split()))
        links = own.links
        if element.tag == "a":
            own.text = own.links = links = size = size + lost(element, 0)
        if element is root:
            break
        text = element.tail
        if size or links or text:
            outer = measures[element.getparent()]
            if text:
                size += len("".join(text.split()))
            if size or links:
                outer.text += size
                outer.links += links
    return measures


class Sizes:
    """Characters of text in an element, white space not counted: read when they are asked for.

    Where much is read again and again, of boxes in boxes, all elements are measured instead.
    """

    def __init__(self, root: HtmlElement) -> None:
        self._root = root
        self._measures: Measures | None = None
        self.whole = self._left = size_of(root)
        self._left *= _TIMES_READ

    def of(self, element: HtmlElement) -> int:
        """Return the size of an element."""
        if self._left < 0 and self._measures is None:
            self._measures = measure(self._root)
        if self._measures is not None:
            return self._measures[element].text
        size = size_of(element)
        self._left -= size
        return size


def drop(element: HtmlElement, measures: Measures | None = None) -> None:
    """Take an element out of its tree; the text after it stays."""
    if measures is not None:
        gone = measures[element]
        links = gone.links
        for ancestor in element.iterancestors():
            if ancestor.tag == "a":
                links = gone.text
            measures[ancestor].text -= gone.text
            measures[ancestor].links -= links
    drop_all([element])


def drop_all(gone: Collection[HtmlElement], measures: Measures | None = None) -> None:
    """Take elements out of their tree, at a cost that grows with the tree alone.

    They come in document order; with measures to keep, none of them is within another.
    """
    if measures and gone:
        _forget(gone, measures)
    last: HtmlElement | None = None
    holder: HtmlElement | None = None
    texts: list[str] = []  # what follows neighbours that go is joined once
    for element in gone:
        before = element.getprevious()
        if last is None or before is not last:
            _append(holder, last, texts)
            holder = element.getparent() if before is None else before
        if element.tail:
            texts.append(element.tail)
        last = element
    _append(holder, last, texts)
    for element in gone:
        parent = element.getparent()
        if parent is not None:
            element.tail = None
            parent.remove(element)


def _append(holder: HtmlElement | None, last: HtmlElement | None, texts: list[str]) -> None:
    """Put texts where the text stands before the neighbours that end with `last`."""
    if holder is not None and last is not None and texts:
        side = "text" if holder is last.getparent() else "tail"
        text = (getattr(holder, side) or "") + "".join(texts)
        try:
            setattr(holder, side, text)
        except ValueError:  # `&#1;` and its like
            setattr(holder, side, printable(text))
    texts.clear()


def _forget(gone: Collection[HtmlElement], measures: Measures) -> None:
    less: dict[HtmlElement | None, Measure] = defaultdict(Measure)
    for element in gone:
        less[element.getparent()].add(measures[element])
    around: dict[HtmlElement, None] = {}  # each after what it is in
    for holder in list(less):
        path, outer = [], holder
        while outer is not None and outer not in around:
            path.append(outer)
            outer = outer.getparent()
        around.update(dict.fromkeys(reversed(path)))
    for element in reversed(around):
        own, within = measures[element], less[element]
        if element.tag == "a":
            within.links = within.text
        own.text -= within.text
        own.links -= within.links
        less[element.getparent()].add(within)
