"""The name of a page: its headline, and what its `<title>` says without the site's name."""

from __future__ import annotations

import re
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from lxml.etree import strip_elements

from simhash_gate.page.blocks import blocks
from simhash_gate.page.facts import find_facts
from simhash_gate.page.flow import flow
from simhash_gate.page.site import SEPARATOR, Site, words_of
from simhash_gate.page.vocabulary import INLINE, INVISIBLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.html import HtmlElement

    from simhash_gate.page.facts import Facts

_REMARK = re.compile(r"\s*\([^()]*\)$")
HEADLINES = 20
"""Headings that are read for a headline: a page may have thousands."""

_MOST_NAMES = 3  # headings: more are those of a list
_FIRST_LINKS = 30
_FIRST_TEXTS = 10
_END = re.compile("[?#]")
_FRONT = frozenset({"", "/", "/index.html", "/index.php"})
_LONGEST_NAME = 80
_LIKE = 0.4  # share of words: a headline is edited for those who search
_VERY_LIKE = 0.6  # where it may be a slogan as well
_STEM = 5  # letters


class Titles(NamedTuple):
    """The best title of a page, and the words of each form in which its head gives it.

    `whole` is what `<title>` says, site and all, or else `og:title`. `names` are what the page
    calls itself in all places, without the site's part; `headline` is the first `h1` among them.
    """

    title: str
    variants: frozenset[tuple[str, ...]]
    whole: str = ""
    headline: str = ""
    names: tuple[str, ...] = ()


def letters(text: str) -> int:
    """Return how long a text is, in letters: a wide character of Chinese says as much as three."""
    if text.isascii():
        return len(text)
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


def find_titles(root: HtmlElement, url: str = "", facts: Facts | None = None) -> Titles:
    """Read the titles of an uncleaned tree.

    The name of a page is the headline on which its head agrees, or what its head says without the
    name of the site.
    """
    facts = find_facts(root) if facts is None else facts
    head = next((title.text for title in facts.heads if not _is_drawn(title)), None) or ""
    said = [" ".join(head.split()), facts.meta.get("og:title", "")]
    whole = [text for text in said if text]
    parts = {part for text in whole for part in (text, *SEPARATOR.split(text))}
    parts |= {_REMARK.sub("", part) for part in parts if part.endswith(")")}
    variants = frozenset(filter(None, map(words_of, parts)))
    site = Site((*facts.sites, *_home_links(root, url)), url)
    headlines = [_shown(h1) for h1 in facts.headlines[:HEADLINES]]
    named = [site.taken_off(headline) for headline in headlines if headline]
    title = _name(named, whole, variants, site, facts)
    rivals = [name for name in named if site.is_front or not site.is_named(name)]
    said = [site.taken_off(text) for text in (*whole, *facts.names)]
    names = [name for name in said if site.is_front or not site.is_named(name)]
    if len(rivals) > _MOST_NAMES:
        rivals = [name for name in rivals if words_of(name) in variants][:1]
    return Titles(
        title,
        variants,
        whole[0] if whole else "",
        rivals[0] if rivals else "",
        tuple(dict.fromkeys((*rivals, *names))),
    )


def _is_drawn(title: HtmlElement) -> bool:
    return next(title.iterancestors("svg"), None) is not None


def _home_links(root: HtmlElement, url: str) -> Iterator[str]:
    """Yield what the first links to the site's front page say: its name, most of the time."""
    origin = "/".join(url.split("/", 3)[:3])
    starts = ("/?", "/#", "/index.", origin) if origin else ("/?", "/#", "/index.")
    for link in islice(root.iter("a"), _FIRST_LINKS):
        href = link.get("href") or ""
        if href == "/" or (
            href.startswith(starts) and _END.split(href, 1)[0].removeprefix(origin) in _FRONT
        ):
            said = "".join(islice(link.itertext(), _FIRST_TEXTS)).strip()
            image = None if said else next(link.iter("img"), None)
            said = said or link.get("aria-label") or ""
            if image is not None:
                said = image.get("alt") or said
            if len(said) <= _LONGEST_NAME:
                yield said


def _shown(heading: HtmlElement) -> str:
    if next(heading.iterdescendants(*INVISIBLE), None) is not None:
        heading = deepcopy(heading)
        strip_elements(heading, *INVISIBLE, with_tail=False)
    return text_of(heading)


def _name(
    headlines: list[str],
    whole: list[str],
    variants: frozenset[tuple[str, ...]],
    site: Site,
    facts: Facts,
) -> str:
    own = [
        site.taken_off(text)
        for text in (*whole, facts.meta.get("twitter:title"), *facts.names)
        if text
    ]
    named, own = own, [text for text in own if site.is_front or not site.is_named(text)]
    rivals = [h for h in headlines if site.is_front or not site.is_named(h)]
    firsts = {words_of(part) for text in own for part in (text, SEPARATOR.split(text)[0])}
    for headline in rivals:
        if words_of(headline) in firsts:
            return headline
    for headline in rivals:
        if words_of(headline) in variants and not site.is_ending(headline):
            return headline
    if own:
        witnesses = [*own, site.address] if len(words_of(site.address)) > 1 else own
        likeness, likest = _likest(rivals, [_stems(text) for text in witnesses])
        if likeness >= (_LIKE if facts.is_story else _VERY_LIKE):
            return likest
        return _shortest(own)
    return next(iter(rivals or named or headlines), "")


def _shortest(own: list[str]) -> str:
    """Return what the first of some titles says, without what others leave out before it."""
    title, *others = own
    words = words_of(title)
    for other in others:
        said = words_of(other)
        if said and len(said) < len(words) and words[-len(said) :] == said:
            return other
    return SEPARATOR.split(title)[0]


def _likest(rivals: Iterable[str], witnesses: list[set[str]]) -> tuple[float, str]:
    """Return the text that is most like what another says, by Dice, and how much it is."""
    best = (0.0, "")
    for rival in rivals:
        stems = _stems(rival)
        for said in witnesses:
            likeness = 2 * len(stems & said) / (len(stems) + len(said)) if stems else 0.0
            if likeness > best[0]:
                best = (likeness, rival)
    return best


def _stems(text: str) -> set[str]:
    """Return how the words of a text begin, without the small ones: no language is known here."""
    words = words_of(text)
    return {word[:_STEM] for word in words if len(word) > 2 or word.isdigit()} or set(words)
