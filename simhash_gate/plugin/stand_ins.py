"""Skips requests for pages that this crawl has fetched already, under another URL."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.http.request import NO_CALLBACK

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.sketch import name_and_words
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Site
from simhash_gate.identity.contents import MOST_WORDS
from simhash_gate.identity.keys import MOST_ADDRESSES
from simhash_gate.identity.learning import Host
from simhash_gate.identity.saved import AtomsError, entries_of, from_json, links_of, load, merged
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener, Stage
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.requests import (
    ASKED_KEY,
    RECOVERED_KEY,
    RELEASED_KEY,
    NotSent,
    addresses,
    asks_for_page,
)
from simhash_gate.plugin.store_thread import Learned
from simhash_gate.stores.base import URL_RULES, Blob
from simhash_gate.values import PREFIX

logger = logging.getLogger(__name__)

TESTS_AT_THE_END = 5
"""Skipped requests of each site that are fetched before a crawl ends, to test the atoms."""
FEWEST_WORDS = 20
"""A page of fewer words never counts as evidence that two URLs have different pages."""
_UNSURE = ("", "repeats", "carried")
_FAILED = "the page that stood for it failed"
_WRONG = "it may be another page"
_BARREN = "the page that stood for it gave no item"
_LEFT_ALONE = ("redirect_times", "retry_times", RECOVERED_KEY)


class Evidence(NamedTuple):
    """Evidence from a verdict about a page and the page of the URL `kept`.

    `same` tells whether both have one content, None if that is not sure. `nearly` tells whether
    only a few words differ.
    """

    kept: str = ""
    same: bool | None = None
    nearly: bool = False


@dataclass(eq=False)
class Skipped(Parked):
    """A request that was skipped, in an `earlier` part of the job or in this one."""

    earlier: bool = False


class StandIns(Listener):
    """Learns from verdicts which parts of URLs do not matter, and skips requests by that.

    A request is skipped if a page with the same key was fetched, or is on its way (its stand-in).
    It waits. It is sent after all if the stand-in fails or moves, or if an atom proves wrong.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._keys = crawl.keys
        self._on_their_way: dict[str, tuple[str, int]] = {}
        self._coming: dict[tuple[str, int], str] = {}
        self._asked_for: WeakKeyDictionary[FollowedPage, list[str]] = WeakKeyDictionary()
        self._asked: OrderedDict[int, None] = OrderedDict()
        self._deepest = crawl.crawler.settings.getint("DEPTH_LIMIT")
        self._learned = Learned(crawl.store, URL_RULES, self._take)
        self._works = True
        skips = any(policy.urls == "skip" for policy in self._policies.all)
        self._level = logging.INFO if skips else logging.DEBUG

    def opened(self, spider: Spider) -> None:
        """Continue with the keys and the skipped requests of the last part of the job."""
        policies = self._policies
        with self._failing_open():
            keys = self._parked.claim(
                "rule", self._keys, lambda r: policies.site_of(r.url).policy.urls == "skip"
            )
            self._keys.take_over(keys)
            for skipped in self._parked.of_kind("rule"):
                skipped.earlier = True
        if all(policy.urls == "off" or not policy.verify for policy in policies.all):
            logger.info(
                "Nothing is learned about URLs (%sURLS): with %sVERIFY = False, no page is "
                "looked at closely enough",
                PREFIX, PREFIX,
            )  # fmt: skip

    def ask(self, request: Request, site: Site) -> None:
        """Raise `NotSent` for a request that need not be sent. Note any other one."""
        if not self._works or site.policy.urls == "off" or not asks_for_page(request):
            return
        skipped = None
        with self._failing_open():
            skipped = self._skipped(request, site)
        if skipped is not None:
            raise skipped

    def _skipped(self, request: Request, site: Site) -> NotSent | None:
        scope, url = site.scope, without_credentials(request.url)
        self._learned.has(scope)
        host = self._keys.host(scope)
        key = host.reduction.key(url).digest
        stand_in = host.stand_in(url) or self._coming.get((scope, key), url)
        stands = stand_in != url and _asking(stand_in, request) in self._asked
        if stands and not _left_alone(request):
            answer = host.skips.ask(url, stand_in, skip=site.policy.urls == "skip")
            if not answer.test:
                self._parked.add(Skipped(("rule", scope, url), request))
                self._count("url/avoided")
                rule = ", ".join(dict.fromkeys(map(str, answer.atoms))) or "how it is written"
                why = f"it has the page of {stand_in} ({rule} makes no difference)"
                return NotSent("rule", url, why, rule, stand_in)
            observes = site.policy.urls == "observe"
            self._count(f"url/{'avoidable' if observes else 'probed'}")
        self._note_asked([url], request)
        self._on_their_way[url] = scope, key
        self._coming.setdefault((scope, key), url)
        return None

    def failed(self, request: Request) -> None:
        """Send the requests that were skipped for one without an answer."""
        self._fell(addresses(request, request.url))

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Learn from a verdict, and from the result of a test."""
        if not self._works or judged.request.callback is NO_CALLBACK:
            return
        site = self._policies.site_of(judged.response.url)
        if site.policy.urls != "off":
            with self._failing_open():
                self._learn(judged, site, page)

    def _learn(self, judged: Judged, site: Site, page: FollowedPage | None) -> None:
        url = without_credentials(judged.response.url)
        urls = addresses(judged.request, url)
        if page is not None:
            self._asked_for[page] = urls
        verdict = judged.verdict
        # A page can be a stand-in if it was kept, or is a copy of a kept page.
        seen = verdict.outcome in ("duplicate", "unchanged") and verdict.match is not None
        stands = verdict.record is not None or (seen and not verdict.unpaid)
        if self._deepest and judged.request.meta.get("depth", 0) >= self._deepest:
            stands = False  # at DEPTH_LIMIT, its links were not followed
        self._note_asked(urls, judged.request)
        evidence = _evidence_of(judged, site) if stands else Evidence()
        sketch = verdict.page.sketch if verdict.page and evidence.same is not None else b""
        hashes = name_and_words(sketch, MOST_WORDS) if sketch else b""
        self._saw(site.scope, url, evidence, stands=stands, hashes=hashes)
        for other in urls:
            if other != url:
                scope = self._policies.site_of(other).scope
                one_page = self._keys.of(scope, other).key == self._keys.of(site.scope, url).key
                evidence_of_other = Evidence(url, None if evidence.same is None else True)
                self._saw(scope, other, evidence_of_other, stands=stands and one_page)

    def _saw(
        self, scope: str, url: str, evidence: Evidence, *, stands: bool, hashes: bytes = b""
    ) -> None:
        """Learn from a page. If it is no stand-in, send the requests that were skipped for it."""
        host = self._keys.host(scope)
        host.saw(url, *evidence, stands=stands, hashes=hashes)
        self._arrived(url)
        if not stands:
            self._release(scope, host.forget(url), _FAILED)
        self._take_back(scope, host)

    def _arrived(self, url: str) -> None:
        way = self._on_their_way.pop(url, None)
        if way is not None and self._coming.get(way) == url:
            del self._coming[way]

    def _take_back(self, scope: str, host: Host) -> None:
        """Send the requests that are to be fetched after all, and log the changes of atoms."""
        back, host.back = host.back, []
        self._release(scope, back, _WRONG)
        changes, host.changes = host.changes, []
        for kind, atom, contents, acts in changes:
            done = "makes no difference from now on" if acts else "may make a difference"
            count = f" ({how_many(contents, 'content')})" if contents else ""
            logger.log(self._level, "URLs of %s: %s %s%s", kind or scope, atom, done, count)

    def _release(self, scope: str, urls: Iterable[str], why: str = "") -> None:
        """Send the skipped requests for URLs. `why` says why the skip was wrong; "" for a test."""
        for url in urls:
            for skipped in self._parked.take(("rule", scope, url), why and f"{why}: {url}"):
                self._stats.inc_value("simhash_gate/url/avoided", -1 + skipped.earlier)
                self._count("url/released" if why else "url/probed")
                if why:
                    logger.info("Fetching %s after all: %s", skipped.request.url, why)
                self._parked.send(skipped.request)

    def moved(self, page: FollowedPage) -> None:
        """Send the requests that were skipped for a page that failed or gave no item."""
        if page.record is None:
            return
        urls = self._asked_for.get(page, [page.record.url])
        if page.stage is Stage.FAILED:
            self._fell(urls)
        elif page.stage is Stage.SETTLED and self._crawl.yields.wants_more(page.record):
            self._fell(urls, _BARREN)

    def _fell(self, urls: Iterable[str], why: str = _FAILED) -> None:
        for url in urls:
            self._arrived(url)
            scope = self._policies.site_of(url).scope
            self._release(scope, self._keys.host(scope).forget(url), why)

    def _note_asked(self, urls: Iterable[str], request: Request) -> None:
        asker, carries = request.meta.get(ASKED_KEY, ("", ""))
        for url in urls:
            self._asked[hash((url, asker))] = None
            if carries:
                self._asked[hash((url, asker, carries))] = None
        while len(self._asked) > MOST_ADDRESSES:
            self._asked.popitem(last=False)

    def idle(self) -> None:
        """Test the atoms once more. Send the requests that wait for answers that never came."""
        self._fell([*self._on_their_way])
        for scope in self._keys.scopes() if self._works else ():
            self._release(scope, self._keys.host(scope).skips.sample(TESTS_AT_THE_END))

    async def closed(self) -> None:
        """Report the requests that could have been spared. Keep what was learned in the store."""
        avoidable = self._stats.get_value("simhash_gate/url/avoidable", 0)
        if avoidable:
            self._crawl.note(
                f"{how_many(avoidable, 'request')} need not have been sent: their pages were "
                "fetched under other URLs.",
                f"{PREFIX}URLS = 'skip' spares them.",
            )
        for scope in self._keys.scopes():
            entries = entries_of(scope, self._keys.host(scope))
            entries += links_of(scope, self._keys.canonical(scope), time.time())
            if entries:
                self._crawl.store.submit(partial(_keep, scope=scope, entries=entries))

    def _take(self, scope: str, data: bytes) -> None:
        try:
            if data:
                lines = from_json(data, f"URLs of {scope} in the store")
                load(self._keys.host(scope), lines, links=self._keys.canonical(scope))
        except AtomsError as error:
            logger.warning("Stored rules for URLs of %s were not read: %s", scope, error)

    @contextmanager
    def _failing_open(self) -> Iterator[None]:
        """If anything in the block fails, log it, and skip and learn nothing from now on."""
        try:
            yield
        except Exception as error:
            logger.exception("No more requests are skipped (%sURLS): %s", PREFIX, error)
            self._works = False


def _keep(gate: Gate, *, scope: str, entries: list[dict[str, Any]]) -> None:
    """Merge lines into those of the store, to which other crawls may have added some."""
    data = gate.store.get(URL_RULES, scope)
    try:
        lines = merged(data, entries, f"what the store has of {scope}")
    except AtomsError as error:
        logger.warning("Stored rules for URLs of %s are replaced: %s", scope, error)
        lines = merged(b"", entries, "")
    gate.store.put(Blob(URL_RULES, scope, "", lines))


def _evidence_of(judged: Judged, site: Site) -> Evidence:
    verdict = judged.verdict
    if judged.not_modified or not site.policy.verify or verdict.not_compared:
        return Evidence()
    outcome, differs = verdict.outcome, verdict.differs
    kept = verdict.match.record.url if verdict.match else ""
    words = verdict.page.words if verdict.page else 0
    if outcome in ("duplicate", "unchanged"):
        return Evidence(kept, True) if kept else Evidence()
    unsure = outcome == "near" and differs in _UNSURE
    if unsure or words < FEWEST_WORDS or outcome not in ("new", "near", "updated", "rewritten"):
        return Evidence()
    return Evidence(kept if differs else "", False, differs == "texts")


def _asking(url: str, request: Request) -> int:
    """Return the mark in `_asked` of a URL that was requested for the same as this request."""
    asker, carries = request.meta.get(ASKED_KEY, ("", ""))
    return hash((url, asker, carries) if carries else (url, asker))


def _left_alone(request: Request) -> bool:
    if request.meta.get("is_start_request") or any(key in request.meta for key in _LEFT_ALONE):
        return True
    return bool(request.body) or (request.dont_filter and RELEASED_KEY not in request.meta)
