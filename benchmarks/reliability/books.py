"""The books of a round: what the site has, against what is on the disk; and what came twice.

What the docs make an exception for is no finding: the books count what nothing explains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

from benchmarks.reliability.crawls import Running
from benchmarks.reliability.faults import Fault
from benchmarks.reliability.plan import Plan
from benchmarks.reliability.scenes import Content
from benchmarks.reliability.site import CLEAN, Served
from benchmarks.reliability.stores import LEASE

Line = dict[str, Any]
"""Of a diary."""

UNSETTLED = "another crawl is still working on that page"
MARGIN = 2.0
"""Seconds between what the diaries say of a page and what the gate knew of it."""


class Books:
    """What is known of a round when all is over."""

    def __init__(
        self,
        plan: Plan,
        contents: dict[str, Content],
        served: Iterable[Served],
        crawls: list[Running],
        faults: Iterable[Fault] = (),
    ) -> None:
        self._plan = plan
        self._contents = contents
        self._served = list(served)
        self._crawls = crawls
        # Of the store: whoever was killed may be taken for alive, or who lives for dead.
        self._upset = {fault.kind for fault in faults} & {"crash", "server clock"}
        self._by_digest = {content.digest: content for content in contents.values()}
        self._delivered = {crawl.name: crawl.delivered() for crawl in crawls}

    def delivered(self) -> int:
        """Return how many contents were delivered, by whomever."""
        return len(set().union(*self._delivered.values()) & set(self._by_digest))

    def lost(self) -> list[str]:
        """Return the articles that nobody delivered, though the last crawl met all of them."""
        everything = self._contents_of(self._crawls)
        return [
            f"{key}: not delivered in the end;{self._story(key)}"
            for key in sorted(set(self._plan.site.pages.values()))
            if not self._contents[key].covered_by(everything)
        ]

    def stranded(self) -> list[str]:
        """Return the articles that a crawl could have delivered itself, and ended without.

        That is lost, too: for the user of one crawl there is no next one. A later one that delivers
        it is no excuse, an earlier or a simultaneous one is.
        """
        found = []
        for crawl in self._crawls:
            if crawl.name == CLEAN or not self._has_ended_well(crawl):
                continue
            others = [other for other in self._crawls if other.began < crawl.ended_at]
            # On a server, one that was killed is taken for alive until its lease has run out.
            grace = LEASE if self._plan.store in ("redis", "postgresql") else 0
            grace = float("inf") if self._upset else grace
            beside = [other for other in others if other.ended_at + grace > crawl.began]
            if not all(self._has_ended_well(other) for other in beside):
                continue
            there = self._contents_of(others)
            found += [
                f"{key}: {crawl.name} left it behind;{self._story(key)}"
                for key in sorted(self._within_reach(crawl))
                if not self._contents[key].covered_by(there)
            ]
        return found

    def kept_twice(self) -> list[str]:
        """Return the articles that were kept twice by what ran at one time."""
        passed = {crawl: self._passed(crawl) for crawl in self._crawls if not self._excused(crawl)}
        found = []
        for crawl, visited in passed.items():
            for digest, visits in visited.items():
                if len(visits) > 1 and any(visit["outcome"] == "new" for visit in visits):
                    key = self._name(digest)
                    found.append(f"{key}: {crawl.name} kept it twice;{self._story(key)}")
        for one, two in combinations(passed, 2) if self._plan.store != "memory" else ():
            for digest in passed[one].keys() & passed[two].keys():
                for mine, other in product(passed[one][digest], passed[two][digest]):
                    if _collide(one, mine, two, other):
                        where = f"{one.name} ({_short(mine)}) and {two.name} ({_short(other)})"
                        found.append(f"{self._name(digest)}: passed in {where} at one time")
        return found

    def _contents_of(self, crawls: Iterable[Running]) -> list[Content]:
        digests = set().union(*(self._delivered[crawl.name] for crawl in crawls))
        return [self._by_digest[digest] for digest in digests if digest in self._by_digest]

    def _has_ended_well(self, crawl: Running) -> bool:
        """Tell whether a crawl did all it had to, with nothing in the way of its items."""
        whole = crawl.ended and crawl.status == 0 and crawl.reason() == "finished"
        return whole and not crawl.ended_by and not crawl.crawl.storage_fails

    def _within_reach(self, crawl: Running) -> set[str]:
        """Return the contents that some URL said last to a crawl, where nothing was to fail."""
        last = {line.path: line.content for line in self._served if line.crawl == crawl.name}
        failing = crawl.crawl.fails.keys() | crawl.crawl.item_fails.keys()
        missed = {
            line["path"]
            for line in crawl.diary()
            if line["event"] == "missed" and line["why"] != "NearDuplicate"
        }
        return {key for path, key in last.items() if key and path not in failing | missed}

    def _passed(self, crawl: Running) -> dict[str, list[Line]]:
        """Return the visits that the gate let pass and nothing excuses, by what was read."""
        diary = crawl.diary()
        # What was read of these may not have been remembered, or may have been taken back.
        failed = {
            line["digest"]
            for line in diary
            if line["event"] == "failed"
            or line.get("outcome") == "error"
            or UNSETTLED in line.get("reason", "")
        }
        found = defaultdict(list)
        for line in diary:
            passes = line.get("outcome") in ("new", "near", "unchanged")
            if line["event"] == "parsed" and passes and line["digest"] not in failed | {""}:
                found[line["digest"]].append(line)
        return found

    def _excused(self, crawl: Running) -> bool:
        """Tell whether a crawl may deliver twice: its store was away, or its disk was full."""
        away = crawl.stats().get("simhash_gate/store_outages", 0)
        away = away or "Pages can't be judged until the store works again" in crawl.log()
        late = crawl.stopped > 0 and self._plan.store in ("redis", "postgresql")
        return bool(away or late or self._upset or crawl.crawl.storage_fails or crawl.hung)

    def _name(self, digest: str) -> str:
        keys = (key for key, each in self._contents.items() if each.digest == digest)
        return next(keys, digest)

    def _story(self, key: str) -> str:
        """Return all that is known of an article."""
        mine = [self._contents[key]]
        alike = {each for each, other in self._contents.items() if other.covered_by(mine)}
        digests = {self._contents[each].digest for each in alike}
        paths = {path for path, each in self._plan.site.pages.items() if each in alike}
        told = []
        for crawl in self._crawls:
            events = [
                (line["at"], _short(line))
                for line in crawl.diary()
                if line.get("digest") in digests or line.get("path") in paths
            ]
            events += [
                (line.at, f"got {line.path} = {line.content or 'nothing in full'}")
                for line in self._served
                if line.crawl == crawl.name and (line.path in paths or line.content in alike)
            ]
            ended = crawl.ended_by or crawl.reason() or "of itself"
            story = [f"{at - crawl.began:.2f} {what}" for at, what in sorted(events)]
            met = ", ".join(story) or "never met it"
            told.append(f"\n    {crawl.name} (ended: {ended}): {met}")
        return "".join(told)


def _collide(one: Running, mine: Line, two: Running, other: Line) -> bool:
    """Tell whether two crawls delivered a page while both were alive."""
    first, last = sorted([mine["at"], other["at"]])
    closes = (line["at"] for c in (one, two) for line in c.diary() if line["event"] == "closed")
    alive = min([one.ended_at, two.ended_at, *closes])
    is_new = "new" in (mine["outcome"], other["outcome"])
    return is_new and max(one.began, two.began) < first and last + MARGIN < alive


def _short(line: Line) -> str:
    """Return a line of a diary in few words."""
    if line["event"] != "parsed":
        names = ("event", "why", "kind", "path")
        return " ".join(str(line[name]) for name in names if name in line)
    of = line["match"].rpartition(":")[2].partition("/")[2] if line["match"] else ""
    asked = line["asked"].rpartition(":")[2].partition("/")[2]
    redirected = f" asked for as /{asked}" if f"/{asked}" != line["path"] else ""
    match = f" (/{of} of run {line['match_run'][:4]}: {line['reason']})" if of else ""
    return f"{line['outcome']} {line['path']}{redirected}{match}"
