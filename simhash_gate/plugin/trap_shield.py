"""The trap shield in a crawl: it holds requests back before the download, and sends some later.

Requests that were held back are remembered, within bounds. They are sent when their shape brings
something new, or when a page of another part leads to them. A sample is sent before the crawl ends.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.http import Response

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.sample import read_sample
from simhash_gate.fingerprints.sketch import decode
from simhash_gate.gate.policy import Site
from simhash_gate.gate.verdict import ANSWERED
from simhash_gate.identity.lists import list_of
from simhash_gate.identity.traps import GAIN, Change, Origin, TracedRequest, TrapShield
from simhash_gate.page import Page
from simhash_gate.plugin.listeners import Crawl, FollowedPage, Judged, Listener
from simhash_gate.plugin.parked import Belief, Parked
from simhash_gate.plugin.requests import BECAUSE, FOUND_KEY, NotSent, asks_for_page
from simhash_gate.plugin.spider_middleware import is_installed
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from typing_extensions import Self


logger = logging.getLogger(__name__)

AT_ONCE = 14
"""Requests of a shape that are sent after one page of the shape brought something new."""
SAMPLE, SHARE, MOST = 5, 20, 50
"""Before a crawl ends, 5 requests of each part are sent, or one in 20 up to 50, of all shapes."""
_SHOWN = 10
_BARREN = frozenset({"duplicate", *ANSWERED})
_OUTCOMES = frozenset({"new", "near", "updated", "rewritten", "unchanged", *_BARREN})


@dataclass(eq=False)
class Held(Parked):
    """A request that waits until its shape brings something new."""

    group: str
    shape: str


class TrapGuard(Listener):
    """Asks the shield about each request, and tells it the results of pages."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._limits = any(policy.traps == "limit" for policy in self._policies.all)
        self._shield = TrapShield()
        self._visits: WeakKeyDictionary[Request, TracedRequest] = WeakKeyDictionary()
        self._sampled: set[str] = set()
        self._deepest = crawl.crawler.settings.getint("DEPTH_LIMIT")
        self._released: list[TracedRequest] = []
        self._steps: Counter[str] = Counter()  # by part: pages that were followed to find its end
        # By shape: examples of requests that were, or would have been, held back; their numbers;
        # the numbers of those that brought something new all the same.
        self._examples: defaultdict[str, list[str]] = defaultdict(list)
        self._counts: Counter[tuple[str, str]] = Counter()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the guard if the spider middleware sees requests of pages, else None."""
        return cls(crawl) if is_installed(crawl.crawler.settings) else None

    def opened(self, spider: Spider) -> None:
        """Continue with the shield, the requests and the counts of the last part of the job."""
        state = (self._shield, self._examples, self._counts)
        site_of = self._policies.site_of
        self._shield, self._examples, self._counts = self._parked.claim(
            "trap", state, lambda request: site_of(request.url).policy.traps == "limit"
        )

    def ask(self, request: Request, site: Site) -> None:
        """Raise `NotSent` for a request that leads into a trap, if the policy limits traps."""
        meta = request.meta
        if site.policy.traps == "off" or not asks_for_page(request):
            return
        origin = Origin(*meta[FOUND_KEY]) if FOUND_KEY in meta else None  # None for start URLs
        address = self._crawl.keys.host(site.scope).reduction.key(without_credentials(request.url))
        visit = self._visits[request] = self._shield.ask(address, site.scope, origin)
        if not visit.held:
            return
        url, shape, limits = without_credentials(request.url), visit.shape.name, "would_hold"
        if site.policy.traps == "limit":
            limits = "held"
            belief = ("trap", site.scope, visit.page)
            self._parked.add(Held(belief, request, visit.group.name, shape))
        self._count(f"trap/{limits}")
        self._counts[limits, shape] += 1
        if len(self._examples[shape]) < 2:
            self._examples[shape].append(url)
        if limits == "held":
            why = f"held back (trap): {BECAUSE[visit.why]} ({shape})"
            raise NotSent("trap", url, why, shape)

    def not_sent(self, request: Request, why: NotSent) -> None:
        """Tell the shield of a page that was fetched under another URL."""
        if why.stand_in is not None and request in self._visits:
            self._shield.is_known(self._visits[request])

    def found(self, request: Request, response: Response) -> bool:
        """Note on a request the page that it was found on.

        In a limited part, the next page of a list is released if this page shows something new. A
        request that was held back before is sent now if this page is in another part: Scrapy itself
        would filter the new request as a repeat.
        """
        request.meta.pop(FOUND_KEY, None)
        visit = self._visits.get(response.request) if response.request is not None else None
        if visit is None:
            return True
        fresh_before, goes_on = visit.fresh, list_of(request.url) == list_of(response.url)
        self._leads_to(visit, request.url)
        leads = goes_on and visit.shows and visit.fresh > fresh_before
        visit.shows &= not leads
        request.meta[FOUND_KEY] = list(visit.as_origin._replace(released=leads))
        return True

    def _leads_to(self, visit: TracedRequest, url: str) -> None:
        if visit.inside or not visit.leads_into_trap:
            scope = self._policies.site_of(url).scope
            address = self._crawl.keys.host(scope).reduction.key(without_credentials(url))
            self._changed(self._shield.found(visit, address, scope))
            if not visit.leads_into_trap:
                self._send([("trap", scope, address.digest)])

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Tell the shield what a page brought. Send the requests that waited for that."""
        visit = self._visits.get(judged.request)
        read = judged.verdict.page
        if visit is None or read is None or judged.skipped or judged.not_modified:
            return
        if judged.verdict.outcome not in _OUTCOMES:
            return
        changes = self._shield.judged(
            visit,
            self._policies.site_of(judged.request.url).scope,
            passed=judged.verdict.outcome not in _BARREN,
            title=read.title,
            sample=read_sample(read.sample),
            offers=offers_of(read),
            markdown=lambda: read.markdown_without("links"),
        )
        if visit.held and not visit.barren:
            self._counts["missed", visit.shape.name] += 1
            self._count("trap/missed")
        self._changed(changes)
        if judged.dropped and visit.inside:  # no callback follows its links, so they count here
            for url in read.targets.split("\n"):
                self._leads_to(visit, url)
        if visit.barren:
            self._shield.is_known(visit)
        elif visit.deep and visit.group.why != "endless":
            self._send_more(visit)
        elif visit.group.why == "endless" and visit.origin is not None and visit.origin.released:
            depth = judged.request.meta.get("depth", 0)
            if not 0 < self._deepest <= depth:  # at DEPTH_LIMIT, no links are seen
                self._released.append(visit)

    def idle(self) -> None:
        """Send a sample of the requests that wait, as long as that brings something new.

        An endless part has an end after all if a released page leads to no new address. Then more
        of its requests are sent. If the page leads on, one of its requests is sent to look for the
        end, at most `MOST` times for each part.
        """
        released, self._released = self._released, []
        for visit in released:
            if not visit.fresh:
                self._steps[visit.group.name] = 0
                self._send_more(visit)
            elif self._steps[visit.group.name] < MOST:
                self._steps[visit.group.name] += 1
                held_back = self._parked.of_kind("trap")
                below = (h.belief for h in held_back if h.request.meta[FOUND_KEY][0] == visit.page)
                self._send(islice(below, 1))
        waiting = defaultdict[str, list[Held]](list)
        for held in self._parked.of_kind("trap"):
            if held.group not in self._sampled:
                waiting[held.group].append(held)
        for group, requests in waiting.items():
            self._sampled.add(group)
            count = max(SAMPLE, min(MOST, len(requests) // SHARE))
            of_each = {held.shape: held.belief for held in requests}.values()
            spread = (held.belief for held in requests[:: -max(1, len(requests) // count)])
            self._send(islice(dict.fromkeys((*of_each, *spread)), count))

    def _send_more(self, visit: TracedRequest) -> None:
        self._sampled.discard(visit.group.name)
        waiting = self._parked.of_kind("trap")
        same_shape = [held.belief for held in waiting if held.shape == visit.shape.name]
        self._send(same_shape[:AT_ONCE])

    async def closed(self) -> None:
        """Report the requests that were held back, or would have been."""
        self._sum_up("held")
        self._sum_up("would_hold")

    def _changed(self, changes: Iterable[Change]) -> None:
        for why, group in changes:
            if why:
                self._count("trap/limited")
            limited = "is limited" if self._limits else f"would be limited ({PREFIX}TRAPS)"
            state = f"{limited}: {BECAUSE[why]}" if why else "brings something new again"
            logger.info("Trap shield: %s %s", group, state)

    def _send(self, beliefs: Iterable[Belief]) -> None:
        for held in chain.from_iterable(map(self._parked.take, beliefs)):
            request = held.request
            origin = Origin(*request.meta[FOUND_KEY])
            request.meta[FOUND_KEY] = list(origin._replace(released=True))
            self._count("trap/resent")
            self._counts["resent", ""] += 1
            self._parked.send(request)

    def _sum_up(self, what: str) -> None:
        counts = Counter({shape: n for (name, shape), n in self._counts.items() if name == what})
        if not counts:
            return
        lines = [
            f"\n  {shape}: {how_many(n, 'request')}, such as {', '.join(self._examples[shape])}"
            for shape, n in counts.most_common(_SHOWN)
        ]
        more = f"\n  and {len(counts) - _SHOWN} more shapes" if len(counts) > _SHOWN else ""
        number = how_many(counts.total(), "request")
        if what == "held":
            number += f" held back; {self._counts['resent', '']} sent again"
        else:
            missed = sum(n for (name, _), n in self._counts.items() if name == "missed")
            number += " would have been held back"
            seldom = (GAIN + 1) * missed < counts.total()
            advice = f"Set {PREFIX}TRAPS = 'limit'. First look" if seldom else "Look"
            self._crawl.note(
                "The crawl leads to ever more of the same, below "
                f"{', '.join(shape for shape, _ in counts.most_common(3))}: {number}.",
                f"{advice} at the examples in the log: {missed} of these brought something new.",
                wrong=seldom,
            )
        logger.info("Trap shield: %s.%s%s", number, "".join(lines), more)


def offers_of(page: Page) -> tuple[tuple[str, str], ...]:
    """Return the offers of a page without dates: a calendar has new dates for ever."""
    if page.listing or not page.sketch:
        return ()
    return tuple(field for field in decode(page.sketch).offered if "Date" not in field[0])
