"""The waiting room: what may be superfluous waits until the crawl has nothing else to do.

Requests that only copies led to wait here, and copies that were dropped though the page that they
are like gave no item. When the crawl is idle, they are let out a few at a time, the nearest first,
as long as that brings anything new: a page that is kept, an item, an answer that is not judged.
The callback of a copy runs at once if the copy shows links that its original neither requested nor
showed; its items are held back, and its requests wait. So boxes of related links cost little.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

import mmh3
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call

from simhash_gate.common.urls import is_of_domain, without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.gate.verdict import Verdict
from simhash_gate.identity.address import without_visitor
from simhash_gate.plugin.features.resend_dropped import to_send_again
from simhash_gate.plugin.followed import FollowedPage, Stage
from simhash_gate.plugin.listeners import Crawl, Judged, Listener
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.requests import ASKED_KEY, ROOM_KEY
from simhash_gate.plugin.spider_middleware import SimhashGateSpiderMiddleware, is_installed
from simhash_gate.plugin.yields import REASONS
from simhash_gate.stores import Record
from simhash_gate.stores.base import UNKNOWN_GAVE, Identity
from simhash_gate.values import PREFIX

ROOM = "room"
Kind = tuple[str, str]
LINKS: Kind = ("", "")
"""What waits is a link; or a copy, by its callback and why the page that is like it has less."""
CREDIT, SHARE = 100, 20
"""So many requests are let out in vain, or one for 20 kept pages, and 100 more for each that brings
something. Of a callback that never gave an item, one in 20 copies is let out, at least 10."""
LEAST, AT_ONCE = 10, 16
TRICKLE, PATIENCE = 20, 5.0
"""While start requests come, the crawl is never idle. One request is let out for 20 pages, and some
if no page came for 5 seconds."""
MOST_KNOWN = 400_000
"""Links that are remembered, at most 100 bytes each. The oldest count as new again."""
MOST_PAGES = 20_000
"""Kept pages whose links are remembered. For copies of others, the links of all pages count."""


class _Copy(NamedTuple):
    """A copy whose requests wait: its distance in copies, and what it was let out as, if it was."""

    distance: int
    let_out_as: Kind | None
    unpaid: bool


@dataclass(eq=False)
class Waiting(Parked):
    """A request that waits: a `link` that what was let out as `via` led to, or a copy."""

    link: int = 0
    via: Kind | None = None
    original: Record | None = None


class _Links:
    """A set of links that forgets the older half when it is full."""

    def __init__(self) -> None:
        self._new: set[int] = set()
        self._old: set[int] = set()

    def add(self, links: Iterable[int]) -> None:
        self._new.update(links)
        if len(self._new) > MOST_KNOWN // 2:
            self._new, self._old = set(), self._new

    def missing(self, links: Iterable[int]) -> set[int]:
        return set(links) - self._new - self._old


class WaitingRoom(Listener):
    """Lets requests wait, and lets them out while that brings anything new."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._yields = crawl.yields
        self._follows = is_installed(crawl.crawler.settings)
        self._requested, self._shown = _Links(), _Links()
        self._shown_by: Bounded[Identity, array[int]] = Bounded(MOST_PAGES)
        self._copies: WeakKeyDictionary[Request, _Copy] = WeakKeyDictionary()
        self._let_out: WeakKeyDictionary[FollowedPage, list[Any]] = WeakKeyDictionary()
        self._waiting: set[int] = set()  # the links among what waits
        self._kept = self._met = 0
        self._spent, self._brought = Counter[Kind](), Counter[Kind]()
        self._random = random.Random(1)
        self._timer: Any = None
        self._met_before = 0

    def opened(self, spider: Spider) -> None:
        """Continue with what waited in the last part of the job."""
        state = self._requested, self._spent, self._brought
        self._requested, self._spent, self._brought = self._parked.claim(ROOM, state)
        self._timer = create_looping_call(self._look)
        self._timer.start(PATIENCE, now=False)
        self._waiting.update(one.link for _, waiting in self._by_kind() for one in waiting)

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return the verdict, with `follows` if the page is a copy whose new links are followed."""
        page, match = verdict.page, verdict.match
        if page is None:
            return verdict
        self._requested.add(_links(request, map(without_visitor, {request.url, page.url})))
        unpaid = verdict.unpaid in ("nothing", "less") and verdict.policy.action == "drop"
        if verdict.outcome != "duplicate" or match is None or not self._follows:
            return verdict
        policy, kept = verdict.policy, match.record
        is_dropped = verdict.held and policy.action == "drop"
        # The policy may drop the links of a page that an earlier crawl kept, too.
        is_followed = self._crawl.is_own(kept) or policy.revisit != "drop"
        if not (unpaid or (is_dropped and is_followed)):
            return verdict
        place = urlsplit(request.url).path.rstrip("/") or request.url
        links = (
            target
            for target in page.targets.split("\n")
            if target  # a page may have none
            and (is_of_domain(target, domain) or place not in unquote(target))  # to share the page
        )
        new = self._requested.missing(_links(request, links)) - self._waiting
        shown = self._shown_by.get(kept.identity)
        new = self._shown.missing(new) if shown is None else new.difference(shown)
        if not (new or unpaid):
            return verdict
        let_out_as, distance, _ = request.meta.get(ROOM_KEY) or (None, -1, None)
        self._copies[request] = _Copy(distance + 1, let_out_as, verdict.unpaid == "nothing")
        if verdict.unpaid == "nothing" or not new:
            return verdict
        number = f"{how_many(len(new), 'link')} that no page had {'is' if len(new) == 1 else 'are'}"
        return replace(verdict, follows=len(new), reason=f"{verdict.reason}; {number} followed")

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Note the links that a page shows. Let a dropped copy wait if it may give more."""
        verdict, request = judged.verdict, judged.request
        self._met += 1
        self._kept += verdict.record is not None
        if let_out := request.meta.get(ROOM_KEY):
            brought = not (judged.held or verdict.unpaid)
            if judged.skipped:
                is_answer = judged.response.status < HTTPStatus.BAD_REQUEST
                brought = judged.skipped != "empty" and is_answer
            if brought:
                self._brings(let_out)
            elif page is not None:
                self._let_out[page] = let_out  # it may bring an item
        if judged.dropped and verdict.match is not None and verdict.outcome == "duplicate":
            original = verdict.match.record
            followed = original.identity in self._crawl.followed  # then `Resending` has the copy
            if not followed and self._yields.wanted(original, is_copy=True) in ("nothing", "code"):
                self._wait_as_copy(to_send_again(judged), original)
        elif verdict.page is not None and request not in self._copies:
            deepest = self._crawl.crawler.settings.getint("DEPTH_LIMIT")
            is_deepest = 0 < deepest <= request.meta.get("depth", 0)  # nobody follows its links
            links = _links(request, [] if is_deepest else verdict.page.targets.split("\n"))
            self._shown.add(links)
            if verdict.record is not None:
                self._shown_by.put(verdict.record.identity, array("Q", links), 1)
        if self._met % TRICKLE == 0 and self._is_starting():
            self._draw(1)

    def found(self, request: Request, response: Response) -> bool:
        """Return False for a request of a copy: it was sent before, or waits."""
        request.meta.pop(ROOM_KEY, None)
        page = response.request
        posted = "" if request.method == "GET" else f"\n{request.method} {request.body!r}"
        (link,) = _links(page, [without_visitor(request.url) + posted])
        copy = self._copies.get(page) if page is not None else None
        if copy is None:
            self._requested.add([link])
            return True
        if copy.unpaid and (request.dont_filter or request.method != "GET"):
            return True  # this is no link: the spider wants this request in any case
        if self._requested.missing([link]) and link not in self._waiting:
            self._waiting.add(link)
            self._wait(LINKS, request, link=link, via=copy.let_out_as, distance=copy.distance)
        return False

    def moved(self, page: FollowedPage) -> None:
        """Note that an item came. Let the copies wait that were dropped for a page without one."""
        if page.stage is not Stage.SETTLED or (record := page.decides) is None:
            return
        if page.given and (let_out := self._let_out.pop(page, None)):
            self._brings(let_out)
        if self._yields.wanted(record) and not page.polls:
            for copy in self._parked.take(("copy", record.identity)):
                self._wait_as_copy(copy.request, record)

    def idle(self) -> None:
        engine = self._crawl.crawler.engine
        while self._draw() and engine is not None and engine.spider_is_idle():
            pass  # the filter of duplicates has taken all of them

    def _look(self) -> None:
        """Let some requests out if no page came for a while, though start requests may come."""
        if self._met == self._met_before and self._is_starting():
            self._draw(AT_ONCE)
        self._met_before = self._met

    async def closed(self) -> None:
        """Tell what stays unfetched, and why."""
        if self._timer is not None and self._timer.running:
            self._timer.stop()
        for kind, waiting in self._by_kind():
            if not (rest := [one for one in waiting if self._is_open(one)]):
                continue
            self._stats.inc_value("simhash_gate/room/left", len(rest))
            callback, gave = kind[0].partition(" ")[0], kind[1]
            url, tried = without_credentials(rest[0].request.url), self._spent[kind]
            message = f"Not fetched: {how_many(len(rest), 'URL')}, such as {url}. "
            came = f"Of {tried} others {self._brought[kind]} brought anything new."
            if self._parked.paused:
                message += "The crawl was closed before it had nothing else to do."
                advice = "A later crawl meets them again; a job with JOBDIR goes on with them."
            elif kind == LINKS:
                message += f"Only copies lead there. {came} "
                message += "Endless calendars and session ids look so."
                advice = f"{PREFIX}ACTION = 'links' fetches all of them."
            else:
                message += f"They are copies, and {REASONS[gave]}. {came}"
                message += f" {callback} gave no item at all." * (not self._yields.gives(kind[0]))
                advice = f"{PREFIX}ACTION = 'tag' delivers all copies."
            wrong = not self._parked.paused and gave != "less"
            self._crawl.note(message, advice, wrong=wrong)

    def _wait(self, kind: Kind, request: Request, **known: Any) -> None:
        self._count("room/waited")
        self._parked.add(Waiting((ROOM, *kind), request, **known))

    def _wait_as_copy(self, request: Request, original: Record) -> None:
        gave = self._yields.wanted(original, is_copy=True)
        # After a pause, this record is all that is known of the page.
        known = 0 if gave == "nothing" else original.gave or UNKNOWN_GAVE
        kept = replace(original, settled=True, gave=known)
        self._wait((original.callback or "?", gave), request, original=kept)

    def _by_kind(self) -> Iterator[tuple[Kind, list[Waiting]]]:
        for belief in self._parked.beliefs(ROOM):
            yield (str(belief[1]), str(belief[2])), self._parked.waiting(belief)

    def _is_open(self, waiting: Waiting) -> bool:
        """Tell whether a request may still bring something, by what has come since it waits."""
        if waiting.original is not None:
            return bool(self._yields.wanted(waiting.original, is_copy=True))
        return bool(self._requested.missing([waiting.link]))

    def _draw(self, most: int = MOST_KNOWN) -> int:
        """Let requests out, the nearest first, at random among equals. Return how many."""
        sent = 0
        busy = set(self._crawl.followed)
        for kind, waiting in self._by_kind():
            first = max(CREDIT, self._kept // SHARE)
            if kind[1] == "less" or (kind != LINKS and not self._yields.gives(kind[0])):
                first = max(LEAST, (len(waiting) + self._spent[kind]) // SHARE)
            left = first + CREDIT * self._brought[kind] - self._spent[kind]
            left = min(left, most, max(AT_ONCE, left // 2))
            self._random.shuffle(waiting)
            for one in sorted(waiting, key=attrgetter("distance")):
                if left <= 0:
                    break
                if one.original is not None and one.original.identity in busy:
                    continue
                self._parked.remove(one)
                self._waiting.discard(one.link)
                if self._is_open(one):
                    self._send(kind, one)
                    left, sent = left - 1, sent + 1
                    busy.update([one.original.identity] if one.original else ())
        return sent

    def _send(self, kind: Kind, one: Waiting) -> None:
        is_copy = one.original is not None
        self._spent[kind] += 1
        self._count("room/fetched")
        self._requested.add([] if is_copy else [one.link])
        let_out = {ROOM_KEY: [kind, one.distance, one.via]}
        request = one.request.replace(meta={**one.request.meta, **let_out})
        self._parked.send(request, again=is_copy)

    def _brings(self, let_out: list[Any]) -> None:
        kind, _, via = let_out
        self._count("room/brought")
        self._brought.update({tuple(kind), tuple(via or kind)})

    def _is_starting(self) -> bool:
        middleware = self._crawl.crawler.get_spider_middleware(SimhashGateSpiderMiddleware)
        return middleware is not None and middleware.is_starting


def _links(request: Request | None, urls: Iterable[str]) -> set[int]:
    """Return the links of a page, which another callback and visitor would not follow."""
    asker = "" if request is None else request.meta.get(ASKED_KEY, [""])[0]
    seed = mmh3.hash(asker, signed=False)
    return {mmh3.hash64(url.encode("utf-8", "replace"), seed, signed=False)[0] for url in urls}
