"""The links that only a copy has: they are followed, so that no copy takes a page with it.

A copy is dropped because of what it says. It may lead to pages that nothing else leads to. So its
links are compared with those of all pages that reached their callbacks in this crawl, without what
names a visitor. A copy with others reaches its callback too: its items are held back, and of its
requests those are sent that no page had. Boxes of related links cost little, since other pages have
their links too; nor does a copy under a session lead through a site once more.

Where links of copies bring nothing but copies, such as a site under the number of each visitor in
the path, they are followed no more: each domain has credit, which only new pages renew.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from simhash_gate.common.urls import is_of_domain
from simhash_gate.common.wording import how_many
from simhash_gate.identity.lists import without_visitor
from simhash_gate.plugin.listeners import Listener, Stage
from simhash_gate.plugin.requests import COPY_KEY
from simhash_gate.plugin.spider_middleware import is_installed

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from typing_extensions import Self

    from simhash_gate.gate.verdict import Verdict
    from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged

logger = logging.getLogger(__name__)

MOST_KNOWN = 400_000
"""Links that are known, each 100 bytes at the most. Those seen longest ago count as new again."""
MOST_DOMAINS = 1_000
CREDIT = 20
"""A copy that is followed costs one, and so does each request that it leads to. A new page that one
brings gives as much as a domain begins with: in 54 real sites, all pages that only copies lead to
are found, at the price of one request in 25."""


class NewLinks(Listener):
    """Knows where the pages of a crawl lead, and finds copies that lead to something else."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._stats = crawl.crawler.stats
        self._known: set[int] = set()
        self._known_before: set[int] = set()
        self._shown: WeakKeyDictionary[FollowedPage, str] = WeakKeyDictionary()
        self._new: WeakKeyDictionary[Request, set[int]] = WeakKeyDictionary()
        self._credit: OrderedDict[str, int] = OrderedDict()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return it, unless no copy is dropped, or no item could be held back."""
        wanted = any(policy.action == "drop" for policy in crawl.settings.policies.all)
        return cls(crawl) if wanted and is_installed(crawl.crawler.settings) else None

    def given(self, verdict: Verdict, request: Request, domain: str) -> Verdict:
        """Return the verdict on a page as it is once its links are known."""
        page = verdict.page
        if not self._is_dropped_copy(verdict) or page is None:
            return verdict
        new = {
            link
            for target in page.targets.split("\n")
            if not self._is_known(link := hash(target)) and is_of_domain(target, domain)
        }
        if not new:
            return verdict
        if self._credit_of(domain) <= 0:
            self._stats.inc_value("simhash_gate/links/let_go", len(new))
            return verdict
        self._credit[domain] -= 1
        self._new[request] = new
        self._stats.inc_value("simhash_gate/links/copies")
        links = f"{how_many(len(new), 'link')} that no page had {'is' if len(new) == 1 else 'are'}"
        return replace(verdict, follows=len(new), reason=f"{verdict.reason}; {links} followed")

    def _is_dropped_copy(self, verdict: Verdict) -> bool:
        """Tell whether a page is dropped, and nobody asked for its links to go with it."""
        if verdict.outcome != "duplicate" or verdict.audited or verdict.policy.action != "drop":
            return False
        assert verdict.match is not None
        own = verdict.match.record.run == self._crawl.store.run.name
        return own or verdict.policy.revisit != "drop"

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Know the links that a callback is to follow; note what a link of a copy brought."""
        read = judged.verdict.page
        if read is None or judged.dropped:
            return
        shown = read.targets.split("\n")
        if (new := self._new.get(judged.request)) is not None:
            shown = [target for target in shown if hash(target) in new]
        self._know(set(map(hash, shown)))
        if page is not None:
            self._shown[page] = "\n".join(shown)
        if COPY_KEY in judged.request.meta and not judged.held:
            self._credit[judged.domain] = self._credit_of(judged.domain) + CREDIT
            self._stats.inc_value("simhash_gate/links/pages")

    def found(self, request: Request, response: Response) -> bool:
        """Tell whether a request of a copy leads where no page does; those of others go on."""
        request.meta.pop(COPY_KEY, None)
        new = self._new.get(response.request) if response.request is not None else None
        if new is None:
            return True
        link = hash(without_visitor(request.url))
        if link not in new and self._is_known(link):
            return False
        request.meta[COPY_KEY] = True
        domain = self._crawl.settings.policies.site_of(response.url).domain
        self._credit[domain] = self._credit_of(domain) - 1
        self._stats.inc_value("simhash_gate/links/requests")
        return True

    def moved(self, page: FollowedPage) -> None:
        """Forget the links of a page whose callback failed: they were not followed."""
        if page.stage is Stage.FAILED and (targets := self._shown.get(page)):
            failed = {hash(target) for target in targets.split("\n")}
            self._known -= failed
            self._known_before -= failed

    async def closed(self) -> None:
        """Say what was found, and what was not followed."""
        counts = [
            self._stats.get_value(f"simhash_gate/links/{name}", 0)
            for name in ("copies", "requests", "pages", "let_go")
        ]
        if any(counts):
            copies, requests, pages, let_go = counts
            more = f"; {how_many(let_go, 'more link')} not followed: others brought only copies"
            logger.info(
                "%s had links that no page had, which were followed: %s, %s%s",
                *(f"{copies} {'copy' if copies == 1 else 'copies'}", how_many(requests, "request")),
                *(how_many(pages, "new page"), more if let_go else ""),
            )

    def _is_known(self, link: int) -> bool:
        return link in self._known or link in self._known_before

    def _know(self, links: set[int]) -> None:
        self._known |= links
        if len(self._known) > MOST_KNOWN // 2:
            self._known, self._known_before = set(), self._known

    def _credit_of(self, domain: str) -> int:
        credit = self._credit.setdefault(domain, CREDIT)
        self._credit.move_to_end(domain)
        if len(self._credit) > MOST_DOMAINS:
            self._credit.popitem(last=False)
        return credit
