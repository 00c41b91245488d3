"""What stands in or beside an article and is none of it: link lists, advertisements, columns."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, cast

from simhash_gate.page.clean import LARGEST
from simhash_gate.page.cut import drop, drop_all
from simhash_gate.page.measure import said_in
from simhash_gate.page.vocabulary import AD_LABELS, HEADINGS, LINK_LISTS, SIDES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.html import HtmlElement

    from simhash_gate.page.measure import Measure, Measures

MANY_LINKS = 10
"""More links than this are no list of related pages, but what a page is about."""

_LINK_DENSE = 0.8
_INDEX = 0.15  # of an article's text: less is no index, however many links
_BYLINE = 60  # characters beside a headline, and their share of the text below: more is an article
_BYLINE_SHARE = 0.1
_LABELLED = 200  # characters: what is longer is no advertisement, whatever it begins with
_BOXES = ("div", "section", "article", "aside", "header", "figure", "blockquote")
_TIMES_READ = 20
_COPY = 60  # characters: what is shorter may well be said again
_FIRST_WORD = re.compile(r"\W*([^\s:|·–—.…\])-]+)")
_BEHIND_LABEL = re.compile(r"\s*(?:[:|·–—.…\])-].*)?", re.S)


def drop_link_lists(article: HtmlElement, measures: Measures) -> None:
    """Remove the lists of links, and the paid links, that stand within an article.

    A list of more than `MANY_LINKS` stays, if it says enough: those are the entries of an index.
    """
    largest = LARGEST * measures[article].text
    least = _INDEX * measures[article].text
    gone = []
    grids = {article: False}
    elements = article.iter("a", *LINK_LISTS)
    for element in elements:
        size = measures[element]
        if not size.links or element is article:
            continue
        links = links_in_list(element, size)
        if links <= MANY_LINKS or size.text < least:
            if size.text > largest or not (
                _is_paid(element) or (links and not _in_grid(element, grids))
            ):
                continue
            gone.append(element)
        within = sum(1 for _ in element.iter("a", *LINK_LISTS)) - 1
        next(islice(elements, within, within), None)
    drop_all(gone, measures)


def _is_paid(element: HtmlElement) -> bool:
    return element.tag == "a" and "sponsored" in (element.get("rel") or "")


def links_in_list(element: HtmlElement, size: Measure) -> int:
    """Return how many links there are in a list of links; 0 if an element is none."""
    if element.tag not in LINK_LISTS or size.links <= _LINK_DENSE * size.text:
        return 0
    return sum(1 for _ in element.iter("a"))


def is_beside(element: HtmlElement, headline: set[HtmlElement], measures: Measures) -> bool:
    """Tell if an element is not all of the article by what the headline stands in.

    It is above the headline, a column, below an index, or beside a box with a text of its own.
    """
    if (
        element.tag == "aside"
        or element.get("role") == "complementary"
        or not SIDES.isdisjoint(f"{element.get('class')} {element.get('id')}".split())
        or not headline.isdisjoint(element.itersiblings())
    ):
        return True
    for above in element.itersiblings(preceding=True):
        size = measures[above]
        if above in headline:
            own = size.text - sum(measures[h].text for h in above.iter(*HEADINGS))
            return own > max(_BYLINE, _BYLINE_SHARE * measures[element].text)
        if links_in_list(above, size) > MANY_LINKS:
            return True
    return False


def drop_copies(article: HtmlElement, measures: Measures) -> None:
    """Remove the boxes that say what another one said before: quotes, copies for other screens.

    Code and tables repeat lines for a reason, and so do paragraphs.
    """
    alike: dict[tuple[int, int], list[HtmlElement]] = defaultdict(list)
    for box in article.iter(*_BOXES):
        own = measures[box]
        if own.text >= _COPY:
            alike[own.text, own.links].append(box)
    to_read = _TIMES_READ * measures[article].text  # boxes in boxes are read again for each
    copies: set[HtmlElement] = set()
    for (size, _), boxes in alike.items():
        said: dict[str, HtmlElement] = {}
        to_read -= size * len(boxes)
        for box in boxes if len(boxes) > 1 and to_read > 0 else ():
            text = said_in(box)
            first = said.get(text)
            if first is None or first in box.iterancestors():
                said[text] = box
            elif not _has_rows(box):
                copies.add(box)
    if copies:
        found = [box for box in article.iter(*_BOXES) if box in copies]
        drop_all([box for box in found if copies.isdisjoint(box.iterancestors())], measures)


def _has_rows(box: HtmlElement) -> bool:
    return next(box.iter("pre", "code", "table"), None) is not None


def _in_grid(element: HtmlElement, grids: dict[HtmlElement, bool]) -> bool:
    """Tell if this stands in a table built from `div`s: a cell of it may well be a link."""
    outer = cast("HtmlElement", element.getparent())
    if outer not in grids:
        grids[outer] = len(outer) >= 4 and len({child.tag for child in outer}) == 1
    return grids[outer]


def _is_label(text: str) -> bool:
    """Tell if a text is a word for advertisements, and maybe more behind a colon or the like."""
    found = _FIRST_WORD.match(text)
    return (
        found is not None
        and found[1].lower() in AD_LABELS
        and _BEHIND_LABEL.fullmatch(text, found.end()) is not None
    )


def drop_advertisements(
    article: HtmlElement, measures: Measures, labels: Iterable[HtmlElement]
) -> None:
    """Remove the small boxes that say of themselves, first thing, that they are advertisements."""
    labels = {e for e in labels if e.text and _is_label(e.text) and measures[e].text <= _LABELLED}
    for element in [e for e in article.iter("*") if e in labels] if labels else ():
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
