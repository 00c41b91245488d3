"""Takes the chrome off a page's tree, in place: what stands around articles, not what holds one."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.page.blocks import Block, blocks
from simhash_gate.page.flow import flow
from simhash_gate.page.parse import printable
from simhash_gate.page.title import Titles, find_titles
from simhash_gate.page.vocabulary import (
    AD_LABELS,
    CHROME_ROLES,
    CHROME_TAGS,
    CHROME_TOKENS,
    CONTENT_HEADS,
    CONTENT_STARTS,
    EXTRA_TOKENS,
    INVISIBLE,
    LINK_LISTS,
    OUTSIDE_TOKENS,
    PAGE_HEADS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from lxml.html import HtmlElement

_LARGEST = 0.4  # of the page's text: what holds more is no chrome, whatever it is called
_LISTING = 0.6
_SOME_TEXT = 20
_LINK_DENSE = 0.8
_PIECE = re.compile(r"[^A-Za-z0-9]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LABELLED = 200  # characters: what is longer is no advertisement, whatever it begins with
_FIRST_WORD = re.compile(r"\W*([^\s:|·–—.…\])-]+)\s*(?:[:|·–—.…\])-].*)?", re.S)
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)


class Measure:
    """Characters of text in an element, white space not counted, and how many are in links."""

    text = 0
    links = 0

    def add(self, other: Measure) -> None:
        """Count what the other counts as well."""
        self.text += other.text
        self.links += other.links

    @property
    def prose(self) -> int:
        """Characters outside of links."""
        return self.text - self.links


Measures = dict["HtmlElement", Measure]


class Cleaned(NamedTuple):
    """A page without its chrome: its tree, the size of every element in it, its titles.

    `whole` is all that the page says, chrome and all, if that was asked for.
    """

    root: HtmlElement
    body: HtmlElement
    measures: Measures
    listing: bool
    titles: Titles
    whole: list[Block]


def clean(root: HtmlElement, *, whole: bool = False) -> Cleaned:
    """Remove the chrome from a page's tree."""
    titles = find_titles(root)
    drop_all([e for e in root.iter(*INVISIBLE) if e.tag != "input" or not _is_task(e)])
    drop_all(_gutters(root))
    measures = measure(root)
    body = root.find("body")
    body = root if body is None else body
    visible = blocks(flow(body)) if whole else []
    _drop_chrome(root, measures)
    return Cleaned(root, body, measures, is_listing(measures[body]), titles, visible)


def is_listing(size: Measure) -> bool:
    """Tell if most of the text is links to other pages."""
    return size.links > _LISTING * size.text


def _gutters(root: HtmlElement) -> list[HtmlElement]:
    """Return the table cells that hold nothing but the line numbers of the code beside them."""
    holders: set[HtmlElement | None] = set()  # of code
    for pre in root.iter("pre"):
        for outer in pre.iterancestors():
            if outer in holders:
                break
            holders.add(outer)
    return [
        cell
        for cell in (root.iter("td") if holders else ())
        if cell in holders
        and cell.getnext() in holders
        and all(line.isdigit() for text in cell.itertext() for line in text.split())
    ]


def _is_task(element: HtmlElement) -> bool:
    return element.get("type") == "checkbox" and next(element.iterancestors("li"), None) is not None


def drop(element: HtmlElement, measures: Measures | None = None) -> None:
    """Take an element out of its tree; the text after it stays."""
    if measures is not None:
        gone = measures[element]
        for ancestor in element.iterancestors():
            measures[ancestor].text -= gone.text
            measures[ancestor].links -= gone.links
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
            own.text -= within.text
            own.links -= within.links
            less[element.getparent()].add(within)


def measure(root: HtmlElement) -> Measures:
    """Measure every element of a tree; they come in document order."""
    measures = {element: Measure() for element in root.iter("*")}
    # In reverse document order, every element comes after all that is in it.
    for element, own in reversed(measures.items()):
        text = element.text
        if text:
            own.text += len("".join(text.split()))
        if element.tag == "a":
            own.links = own.text
        if element is root:
            break
        outer = measures[element.getparent()]
        outer.text += own.text
        outer.links += own.links
        text = element.tail
        if text:
            outer.text += len("".join(text.split()))
    return measures


def _drop_chrome(root: HtmlElement, measures: Measures) -> None:
    gone: list[HtmlElement] = []
    large: list[HtmlElement] = []
    outer: set[HtmlElement] = set()
    largest = _LARGEST * measures[root].text
    elements = iter(measures)
    for element in elements:
        if not _is_chrome(element):
            continue
        if measures[element].text <= largest:
            gone.append(element)
            within = sum(1 for _ in element.iter("*")) - 1
            next(islice(elements, within, within), None)
        else:
            # Outer ones first, and of neighbours the last.
            large.insert(sum(e in outer for e in element.iterancestors()), element)
            outer.add(element)
    drop_all(gone, measures)
    # A page of few words under a big menu: it is larger than the article, and still a menu.
    for element in large:
        size = measures[element]
        menu = size.links > 0.5 * size.text
        if (menu or _is_outside(element)) and measures[root].text - size.text >= _SOME_TEXT:
            drop(element, measures)


def _is_outside(element: HtmlElement) -> bool:
    """Tell if this is what no article stands in, however large: a footer, what lies over a page."""
    if element.tag == "footer":
        return True
    names = f"{element.get('class', '')} {element.get('id', '')}"
    return any(not OUTSIDE_TOKENS.isdisjoint(name_words(name)) for name in names.split())


def _is_chrome(element: HtmlElement) -> bool:
    tag = element.tag
    if tag in ("html", "body", "main"):
        return False
    if tag in ("header", "footer"):
        return next(element.iterancestors("article", "main"), None) is None
    if tag in CHROME_TAGS or ("-" in tag and speaks_of_chrome(tag)):
        return True
    for name in element.keys():  # noqa: SIM110, SIM118 - called for every element: any() costs more
        if name in _TELLING and _TELLING[name](element.get(name)):
            return True
    return False


@lru_cache(maxsize=4096)
def speaks_of_chrome(names: str) -> bool:
    """Tell if a class or id names chrome, by whole words: `nav-bar` does, `canvas` does not."""
    return any(_names_chrome(name_words(name)) for name in names.split())


def name_words(name: str) -> list[str]:
    """Return the words of one class or id; a piece with digits inside is a hash, and none."""
    pieces = (piece.rstrip("0123456789") for piece in _PIECE.split(name))
    return [word.lower() for piece in pieces if piece.isalpha() for word in _WORD.findall(piece)]


# The attributes that chrome is known by, and what their values say then.
_TELLING: dict[str, Callable[[str], object]] = {
    "class": speaks_of_chrome,
    "id": speaks_of_chrome,
    "role": CHROME_ROLES.__contains__,
    "hidden": lambda _: True,
    "style": _HIDDEN.search,
    "itemprop": "author".__eq__,
}


def _names_chrome(words: list[str]) -> bool:
    if not words or words[0] in CONTENT_STARTS:
        return False
    said = {*words, *map("".join, pairwise(words))}  # `read-more`: `readmore`
    if not EXTRA_TOKENS.isdisjoint(said):
        return words[-1] not in PAGE_HEADS
    return not CHROME_TOKENS.isdisjoint(said) and not _content_head(words)


def _content_head(words: list[str]) -> bool:
    head = next((word for word in reversed(words) if len(word) > 2), words[-1])
    return head in CONTENT_HEADS


def drop_link_lists(article: HtmlElement, measures: Measures) -> None:
    """Remove the lists of links, and the paid links, that stand within an article."""
    largest = _LARGEST * measures[article].text
    gone = []
    stack = [(child, False) for child in article]
    while stack:
        element, in_grid = stack.pop()
        size = measures[element]
        if not size.links:
            continue
        if size.text <= largest and (
            _is_paid(element) or (not in_grid and _is_link_list(element, size))
        ):
            gone.append(element)
        else:
            grid = _is_grid(element)
            stack.extend((child, grid) for child in element)
    gone.reverse()
    drop_all(gone, measures)


def _is_paid(element: HtmlElement) -> bool:
    return element.tag == "a" and "sponsored" in (element.get("rel") or "")


def _is_link_list(element: HtmlElement, size: Measure) -> bool:
    return element.tag in LINK_LISTS and size.links > _LINK_DENSE * size.text


def _is_grid(element: HtmlElement) -> bool:
    """Tell if this is a table built from `div`s: a cell of it may well be a link."""
    return len(element) >= 4 and len({child.tag for child in element}) == 1


def _is_label(text: str) -> bool:
    """Tell if a text is a word for advertisements, and maybe more behind a colon or the like."""
    words = text.split(None, 1)
    if not words or (words[0].isalpha() and words[0].lower() not in AD_LABELS):
        return False
    found = _FIRST_WORD.fullmatch(text.strip())
    return found is not None and found[1].lower() in AD_LABELS


def drop_advertisements(article: HtmlElement, measures: Measures) -> None:
    """Remove the small boxes that say of themselves, first thing, that they are advertisements."""
    for element in list(article.iter("*")):
        text = element.text
        if not text or not 0 < measures[element].text <= _LABELLED or not _is_label(text):
            continue
        box = element
        for outer in element.iterancestors():
            if (
                outer is article
                or measures[outer].text > _LABELLED
                or box.getprevious() is not None
                or (outer.text or "").strip()
            ):
                break
            box = outer
        if box is not article and measures[box].text <= _LABELLED:
            drop(box, measures)
