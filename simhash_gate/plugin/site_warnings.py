"""Warnings about a site whose pages are read wrongly, while the crawl goes on.

- Many pages of a domain read alike: the article of a template may not be found.
- A server answers with block pages, or with "not found", in place of pages.
- A selector of the user's own matches nothing.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simhash_gate.common.urls import end_of, without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.contradictions import same_name
from simhash_gate.fingerprints.sketch import decode
from simhash_gate.gate.verdict import ANSWERED, Verdict
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Identity, Judged, Listener
from simhash_gate.plugin.parked import Belief, Parked
from simhash_gate.plugin.resend_dropped import send_again, to_send_again
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from scrapy import Spider
    from typing_extensions import Self


logger = logging.getLogger(__name__)

MANY = 5
"""So many pages that read alike are worth a warning."""
_MOST_CLUSTERS = 10_000
_MOST_DROPPED = 20  # of one cluster
_SAMPLES = 3
_SHOWN = 200  # characters of the text that they share


@dataclass(slots=True)
class _Cluster:
    """Pages that read alike: the first kept one, names, samples of addresses, ends of paths."""

    first: Identity
    names: set[str] = field(default_factory=set)
    samples: list[str] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)
    warned: bool = False

    @property
    def belief(self) -> Belief:
        """That these are one page."""
        return "alike", self.first


class AlikePages(Listener):
    """Watches which pages of one domain read alike.

    Those that have names of their own pass. Those that were dropped before the names of others told
    are fetched again. Under one name it may be a block page.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._clusters: OrderedDict[Identity, _Cluster] = OrderedDict()

    def opened(self, spider: Spider) -> None:
        """Go on with what the last part of the job has seen."""
        self._clusters = self._parked.claim("alike", self._clusters, lambda _: True)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Count a page that reads like a kept one."""
        verdict = judged.verdict
        match = verdict.match
        if match is None or match.distance > verdict.policy.threshold:
            return
        if verdict.differs not in ("names", "repeats") and not judged.held:
            return
        kept = match.record
        cluster = self._clusters.get(kept.identity) or _Cluster(
            kept.identity, {kept.title}, [kept.url]
        )
        self._put(kept.identity, cluster)
        if verdict.record is not None:
            self._put(verdict.record.identity, cluster)
        if len(cluster.samples) < _SAMPLES:
            cluster.samples.append(without_credentials(judged.request.url))
        if judged.held:
            self._held(cluster, judged)
        elif len(cluster.names) < MANY:
            cluster.names.add(verdict.title)
        if not cluster.warned and max(len(cluster.names), len(cluster.ends)) >= MANY:
            cluster.warned = True
            self._tell(judged.domain, cluster, verdict)

    def _put(self, identity: Identity, cluster: _Cluster) -> None:
        self._clusters[identity] = cluster
        self._clusters.move_to_end(identity)
        if len(self._clusters) > _MOST_CLUSTERS:
            self._clusters.popitem(last=False)

    def _held(self, cluster: _Cluster, judged: Judged) -> None:
        if len(cluster.ends) < MANY:
            cluster.ends.add(end_of(judged.request.url))
        if not cluster.warned and not _of_one_name(judged.verdict):
            self._parked.add(Parked(cluster.belief, to_send_again(judged)), _MOST_DROPPED)

    def _tell(self, domain: str, cluster: _Cluster, verdict: Verdict) -> None:
        """Warn of a domain once; fetch again what was dropped though its name was another."""
        self._count("collapses")
        named = len(cluster.names) >= MANY
        for parked in self._parked.take(cluster.belief, _MANY_NAMES if named else ""):
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
    "Pages of %s with different names read alike, such as %s. They pass: what is read of them may "
    "not be their content. All say: %r. See `simhash-gate why` on two of them; name what tells "
    f"them apart by `compare` in {PREFIX}DOMAINS, or their article by {PREFIX}EXTRACTOR."
)
_UNNAMED = (
    "Pages of %s at different addresses are duplicates of one, such as %s. None is delivered. A "
    "block page, a page that says 'not found', or a wall that asks for consent looks like this; "
    "see that the site still answers. All say: %r."
)


def _of_one_name(verdict: Verdict) -> bool:
    """Tell if a page and its match have the same name."""
    assert verdict.page is not None
    assert verdict.match is not None
    try:
        return same_name(decode(verdict.match.record.sketch), decode(verdict.page.sketch))
    except ValueError:  # kept with no sketch
        return False


class AnswerWatch(Listener):
    """Warns of each domain once that answers with what is no page."""

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Warn of the first such answer."""
        verdict = judged.verdict
        if verdict.outcome in ANSWERED and self._once((judged.domain, verdict.outcome)):
            decided = f"{PREFIX}BLOCKED" if verdict.outcome == "blocked" else f"{PREFIX}ACTION"
            self._crawl.note(
                f"{judged.domain} has answered with what is no page ({verdict.outcome}), such as "
                f"{without_credentials(judged.response.url)}: {verdict.reason}.",
                f"Such answers are never kept; {decided} decides what becomes of them.",
                wrong=True,
            )


PAGES = 20
"""A selector that has matched nothing on so many pages of a domain is reported."""
_MOST_SELECTORS = 10_000  # domains and selectors that are counted


class SelectorWatch(Listener):
    """Counts on how many pages in a row a selector of `compare` has matched nothing."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._missed: Counter[tuple[str, str]] = Counter()
        self._matched: set[tuple[str, str]] = set()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """A crawl is watched if it compares fields of the user's own."""
        return cls(crawl) if crawl.settings.policies.compared else None

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Count what the selectors found on a page."""
        read = judged.verdict.page
        if judged.skipped or not judged.verdict.policy.compare or read is None or not read.sketch:
            return
        for selector, found in decode(read.sketch).compared:
            key = judged.domain, selector
            if key in self._matched or len(self._missed) + len(self._matched) > _MOST_SELECTORS:
                continue
            if found:
                self._matched.add(key)
                self._missed.pop(key, None)
                continue
            self._missed[key] += 1
            if self._missed[key] == PAGES:
                logger.warning(
                    "%sCOMPARE: %r has matched nothing on %s of %s: it tells no pages apart",
                    PREFIX, selector, how_many(PAGES, "page"), judged.domain,
                )  # fmt: skip
