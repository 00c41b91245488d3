"""Skips requests for pages that were fetched already under another URL, by rules that it learns."""

from __future__ import annotations

import logging
import math
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import mmh3
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.job import job_dir

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.sketch import name_and_words
from simhash_gate.plugin.learned_rules import LearnedRules
from simhash_gate.plugin.listeners import Listener, Stage
from simhash_gate.plugin.requests import (
    META_KEY,
    RECOVERED_KEY,
    RELEASED_KEY,
    NotSent,
)
from simhash_gate.plugin.skipped_requests import Skipped, sample, stands, take_by_rule
from simhash_gate.plugin.spider_middleware import only_looks
from simhash_gate.urls.fetched import MOST_WORDS, Fetched, content_of, relation
from simhash_gate.urls.learn import Told, told_by
from simhash_gate.urls.learner import Learner
from simhash_gate.urls.parts import parts_of, whole
from simhash_gate.urls.visits import Visit, Visits, fetched
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request, Spider
    from typing_extensions import Self

    from simhash_gate.gate.policy import Site
    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.listeners import Closing, Crawl, FollowedPage, Judged
    from simhash_gate.urls.active_rules import Reasons
    from simhash_gate.urls.learner import Change
    from simhash_gate.urls.rules import Rule

logger = logging.getLogger(__name__)

JOB_FILE = "simhash_gate_urls.sqlite"
FEWEST_PROBES = 5
"""So many of the requests that a rule skips are fetched at the least, to test them."""
PROBES_OF_OTHERS = 20
"""So many of those are fetched where a rule proves wrong on a part of them alone."""
_ASKED_FOR = 50_000  # URLs that the last part of a job asked for, whose values are remembered
_LOOKED_AT = 20  # pages that may stand for a request
_FAILED = "the page that stood for it failed"
_LEFT_ALONE = ("redirect_times", "retry_times", RECOVERED_KEY)


class UrlSkipped(NotSent):
    """A request was not sent: its page was fetched, or is on its way, as `stand_in`.

    `url` is that of the request, and `rule` says in words what makes no difference.
    """

    kind = "rule"

    def __init__(self, url: str, stand_in: str, rule: str) -> None:
        super().__init__(url, f"it has the page of {stand_in} ({rule} makes no difference)", rule)
        self.stand_in = stand_in
        self.rule = rule


@dataclass(slots=True)
class _Tested:
    """How often a rule skipped a request, and how often one was fetched all the same."""

    skipped: int = 0
    probed: int = 0


class _Probe(NamedTuple):
    """A request that is fetched though a visit stands for it, to test rules."""

    visit: int
    scope: str
    rules: Reasons


class UrlRules(Listener):
    """Learns from verdicts which parts of URLs do not matter; acts before the download.

    A request is skipped if a page with the same canonical URL was fetched, or is on its way. What
    was skipped is remembered, and sent after all when its stand-in fails or a rule proves wrong.
    """

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._crawler = crawl.crawler
        self._stats = crawl.crawler.stats
        self._settings = settings = crawl.settings
        self._learner = Learner(settings.url_bound)
        self._learned = LearnedRules(self._learner, crawl.store)
        self._visits: Visits | None = None
        self._waiting = crawl.parked
        self._on_their_way: dict[str, int] = {}
        self._asked_for: WeakKeyDictionary[FollowedPage, list[str]] = WeakKeyDictionary()
        self._probes: dict[str, _Probe] = {}
        self._lost: set[int] = set()
        self._tested: dict[tuple[str, Rule], _Tested] = {}

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the listener, unless it is off for all domains."""
        if all(policy.urls == "off" for policy in crawl.settings.policies.all):
            return None
        return cls(crawl)

    def opened(self, spider: Spider) -> None:
        """Open the file of what was fetched."""
        folder = None if only_looks(self._crawler) else job_dir(self._crawler.settings)
        try:
            self._visits = Visits(str(Path(folder) / JOB_FILE) if folder else "")
        except (OSError, sqlite3.Error) as error:
            logger.error("No request is skipped (%sURLS): %s", PREFIX, error)
        with self._failing_open():
            if self._visits is not None:
                self._restore(self._visits)
        policies = self._settings.policies.all
        if all(policy.urls == "off" or not policy.verify for policy in policies):
            logger.info(
                "Nothing is learned about URLs (%sURLS): with %sVERIFY off, no page is "
                "looked at closely enough",
                *(PREFIX, PREFIX),
            )

    def _restore(self, visits: Visits) -> None:
        """Remember what the last part of the job asked for, and what it skipped."""
        policies = self._settings.policies
        self._waiting.claim("rule", None, lambda r: policies.site_of(r.url).policy.urls == "skip")
        restored: list[Skipped] = self._waiting.of_kind("rule")
        for skipped in restored:  # first: what was skipped had the value that the rule was used for
            self._learner.place(skipped.scope, without_credentials(skipped.request.url))
        for url in visits.latest(_ASKED_FOR):
            self._learner.place(policies.site_of(url).scope, url)
        for skipped in restored:
            skipped.earlier = True
            _count(self._tests(skipped), skipped=1)
            if visits.get(skipped.visit) is None:
                self._lost.add(skipped.visit)

    def ask(self, request: Request, site: Site) -> None:
        """Raise `UrlSkipped` for a request that need not be sent; note any other one."""
        if self._visits is None or site.policy.urls == "off" or not _counts(request):
            return
        skipped = None
        with self._failing_open():
            skipped = self._skipped(self._visits, request, site)
        if skipped is not None:
            raise skipped

    def _skipped(self, visits: Visits, request: Request, site: Site) -> UrlSkipped | None:
        scope, url = site.scope, without_credentials(request.url)
        self._learned.recall(scope)
        visits.catch_up(self._learner.place)
        shape, canonical = self._learner.place(scope, url)
        found = None
        if self._learner.acts_on(scope) and not _left_alone(request):
            found = self._stand_in(visits, scope, url, canonical)
        if found is None:
            if url not in self._on_their_way:
                self._on_their_way[url] = visits.add(scope, shape, url, canonical)
            return None
        stand_in, rules = found
        tested = [self._tested.setdefault((scope, rule), _Tested()) for _, rule in rules]
        if site.policy.urls == "observe" or self._is_probe(url, tested):
            self._probes[url] = _Probe(stand_in.id, scope, rules)
            if site.policy.urls == "observe":
                self._stats.inc_value("simhash_gate/url/avoidable")
            else:
                _count(tested, probed=1)
                self._stats.inc_value("simhash_gate/url/probed")
            self._on_their_way[url] = visits.add(scope, shape, url, url)
            return None
        _count(tested, skipped=1)
        self._waiting.add(Skipped(stands(stand_in.id), request, scope, *stand_in[:2], rules))
        self._stats.inc_value("simhash_gate/url/avoided")
        told = ", ".join(dict.fromkeys(str(rule) for _, rule in rules))
        return UrlSkipped(url, stand_in.url, told)

    def _stand_in(
        self, visits: Visits, scope: str, url: str, canonical: str
    ) -> tuple[Visit, Reasons] | None:
        """Return the visit that has the page of a URL by the rules of now, and these."""
        for visit in islice(visits.find(scope, canonical), _LOOKED_AT):
            if visit.url != url and (rules := self._learner.reasons(scope, url, visit.url)):
                return visit, rules
        return None

    def _is_probe(self, url: str, tested: list[_Tested]) -> bool:
        share = self._settings.url_probes
        if share and any(each.probed == 0 for each in tested):
            return True
        drawn = mmh3.hash(f"{self._crawl.store.run.name} {url}", signed=False)
        return drawn < share * (1 << 32)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Learn from a verdict, and from what a probe brought."""
        if self._visits is None or judged.request.callback is NO_CALLBACK:
            return
        with self._failing_open():
            self._learn(self._visits, judged, page)

    def _learn(self, visits: Visits, judged: Judged, page: FollowedPage | None) -> None:
        site = self._settings.policies.site_of(judged.response.url)
        if site.policy.urls == "off":
            return
        url = without_credentials(judged.response.url)
        asked = _asked(judged.request, url)
        answered = [n for each in asked if (n := self._on_their_way.pop(each, 0))]
        if judged.not_modified:
            return
        if 200 <= judged.response.status < 300:
            self._learn_from(visits, judged, site, answered)
        if page is not None:
            self._asked_for[page] = asked
        if not _stands(judged.verdict):
            self._fell(asked)
            for visit in answered:
                self._release(visit)

    def _learn_from(self, visits: Visits, judged: Judged, site: Site, answered: list[int]) -> None:
        """Learn from a page that was fetched, and note what it says."""
        url = without_credentials(judged.response.url)
        asked = _asked(judged.request, url)
        told = self._told(judged, site)
        content = (
            None if told is None else content_of(told.kept if told.same and told.kept else url)
        )
        fingerprint = judged.verdict.fingerprint
        sketch = judged.verdict.page.sketch if judged.verdict.page else b""
        said = name_and_words(sketch, MOST_WORDS)
        for visit in answered:
            visits.tell(visit, content, fingerprint, said)
        probed_url = next((each for each in asked if each in self._probes), None)
        probed = None if probed_url is None else self._probes.pop(probed_url)
        if told is None or content is None:
            return
        stood, wrong = fetched(visits.get(probed.visit) if probed else None), False
        if stood is not None:
            me = Fetched(url, parts_of(url), content, fingerprint, said)
            wrong = relation(me, stood) is False
            if wrong:
                self._stats.inc_value("simhash_gate/url/wrong_probes")
        changes = self._learner.observe(
            probed.scope if probed else site.scope,
            probed_url or url,  # rules are about the URL that was asked for, not where it led
            *told,
            fingerprint=fingerprint,
            said=said,
            stood=stood,
            by=probed.rules if probed else (),
        )
        self._changed(visits, changes)
        if wrong and probed is not None:  # a rule of an earlier part of the job may not act yet
            for shape, rule in probed.rules:
                part = self._shape(url)
                self._unskip(probed.scope, part if whole(part) == whole(shape) else shape, rule)

    def _told(self, judged: Judged, site: Site) -> Told | None:
        verdict = judged.verdict
        if not site.policy.verify or verdict.not_compared:
            return None
        kept = verdict.match.record.url if verdict.match else None
        words = verdict.page.words if verdict.page else 0
        return told_by(verdict.outcome, kept, verdict.differs, words)

    def _changed(self, visits: Visits, changes: list[Change]) -> None:
        if not changes:
            return
        for scope, shape in {(change.scope, change.shape) for change in changes}:
            visits.rules_changed(scope, shape)
        for change in changes:
            _tell(change)
            if change.state != "active":
                self._unskip(change.scope, change.shape, change.rule, sure=change.evidence.rests)
            parted = whole(change.shape) != change.shape
            if change.state == "suspended" and parted:  # it acts on the other URLs yet
                self._probe(change.scope, change.rule, PROBES_OF_OTHERS)
        self._stats.set_value("simhash_gate/url/rules", self._learner.active)

    def _unskip(self, scope: str, shape: str, rule: Rule, *, sure: bool = True) -> None:
        """Send what was skipped by a rule that is wrong, or may be wrong if that is not `sure`."""
        why = f"{rule} {'does' if sure else 'may'} make a difference"
        found = take_by_rule(
            *(self._waiting, scope, shape, rule, why),
            shape_of=self._shape,
            reasons=self._look_again,
        )
        self._send(found, why)

    def _look_again(self, skipped: Skipped) -> Reasons:
        """Return the reasons of now to skip a request; these are what is to be tested."""
        url = without_credentials(skipped.request.url)
        reasons = self._learner.reasons(skipped.scope, url, skipped.stand_in)
        if reasons:
            _count(self._tests(skipped), skipped=-1)
            _count(self._tests(replace(skipped, rules=reasons)), skipped=1)
        return reasons

    def _shape(self, url: str) -> str:
        return self._learner.shapes.of(parts_of(url))

    def _release(self, visit: int) -> None:
        """Send what was skipped for a visit that brought nothing, whatever the file says."""
        with self._failing_open():
            if self._visits is not None:
                self._visits.remove(visit)
        self._stands_no_more(visit)

    def _stands_no_more(self, visit: int) -> None:
        self._send(self._waiting.take(stands(visit), _FAILED), _FAILED)

    def _send(self, requests: list[Skipped], why: str) -> None:
        for skipped in requests:
            _count(self._tests(skipped), skipped=-1)
            self._stats.inc_value("simhash_gate/url/avoided", -1 + skipped.earlier)
            self._stats.inc_value("simhash_gate/url/released")
            meta = {**skipped.request.meta, RELEASED_KEY: True}
            logger.info("Fetching %s after all: %s", skipped.request.url, why)
            self._waiting.send(skipped.request.replace(meta=meta))

    def failed(self, request: Request) -> None:
        """Send what was skipped for a request that has no answer."""
        for url in _asked(request, request.url):
            if visit := self._on_their_way.pop(url, 0):
                self._release(visit)

    def moved(self, page: FollowedPage) -> None:
        """Send what was skipped for a page that was taken back: it stands for nothing any more."""
        if page.record is not None and page.stage is Stage.FAILED:
            self._fell(self._asked_for.get(page, [page.record.url]))

    def _fell(self, urls: list[str]) -> None:
        """Let no visit of these URLs stand for another one any more."""
        waiting = self._waiting.of_kind("rule") if self._visits is None else ()
        found = {skipped.visit for skipped in waiting if skipped.stand_in in urls}
        with self._failing_open():
            found |= self._visits.of(urls) if self._visits is not None else set()
        for visit in found:
            self._release(visit)

    def idle(self) -> None:
        """Test rules that were tested too little; send what waits for answers that never came."""
        for visit in self._lost:
            self._stands_no_more(visit)
        self._lost.clear()
        for url, visit in list(self._on_their_way.items()):
            del self._on_their_way[url]
            self._release(visit)
        for (scope, rule), tested in self._tested.items():
            wanted = max(FEWEST_PROBES, math.ceil(self._settings.url_probes * tested.skipped))
            missing = min(wanted - tested.probed, tested.skipped)
            if self._settings.url_probes and missing > 0:
                self._probe(scope, rule, missing)

    def _tests(self, skipped: Skipped) -> list[_Tested]:
        tested = self._tested
        return [tested.setdefault((skipped.scope, rule), _Tested()) for _, rule in skipped.rules]

    def _probe(self, scope: str, rule: Rule, count: int) -> None:
        """Fetch some of the requests that were skipped by a rule."""
        for skipped in sample(self._waiting, scope, rule, count):
            _count(self._tests(skipped), skipped=-1, probed=1)
            self._stats.inc_value("simhash_gate/url/avoided", -1 + skipped.earlier)
            self._stats.inc_value("simhash_gate/url/probed")
            url = without_credentials(skipped.request.url)
            self._probes[url] = _Probe(skipped.visit, scope, skipped.rules)
            self._waiting.send(skipped.request)

    async def closed(self, closing: Closing) -> None:
        """Say what was saved, or could have been."""
        avoidable = self._stats.get_value("simhash_gate/url/avoidable", 0)
        if avoidable:
            logger.info(
                "%s need not have been sent: their pages were fetched under other URLs. "
                "%sURLS = 'skip' spares them",
                *(how_many(avoidable, "request"), PREFIX),
            )
        with self._failing_open():
            self._learned.keep()
            if self._visits is not None:
                self._visits.close()

    @contextmanager
    def _failing_open(self) -> Iterator[None]:
        """Skip nothing any more, and learn nothing, if anything in the block fails."""
        try:
            yield
        except Exception as error:
            expected = isinstance(error, sqlite3.Error)
            logger.error(
                "No more requests are skipped (%sURLS): %s", PREFIX, error, exc_info=not expected
            )
            self._visits = None


def _count(tested: list[_Tested], *, skipped: int = 0, probed: int = 0) -> None:
    for each in tested:
        each.skipped += skipped
        each.probed += probed


def _asked(request: Request, url: str) -> list[str]:
    """Return the URLs by which a page came, the first one first: those of redirects too."""
    urls = [*request.meta.get("redirect_urls", ()), request.url, url]
    return list(dict.fromkeys(map(without_credentials, urls)))


def _stands(verdict: Verdict) -> bool:
    """Tell whether a page can stand for others: it was kept, or is a copy of one that was."""
    seen = verdict.outcome in ("duplicate", "unchanged") and verdict.match is not None
    return verdict.record is not None or seen


def _counts(request: Request) -> bool:
    """Tell whether the page of a request can stand for those of others."""
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        and request.meta.get(META_KEY) is not False
        and request.url.startswith("http")
    )


def _left_alone(request: Request) -> bool:
    """Tell whether a request is to be sent whatever is known of its URL."""
    if request.meta.get("is_start_request") or any(key in request.meta for key in _LEFT_ALONE):
        return True
    return bool(request.body) or (request.dont_filter and RELEASED_KEY not in request.meta)


def _tell(change: Change) -> None:
    evidence = change.evidence
    done = {
        "learning": "must show anew that it makes no difference",
        "active": "makes no difference from now on",
        "suspended": f"{'makes' if evidence.rests else 'may make'} a difference: the rule rests",
        "dropped": "makes a difference too often: the rule was dropped",
    }
    logger.info(
        "URLs of %s: %s %s (%d cases for it, %d against, %d unsure; at least %.0f %% hold). "
        "Examples: %s",
        change.shape if change.shape != "*" else change.scope,
        change.rule,
        done[change.state],
        *(round(evidence.support), evidence.contradictions, round(evidence.unsure)),
        100 * change.bound,
        "; ".join(f"{url} and {other}" for url, other in change.examples[:2]) or "none",
    )
