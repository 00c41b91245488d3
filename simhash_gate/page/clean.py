"""Takes the chrome off a page's tree, in place: what stands around articles, not what holds one."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

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
    OVERLAY_TOKENS,
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
_AD_LABEL = re.compile(rf"\W*(?:{'|'.join(sorted(AD_LABELS))})\s*(?:[:|·–—.…\])-].*)?", re.I | re.S)
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)

_GONE = "gone"  # the tag of what is about to be


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


class Cleaned(NamedTuple):
    """A page without its chrome: its tree, the size of every element in it, its titles."""

    root: HtmlElement
    body: HtmlElement
    measures: Measures
    listing: bool
    titles: Titles


def clean(root: HtmlElement) -> Cleaned:
    """Remove the chrome from a page's tree."""
    titles = find_titles(root)
    tasks = [box for box in root.iter("input") if _is_task(box)]
    for box in tasks:
        box.tag = "task"
    etree.strip_elements(root, *INVISIBLE, with_tail=False)
    for box in tasks:
        box.tag = "input"
    for cell in _gutters(root):
        drop(cell)
    measures = measure(root)
    _drop_chrome(root, measures)
    body = root.find("body")
    body = root if body is None else body
    return Cleaned(root, body, measures, is_listing(measures[body]), titles)


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
    parent = element.getparent()
    if parent is None:
        return
    if measures is not None:
        gone = measures[element]
        for ancestor in element.iterancestors():
            measures[ancestor].text -= gone.text
            measures[ancestor].links -= gone.links
    if element.tail:
        before = element.getprevious()
        holder, side = (parent, "text") if before is None else (before, "tail")
        text = (getattr(holder, side) or "") + element.tail
        try:
            setattr(holder, side, text)
        except ValueError:  # `&#1;` and its like
            setattr(holder, side, printable(text))
    parent.remove(element)


def drop_all(root: HtmlElement, gone: Collection[HtmlElement], measures: Measures) -> None:
    """Drop elements, none of them within another, at a cost that grows with the tree alone."""
    if not gone:
        return
    less: dict[HtmlElement | None, Measure] = defaultdict(Measure)
    for element in gone:
        less[element.getparent()].add(measures[element])
        element.tag = _GONE
    etree.strip_elements(root, _GONE, with_tail=False)
    for element in reversed(measures):
        if element in less:
            own, gone_inside = measures[element], less[element]
            own.text -= gone_inside.text
            own.links -= gone_inside.links
            less[element.getparent()].add(gone_inside)


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
            large.insert(sum(outer in large for outer in element.iterancestors()), element)
    drop_all(root, gone, measures)
    # A page of few words under a big menu: it is larger than the article, and still a menu.
    for element in large:
        size = measures[element]
        menu = size.links > 0.5 * size.text
        if (menu or _is_overlay(element)) and measures[root].text - size.text >= _SOME_TEXT:
            drop(element, measures)


def _is_overlay(element: HtmlElement) -> bool:
    names = f"{element.get('class', '')} {element.get('id', '')}"
    return any(not OVERLAY_TOKENS.isdisjoint(name_words(name)) for name in names.split())


def _is_chrome(element: HtmlElement) -> bool:
    tag = element.tag
    if tag in ("html", "body", "main"):
        return False
    if tag in ("header", "footer"):
        return next(element.iterancestors("article", "main"), None) is None
    if tag in CHROME_TAGS or ("-" in tag and speaks_of_chrome(tag)):
        return True
    for name, value in element.items():  # noqa: SIM110 - called for every element: any() costs more
        if name in _TELLING and _TELLING[name](value):
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
    drop_all(article, gone, measures)


def _is_paid(element: HtmlElement) -> bool:
    return element.tag == "a" and "sponsored" in (element.get("rel") or "")


def _is_link_list(element: HtmlElement, size: Measure) -> bool:
    return element.tag in LINK_LISTS and size.links > _LINK_DENSE * size.text


def _is_grid(element: HtmlElement) -> bool:
    """Tell if this is a table built from `div`s: a cell of it may well be a link."""
    return len(element) >= 4 and len({child.tag for child in element}) == 1


def drop_advertisements(article: HtmlElement, measures: Measures) -> None:
    """Remove the small boxes that say of themselves, first thing, that they are advertisements."""
    for element in list(article.iter("*")):
        label = element.text
        if not label or measures[element].text > _LABELLED:
            continue
        if not _AD_LABEL.fullmatch(label.strip()):
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
