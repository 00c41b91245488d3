"""Posts of a thread: boxes that are called comments, and are what a page is about."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from simhash_gate.page.names import have_any
from simhash_gate.page.title import letters, says_title
from simhash_gate.page.vocabulary import POST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Collection

    from lxml.html import HtmlElement

    from simhash_gate.page.title import Titles

_PROSE = 60  # letters: a paragraph


@lru_cache(maxsize=16_384)  # the classes of some dozens of sites
def post_name(names: str) -> str:
    """Return the first of the names in a class that says comment: all posts have it, if any."""
    return next((name for name in names.split() if have_any(name, POST_TOKENS)), "")


def names_of_posts(
    names: Collection[str], chrome: Collection[HtmlElement], root: HtmlElement, titles: Titles
) -> set[str]:
    """Return those of some names of which all boxes below the headline come before any prose.

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
                (others if prose else posts).add(post_name(element.get("class", "")))
        elif not below:
            below = element.tag in ("h1", "h2") and says_title(element, titles)
        elif element.tag != "a":
            prose = prose or _is_prose(element.text)
        prose = prose or (below and _is_prose(element.tail))
    return posts.intersection(names) - others


def _is_prose(text: str | None) -> bool:
    return text is not None and letters(text.strip()) >= _PROSE
