"""Posts of a thread: boxes that are called comments, and are what a page is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simhash_gate.page.title import letters, says_title

if TYPE_CHECKING:
    from collections.abc import Collection

    from lxml.html import HtmlElement

    from simhash_gate.page.title import Titles

_PROSE = 60  # letters: a paragraph


def classes_of_posts(
    classes: Collection[str], chrome: Collection[HtmlElement], root: HtmlElement, titles: Titles
) -> set[str]:
    """Return those of some classes of which all boxes below the headline come before any prose.

    Comments follow an article, and advertisements stand within; posts are all that there is.
    """
    posts: set[str] = set()
    others: set[str] = set()
    outer = set(chrome)
    inside: set[HtmlElement | None] = set()
    below = prose = False
    for element in root.iter("*"):
        if element.getparent() in inside:
            inside.add(element)
            continue
        if element in outer:
            inside.add(element)
            if below:
                (others if prose else posts).add(element.get("class", ""))
        elif not below:
            below = element.tag in ("h1", "h2") and says_title(element, titles)
        elif element.tag != "a":
            prose = prose or _is_prose(element.text)
        prose = prose or (below and _is_prose(element.tail))
    return posts.intersection(classes) - others


def _is_prose(text: str | None) -> bool:
    return text is not None and letters(text.strip()) >= _PROSE
