"""The name of a page: its headline, and what its `<title>` says without the site's part.

The site's part is known by what the site calls itself, by its domain, and by its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple
from unicodedata import east_asian_width
from urllib.parse import unquote

from lxml.etree import strip_elements
from lxml.html import HtmlElement

from simhash_gate.page.address import host_and_path, is_front
from simhash_gate.page.facts import Facts
from simhash_gate.page.survey import UNSEEN, lines_of
from simhash_gate.page.vocabulary import INLINE, INVISIBLE

SEPARATOR = re.compile(r"(?<!\s)\s+[-–—|·•»«:/]+\s+|(?:(?<!\s)\s+)?[|»«]\s*")
"""What stands between the parts of a title."""

_WORD = re.compile(r"\w+")
_MAY_BE_WIDE = re.compile("[\u1100-\U0010ffff]")
_JOINTS = re.compile(r"[-_\s]+")
_MOST_SITES = 50
_LEAST = 4  # letters: a shorter name is in many a word
_TIMES = 3  # as long as the name within: with more words it says something else
_MORE = 6


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a title as they are compared: case and punctuation tell nothing."""
    return tuple(_WORD.findall(text.casefold()))


class SiteNames:
    """A site by its own names and its host; `address` is what a page's own address ends with."""

    def __init__(self, names: Iterable[str], url: str) -> None:
        host, path = host_and_path(url)
        self.is_front = is_front(url)
        self.address = " ".join(_JOINTS.split(unquote(path.rstrip("/").rpartition("/")[2]))).strip()
        known = islice(names, _MOST_SITES)
        self._names = {joined for name in known if (joined := _joined(name[:_LONGEST_HEADING]))}
        label, labels = _names_of(host)
        self._all_names = self._names | labels
        self._names |= label

    def is_named(self, text: str) -> bool:
        """Tell if a text is a name of the site, and nothing else."""
        return not {joined := _joined(text), joined.removeprefix("the")}.isdisjoint(self._all_names)

    def others(self, names: Iterable[str]) -> list[str]:
        """Return those of some names that are not the site's, which on its front page all are."""
        return [name for name in names if self.is_front or not self.is_named(name)]

    def is_ending(self, part: str) -> bool:
        """Tell if a part of a title that stands last is the site's: a name, or much of one."""
        joined = _joined(part)
        if not joined or joined in self._all_names:
            return True
        return any(
            (len(name) >= _LEAST and name in joined and len(joined) <= _TIMES * len(name) + _MORE)
            or (len(joined) >= _LEAST and joined in name)
            for name in self._names
        )

    def remove_from(self, title: str) -> str:
        """Return a title without the parts of the site, at its end or else at its start."""
        edges = [0, *(edge for found in SEPARATOR.finditer(title) for edge in found.span())]
        edges.append(len(title))
        parts = [slice(*edges[i : i + 2]) for i in range(0, len(edges), 2)]
        first, last = 0, len(parts) - 1
        while last and self.is_ending(title[parts[last]]):
            last -= 1
        if last == len(parts) - 1 and last and self.is_named(title[parts[0]]):
            first = 1
        return title[parts[first].start : parts[last].stop].strip()


def _joined(text: str) -> str:
    return "".join(words_of(text))


@lru_cache(maxsize=256)
def _names_of(host: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a title may call a host: what was registered, and any part, or all of it."""
    labels = [label for label in host.removeprefix("www.").split(".") if label]
    if len(labels) < 2 or labels[-1].isdigit():
        return frozenset(), frozenset()
    label = _joined(labels[-2])
    names = {label, _joined(".".join(labels)), label + _joined(labels[-1])}
    return frozenset(names), frozenset({*names, *map(_joined, labels[:-1])})


_REMARK = re.compile(r"\([^()]*\)$")
HEADLINES = 20
"""Headings that are read for a headline: a page may have thousands."""

_MOST_NAMES = 3  # headings: more are those of a list
_FIRST_LINKS = 30
_END = re.compile("[?#]")
_FRONT = frozenset({"", "/", "/index.html", "/index.php"})
_LONGEST_NAME = 80
_SIMILAR = 0.4  # share of words: a headline is edited for those who search
_VERY_SIMILAR = 0.6  # where it may be a slogan as well
_STEM = 5  # letters
_MOST_ELEMENTS = 200  # elements: what has more within it names nothing
_LONGEST_HEADING = 5_000  # characters, white space among them


class Titles(NamedTuple):
    """The best title of a page, and the words of each form in which its head gives it.

    `whole` is what `<title>` says, site and all, or else `og:title`. `names` are what the page
    calls itself in all places, without the site's part; `headline` is the first `h1` among them,
    best one that is also in `own`: the words of what data, the address or the first part of a title
    say. `site` is the name of its site.
    """

    title: str
    variants: frozenset[tuple[str, ...]]
    whole: str = ""
    headline: str = ""
    names: tuple[str, ...] = ()
    own: frozenset[tuple[str, ...]] = frozenset()
    site: str | None = None


def letters(text: str) -> int:
    """Return how long a text is, in letters: a wide character of Chinese says as much as three."""
    wide = _MAY_BE_WIDE.findall(text)
    return len(text) + 2 * sum(east_asian_width(character) in "WF" for character in wide)


def text_of(heading: HtmlElement) -> str:
    """Return the text of a heading, in one line; "" of one that holds much of a page."""
    if not len(heading):
        return " ".join((heading.text or "").split())
    more = islice(heading.iterdescendants(), _MOST_ELEMENTS, None)
    if next(more, None) is not None or sum(map(len, heading.itertext())) > _LONGEST_HEADING:
        return ""
    if all(element.tag in INLINE for element in heading.iterdescendants()):
        return " ".join("".join(heading.itertext()).split())
    return " ".join(lines_of(heading))


def says_title(heading: HtmlElement, titles: Titles) -> bool:
    """Tell if a heading is what the page's head says."""
    return words_of(text_of(heading)) in titles.variants


def headlines_in(element: HtmlElement, titles: Titles) -> Iterator[HtmlElement]:
    """Yield the headings within an element that say the title; of very many, the first are read."""
    headings = islice(element.iter("h1", "h2"), HEADLINES)
    return (heading for heading in headings if says_title(heading, titles))


def find_titles(root: HtmlElement, url: str, facts: Facts) -> Titles:
    """Read the titles of an uncleaned tree.

    The name of a page is the headline on which its head agrees, or what its head says without the
    name of the site.
    """
    by_tag = facts.elements.by_tag
    outside = (t.text for t in by_tag["title"] if next(t.iterancestors("svg"), None) is None)
    head = UNSEEN.sub("", next(outside, None) or "")
    whole = [text for text in (" ".join(head.split()), facts.meta.get("og:title")) if text]
    parts = {part for text in whole for part in (text, *SEPARATOR.split(text))}
    parts |= {_REMARK.sub("", part) for part in parts if part.endswith(")")}
    variants = frozenset(filter(None, map(words_of, parts)))
    site = SiteNames((*facts.sites, *_home_links(root, url)), url)
    texts = [_visible_text(h1) for h1 in by_tag["h1"][:HEADLINES]]
    headlines = [site.remove_from(headline) for headline in texts if headline]
    heads = list(map(site.remove_from, (*whole, *facts.names)))
    names, rivals = site.others(heads), site.others(headlines)
    title = _name(names, rivals, variants, site, facts) or next(iter(heads or headlines), "")
    if len(rivals) > _MOST_NAMES:
        rivals = [name for name in rivals if words_of(name) in variants][:1]
    firsts = [SEPARATOR.split(site.remove_from(text))[0] for text in whole]
    own = frozenset(filter(None, map(words_of, (*facts.names, *firsts, site.address))))
    headline = max(rivals, key=lambda name: words_of(name) in own, default="")
    others = [name for name in rivals if name != headline]
    all_names = tuple(dict.fromkeys((*others, *names)))
    rest = whole[0].replace(site.remove_from(whole[0]), "", 1) if whole else ""
    name = next(filter(None, (*facts.sites, *SEPARATOR.split(rest)[::-1])), None)
    return Titles(title, variants, whole[0] if whole else "", headline, all_names, own, name)


def _home_links(root: HtmlElement, url: str) -> Iterator[str]:
    """Yield what the first links to the site's front page say: its name, most of the time."""
    origin = "/".join(url.split("/", 3)[:3])
    starts = ("/?", "/#", "/index.", origin) if origin else ("/?", "/#", "/index.")
    for link in islice(root.iter("a"), _FIRST_LINKS):
        href = link.get("href") or ""
        if href == "/" or (
            href.startswith(starts) and _END.split(href, 1)[0].removeprefix(origin) in _FRONT
        ):
            images = (image.get("alt", "") for image in link.iter("img"))
            name = "".join(link.itertext()).strip() or next(images, "")
            if len(name) <= _LONGEST_NAME:
                yield name


def _visible_text(heading: HtmlElement) -> str:
    text = text_of(heading)
    if text and next(heading.iterdescendants(*INVISIBLE), None) is not None:
        heading = deepcopy(heading)
        strip_elements(heading, *INVISIBLE, with_tail=False)
        text = text_of(heading)
    return UNSEEN.sub("", text)


def _name(
    names: list[str],
    rivals: list[str],
    variants: frozenset[tuple[str, ...]],
    site: SiteNames,
    facts: Facts,
) -> str:
    first_parts = {words_of(part) for text in names for part in (text, SEPARATOR.split(text)[0])}
    agreed = [h for h in rivals if words_of(h) in first_parts] or [
        h for h in rivals if words_of(h) in variants and not site.is_ending(h)
    ]
    if agreed:
        return agreed[0]
    if names:
        witnesses = [*names, site.address] if len(words_of(site.address)) > 1 else names
        similarity, most_similar = _most_similar(rivals, [_stems(text) for text in witnesses])
        if similarity >= (_SIMILAR if facts.is_story else _VERY_SIMILAR):
            return most_similar
        return _shortest(names)
    return next(iter(rivals), "")


def _shortest(names: list[str]) -> str:
    """Return what the first of some titles says, without what others leave out before it."""
    title, *others = names
    words = words_of(title)
    for other in others:
        shorter = words_of(other)
        if shorter and len(shorter) < len(words) and words[-len(shorter) :] == shorter:
            return other
    return SEPARATOR.split(title)[0]


def _most_similar(rivals: Iterable[str], witnesses: list[set[str]]) -> tuple[float, str]:
    """Return the text that is most like what another says, by Dice, and how much it is."""
    similarities = (
        (2 * len(stems & witness) / (len(stems) + len(witness)), rival)
        for rival in rivals
        if (stems := _stems(rival))
        for witness in witnesses
    )
    return max(similarities, key=itemgetter(0), default=(0.0, ""))


def _stems(text: str) -> set[str]:
    """Return how the words of a text begin, without the small ones: no language is known here."""
    words = words_of(text)
    return {word[:_STEM] for word in words if len(word) > 2 or word.isdigit()} or set(words)
