"""Listings that lead to nothing new: their next pages are not fetched.

The next page of a listing waits until the page before it has led to something that is new, or has
changed. What is not known from an earlier crawl, or was no listing then, never waits. Once a week
a listing is read to its end all the same. If something new is found there, it is not in the order
of time: its pages do not wait for a month.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.exceptions import IgnoreRequest

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.gate.judge import Gate
from simhash_gate.history.rates import DAY
from simhash_gate.identity.lists import list_of
from simhash_gate.plugin.awaiting import result
from simhash_gate.plugin.learned import LearnedNotes
from simhash_gate.plugin.listeners import Listener
from simhash_gate.plugin.page_keys import GONE, PageKeys, time_of_visit
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.requests import HeldBack, addresses, asks_for_page
from simhash_gate.plugin.spider_middleware import is_installed
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from typing_extensions import Self

    from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged

logger = logging.getLogger(__name__)

WALK, REST = 7 * DAY, 30 * DAY
"""After how many seconds a listing is read to its end, and how long one is not believed."""
MOST_PAGES, MOST_LINKS, MOST_LISTINGS = 1_000, 400_000, 1_000
"""Pages of a crawl whose next pages wait; links that led to news; listings of a scope."""
_KNOWN = frozenset({"unchanged", "duplicate", "soft_404"})
_NEW = frozenset({"new", "near"})


@dataclass(eq=False)
class ListingPage:
    """A page of a listing: what it `shows`, and which `next` pages it leads to, in order.

    It has `news` if something that it shows is new or has changed. Then it `led` to one next page.
    """

    listing: str
    shows: set[int]
    news: bool = False
    led: bool = False
    next: list[int] = field(default_factory=list)


@dataclass(eq=False)
class Waiting(Parked):
    """A next page of a listing that waits; the crawl came to it at a time."""

    scope: str
    listing: str
    at: float


class Listings(Listener):
    """Lets next pages of listings wait for what the pages before them lead to."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._policies = crawl.settings.policies
        self._stats = crawl.crawler.stats
        self._parked = crawl.parked
        self._page_keys = PageKeys(crawl.crawler, crawl.keys)
        self._learned = LearnedNotes(crawl.store, "listings", self._take)
        # By scope and listing: when it was read to its end, and until when it is not believed.
        self._notes: dict[tuple[str, str], list[float]] = {}
        self._unsaved: set[tuple[str, str]] = set()
        self._walking: dict[tuple[str, str], float] = {}
        self._pages: WeakKeyDictionary[Request, ListingPage] = WeakKeyDictionary()
        self._quiet: dict[ListingPage, None] = {}  # the pages that had no news yet
        self._leading: defaultdict[int, list[ListingPage]] = defaultdict(list)
        self._news: set[int] = set()
        self._sent: set[int] = set()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the listener if any domain asks for it, and pages can be seen to lead on."""
        wanted = any(policy.listings == "stop" for policy in crawl.settings.policies.all)
        return cls(crawl) if wanted and is_installed(crawl.crawler.settings) else None

    async def ask(self, request: Request) -> None:
        """Raise `HeldBack` for a next page that waits."""
        link = self._link(request.url)
        if link in self._sent or link not in self._leading or not asks_for_page(request):
            return
        site, listing = self._policies.site_of(request.url), list_of(request.url)
        at, key = time_of_visit(request), (site.scope, listing)
        self._learned.has(site.scope)
        page = self._page_keys.record(request, site.scope, self._crawl.store.run)
        known = partial(Gate.known, record=page, policy=site.policy)
        before = (await result(self._crawl.store.submit(known))).previous
        self._learned.has(site.scope)  # it was asked before, so it has answered
        waits = before is not None and before.listing and key not in self._walking
        if not waits or self._notes.get(key, [0.0, 0.0])[1] > at or self._is_led_to(link):
            self._sent.add(link)
            return
        if key not in self._notes:
            self._note(key, [at, 0.0])
        self._parked.add(Waiting(("listing", link), request, *key, at))
        self._stats.inc_value("simhash_gate/listing/held")
        raise HeldBack(without_credentials(request.url), "listing", listing)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Note what a page brought, and what a page of a listing shows."""
        verdict, read = judged.verdict, judged.verdict.page
        listed = read is not None and read.listing
        links = {self._link(url) for url in addresses(judged.request, judged.response.url)}
        if judged.skipped:
            news = not listed and judged.response.status not in GONE
        elif listed:  # what its entries bring counts
            news = verdict.outcome in (*_NEW, "error")
        else:
            news = verdict.outcome not in _KNOWN or bool(verdict.follows)
        if news:
            kept = verdict.record if verdict.outcome in _NEW and not listed else None
            self._brings_news(links, kept.last_seen if kept else None)
        if listed and verdict.policy is not None and verdict.policy.listings == "stop":
            assert read is not None
            listing, targets = list_of(judged.request.url), read.targets.split("\n")
            shown = {self._link(url) for url in targets if list_of(url) != listing}
            found = ListingPage(listing, shown)
            found.news = not shown.isdisjoint(self._news) or len(self._news) > MOST_LINKS
            self._pages[judged.request] = found
            self._sent |= links
            if not found.news:
                self._quiet[found] = None
                if len(self._quiet) > MOST_PAGES:
                    self._has_news(next(iter(self._quiet)))

    def found(self, request: Request, response: Response) -> bool:
        """Note which page of a listing leads to its next one."""
        page = self._pages.get(response.request) if response.request is not None else None
        if page is not None and list_of(request.url) == page.listing:
            link = self._link(request.url)
            if link not in page.next:
                page.next.append(link)
                self._leading[link].append(page)
                self._lead(page)
        return True

    def failed(self, request: Request, exception: Exception) -> None:
        """Note that a request has no answer: there may be something new."""
        if not isinstance(exception, IgnoreRequest):
            self._brings_news({self._link(url) for url in addresses(request, request.url)})

    def idle(self) -> None:
        """Read the listings to their ends that are due; save it of those that were read."""
        for key, at in self._walking.items():
            self._note(key, [at, self._notes[key][1]])
        self._save()
        for waiting in self._parked.of_kind("listing"):
            key = (waiting.scope, waiting.listing)
            if key not in self._walking and waiting.at - self._notes[key][0] >= WALK:
                self._walking[key] = waiting.at
                self._stats.inc_value("simhash_gate/listing/walked")
            if key in self._walking:
                self._send(waiting.belief)

    async def closed(self) -> None:
        """Say what was not fetched."""
        self._save()
        if waiting := self._parked.of_kind("listing"):
            logger.info(
                "%s of listings not fetched: those before them lead to nothing new (%sLISTINGS)",
                *(how_many(len(waiting), "next page"), PREFIX),
            )

    def _link(self, url: str) -> int:
        scope = self._policies.site_of(url).scope
        return hash(self._crawl.keys.of(scope, without_credentials(url)).key)

    def _brings_news(self, links: set[int], new_at: float | None = None) -> None:
        """Note what is new or has changed; at `new_at`, something was found that nobody knew."""
        self._news |= links
        for page in [page for page in self._quiet if not links.isdisjoint(page.shows)]:
            self._has_news(page)
            for key in [key for key in self._walking if key[1] == page.listing]:
                if new_at is not None and self._notes[key][1] <= new_at:
                    self._note(key, [self._walking[key], new_at + REST])
                    self._stats.inc_value("simhash_gate/listing/wrong")
                    logger.warning(
                        "The listing %s has new pages behind known ones: for 30 days it is read "
                        "to its end (%sLISTINGS)",
                        *(page.listing, PREFIX),
                    )

    def _has_news(self, page: ListingPage) -> None:
        self._quiet.pop(page, None)
        page.news = True
        self._lead(page)

    def _is_led_to(self, link: int) -> bool:
        """Tell whether a page that has news leads to a next one, and to no other before it."""
        for page in self._leading[link]:
            if page.news and not page.led and link == self._next_of(page):
                page.led = True
                return True
        return False

    def _next_of(self, page: ListingPage) -> int | None:
        return next((link for link in page.next if link not in self._sent), None)

    def _lead(self, page: ListingPage) -> None:
        """Send the next page that a page with news leads to, if it waits."""
        link = self._next_of(page)
        if link is not None and self._parked.count(("listing", link)) and self._is_led_to(link):
            self._send(("listing", link))

    def _send(self, belief: tuple[Any, ...]) -> None:
        self._sent.add(belief[1])
        for waiting in self._parked.take(belief):
            self._stats.inc_value("simhash_gate/listing/resent")
            self._parked.send(waiting.request)

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for listing, (walked, until) in notes.items():
            self._notes.setdefault((scope, listing), [float(walked), float(until)])

    def _note(self, key: tuple[str, str], note: list[float]) -> None:
        self._notes[key] = note
        self._unsaved.add(key)

    def _save(self) -> None:
        """Let the store keep when listings were read to their ends."""
        for scope in {scope for scope, _ in self._unsaved}:
            new = {each: self._notes[scope, each] for of, each in self._unsaved if of == scope}
            self._learned.merge(scope, partial(_merge, new=new))
        self._unsaved.clear()


def _merge(known: dict[str, Any], new: dict[str, list[float]]) -> None:
    known.update(new)
    for listing in sorted(known, key=lambda each: known[each][0])[:-MOST_LISTINGS]:
        del known[listing]
