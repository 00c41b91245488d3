"""Knows when a site was redesigned: most of its pages say the same in another structure.

A page counts if its structure is far from that of its last version, and it is the same page: by its
title, or by its text. An error page in its place is no redesign. What is told apart, too:

- a banner that comes and goes moves a structure less than that;
- with several templates at the same time, as in a test of two, pages leave each for the other;
- a few pages with another template are few.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.proportion import wilson
from simhash_gate.fingerprints.hamming import hamming_distance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.history.versions import Version
    from simhash_gate.page import Page

FAR = 12
"""Structures that differ in more bits are those of two templates.

Of pages that say the same, 98 % are within that at the next visit, pages of two sites one in 1,000.
"""
SHARE = 0.6
"""Of the pages that were visited again, surely more than this have left their template."""
_SURE = 0.999
LEAST = 17
"""With fewer pages nothing is sure, even if all of them have another structure."""
WINDOW = 60
"""The pages of a domain that are looked at: those that were visited last."""
MOST_SITES = 1_000
"""Domains whose pages are at hand: those that were visited last."""

_ALIKE = 16  # bits between texts that are one, though another template may add to it
_EXAMPLES = 2
_FEW = 5  # words: a page with less is compared with nothing
_HALF = 0.5


class Redesign(NamedTuple):
    """A redesign of a domain: `changed` of `visited` pages have a structure of another template.

    `words` are the median of the changed pages, at the last visit and now. `empty` is how many of
    them have next to no text now, and `collapsed` how many read like another page. `examples` are
    some of their addresses.
    """

    domain: str
    visited: int
    changed: int
    words: tuple[int, int]
    empty: int
    collapsed: int
    examples: tuple[str, ...]

    @property
    def is_misread(self) -> bool:
        """Whether what is read of many of its pages is no longer their article."""
        before, now = self.words
        lost = max(self.empty, self.collapsed) > _HALF * self.changed
        return lost or not _HALF * before <= now <= before / _HALF


class Site(NamedTuple):
    """A domain in a scope."""

    scope: str
    domain: str


class Again(NamedTuple):
    """A page that was visited again at a time; `before` is its last version.

    `collapsed` tells that it reads like another page now.
    """

    before: Version
    page: Page
    at: float
    url: str = ""
    collapsed: bool = False


class _Visit(NamedTuple):
    """One page that was visited again: its structure and words then and now, and if it is far."""

    url: str
    was: int
    now: int
    words: tuple[int, int]
    far: bool
    collapsed: bool


class _Pages:
    """The pages of a domain that were visited last. `told` is when its last redesign was told."""

    def __init__(self) -> None:
        self.told: float | None = None
        self.visits: deque[_Visit] = deque(maxlen=WINDOW)

    def moved(self) -> list[_Visit]:
        """Return the pages whose template has gone, for one that no page has left.

        Each has another structure now. Structures that are as many as pages are no template.
        """
        far = [visit for visit in self.visits if visit.far]
        if not _is_most(len(far), len(self.visits)):
            return []
        left = _kinds(visit.was for visit in far)
        moved = [visit for visit in far if not _is_near(visit.now, left)]
        return moved if 2 * len(_kinds(visit.now for visit in moved)) <= len(moved) else []


class Redesigns:
    """Tells each redesign of a domain once, from the pages that one crawl visits again."""

    def __init__(self) -> None:
        self._sites: OrderedDict[Site, _Pages] = OrderedDict()

    def recall(self, site: Site, told: float) -> None:
        """Take over when the last redesign of a site was told (Unix time)."""
        pages = self._pages(site)
        if pages.told is None or told > pages.told:
            pages.told = told
            pages.visits.clear()

    def note(self, site: Site, visit: Again) -> Redesign | None:
        """Take in a page of a site; return the redesign that it completes.

        What was last seen before the last redesign was told has nothing new to say.
        """
        before, page = visit.before, visit.page
        pages = self._pages(site)
        if not before.structure or not page.structure:
            return None
        if pages.told is not None and before.time < pages.told:
            return None
        distance = hamming_distance(before.structure, page.structure)
        far = distance > FAR and is_same_page(before, page)
        words = before.words, page.words
        structures = before.structure, page.structure
        pages.visits.append(_Visit(visit.url, *structures, words, far, visit.collapsed))
        if not far:
            return None
        moved = pages.moved()
        visited = len(pages.visits)
        if not _is_most(len(moved), visited):
            return None
        self.recall(site, visit.at)
        return _redesign(site.domain, visited, moved)

    def _pages(self, site: Site) -> _Pages:
        pages = self._sites.setdefault(site, _Pages())
        self._sites.move_to_end(site)
        if len(self._sites) > MOST_SITES:
            self._sites.popitem(last=False)
        return pages


def is_same_page(before: Version, page: Page) -> bool:
    """Tell if a page is still the one that it was, however it is built, and however it is read."""
    if before.title and before.title.casefold() == page.title.casefold():
        return True
    if page.fingerprint is None:
        return False
    return hamming_distance(before.fingerprint, page.fingerprint) <= _ALIKE


def _is_most(part: int, whole: int) -> bool:
    return whole >= LEAST and wilson(part, whole, _SURE).low > SHARE


def _kinds(structures: Iterable[int]) -> list[int]:
    """Return one structure of each template."""
    found: list[int] = []
    for structure in structures:
        if not _is_near(structure, found):
            found.append(structure)
    return found


def _is_near(structure: int, others: Iterable[int]) -> bool:
    return any(hamming_distance(structure, other) <= FAR for other in others)


def _redesign(domain: str, visited: int, moved: list[_Visit]) -> Redesign:
    before, now = zip(*(visit.words for visit in moved), strict=True)
    return Redesign(
        domain,
        visited,
        len(moved),
        (round(median(before)), round(median(now))),
        sum(words < _FEW for words in now),
        sum(visit.collapsed for visit in moved),
        tuple(visit.url for visit in moved[-_EXAMPLES:]),
    )
