"""Warnings about a site whose pages may be read wrongly, during the crawl.

- Many pages of a domain read alike: the article of a template may not be found.
- A server answers with block pages, or with "not found", in place of pages.
- A selector of the user matches nothing.
- A site was redesigned: most of its pages have the same text in another structure.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median
from typing import Any, NamedTuple

from scrapy import Spider

from simhash_gate.common.proportion import wilson
from simhash_gate.common.urls import end_of, without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.compare.contradictions import same_name
from simhash_gate.compare.sketch import decode
from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.gate.verdict import Verdict
from simhash_gate.history.versions import Version
from simhash_gate.page import Page
from simhash_gate.plugin.features.resend_dropped import send_again, to_send_again
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.page_keys import time_of_visit
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.store_thread import LearnedNotes
from simhash_gate.stores.base import Identity
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

MANY = 5
"""A warning comes when this many pages read alike."""
_MOST_CLUSTERS = 10_000
_MOST_DROPPED = 20  # of one cluster
_SAMPLES = 3
_SHOWN = 200  # characters of the shared text in a warning


@dataclass(slots=True)
class _Cluster:
    """Pages that read alike: the first kept one, names, sample URLs, and ends of paths."""

    first: Identity
    # The garbage collector looks at all sets, but at no dictionary of texts.
    names: dict[str, None]
    samples: dict[str, None]
    ends: dict[str, None] = field(default_factory=dict)
    warned: bool = False


class AlikePages(Listener):
    """Watches for pages of one domain that read alike.

    If they have different names, they pass, and those that were dropped before are fetched again.
    If they have one name, it may be a block page.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._clusters: Bounded[Identity, _Cluster] = Bounded(_MOST_CLUSTERS)

    def opened(self, spider: Spider) -> None:
        """Continue with the clusters of the last part of the job."""
        self._clusters = self._parked.claim("alike", self._clusters)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        verdict = judged.verdict
        match, read = verdict.match, verdict.page
        if match is None or read is None or match.distance > verdict.policy.threshold:
            return
        differs = verdict.differs in ("names", "repeats")
        if not judged.held and (not differs or decode(read.sketch).offered):
            return  # products may share a description
        kept = match.record
        cluster = self._clusters.get(kept.identity) or _Cluster(
            kept.identity, {kept.title: None}, {kept.url: None}
        )
        self._clusters.put(kept.identity, cluster, 1)
        if verdict.record is not None:
            self._clusters.put(verdict.record.identity, cluster, 1)
        if len(cluster.samples) < _SAMPLES:
            cluster.samples[without_credentials(judged.request.url)] = None
        if judged.held:
            if len(cluster.ends) < MANY:
                cluster.ends[end_of(judged.request.url)] = None
            if not cluster.warned and not _of_one_name(verdict):
                dropped = Parked(("alike", cluster.first), to_send_again(judged))
                self._parked.add(dropped, _MOST_DROPPED)
        elif len(cluster.names) < MANY:
            cluster.names[verdict.title] = None
        if not cluster.warned and max(len(cluster.names), len(cluster.ends)) >= MANY:
            cluster.warned = True
            self._tell(judged.domain, cluster, verdict)

    def _tell(self, domain: str, cluster: _Cluster, verdict: Verdict) -> None:
        """Warn of a domain once. Fetch dropped pages again if their names differ."""
        self._count("collapses")
        named = len(cluster.names) >= MANY
        for parked in self._parked.take(("alike", cluster.first), _MANY_NAMES if named else ""):
            if named:
                send_again(self._crawl, parked.request, _MANY_NAMES)
        if not self._once(domain):
            return
        text = " ".join(verdict.markdown.split())
        logger.warning(
            _NAMED if named else _UNNAMED,
            domain,
            ", ".join(cluster.samples),
            text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…",
        )


_MANY_NAMES = "pages of many names read like the one it was dropped for"
_NAMED = (
    "Pages of %s with different names read alike, such as %s. They pass. All say: %r. If that is "
    "not their content, name what tells them apart by `compare` in "
    f"{PREFIX}DOMAINS, or their article by {PREFIX}EXTRACTOR."
)
_UNNAMED = (
    "Pages of %s at different addresses are duplicates of one, such as %s. One is delivered. A "
    "block page, 'not found', or a wall that asks for consent looks like this: see that the site "
    "still answers. So do pages with their data in scripts or attributes: name it by `compare` in "
    f"{PREFIX}DOMAINS. All say: %r."
)


def _of_one_name(verdict: Verdict) -> bool:
    assert verdict.page is not None
    assert verdict.match is not None
    try:
        return same_name(decode(verdict.match.record.sketch), decode(verdict.page.sketch))
    except ValueError:  # the record has no sketch
        return False


class AnswerWatch(Listener):
    """Warns once of each domain that answers with block pages or soft 404s."""

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        verdict = judged.verdict
        if not verdict.means.page and self._once((judged.domain, verdict.outcome)):
            setting = "BLOCKED" if verdict.outcome == "blocked" else "ACTION"
            became = "dropped" if judged.dropped else "held back" if judged.held else "delivered"
            self._crawl.note(
                f"{judged.domain} has answered with something that is no page ({verdict.outcome}), "
                f"such as {without_credentials(judged.response.url)}: {verdict.reason}.",
                f"Such answers are never kept. This one is {became}: {PREFIX}{setting} is "
                f"{getattr(verdict.policy, setting.lower())!r}.",
                wrong=True,
            )


PAGES = 20
"""A selector that matches nothing on the first 20 pages of a domain is reported."""
_MOST_SELECTORS = 10_000  # pairs of a domain and a selector that are counted


class SelectorWatch(Listener):
    """Counts the pages on which a selector of `compare` has matched nothing."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._missed: Counter[tuple[str, str]] = Counter()
        self._matched: set[tuple[str, str]] = set()

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        read = judged.verdict.page
        if judged.skipped or not judged.verdict.policy.compare or read is None or not read.sketch:
            return
        for selector, value in decode(read.sketch).compared:
            key = judged.domain, selector
            if key in self._matched or len(self._missed) + len(self._matched) > _MOST_SELECTORS:
                continue
            if value:
                self._matched.add(key)
                continue
            self._missed[key] += 1
            if self._missed[key] == PAGES:
                logger.warning(
                    "%sCOMPARE: %r has matched nothing on %s of %s: it tells no pages apart",
                    PREFIX, selector, how_many(PAGES, "page"), judged.domain,
                )  # fmt: skip


# A page counts as redesigned if its structure is far from that of its last version, and its title
# or text is the same. A banner changes a structure less.
NOTE = "redesign"
"""The key of the notes on a scope: the Unix time of the last warning, for each domain."""
FAR = 12
"""Structures that differ in more bits belong to two templates (2 % of unchanged pages do, too)."""
LEAST, WINDOW, SHARE = 17, 60, 0.6
"""A warning comes if, at 99.9 %, more than 60 % of the last 17 to 60 pages left a template."""
_SURE, _MOST_SITES = 0.999, 1_000
_ALIKE = 16  # bits between two texts of one page, to which another template may add
_ADVICE = (
    "See that the selectors of your spider still match. If what is read is no longer their text, "
    f"name their article by {PREFIX}EXTRACTOR."
)


class _ThenAndNow(NamedTuple):
    """A page that was visited again: its structure and words then and now. `far` tells whether the
    structure differs much."""

    url: str
    was: int
    now: int
    words: tuple[int, int]
    far: bool


class SitePages:
    """The last visited pages of a domain. `warned_at` is the time of its last redesign."""

    def __init__(self) -> None:
        self.warned_at: float | None = None
        self._visits: deque[_ThenAndNow] = deque(maxlen=WINDOW)

    def recall(self, at: float) -> None:
        """Note the Unix time of a redesign. Pages from before do not count any more."""
        if self.warned_at is None or at > self.warned_at:
            self.warned_at = at
            self._visits.clear()

    def redesign(self, before: Version, page: Page, url: str, at: float) -> str:
        """Compare a page with its last version. Return a message on a redesign, else ""."""
        was, now = before.structure, page.structure
        if not was or not now or (self.warned_at is not None and before.last_seen < self.warned_at):
            return ""
        far = hamming_distance(was, now) > FAR and _is_same(before, page)
        self._visits.append(_ThenAndNow(url, was, now, (before.words, page.words), far))
        moved, visited = self._moved() if far else [], len(self._visits)
        if visited < LEAST or wilson(len(moved), visited, _SURE)[0] <= SHARE:
            return ""
        self.recall(at)
        words = [round(median(visit.words[place] for visit in moved)) for place in (0, 1)]
        return (
            f"{len(moved)} of the last {visited} pages that were visited again are built in another"
            f" way than at their last visit, such as {moved[-2].url}, {moved[-1].url}. What is read"
            f" of them: {how_many(words[0], 'word')} a page before, {words[1]} now (median)."
        )

    def _moved(self) -> list[_ThenAndNow]:
        """Return the pages that left an old template for a new one, which no page has left.

        There are none if the pages have too many structures now: those are not templates.
        """
        far = [visit for visit in self._visits if visit.far]
        left = _templates(visit.was for visit in far)
        moved = [visit for visit in far if _templates([*left, visit.now]) != left]
        return moved if 2 * len(_templates(visit.now for visit in moved)) <= len(moved) else []


class RedesignWatch(Listener):
    """Watches the structures of pages that are visited again. The store remembers warnings."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._site = lru_cache(_MOST_SITES)(lambda _: SitePages())
        self._learned = LearnedNotes(crawl.store, NOTE, self._take)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        read, before = judged.verdict.page, judged.verdict.previous
        if read is None or judged.skipped not in ("", "empty"):
            return
        scope = self._policies.site_of(judged.response.url).scope
        if not self._learned.has(scope) or before is None:
            return
        domain, url = judged.domain, without_credentials(judged.response.url)
        at = time_of_visit(judged.request)
        if redesign := self._site((scope, domain)).redesign(before, read, url, at):
            self._crawl.note(f"{domain} was redesigned: {redesign}", _ADVICE, wrong=True)
            self._count("redesigns")
            self._learned.merge(scope, lambda note: note.update({domain: at}))

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for domain, at in notes.items():
            if isinstance(at, int | float):
                self._site((scope, domain)).recall(at)


def _is_same(before: Version, page: Page) -> bool:
    if before.title and before.title.casefold() == page.title.casefold():
        return True
    now = page.fingerprint
    return now is not None and hamming_distance(before.fingerprint, now) <= _ALIKE


def _templates(structures: Iterable[int]) -> list[int]:
    templates: list[int] = []
    for structure in structures:
        if not any(hamming_distance(structure, other) <= FAR for other in templates):
            templates.append(structure)
    return templates
