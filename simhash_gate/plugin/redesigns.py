"""Says that a site was redesigned: once for a domain, with what is read of it before and now."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.history.notes import note_in, with_note
from simhash_gate.history.redesign import Again, Redesigns, Site
from simhash_gate.plugin.listeners import Listener
from simhash_gate.plugin.recall import Recall
from simhash_gate.plugin.revisits import time_of_visit
from simhash_gate.stores.base import SITE_NOTES, Blob
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from simhash_gate.gate.judge import Gate
    from simhash_gate.history.redesign import Redesign
    from simhash_gate.plugin.listeners import Closing, Crawl, FollowedPage, Judged

logger = logging.getLogger(__name__)

NOTE = "redesign"
"""The key of these notes on a scope: when a redesign of each domain was told, a Unix time."""


class RedesignWatch(Listener):
    """Watches the structure of pages that are visited again.

    When a redesign was told is remembered in the store, so that later crawls don't tell it of the
    pages that they are the first to visit again.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._redesigns = Redesigns()
        self._told = Recall(crawl.store, SITE_NOTES, self._take)
        self._found: list[Redesign] = []

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Take in a page that was visited before."""
        verdict = judged.verdict
        if verdict.page is None or judged.skipped not in ("", "empty"):
            return
        scope = self._crawl.settings.policies.site_of(judged.response.url).scope
        if not self._told.has(scope) or verdict.previous is None:
            return
        site, at = Site(scope, judged.domain), time_of_visit(judged.request)
        url = without_credentials(judged.response.url)
        again = Again(verdict.previous, verdict.page, at, url, verdict.outcome == "duplicate")
        found = self._redesigns.note(site, again)
        if found is not None:
            self._tell(found)
            self._crawl.store.submit(partial(_keep, site=site, at=at))

    async def closed(self, closing: Closing) -> None:
        """Leave what was found to the verdict log."""
        closing.lines += [{"redesign": _as_line(found)} for found in self._found]

    def _take(self, scope: str, notes: bytes) -> None:
        for domain, told in note_in(notes, NOTE).items():
            if isinstance(told, int | float):
                self._redesigns.recall(Site(scope, domain), told)

    def _tell(self, found: Redesign) -> None:
        self._found.append(found)
        self._crawl.crawler.stats.inc_value("simhash_gate/redesigns")
        logger.warning("%s %s", said_of(found), advice_on(found))


def _as_line(found: Redesign) -> dict[str, Any]:
    return {**found._asdict(), "said": said_of(found), "advice": advice_on(found)}


def said_of(found: Redesign) -> str:
    """Return in words what is known of a redesign."""
    before, now = found.words
    read = f"{how_many(before, 'word')} a page before, {now} now (median)"
    if found.empty:
        read += f"; {found.empty} {'has' if found.empty == 1 else 'have'} next to no text now"
    if found.collapsed:
        noun = "reads" if found.collapsed == 1 else "read"
        read += f"; {found.collapsed} {noun} like another page of the site now"
    return (
        f"{found.domain} was redesigned: {found.changed} of the last {found.visited} pages that "
        "were visited again are built in another way than at their last visit, such as "
        f"{', '.join(found.examples)}. What is read of them: {read}."
    )


def advice_on(found: Redesign) -> str:
    """Return what to do about a redesign."""
    return _MISREAD if found.is_misread else _READ


_READ = "Their text is read as before. See that the selectors of your spider still match."
_MISREAD = (
    "What is read of them may not be their text any more: see `simhash-gate fingerprint` on one of "
    f"them, name their article by {PREFIX}EXTRACTOR, and see that the selectors of your spider "
    "still match."
)


def _keep(gate: Gate, *, site: Site, at: float) -> None:
    """Let the store remember when a redesign was told, beside those of other domains."""
    notes = gate.store.get(SITE_NOTES, site.scope)
    told = note_in(notes, NOTE)
    told.pop(site.domain, None)
    gate.store.put(
        Blob(SITE_NOTES, site.scope, "", with_note(notes, NOTE, {**told, site.domain: at}))
    )
