"""The links that only a copy has are followed, so that dropping it loses no page.

A copy is dropped because of its text, but it may lead to pages that nothing else leads to. So its
links, without parameters of visitors, are compared with those of all pages that reached their
callbacks in this crawl. If some are new, the copy reaches its callback, too: its items are held
back, and only the requests for new links are sent. Boxes of related links cost little, since other
pages have the same links. Nor does a copy under a session lead through a site once more.

On some sites, links of copies lead only to copies: for example, the path has the number of each
visitor. So following is limited: each domain has credit, and the copies of one page get little of
it. If a copy leads to a new page, other copies of the same page get more credit. Copies without
credit wait, and so do requests from copies. They are sent when there is credit.
"""

from __future__ import annotations

import logging
from array import array
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.http import Response

from simhash_gate.common.urls import is_of_domain
from simhash_gate.common.wording import how_many
from simhash_gate.gate.verdict import Verdict
from simhash_gate.identity.address import without_visitor
from simhash_gate.plugin.features.resend_dropped import to_send_again
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.requests import COPY_KEY, asker_of
from simhash_gate.plugin.spider_middleware import is_installed

if TYPE_CHECKING:
    from typing_extensions import Self


logger = logging.getLogger(__name__)

MOST_KNOWN = 400_000
"""Links that are remembered, at most 100 bytes each. The oldest count as new again."""
CREDIT, SHARE = 20, 25
"""A followed copy costs 1 credit, and so does each request that it leads to. Each domain begins
with 20, and gets 1 for each 25 pages that pass. A copy that leads to a new page brings 20."""
TRIES = 3
"""After 3 copies of a page that brought nothing, its other copies wait."""
MOST_COUNTED = 20_000
"""Domains and pages with credit and tries. If there are more, all begin anew."""
MOST_WAITING = 500
"""Copies of one page that wait, about 3 KB each."""


class _Copy(NamedTuple):
    """A copy with new links. `original` stands for the page that it is a copy of."""

    links: set[int]
    original: str
    followed: bool
    unpaid: bool


@dataclass(eq=False)
class Unfollowed(Parked):
    """A copy that waits, with the number of its new `links`, or a request that a copy led to."""

    links: int
    is_copy: bool


class NewLinks(Listener):
    """Remembers the links of all pages of a crawl, and finds copies with new links."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._seen: set[int] = set()
        self._seen_before: set[int] = set()
        self._shown: WeakKeyDictionary[FollowedPage, array[int]] = WeakKeyDictionary()
        self._copies: WeakKeyDictionary[Request, _Copy] = WeakKeyDictionary()
        # The credit of a domain, less `CREDIT`, or of the original of copies.
        self._credit, self._tries = Counter[str](), Counter[str]()
        self._last_credit: set[str] = set()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the listener if items can be held back, else None."""
        return cls(crawl) if is_installed(crawl.crawler.settings) else None

    def opened(self, spider: Spider) -> None:
        """Continue with the copies and the credit of the last part of the job."""
        state = self._credit, self._tries
        self._credit, self._tries = self._parked.claim("links", state, lambda _: True)

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return the verdict, with `follows` if the page is a copy whose new links are followed."""
        page, asker = verdict.page, asker_of(request)
        unpaid = verdict.unpaid and verdict.outcome == "duplicate"
        if not (unpaid or self._is_dropped_copy(verdict)) or page is None:
            return verdict
        targets = {hash((asker, target)): target for target in page.targets.split("\n")}
        new = targets.keys() - self._seen - self._seen_before
        new = {link for link in new if is_of_domain(targets[link], domain)}
        if not (new or unpaid):
            return verdict
        assert verdict.match is not None
        original = f"{domain} {verdict.match.record.fingerprint:016x}"
        copy = _Copy(new, original, unpaid or self._has_credit(domain, original), unpaid)
        self._copies[request] = copy
        if unpaid or not copy.followed:
            return verdict
        self._tries[original] += 1
        self._pay(domain, original)
        links = f"{how_many(len(new), 'link')} that no page had {'is' if len(new) == 1 else 'are'}"
        return replace(verdict, follows=len(new), reason=f"{verdict.reason}; {links} followed")

    def _is_dropped_copy(self, verdict: Verdict) -> bool:
        """Tell whether a page is a dropped copy, and the policy does not drop its links, too."""
        if verdict.outcome != "duplicate" or verdict.policy.action != "drop":
            return False
        assert verdict.match is not None
        return self._crawl.is_own(verdict.match.record) or verdict.policy.revisit != "drop"

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Remember the links that a callback follows. Give credit for a new page."""
        read, copy = judged.verdict.page, self._copies.get(judged.request)
        if copy is not None and not copy.followed:
            self._wait(judged.domain, copy.original, to_send_again(judged), len(copy.links))
        if read is None or judged.dropped:
            return
        asker = asker_of(judged.request)  # another callback follows other links
        shown = {hash((asker, target)) for target in read.targets.split("\n")}
        if copy is not None:
            shown &= copy.links
        if self._crawl.is_deepest(judged.request):
            shown = set()
        self._seen |= shown
        if len(self._seen) > MOST_KNOWN // 2:
            self._seen, self._seen_before = set(), self._seen
        if page is not None:
            self._shown[page] = array("q", shown)
        if judged.held:
            return
        self._add(judged.domain, 1 / SHARE)
        if original := judged.request.meta.get(COPY_KEY):
            self._add(original, CREDIT)
            self._follow(judged.domain, original, CREDIT)

    def found(self, request: Request, response: Response) -> bool:
        """Return True for a new link of a copy with credit, and for all requests of other pages."""
        request.meta.pop(COPY_KEY, None)
        copy = self._copies.get(response.request) if response.request is not None else None
        if copy is None:
            return True
        if copy.unpaid and (request.dont_filter or request.method != "GET"):
            return True  # this is not a link: the spider wants this request in any case
        link = hash((asker_of(response.request), without_visitor(request.url)))
        if link not in copy.links and self._is_known(link):
            return False
        request.meta[COPY_KEY] = copy.original
        domain = self._crawl.settings.policies.site_of(response.url).domain
        if not self._has_credit(domain, copy.original, tries=0):
            self._wait(domain, copy.original, request)
            return False
        self._pay(domain, copy.original)
        return True

    def moved(self, page: FollowedPage) -> None:
        """Forget the links of a page whose callback failed or gave nothing: none was followed."""
        if page.is_lost and not (page.barren and (page.sent or page.record is None)):
            self._seen.difference_update(self._shown.get(page, ()))
            self._seen_before.difference_update(self._shown.get(page, ()))

    def idle(self) -> None:
        """Spend the credit that is left. Each domain gets `CREDIT` once more."""
        beliefs: list[Any] = self._parked.beliefs("links")
        cost = Counter[str]()
        for _, domain, original in sorted(beliefs, key=lambda belief: self._tries[belief[2]]):
            if domain not in self._last_credit:
                self._last_credit.add(domain)
                self._add(domain, CREDIT)
            cost[domain] += 2  # the copy, and a request
            if cost[domain] <= CREDIT + self._credit[domain]:
                del self._tries[original]
                self._follow(domain, original, 1)

    async def closed(self) -> None:
        """Report the links that were not followed."""
        if let_go := self._stats.get_value("simhash_gate/links/let_go", 0):
            links = how_many(let_go, "link")
            logger.info("Not followed: %s of copies; others brought only copies", links)

    def _is_known(self, link: int) -> bool:
        return link in self._seen or link in self._seen_before

    def _has_credit(self, domain: str, original: str, tries: int | None = None) -> bool:
        tries = self._tries[original] if tries is None else tries
        return self._credit[original] > 0 or (CREDIT + self._credit[domain] >= 1 and tries < TRIES)

    def _pay(self, domain: str, original: str) -> None:
        self._add(original if self._credit[original] > 0 else domain, -1)

    def _add(self, name: str, credit: float) -> None:
        self._credit[name] += credit  # type: ignore[assignment]
        if len(self._credit) + len(self._tries) > MOST_COUNTED:
            self._credit.clear()
            self._tries.clear()

    def _wait(self, domain: str, original: str, request: Request, links: int = 0) -> None:
        """Let a copy with its number of new links wait or, without a number, a copy's request."""
        waiting = Unfollowed(("links", domain, original), request, links or 1, links > 0)
        self._parked.add(waiting, MOST_WAITING)
        self._stats.inc_value("simhash_gate/links/let_go", waiting.links)

    def _follow(self, domain: str, original: str, most: int) -> None:
        """Send the requests that wait, the oldest first. Copies are fetched again."""
        for waiting in self._parked.take(("links", domain, original), most=most):
            self._stats.inc_value("simhash_gate/links/let_go", -waiting.links)
            if not waiting.is_copy:
                self._pay(domain, original)
            self._parked.send(waiting.request)
