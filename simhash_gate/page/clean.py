"""Takes the chrome off a page's tree, in place: what stands around articles, not what holds one."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.page.blocks import Block, blocks
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


class Measure:
    """Characters of text in an element, white space not counted, and how many are in links."""

    __slots__ = ("links", "text")

    def __init__(self) -> None:
        self.text = 0
        self.links = 0

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
    for element in list(root.iter(*INVISIBLE)):
        if element.tag != "input" or not _is_task(element):
            drop(element)
    for cell in [td for td in root.iter("td") if _is_gutter(td)]:
        drop(cell)
    measures = measure(root)
    body = root.find("body")
    body = root if body is None else body
    visible = blocks(body) if whole else []
    _drop_chrome(root, measures)
    return Cleaned(root, body, measures, is_listing(measures[body]), titles, visible)


def is_listing(size: Measure) -> bool:
    """Tell if most of the text is links to other pages."""
    return size.links > _LISTING * size.text


def _is_gutter(cell: HtmlElement) -> bool:
    """Tell if a table cell holds nothing but the line numbers of the code beside it."""
    code = cell.getnext()
    return (
        code is not None
        and cell.find(".//pre") is not None
        and code.find(".//pre") is not None
        and all(line.isdigit() for line in cell.text_content().split())
    )


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


def measure(root: HtmlElement) -> Measures:
    """Measure every element of a tree."""
    elements = list(root.iter("*"))
    measures: Measures = {element: Measure() for element in elements}
    # In reverse document order, every element comes after all that is in it.
    for element in reversed(elements):
        own = measures[element]
        if element.text:
            own.text += sum(map(len, element.text.split()))
        if element.tag == "a":
            own.links = own.text
        parent = element.getparent()
        if parent is not None and parent in measures:
            outer = measures[parent]
            outer.text += own.text
            outer.links += own.links
            if element.tail:
                outer.text += sum(map(len, element.tail.split()))
    return measures


def _drop_chrome(root: HtmlElement, measures: Measures) -> None:
    large = []
    largest = _LARGEST * measures[root].text
    stack = [(root, False)]
    while stack:
        element, inside = stack.pop()
        if _is_chrome(element, inside):
            if measures[element].text <= largest:
                drop(element, measures)
                continue
            large.append(element)
        inside = inside or element.tag in ("article", "main")
        stack.extend((child, inside) for child in element)
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


def _is_chrome(element: HtmlElement, inside_article: bool) -> bool:
    tag = element.tag
    if tag in ("html", "body", "main"):
        return False
    if tag in ("header", "footer"):
        return not inside_article
    if tag in CHROME_TAGS or ("-" in tag and speaks_of_chrome(tag)):
        return True
    get = element.get
    names = get("class")
    if names and speaks_of_chrome(names):
        return True
    name = get("id")
    if name and speaks_of_chrome(name):
        return True
    if get("role") in CHROME_ROLES or get("hidden") is not None or get("itemprop") == "author":
        return True
    style = get("style")
    return bool(style) and _HIDDEN.search(style) is not None


@lru_cache(maxsize=4096)
def speaks_of_chrome(names: str) -> bool:
    """Tell if a class or id names chrome, by whole words: `nav-bar` does, `canvas` does not."""
    return any(_names_chrome(name_words(name)) for name in names.split())


def name_words(name: str) -> list[str]:
    """Return the words of one class or id; a piece with digits inside is a hash, and none."""
    pieces = (piece.rstrip("0123456789") for piece in _PIECE.split(name))
    return [word.lower() for piece in pieces if piece.isalpha() for word in _WORD.findall(piece)]


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
    stack = [(child, False) for child in article]
    while stack:
        element, in_grid = stack.pop()
        size = measures[element]
        if not size.links:
            continue
        if size.text <= largest and (
            _is_paid(element) or (not in_grid and _is_link_list(element, size))
        ):
            drop(element, measures)
        else:
            grid = _is_grid(element)
            stack.extend((child, grid) for child in element)


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
        if not label or not _AD_LABEL.fullmatch(label.strip()):
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
