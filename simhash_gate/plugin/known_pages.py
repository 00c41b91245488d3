"""Holds back requests for the next pages of listings that earlier crawls have read.

The next page of a listing waits until the page before it has changed, or has led to something new.
A page that no earlier crawl knows never waits. Once a week, a listing is read to its end in any
case. If that finds something new, the next crawl does it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http import Response

from simhash_gate.common.urls import without_credentials
from simhash_gate.identity.lists import list_of, without_visitor
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener
from simhash_gate.plugin.page_keys import PageKeys, time_of_visit
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.requests import BECAUSE, NotSent, addresses, asks_for_page
from simhash_gate.plugin.store_thread import LearnedNotes
from simhash_gate.plugin.threads import result
from simhash_gate.values import PREFIX

WEEK = 7 * 86_400.0
MOST_PAGES, MOST_LISTINGS = 1_000, 1_000
"""Pages of a crawl whose next pages may wait; listings of a scope that the store remembers."""
_NEW = frozenset({"new", "near"})
_NEWS = _NEW | {"updated", "rewritten"}


@dataclass(eq=False)
class ListingPage:
    """A page of a listing: hashes of the links that it `shows`, and of its `next` pages in order.

    The `key` is the scope and the listing. `has_led` tells whether a next page was let go for it.
    """

    key: tuple[str, str]
    shows: set[int]
    next: list[int] = field(default_factory=list)
    has_led: bool = False


class KnownPages(Listener):
    """Asks the store about next pages of listings before they are requested."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._page_keys = PageKeys(crawl.crawler, crawl.keys)
        self._learned = LearnedNotes(crawl.store, "listings", self._take)
        # By scope and listing: the time of the next reading to the end; and the time after that,
        # while the listing is read to its end.
        self._due: dict[tuple[str, str], float] = {}
        self._walks: dict[tuple[str, str], float] = {}
        self._pages: WeakKeyDictionary[Request, ListingPage] = WeakKeyDictionary()
        self._quiet: dict[ListingPage, None] = {}
        self._next: set[int] = set()
        self._news: set[int] = set()
        self._sent: set[int] = set()

    async def ask_store(self, request: Request) -> None:
        """Raise `NotSent` for a request that waits. Raises `StoreError` and `SettingsError`."""
        link, site = _link(request.url), self._policies.site_of(request.url)
        if link not in self._next or link in self._sent or not asks_for_page(request):
            return
        page = self._page_keys.record(request, site.scope, self._crawl.store.run)
        self._learned.has(site.scope)
        revisit = await result(self._crawl.store.submit(lambda gate: gate.known(page, site.policy)))
        self._learned.has(site.scope)  # the store has answered this, too: it was asked before
        key = self._key(request)
        if revisit.previous and key not in self._walks and link not in self._sent:
            if key not in self._due:  # it is kept at once, since the crawl may be killed
                self._due[key] = page.last_seen + WEEK
                self._keep(key[0], {key[1]: self._due[key]})
            self._parked.add(Parked(("listing", link), request))
            self._count("listing/held")
            why = f"held back (listing): {BECAUSE['listing']} ({key[1]})"
            raise NotSent("listing", without_credentials(request.url), why, key[1])
        self._sent.add(link)

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Note whether a page is news, and the links that a page of a listing shows."""
        verdict, read = judged.verdict, judged.verdict.page
        links = {_link(url) for url in addresses(judged.request, judged.response.url)}
        if read is None or not read.lists_others:
            if verdict.outcome in _NEWS:
                self._news |= links
                for quiet in [
                    page_of_listing
                    for page_of_listing in self._quiet
                    if not links.isdisjoint(page_of_listing.shows)
                ]:
                    self._lead(quiet)
                    if quiet.key in self._walks and verdict.outcome in _NEW:
                        self._walks[quiet.key] = 0.0  # old pages have news: read it all next time
                        self._count("listing/missed")
        elif self._policies.site_of(judged.request.url).policy.listings == "stop":
            key, targets = self._key(judged.request), read.targets.split("\n")
            shown = {_link(url) for url in targets if list_of(url) != key[1]}
            listing_page = self._pages[judged.request] = ListingPage(key, shown)
            self._sent |= links
            self._quiet[listing_page] = None
            if not shown.isdisjoint(self._news):
                self._lead(listing_page)
            elif len(self._quiet) > MOST_PAGES:
                self._lead(next(iter(self._quiet)))

    def found(self, request: Request, response: Response) -> bool:
        """Note a request for the next page of a listing."""
        page = self._pages.get(response.request) if response.request is not None else None
        if page is not None and self._key(request) == page.key:
            link = _link(request.url)
            page.next.append(link)
            self._next.add(link)
            if page not in self._quiet:
                self._lead(page)
        return True

    def idle(self) -> None:
        """Send the requests of listings that are due to be read to their ends."""
        self._due |= self._walks  # these listings have been read to their ends
        self._walks = {}
        for waiting in self._parked.of_kind("listing"):
            key, at = self._key(waiting.request), time_of_visit(waiting.request)
            if at >= self._due[key]:
                self._walks[key] = at + WEEK
                self._sent.add(waiting.belief[1])
                self._send(waiting.belief[1])

    async def closed(self) -> None:
        """Report the requests that were held back. Keep in the store when listings are due."""
        if waiting := len(self._parked.of_kind("listing")):
            message = f"{waiting} held back: {BECAUSE['listing']}."
            self._crawl.note(message, f"See {PREFIX}LISTINGS.")
        for scope in {scope for scope, _ in self._due}:
            new = {listing: at for (of, listing), at in self._due.items() if of == scope}
            self._keep(scope, new)

    def _keep(self, scope: str, due: dict[str, float]) -> None:
        self._learned.merge(scope, partial(_merge, new=due))

    def _key(self, request: Request) -> tuple[str, str]:
        return self._policies.site_of(request.url).scope, list_of(request.url)

    def _lead(self, page: ListingPage) -> None:
        """Send the first next page of a page with news that was not requested yet."""
        self._quiet.pop(page, None)
        link = next((link for link in page.next if link not in self._sent), None)
        if link is not None and not page.has_led:
            page.has_led = True
            self._sent.add(link)
            self._send(link)

    def _send(self, link: int) -> None:
        for waiting in self._parked.take(("listing", link)):
            self._count("listing/resent")
            self._parked.send(waiting.request)

    def _take(self, scope: str, notes: dict[str, Any]) -> None:
        for listing, at in notes.items():
            self._due.setdefault((scope, listing), float(at))


def _link(url: str) -> int:
    return hash(without_visitor(url))


def _merge(notes: dict[str, Any], new: dict[str, float]) -> None:
    notes.update(new)
    for listing in sorted(notes, key=notes.__getitem__)[:-MOST_LISTINGS]:
        del notes[listing]
