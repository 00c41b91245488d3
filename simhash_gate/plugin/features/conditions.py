"""Parts of revalidation: conditions of requests, variants of pages, trust in domains."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request
from scrapy.http import Headers, HtmlResponse

from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import VERDICT_KEY, Verdict
from simhash_gate.history.validators import Trust
from simhash_gate.plugin.requests import CONDITION_KEY, PLAIN_KEY, asks_for_page
from simhash_gate.plugin.store_thread import LearnedNotes, StoreThread

if TYPE_CHECKING:
    from simhash_gate.history.texts import FetchedPage

NOT_MODIFIED = 304
STORED_FLAG = "simhash_gate_stored"
"""The flag of a response that was made from a stored page."""

_OWN = ("If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range")
_FETCHED_ELSEWHERE = ("playwright", "splash", "zyte_api", "zyte_api_automap")
"""Keys in the meta of requests whose pages browsers or services fetch, with caches of their own."""


def may_have_condition(request: Request) -> bool:
    """Tell whether the gate may add a condition to a request."""
    meta = request.meta
    return (
        asks_for_page(request)
        and not request.body
        and not any(name in request.headers for name in _OWN)
        and not any(meta.get(name) for name in (PLAIN_KEY, *_FETCHED_ELSEWHERE))
    )


def take_condition(request: Request) -> None:
    """Remove the condition of a request, or the one that it has as a copy of another request."""
    for name in request.meta.pop(CONDITION_KEY, ()):
        request.headers.pop(name, None)


def needs_page(policy: Policy) -> bool:
    """Tell whether a policy lets an unchanged page reach its callback."""
    verdict = Verdict("unchanged", "", policy)
    return not (verdict.rejected and verdict.action == "drop")


def response_of(url: str, source: FetchedPage) -> HtmlResponse:
    """Return a stored page as a response."""
    headers = Headers(source.headers, encoding="latin-1")
    return HtmlResponse(
        url, headers=headers, body=source.body, encoding=source.encoding, flags=[STORED_FLAG]
    )


def plainly(request: Request) -> Request:
    """Return a copy of a request that is sent without a condition, and never filtered."""
    meta = {**request.meta, PLAIN_KEY: True}
    for added in (VERDICT_KEY, CONDITION_KEY):
        meta.pop(added, None)
    return request.replace(dont_filter=True, meta=meta)


NOTE = "validators"
"""The key of this trust in the notes on a scope."""
MOST_SITES = 10_000
_MOST_NEW = 100


class SignalSource(NamedTuple):
    """A domain of a scope, as the source of validators."""

    scope: str
    domain: str


class Trusts:
    """Learns whether the validators of domains can be trusted, and keeps that in the store.

    Several crawls may learn at once: each adds its own visits to the values in the store. If there
    are more than `MOST_SITES`, those unused for the longest time are only in the store.
    """

    def __init__(self, store: StoreThread) -> None:
        self.learned = LearnedNotes(store, NOTE, self._take)
        self._trusts: dict[SignalSource, Trust] = {}
        self._new: dict[SignalSource, Trust] = {}

    def of(self, site: SignalSource) -> Trust:
        """Return the trust in a site."""
        trust = self._trusts[site] = self._trusts.pop(site, Trust())
        if len(self._trusts) > MOST_SITES:
            self.keep()
            oldest = next(iter(self._trusts))
            del self._trusts[oldest]
            self.learned.forget(oldest.scope)
        return trust

    def learn(self, site: SignalSource, seen: Trust) -> None:
        """Learn from a visit."""
        self._trusts[site] = self.of(site).then(seen)
        self._new[site] = self._new.get(site, Trust()).then(seen)
        if seen.liar or len(self._new) >= _MOST_NEW:
            self.keep()

    def keep(self) -> None:
        """Write to the store what was learned since the last call."""
        new, self._new = self._new, {}
        for scope in {site.scope for site in new}:
            seen_of_scope = {site.domain: seen for site, seen in new.items() if site.scope == scope}
            self.learned.merge(scope, partial(_merge, new=seen_of_scope))

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for domain, value in notes.items():
            site = SignalSource(scope, domain)
            if not self._trusts.get(site, Trust()).liar:
                self._trusts[site] = Trust.of_json(value).then(self._new.get(site, Trust()))


def _merge(notes: dict[str, Any], new: Mapping[str, Trust]) -> None:
    for domain, seen in new.items():
        notes[domain] = Trust.of_json(notes.pop(domain, None)).then(seen)  # now the last
