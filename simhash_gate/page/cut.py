"""Takes elements out of a tree; the text after each stays, and so do sums of what is left."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from simhash_gate.page.measure import Measure
from simhash_gate.page.parse import printable

if TYPE_CHECKING:
    from collections.abc import Collection

    from lxml.html import HtmlElement

    from simhash_gate.page.measure import Measures


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
    for element in reversed(measures):
        if element in less:
            own, within = measures[element], less[element]
            if element.tag == "a":
                within.links = within.text
            own.text -= within.text
            own.links -= within.links
            less[element.getparent()].add(within)
