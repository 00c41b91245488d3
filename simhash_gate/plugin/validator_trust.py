"""What a crawl knows of the validators of each domain: from the store, and back into it."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.wording import how_many
from simhash_gate.history.validators import Seen, State, Trust
from simhash_gate.plugin.learned import LearnedNotes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simhash_gate.plugin.store_thread import StoreThread

logger = logging.getLogger(__name__)

NOTE = "validators"
"""The key of what is known in the notes on a scope."""
MOST_SITES = 10_000
_MOST_NEW = 100
_WHAT = {
    "http": "The validators (ETag, Last-Modified)",
    "lastmod": "The lastmod values in sitemaps",
}


class SignalSource(NamedTuple):
    """What is believed or not: the `http` validators of a domain, or its `lastmod`."""

    scope: str
    domain: str
    kind: str


class Trusts:
    """Learns of each domain; a store keeps what was learned.

    Several crawls may learn at once: each adds what it has seen to what the store has by then. Of
    more than `MOST_SITES`, those that were asked for longest ago are left to the store.
    """

    def __init__(self, store: StoreThread) -> None:
        self.learned = LearnedNotes(store, NOTE, self._take)
        self._known: dict[SignalSource, Trust] = {}
        self._new: dict[str, dict[tuple[str, str], list[Seen | None]]] = {}

    def of(self, site: SignalSource, at: float) -> Trust:
        """Return what is known at a time."""
        trust = self._known[site] = self._known.pop(site, Trust()).rested(at)
        while len(self._known) > MOST_SITES:
            self.keep()
            oldest = next(iter(self._known))
            del self._known[oldest]
            self.learned.forget(oldest.scope)
        return trust

    def learn(self, site: SignalSource, seen: Seen) -> State:
        """Take in what a visit tells; return the state that comes of it, "" for no other."""
        state = self.of(site, seen.at).learn(seen)
        self._add(site, seen)
        if state:
            self.keep()
        return state

    def spared(self, site: SignalSource, at: float) -> None:
        """Count a page that was not fetched for what was said."""
        self.of(site, at).learn(None)
        self._add(site, None)

    def keep(self) -> None:
        """Let the store keep what was learned since the last time."""
        for scope, new in self._new.items():
            self.learned.merge(scope, partial(_merge, new=new))
        self._new = {}

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for domain, kinds in notes.items():
            for kind, known in kinds.items() if isinstance(kinds, dict) else ():
                self._known.setdefault(SignalSource(scope, domain, kind), _trust_of(known, domain))

    def _add(self, site: SignalSource, seen: Seen | None) -> None:
        visits = self._new.setdefault(site.scope, {}).setdefault(site[1:], [])
        visits.append(seen)
        if len(visits) >= _MOST_NEW:
            self.keep()


def _merge(known: dict[str, Any], new: Mapping[tuple[str, str], Sequence[Seen | None]]) -> None:
    """Add what was seen to what is known of the domains of a scope."""
    for (domain, kind), visits in new.items():
        kinds = known.pop(domain, {})
        trust = _trust_of(kinds[kind], domain) if kind in kinds else Trust()
        for seen in visits:
            trust = trust.rested(seen.at) if seen is not None else trust
            trust.learn(seen)
        known[domain] = {**kinds, kind: trust.as_json()}


def tell(site: SignalSource, trust: Trust, again: int) -> None:
    """Say what was found of a site; `again` pages are fetched that were not."""
    what = _WHAT[site.kind]
    if trust.state == "useless":
        logger.info(
            "%s of %s change though pages do not (%d of %d visits): they spare nothing, and are "
            "not heeded until %s",
            *(what, site.domain, trust.idle, trust.idle + trust.right + trust.spared),
            day_of(trust.until),
        )
        return
    fetched = f"; {how_many(again, 'page')} that they spared in this crawl are fetched now"
    logger.warning(
        "%s of %s are wrong: they missed %d of the last %s, such as those of %s; they were right "
        "about %s that had not changed. They are not believed until %s%s",
        *(what, site.domain, sum(trust.recent), how_many(len(trust.recent), "change")),
        " and ".join(example.url for example in trust.examples),
        *(how_many(trust.right, "page"), day_of(trust.until), fetched if again else ""),
    )


def day_of(at: float) -> str:
    """Return the day of a Unix time in UTC."""
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%d")


def _trust_of(known: Any, domain: str) -> Trust:
    try:
        return Trust.of_json(known)
    except ValueError as error:
        logger.warning("What was known of the validators of %s was not read: %s", domain, error)
        return Trust()
