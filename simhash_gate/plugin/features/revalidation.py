"""Revalidation: known pages are requested only if they have changed, where servers are believed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import mmh3
from scrapy import Request, Spider
from scrapy.http import Headers, HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from simhash_gate.common.times import shown
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.revisit import Revisit, unfetched
from simhash_gate.gate.verdict import VERDICT_KEY, Verdict
from simhash_gate.gate.visit import Visit
from simhash_gate.history.texts import FetchedPage, KeptPage
from simhash_gate.history.validators import Trust, conditions, contradict, is_strong, same_version
from simhash_gate.history.versions import Version
from simhash_gate.plugin.asked_for import validators_in
from simhash_gate.plugin.crawl_settings import overridden
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.page_keys import PageKeys, time_of_visit
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.requests import (
    ASKED_KEY,
    CONDITION_KEY,
    INLINE_KEY,
    META_KEY,
    PLAIN_KEY,
    STORED_FLAG,
    is_retry,
)
from simhash_gate.plugin.spider_middleware import is_installed
from simhash_gate.plugin.store_thread import LearnedNotes, StoreThread
from simhash_gate.plugin.threads import result
from simhash_gate.stores import StoreError
from simhash_gate.stores.base import KEPT_TEXT
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

_OWN = ("If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range")
_FETCHED_ELSEWHERE = ("playwright", "splash", "zyte_api", "zyte_api_automap")
"""Keys in the meta of requests whose pages browsers or services fetch, with caches of their own."""


def may_have_condition(request: Request) -> bool:
    """Tell whether the gate may add a condition to a request: a plain GET for a page to judge."""
    meta = request.meta
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        and meta.get(META_KEY) is not False
        and INLINE_KEY not in meta
        and request.url.startswith("http")
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
        trust = self._trusts[site] = self._trusts.pop(site, Trust())
        if len(self._trusts) > MOST_SITES:
            self.keep()
            oldest = next(iter(self._trusts))
            del self._trusts[oldest]
            self.learned.forget(oldest.scope)
        return trust

    def learn(self, site: SignalSource, seen: Trust) -> None:
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


class KnownPage(NamedTuple):
    """A known page that is requested: this visit, and the earlier ones.

    `site` is the domain whose validators they are, `previous` the version that the condition names,
    and `kept` its text in the store.
    """

    visit: Visit
    policy: Policy
    site: SignalSource
    revisit: Revisit
    previous: Version
    kept: KeptPage | None

    @property
    def source(self) -> FetchedPage | None:
        """The page as it was fetched, if exactly the previous version is kept, else None."""
        source = self.kept.source if self.kept is not None else None
        before = self.previous
        if source is None or source.key != f"{self.visit.key} {before.variant}":
            return None
        response = response_of(self.visit.url, source)
        return source if validators_in(response) == before.validators else None


class Revalidation(Listener):
    """Adds conditions to requests, handles 304 answers, and learns which domains are right."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._links = is_installed(crawl.crawler.settings)
        self._trusts = Trusts(crawl.store)
        self._page_keys = PageKeys(crawl.crawler, crawl.keys)
        self._asked: WeakKeyDictionary[Request, KnownPage] = WeakKeyDictionary()
        self._unmodified: WeakKeyDictionary[Request, KnownPage] = WeakKeyDictionary()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Revalidation | None:
        """Return the listener, None if Scrapy's HttpCache is on, which revalidates by itself."""
        if crawl.crawler.settings.getbool("HTTPCACHE_ENABLED"):
            logger.info(
                "No page is asked for with a condition (%sREVALIDATE): HttpCache is on", PREFIX
            )
            return None
        asking = [policy for policy in crawl.settings.policies.all if policy.revalidate]
        if not crawl.settings.keep_markdown and all(map(needs_page, asking)):
            logger.warning(
                "No page is asked for with a condition (%sREVALIDATE): callbacks need unchanged "
                "pages, and none is kept. Set %sKEEP_MARKDOWN, or %sREVISIT = 'drop'",
                PREFIX, PREFIX, PREFIX,
            )  # fmt: skip
        return cls(crawl)

    def opened(self, spider: Spider) -> None:
        """Remember the requests of pages that were not fetched in the last part of the job."""
        site_of = self._policies.site_of
        self._parked.claim("unchanged", None, lambda r: bool(site_of(r.url).policy.revalidate))

    async def ask_store(self, request: Request) -> None:
        take_condition(request)
        if not may_have_condition(request):
            return
        try:
            known_page = await self._look_up(request)
        except Exception as error:
            self._failed(error)
            return
        if known_page is not None and self._may_ask(request, known_page):
            self._asked[request] = known_page
            headers = conditions(known_page.previous.validators)
            request.headers.update(headers)
            request.meta[CONDITION_KEY] = [*headers]  # `take_condition` takes them out
            self._count("validators/sent")

    def answered(self, request: Request, response: Response) -> Response | Request:
        """Return the answer to a request. The stored page replaces a 304 if that is needed."""
        known_page = self._asked.pop(request, None)
        take_condition(request)
        self._crawl.variants.learn(request, response)
        if known_page is None or response.status != HTTPStatus.NOT_MODIFIED:
            return response
        self._count("validators/not_modified")
        source, site = known_page.source, known_page.site
        same = same_version(known_page.previous.validators, validators_in(response))
        refused = same is False or not self._trusts.of(site).believed(known_page.visit.at)
        if refused or (source is None and needs_page(known_page.policy)):
            return plainly(request)
        self._parked.add(Parked(("unchanged", *site), plainly(request)))
        if source is not None and needs_page(known_page.policy):
            return response_of(request.url, source)
        self._unmodified[request] = known_page
        return response

    def verdict_on(self, request: Request, response: Response) -> tuple[Verdict, str] | None:
        known_page = self._unmodified.pop(request, None)
        if known_page is None or response.status != HTTPStatus.NOT_MODIFIED:
            return None
        confirm = partial(Gate.confirm, visit=known_page.visit, policy=known_page.policy)
        confirmed = self._crawl.store.submit(confirm)
        confirmed.add_done_callback(lambda done: self._failed(done.exception()))
        verdict = unfetched(known_page.revisit, known_page.visit, known_page.policy)
        return replace(verdict, kept=known_page.kept), known_page.visit.key

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        request, response, verdict = judged.request, judged.response, judged.verdict
        request.meta.pop(PLAIN_KEY, None)
        before = verdict.previous
        fetched = response.status != HTTPStatus.NOT_MODIFIED and STORED_FLAG not in response.flags
        if before is None or not fetched or judged.skipped or not verdict.policy.revalidate:
            return
        if not self._crawl.variants.same(request, before.variant):
            return
        scope = self._policies.site_of(response.url).scope
        changed = verdict.outcome != "unchanged"
        at = verdict.record.last_seen if verdict.record is not None else time_of_visit(request)
        same = same_version(before.validators, validators_in(response))
        if same is not None and not (changed and _is_trifle(verdict)):
            url = without_credentials(response.url)
            seen = Trust.of_visit(url, at, same=same, changed=changed)
            self._learn(SignalSource(scope, judged.domain), seen)

    async def closed(self) -> None:
        self._trusts.keep()

    async def _look_up(self, request: Request) -> KnownPage | None:
        """Return the known page of a request, None if a condition can't spare it."""
        site = self._policies.site_of(request.url)
        policy = overridden(site.policy, request, self._settings, links=self._links)
        fingerprint = self._crawl.crawler.request_fingerprinter.fingerprint
        if not policy.revalidate or is_retry(request, fingerprint(request).hex()):
            return None
        key, at = self._page_keys.of_request(request).key, time_of_visit(request)
        visit = Visit(request.url, site.scope, key, at, *request.meta.get(ASKED_KEY, ()))
        self._trusts.learned.has(site.scope)

        def ask(gate: Gate) -> tuple[Revisit, KeptPage | None]:
            revisit = gate.known(visit, policy)
            before, packed = revisit.previous, b""
            if self._settings.keep_markdown and before is not None and before.digest:
                packed = gate.store.get(KEPT_TEXT, visit.scope, to_hex(before.digest))
            # It is unpacked on this thread: the event loop does not wait.
            return revisit, KeptPage.of(packed) if packed else None

        revisit, kept = await result(self._crawl.store.submit(ask))
        self._trusts.learned.has(site.scope)  # the store has answered this, too
        before = revisit.previous
        if before is None or not self._crawl.variants.same(request, before.variant):
            return None
        source = SignalSource(site.scope, site.domain)
        return KnownPage(visit, policy, source, revisit, before, kept)

    def _may_ask(self, request: Request, known_page: KnownPage) -> bool:
        before, precise = known_page.previous, self._crawl.keys.precise
        if not any(before.validators) or precise(before.url) != precise(known_page.visit.url):
            return False  # another address may have other validators
        site, at = known_page.site, known_page.visit.at
        trust = self._trusts.of(site)
        if at < trust.until:
            if self._once(site):
                logger.info(
                    "The pages of %s are fetched without conditions until %s: its validators were "
                    "found wrong (%sREVALIDATE)",
                    site.domain, shown(trust.until), PREFIX,
                )  # fmt: skip
            return False
        variant, versions = known_page.previous.variant, known_page.revisit.history.versions
        validators = [version.validators for version in versions if version.variant == variant]
        if contradict(validators):  # this page lied, even if its domain is believed
            return False
        if needs_page(known_page.policy) and known_page.source is None:
            return False
        drawn = mmh3.hash(f"{self._crawl.store.run.name} {request.url}", signed=False)
        return trust.believed(at) and drawn >= known_page.policy.revalidate * (1 << 32)

    def _learn(self, site: SignalSource, seen: Trust) -> None:
        """Learn from a page. If its domain is wrong, fetch the pages that were not fetched."""
        first = self._trusts.of(site).liar
        self._trusts.learn(site, seen)
        if not seen.liar:
            return
        self._count("validators/wrong")
        trust = self._trusts.of(site)
        if not trust.wrong:
            return
        why = f"The validators of {site.domain} are wrong"
        again = self._parked.take(("unchanged", *site), why)
        for parked in again:
            self._count("validators/fetched_again")
            self._parked.send(parked.request)
        if self._once(site):
            spared = how_many(len(again), "page")
            fetched = f"; {spared} that they spared in this crawl are fetched now"
            logger.warning(
                "The validators (ETag, Last-Modified) of %s are wrong: %s and %s have changed, and "
                "they have not. They are not believed until %s%s",
                site.domain, first, seen.liar, shown(trust.until), fetched if again else "",
            )  # fmt: skip

    def _failed(self, error: BaseException | None) -> None:
        if not isinstance(error, StoreError):  # `StoreFailures` reports it
            self._tell_once("REVALIDATE: a page is fetched in any case", error)


def _is_trifle(verdict: Verdict) -> bool:
    """Tell whether a page has changed so little that a weak validator may stay the same."""
    before, page, match = verdict.previous, verdict.page, verdict.match
    if before is None or page is None or match is None or verdict.outcome != "updated":
        return False
    return not is_strong(before.validators) and before.words == page.words and not match.distance
