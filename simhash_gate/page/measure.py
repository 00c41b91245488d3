"""How much text each element of a tree holds, and how elements are taken out of it.

The text after an element that goes stays, and so do the sums of what is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field

from lxml.etree import tostring
from lxml.html import HtmlElement

from simhash_gate.page.parse import printable

LARGEST = 0.4  # of the page's text: what holds more is no boilerplate, whatever it is called

STEPS: ContextVar[list[dict[str, object]] | None] = ContextVar("steps", default=None)
"""What rules have taken out of the page that is read; None where nobody asks for it."""

_LISTING = 0.6
_WHITE = b" \t\n\v\f\r"
_SHOWN = 80  # characters of a step
_NAMES = (("id", "#"), ("class", "."))


def text_in(element: HtmlElement) -> str:
    """Return the text in an element, without white space."""
    return "".join(tostring(element, encoding="unicode", method="text", with_tail=False).split())


def size_of(element: HtmlElement) -> int:
    """Return how many characters are in an element, white space not counted."""
    text = tostring(element, encoding="utf-8", method="text", with_tail=False)
    text = text.translate(None, _WHITE)
    return len(text) if text.isascii() else len("".join(text.decode().split()))


@dataclass(frozen=True, slots=True)
class Measures:
    """Characters of text in each element, white space not counted, and how many are in links."""

    text: dict[HtmlElement | None, int] = field(default_factory=lambda: defaultdict(int))
    links: dict[HtmlElement | None, int] = field(default_factory=lambda: defaultdict(int))

    def prose(self, element: HtmlElement) -> int:
        """Return how many characters of an element are outside of links."""
        return self.text[element] - self.links[element]

    def is_listing(self, element: HtmlElement) -> bool:
        """Tell if most of the text of an element is links to other pages."""
        return self.links[element] > _LISTING * self.text[element]


def note_step(gone: Iterable[HtmlElement], *, rule: str) -> None:
    """Write down what a rule takes out, if somebody asked: the elements that say something."""
    steps = STEPS.get()
    for element in () if steps is None else gone:
        names = (f"{sign}{v}" for n, sign in _NAMES for v in element.get(n, "").split())
        shown, size = f"{element.tag}{''.join(names)}"[:_SHOWN], size_of(element)
        text = " ".join("".join(element.itertext()).split())[:_SHOWN]
        if steps is not None and size:
            steps.append({"rule": rule, "element": shown, "size": size, "text": text})


def drop_all(gone: Collection[HtmlElement], measures: Measures | None = None, *, rule: str) -> None:
    """Take elements out of their tree, at a cost that grows with the tree alone.

    They come in document order; with measures to keep, none of them is within another. `rule` is
    the name of the function that says why they go.
    """
    note_step(gone, rule=rule)
    if measures and gone:
        forget(gone, measures)
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


def are_in(root: HtmlElement, elements: Iterable[HtmlElement]) -> list[bool]:
    """Tell of each element if it is still in a tree."""
    known: dict[HtmlElement | None, bool] = {root: True, None: False}
    found = []
    for element in elements:
        path, ancestor = [], element
        while ancestor not in known:
            path.append(ancestor)
            ancestor = ancestor.getparent()
        known.update(dict.fromkeys(path, known[ancestor]))
        found.append(known[element])
    return found


def _append(holder: HtmlElement | None, last: HtmlElement | None, texts: list[str]) -> None:
    """Put texts where the text stands before the neighbours that end with `last`."""
    if holder is not None and last is not None and texts:
        attribute = "text" if holder is last.getparent() else "tail"
        text = (getattr(holder, attribute) or "") + "".join(texts)
        setattr(holder, attribute, printable(text))  # there may be `&#1;` and its like
    texts.clear()


def forget(gone: Collection[HtmlElement], measures: Measures) -> None:
    """Take the sizes of elements off those of what they are in."""
    removed = Measures()
    for element in gone:
        removed.text[element.getparent()] += measures.text[element]
        removed.links[element.getparent()] += measures.links[element]
    ancestors: dict[HtmlElement, None] = {}  # each after what it is in
    for holder in list(removed.text):
        path, ancestor = [], holder
        while ancestor is not None and ancestor not in ancestors:
            path.append(ancestor)
            ancestor = ancestor.getparent()
        ancestors.update(dict.fromkeys(reversed(path)))
    for element in reversed(ancestors):
        text, holder = removed.text[element], element.getparent()
        links = text if element.tag == "a" else removed.links[element]
        measures.text[element] -= text
        measures.links[element] -= links
        removed.text[holder] += text
        removed.links[holder] += links
