"""Warns of a site that was redesigned: most of its pages say the same in another structure.

A page counts if its structure is far from that of its last version, and it is the same page by its
title or text. A banner moves a structure less; of several templates, pages leave each for another.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.proportion import wilson
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.plugin.learned import LearnedNotes
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener
from simhash_gate.plugin.page_keys import time_of_visit
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simhash_gate.history.versions import Version
    from simhash_gate.page import Page

NOTE = "redesign"
"""The key of these notes on a scope: when a redesign of each domain was told, a Unix time."""
FAR = 12
"""Structures that differ in more bits are those of two templates: 2 % of unchanged pages."""
LEAST, WINDOW, SHARE = 17, 60, 0.6
"""Of so many pages at least, of the last ones, surely more than this share have left a template."""
_SURE, _MOST_SITES = 0.999, 1_000
_ALIKE = 16  # bits between texts that are one, though another template may add to it
_ADVICE = (
    "See that the selectors of your spider still match. If what is read is no longer their text, "
    f"name their article by {PREFIX}EXTRACTOR."
)


class _Visit(NamedTuple):
    """A page that was visited again: its structure and words then and now, and if it is far."""

    url: str
    was: int
    now: int
    words: tuple[int, int]
    far: bool


class SitePages:
    """The pages of a domain that were visited last. `warned_at` is when its last redesign was."""

    def __init__(self) -> None:
        self.warned_at: float | None = None
        self._visits: deque[_Visit] = deque(maxlen=WINDOW)

    def recall(self, at: float) -> None:
        """Take over when a redesign was warned of (Unix time)."""
        if self.warned_at is None or at > self.warned_at:
            self.warned_at = at
            self._visits.clear()

    def redesign(self, before: Version, page: Page, url: str, at: float) -> str:
        """Take in a page and its last version; return in words the redesign it completes, or ""."""
        was, now = before.structure, page.structure
        if not was or not now or (self.warned_at is not None and before.time < self.warned_at):
            return ""
        far = hamming_distance(was, now) > FAR and _is_same(before, page)
        self._visits.append(_Visit(url, was, now, (before.words, page.words), far))
        moved, visited = self._moved() if far else [], len(self._visits)
        if visited < LEAST or wilson(len(moved), visited, _SURE).low <= SHARE:
            return ""
        self.recall(at)
        words = [round(median(visit.words[place] for visit in moved)) for place in (0, 1)]
        return (
            f"{len(moved)} of the last {visited} pages that were visited again are built in another"
            f" way than at their last visit, such as {moved[-2].url}, {moved[-1].url}. What is read"
            f" of them: {how_many(words[0], 'word')} a page before, {words[1]} now (median)."
        )

    def _moved(self) -> list[_Visit]:
        """Return the pages whose template has gone, for one that no page has left.

        Each has another structure now. Structures that are as many as pages are no template.
        """
        far = [visit for visit in self._visits if visit.far]
        left = _templates(visit.was for visit in far)
        moved = [visit for visit in far if _templates([*left, visit.now]) != left]
        return moved if 2 * len(_templates(visit.now for visit in moved)) <= len(moved) else []


class RedesignWatch(Listener):
    """Watches the structure of pages that are visited again; the store knows what was told."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._site = lru_cache(_MOST_SITES)(lambda _: SitePages())
        self._learned = LearnedNotes(crawl.store, NOTE, self._take)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Take in a page that was visited before."""
        read, before = judged.verdict.page, judged.verdict.previous
        if read is None or judged.skipped not in ("", "empty"):
            return
        scope = self._policies.site_of(judged.response.url).scope
        if not self._learned.has(scope) or before is None:
            return
        domain, url = judged.domain, without_credentials(judged.response.url)
        at = time_of_visit(judged.request)
        if found := self._site((scope, domain)).redesign(before, read, url, at):
            self._crawl.note(f"{domain} was redesigned: {found}", _ADVICE, wrong=True)
            self._count("redesigns")
            self._learned.merge(scope, lambda known: known.update({domain: at}))

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for domain, at in notes.items():
            if isinstance(at, int | float):
                self._site((scope, domain)).recall(at)


def _is_same(before: Version, page: Page) -> bool:
    """Tell if a page is still the one that it was, however it is built, and however it is read."""
    if before.title and before.title.casefold() == page.title.casefold():
        return True
    now = page.fingerprint
    return now is not None and hamming_distance(before.fingerprint, now) <= _ALIKE


def _templates(structures: Iterable[int]) -> list[int]:
    """Return one structure of each template."""
    found: list[int] = []
    for structure in structures:
        if not any(hamming_distance(structure, other) <= FAR for other in found):
            found.append(structure)
    return found
