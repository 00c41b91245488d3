"""A quota of kept pages: beyond it, only pages are asked for that are known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.plugin.awaiting import result
from simhash_gate.plugin.listeners import Listener, Stage
from simhash_gate.plugin.page_keys import PageKeys
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.requests import HeldBack, asks_for_page
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from scrapy import Request
    from typing_extensions import Self

    from simhash_gate.gate.judge import Gate
    from simhash_gate.gate.policy import Policy
    from simhash_gate.plugin.listeners import Crawl, FollowedPage
    from simhash_gate.stores import Record


class Quota(Listener):
    """Asks the store how many pages a scope has, before each request."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._policies = crawl.settings.policies
        self._parked = crawl.parked
        self._page_keys = PageKeys(crawl.crawler, crawl.keys)

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the listener if any domain has a quota."""
        return cls(crawl) if any(it.quota for it in crawl.settings.policies.all) else None

    async def ask(self, request: Request) -> None:
        """Raise `HeldBack` for a request beyond the quota; start requests are always sent."""
        site = self._policies.site_of(request.url)
        is_start = request.meta.get("is_start_request")
        if not site.policy.quota or is_start or not asks_for_page(request):
            return
        page = self._page_keys.record(request, site.scope, self._crawl.store.run)
        refuses = partial(_refuses, page=page, policy=site.policy)
        if await result(self._crawl.store.submit(refuses)):
            self._parked.add(Parked(("quota", site.scope), request))
            self._crawl.crawler.stats.inc_value("simhash_gate/quota/held")
            raise HeldBack(without_credentials(request.url), "quota", site.domain)

    def moved(self, page: FollowedPage) -> None:
        """Ask again for a page that was held back, if one that was kept has failed."""
        if page.stage is Stage.FAILED and page.record is not None:
            for waiting in self._parked.take(("quota", page.record.scope), most=1):
                self._parked.send(waiting.request)

    async def closed(self) -> None:
        """Say which scopes have their quota."""
        for _, scope in self._parked.beliefs("quota"):
            number = how_many(self._parked.count(("quota", scope)), "request")
            self._crawl.note(
                f"{scope} has as many kept pages as its quota allows: {number} not sent.",
                f"{PREFIX}QUOTA sets it; {PREFIX}TTL makes room.",
            )


def _refuses(gate: Gate, *, page: Record, policy: Policy) -> bool:
    """Tell whether a scope has as many pages as it may have, and a page is none of them."""
    full = gate.store.count(page.scope) >= policy.quota
    return full and not gate.known(page, policy).history.versions
