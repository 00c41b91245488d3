"""Pages of a domain that all read alike: noticed within a few, said once, and taken back.

Where the article of a template is not found, what is read is the same on all of its pages. Those
that have names of their own pass; those that were dropped before their names told are fetched
again. Under one name it may be a block page.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from simhash_gate.common.urls import without_credentials
from simhash_gate.fingerprints.claims import decode_claims, same_name, split_claims
from simhash_gate.plugin.dropped import Dropped, remembered
from simhash_gate.settings import PREFIX

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.recovery import Recovery

logger = logging.getLogger(__name__)

MANY = 5
"""So many pages that read alike are worth a warning."""
_MOST_CLUSTERS = 10_000
_MOST_DROPPED = 20  # of one cluster
_SAMPLES = 3
_SHOWN = 200  # characters of the text that they share


@dataclass(slots=True)
class _Cluster:
    """Pages that read alike: names, samples of addresses, ends of paths, and what was dropped."""

    names: set[str] = field(default_factory=set)
    samples: list[str] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)
    dropped: list[Dropped] = field(default_factory=list)
    told: bool = False


class Collapses:
    """Watches what pages of one domain read alike."""

    def __init__(self, stats: StatsCollector, recovery: Recovery) -> None:
        self._stats = stats
        self._recovery = recovery
        self._clusters: OrderedDict[tuple[str, str, str, int], _Cluster] = OrderedDict()
        self._told: set[str] = set()

    def judged(
        self, domain: str, request: Request, fingerprint: str, verdict: Verdict, *, dropped: bool
    ) -> None:
        """Take note of a verdict; `dropped` tells that the page goes no further."""
        match = verdict.match
        if match is None or match.distance > verdict.policy.threshold:
            return
        if verdict.differs not in ("names", "repeats") and not dropped:
            return
        kept = match.record
        cluster = self._clusters.get(kept.identity) or _Cluster({kept.title}, [kept.url])
        self._put(kept.identity, cluster)
        if verdict.record is not None:
            self._put(verdict.record.identity, cluster)
        if len(cluster.samples) < _SAMPLES:
            cluster.samples.append(without_credentials(request.url))
        if dropped:
            self._dropped(cluster, request, fingerprint, verdict)
        elif len(cluster.names) < MANY:
            cluster.names.add(verdict.title)
        if not cluster.told and max(len(cluster.names), len(cluster.ends)) >= MANY:
            cluster.told = True
            self._tell(domain, cluster, verdict)

    def _put(self, identity: tuple[str, str, str, int], cluster: _Cluster) -> None:
        self._clusters[identity] = cluster
        self._clusters.move_to_end(identity)
        if len(self._clusters) > _MOST_CLUSTERS:
            self._clusters.popitem(last=False)

    def _dropped(
        self, cluster: _Cluster, request: Request, fingerprint: str, verdict: Verdict
    ) -> None:
        if len(cluster.ends) < MANY:
            cluster.ends.add(_end_of(request.url))
        unsure = not cluster.told and len(cluster.dropped) < _MOST_DROPPED
        if unsure and not _of_one_name(verdict):
            cluster.dropped.append(remembered(request, fingerprint, verdict))

    def _tell(self, domain: str, cluster: _Cluster, verdict: Verdict) -> None:
        """Warn of a domain once; fetch again what was dropped though its name was another."""
        self._stats.inc_value("simhash_gate/collapses")
        back, cluster.dropped = cluster.dropped, []
        named = len(cluster.names) >= MANY
        if named:
            self._recovery.fetch_again(
                back, "pages of many names read like the one it was dropped for"
            )
        if domain in self._told:
            return
        self._told.add(domain)
        text = " ".join(verdict.markdown.split())
        logger.warning(
            _NAMED if named else _UNNAMED,
            domain,
            ", ".join(cluster.samples),
            text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…",
        )


_NAMED = (
    "Pages of %s with different names read alike, such as %s. They pass: what is read of them may "
    "not be their content. All say: %r. See `simhash-gate compare` on two of them; name what tells "
    f"them apart by `compare` in {PREFIX}DOMAINS, or their article by {PREFIX}EXTRACTOR."
)
_UNNAMED = (
    "Pages of %s at different addresses are duplicates of one, such as %s. They are dropped. A "
    "block page, a page that says 'not found', or a wall that asks for consent looks like this; "
    "see that the site still answers. All say: %r."
)


def _of_one_name(verdict: Verdict) -> bool:
    """Tell if a page and its match have the same name."""
    assert verdict.page is not None
    assert verdict.match is not None
    try:
        own = decode_claims(verdict.page.claims)
        return same_name(decode_claims(split_claims(verdict.match.record.sketch)[0]), own)
    except ValueError:  # kept with no claims
        return False


def _end_of(url: str) -> str:
    """Return the last part of a path: copies of a page share it more often than not."""
    try:
        return urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return url
