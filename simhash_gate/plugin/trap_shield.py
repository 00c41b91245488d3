"""The trap shield in a crawl: asks before each download, holds back, and fetches again.

Requests that were held back are remembered, within bounds, and sent again when their shape brings
something new.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.http.request import NO_CALLBACK

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.gist import read_gist
from simhash_gate.identity.traps import Origin, TrapShield
from simhash_gate.plugin.listeners import Listener
from simhash_gate.plugin.parked import Parked
from simhash_gate.plugin.requests import FOUND_KEY, META_KEY, RECOVERED_KEY, NotSent
from simhash_gate.plugin.signals import request_held_back
from simhash_gate.plugin.spider_middleware import is_installed
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from typing_extensions import Self

    from simhash_gate.identity.traps import Change, Visit
    from simhash_gate.plugin.listeners import Closing, Crawl, FollowedPage, Judged
    from simhash_gate.plugin.parked import Belief

logger = logging.getLogger(__name__)

MOST_TALLIES = 1_000
"""Shapes that the closing lines know."""
MOST_OF_SHAPE = 1_000
"""Requests that wait until it brings something new."""
AT_ONCE = 14
"""So many of a shape are sent again for one page that brings something new."""
_SHOWN = 10
_OUTCOMES = frozenset({"new", "near", "updated", "rewritten", "duplicate", "unchanged"})
_BECAUSE = {
    "barren": "pages of its shape bring nothing new",
    "endless": "its pages lead to ever more of the same",
}


class HeldBack(NotSent):
    """A request leads into a trap: `why` is "barren" or "endless", `shape` that of its URL."""

    kind = "trap"

    def __init__(self, url: str, why: str, shape: str) -> None:
        super().__init__(url, f"held back in a trap: {_BECAUSE[why]} ({shape})", shape)
        self.why = why
        self.shape = shape


@dataclass(eq=False)
class Held(Parked):
    """A request that waits until its shape brings something new, or the maze of a group ends."""

    group: str


@dataclass(slots=True)
class _Tally:
    """What was held back of one shape, or would have been; `missed` brought something new."""

    held: int = 0
    missed: int = 0
    examples: list[str] = field(default_factory=list)


class TrapGuard(Listener):
    """Asks the shield about each request, and tells it what became of the pages."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._policies = crawl.settings.policies
        self._stats = crawl.crawler.stats
        self._parked = crawl.parked
        self._shield = TrapShield()
        self._visits: WeakKeyDictionary[Request, Visit] = WeakKeyDictionary()
        self._tallies: dict[str, _Tally] = {}
        self._counts: Counter[str] = Counter()

    @classmethod
    def for_crawl(cls, crawl: Crawl) -> Self | None:
        """Return the guard if any domain asks for it, and pages can be seen to lead somewhere."""
        wanted = any(policy.traps != "off" for policy in crawl.settings.policies.all)
        return cls(crawl) if wanted and is_installed(crawl.crawler.settings) else None

    def opened(self, spider: Spider) -> None:
        """Go on with what the last part of the job knew, held back and counted."""
        known = (self._shield, self._tallies, self._counts)
        site_of = self._policies.site_of
        self._shield, self._tallies, self._counts = self._parked.claim(
            "trap", known, lambda request: site_of(request.url).policy.traps == "limit"
        )

    def ask(self, request: Request) -> None:
        """Raise `HeldBack` for a request that leads into a trap, where traps are limited."""
        site = self._policies.site_of(request.url)
        mode = site.policy.traps
        if mode == "off" or not _is_ours(request):
            return
        found = request.meta.get(FOUND_KEY)
        if found is None:  # a start URL, or what no page led to
            self._visits[request] = self._shield.visit(request.url, site.scope, None)
            return
        visit = self._shield.ask(request.url, site.scope, Origin(*found))
        self._visits[request] = visit
        if visit.probe:
            self._count("probed")
        if visit.held:
            self._hold(request, visit, limits=mode == "limit")

    def found(self, request: Request, response: Response) -> bool:
        """Note on a request what is known of the page that it was found on."""
        request.meta.pop(FOUND_KEY, None)
        visit = self._visits.get(response.request) if response.request is not None else None
        if visit is not None:
            request.meta[FOUND_KEY] = list(visit.as_origin)
        return True

    def judged(self, judged: Judged, page: FollowedPage | None) -> None:
        """Tell the shield what a page brought; send again what waited for that."""
        visit = self._visits.get(judged.request)
        read = judged.verdict.page
        if visit is None or read is None or judged.skipped or judged.not_modified:
            return
        if judged.verdict.outcome not in _OUTCOMES:
            return
        changes = self._shield.told(
            visit,
            passed=judged.verdict.outcome != "duplicate",
            title=read.title,
            gist=read_gist(read.gist),
            links=lambda: read.targets.split("\n"),
        )
        if visit.held:
            self._seen(visit)
        for change in changes:
            self._changed(change)
        ends = any(change.why == "endless" and not change.limited for change in changes)
        group = visit.shape.group
        if ends:
            held: list[Held] = self._parked.of_kind("trap")
            for belief in {each.belief for each in held if each.group == group.name}:
                if visit.scope in belief:
                    self._send(belief)
        elif not visit.barren and not group.maze.endless:
            self._send(_belief(visit), AT_ONCE)

    async def closed(self, closing: Closing) -> None:
        """Say what was held back, or would have been."""
        for limits in (True, False):
            self._sum_up(limits=limits)

    def _hold(self, request: Request, visit: Visit, *, limits: bool) -> None:
        shape = visit.shape.name
        key = ("=" if limits else "?") + shape
        if key in self._tallies or len(self._tallies) < MOST_TALLIES:
            tally = self._tallies.setdefault(key, _Tally())
            tally.held += 1
            if len(tally.examples) < 2:
                tally.examples.append(without_credentials(request.url))
        if not limits:
            self._count("would_hold")
            return
        self._count("held")
        self._parked.add(Held(_belief(visit), request, visit.shape.group.name), MOST_OF_SHAPE)
        error = HeldBack(without_credentials(request.url), visit.why, shape)
        crawler = self._crawl.crawler
        crawler.signals.send_catch_log(
            request_held_back, request=request, reason=error.reason, spider=crawler.spider
        )
        raise error

    def _seen(self, visit: Visit) -> None:
        """Count what a page brought that is fetched only because nothing is touched."""
        if not visit.barren:
            self._count("missed")
            tally = self._tallies.get("?" + visit.shape.name)
            if tally is not None:
                tally.missed += 1

    def _changed(self, change: Change) -> None:
        self._count("limited" if change.limited else "recovered")
        if not change.limited:
            logger.info("Trap shield: %s brings something new again", change.shape)
            return
        budget = change.budget
        examples = ", ".join(map(without_credentials, change.examples))
        if change.why == "endless":
            logger.info(
                "Trap shield: %s leads to ever more pages of the same kind: no link of the last "
                "pages leads back, none ends, and their words are known, such as %s",
                change.shape, examples,
            )  # fmt: skip
            return
        logger.info(
            "Trap shield: the last pages of %s brought nothing new, and led to nothing new, "
            "such as %s (%s, of which %d brought something new)",
            change.shape, examples, how_many(budget.fetched, "page"), budget.fruits,
        )  # fmt: skip

    def _send(self, belief: Belief, most: int | None = None) -> None:
        why = f"{belief[-1]} brings something new again"
        for parked in self._parked.take(belief, why, most):
            self._count("resent")
            self._parked.send(parked.request)

    def _sum_up(self, *, limits: bool) -> None:
        mark = "=" if limits else "?"
        found = [(key[1:], tally) for key, tally in self._tallies.items() if key[0] == mark]
        if not found:
            return
        found.sort(key=lambda entry: -entry[1].held)
        lines = "\n".join(
            f"  {shape}: {how_many(tally.held, 'request')}, such as {', '.join(tally.examples)}"
            + ("" if limits else f"; {tally.missed} brought something new")
            for shape, tally in found[:_SHOWN]
        )
        more = f"\n  and {len(found) - _SHOWN} more shapes" if len(found) > _SHOWN else ""
        held = self._counts["held" if limits else "would_hold"]
        if limits:
            said = f"{how_many(held, 'request')} held back; {self._counts['resent']} sent again"
        else:
            said = (
                f"{how_many(held, 'request')} would have been held back "
                f"({PREFIX}TRAPS = 'limit'); {self._counts['missed']} of the pages brought "
                "something new"
            )
        logger.info("Trap shield: %s.\n%s%s", said, lines, more)

    def _count(self, name: str) -> None:
        self._counts[name] += 1
        self._stats.inc_value(f"simhash_gate/trap/{name}")


def _belief(visit: Visit) -> Belief:
    return "trap", visit.scope, visit.shape.name


def _is_ours(request: Request) -> bool:
    """Tell whether a request may be held back at all."""
    meta = request.meta
    return (
        request.method == "GET"
        and request.callback is not NO_CALLBACK
        and meta.get(META_KEY) is not False
        and RECOVERED_KEY not in meta
    )
