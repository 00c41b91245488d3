"""Threads of a forum: which pages are some, and what stands around each of their posts.

No name tells who wrote a post and when, its counters, its signature. Posts are neighbours of one
kind; what most of them have in the same place, and what never says much, is their frame.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from simhash_gate.page.names import have_any
from simhash_gate.page.vocabulary import FORUMS, HEADINGS, LEAVES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml.html import HtmlElement

    from simhash_gate.page.facts import Facts
    from simhash_gate.page.measure import Measures

_POST = 100  # characters outside of links, on average: less is an entry of a list
_POSTS = 0.5  # of the article's text outside of links, in all posts together
_BODY = 0.5  # of what posts say: the box with more is where they say it
_FRAME = 0.25  # of what posts say, and characters a post: what is less is their frame
_SHORT = 80
_OFTEN = 0.6  # of all posts
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\d:\d\d|\b\d+ ?(?:[hmdwy]|yr|mo)\b")

_Kind = tuple[str, str]


def is_thread(root: HtmlElement, facts: Facts) -> bool:
    """Tell if a page says, to search engines or by its software, that it is a thread of a forum."""
    names = [
        f"{element.get('class', '')} {element.get('id', '')}"
        for element in chain((root,), root.iterchildren("body"))
    ]
    return facts.discusses or any(have_any(said, FORUMS) for said in (*names, *facts.software))


def frames(article: HtmlElement, measures: Measures) -> list[HtmlElement]:
    """Return what stands around the posts of an article, in document order; none if it has none."""
    found = list(_places(_posts(article, measures), measures))
    if not any(map(_are_dated, found)):
        return []
    gone = {box for boxes in found for box in boxes}
    return [element for element in article.iter("*") if element in gone]


def _kinds(elements: Iterable[HtmlElement]) -> dict[_Kind, list[HtmlElement]]:
    """Sort elements by what they are: their tag, and the first name in their class."""
    kinds: dict[_Kind, list[HtmlElement]] = defaultdict(list)
    for element in elements:
        names = element.get("class", "").split()
        kinds[element.tag, names[0] if names else ""].append(element)
    return kinds


def _posts(article: HtmlElement, measures: Measures) -> Sequence[HtmlElement]:
    """Return the neighbours of one kind that together say most of an article, if there are any."""
    least = _POSTS * measures[article].prose
    holder: HtmlElement | None = article
    while holder is not None and measures[holder].prose >= max(least, 1):
        for alike in _kinds(child for child in holder if measures[child].prose).values():
            said = sum(measures[post].prose for post in alike)
            if len(alike) > 1 and said >= max(least, _POST * len(alike)):
                return alike
        holder = max(holder, key=lambda child: measures[child].prose, default=None)
    return []


def _places(posts: Sequence[HtmlElement], measures: Measures) -> Iterator[Sequence[HtmlElement]]:
    """Yield the boxes in each place around what posts say, going down into where they say it."""
    said = sum(measures[post].prose for post in posts)
    while posts and posts[0].tag not in LEAVES:
        body: Sequence[HtmlElement] = []
        for boxes in _kinds(chain.from_iterable(posts)).values():
            own = sum(measures[box].prose for box in boxes)
            if own >= _BODY * said:
                body = boxes
            elif (
                own < min(_FRAME * said, _SHORT * len(boxes))
                and len({box.getparent() for box in boxes}) >= _OFTEN * len(posts)
                and boxes[0].tag not in HEADINGS
            ):
                yield boxes
        posts = body


def _are_dated(boxes: Sequence[HtmlElement]) -> bool:
    return sum(map(_is_dated, boxes)) >= _OFTEN * len(boxes)


def _is_dated(box: HtmlElement) -> bool:
    return next(box.iter("time"), None) is not None or bool(_DATE.search(" ".join(box.itertext())))
