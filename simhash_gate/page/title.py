"""The name of a page: its headline, and what its `<title>` says without the site's name."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from simhash_gate.page.blocks import blocks
from simhash_gate.page.flow import flow
from simhash_gate.page.vocabulary import INLINE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

_SEPARATOR = re.compile(r"\s+[-–—|·•»«:/]+\s+|\s*[|»«]\s*")
_REMARK = re.compile(r"\s*\([^()]*\)$")
HEADLINES = 20
"""Headings that are read for a headline: a page may have thousands."""

_WORD = re.compile(r"\w+")


class Titles(NamedTuple):
    """The best title of a page, and the words of each form in which its head gives it.

    `whole` is what `<title>` says, site and all, or else `og:title`.
    """

    title: str
    variants: frozenset[tuple[str, ...]]
    whole: str = ""


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a title as they are compared: case and punctuation tell nothing."""
    return tuple(_WORD.findall(text.casefold()))


def letters(text: str) -> int:
    """Return how long a text is, in letters: a wide character of Chinese says as much as three."""
    return sum(3 if east_asian_width(character) in "WF" else 1 for character in text)


def text_of(heading: HtmlElement) -> str:
    """Return the text of a heading, in one line."""
    if not len(heading):
        return " ".join((heading.text or "").split())
    if all(element.tag in INLINE for element in heading.iterdescendants()):
        return " ".join("".join(heading.itertext()).split())
    return " ".join(block.text for block in blocks(flow(heading)))


def says_title(heading: HtmlElement, titles: Titles) -> bool:
    """Tell if a heading is what the page's head says."""
    return words_of(text_of(heading)) in titles.variants


def headlines_in(element: HtmlElement, titles: Titles) -> Iterator[HtmlElement]:
    """Yield the headings within an element that say the title; of very many, the first are read."""
    headings = islice(element.iter("h1", "h2"), HEADLINES)
    return (heading for heading in headings if says_title(heading, titles))


def headline_in(element: HtmlElement, titles: Titles) -> HtmlElement | None:
    """Return the first heading within an element that says the title, if any."""
    return next(headlines_in(element, titles), None)


def find_titles(root: HtmlElement) -> Titles:
    """Read the titles of an uncleaned tree; an `h1` that `<title>` repeats is best."""
    whole = [
        text
        for text in (
            " ".join((next((title.text for title in root.iter("title")), None) or "").split()),
            *(
                " ".join((meta.get("content") or "").split())
                for meta in root.iter("meta")
                if meta.get("property") == "og:title"
            ),
        )
        if text
    ]
    parts = {part for text in whole for part in (text, *_SEPARATOR.split(text))}
    parts |= {_REMARK.sub("", part) for part in parts if part.endswith(")")}
    variants = frozenset(filter(None, map(words_of, parts)))
    headlines = [text_of(h1) for h1 in islice(root.iter("h1"), HEADLINES)]
    for headline in headlines:
        if words_of(headline) in variants:
            return Titles(headline, variants, whole[0])
    if whole:
        # og:title leaves the site out; of `<title>`, the longest part is the page's own.
        title = whole[1] if len(whole) > 1 else max(_SEPARATOR.split(whole[0]), key=letters)
        return Titles(title, variants, whole[0])
    return Titles(next(filter(None, headlines), ""), variants)
