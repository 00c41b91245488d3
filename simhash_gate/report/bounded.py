"""Figures whose size does not grow with the number of lines of a log: tops, timelines, clusters."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from simhash_gate.common.urls import end_of
from simhash_gate.report.doubt import MANY
from simhash_gate.report.judged import LoggedMatch, LoggedVerdict

T = TypeVar("T")

# Each is a multiple of the one before it, so that buckets can be merged. The last is for all time.
SECONDS = (
    *(1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400),
    *(days * 86_400 for days in (7, 28, 364, 3_640, 36_400, 364_000)),
)

COPIES = 20
"""How many copies of a kept page are shown."""


class Top(Generic[T]):
    """The items of the highest ranks. Of equal ranks, the first items are kept."""

    def __init__(self, limit: int) -> None:
        self.seen = 0
        self._limit = limit
        self._heap: list[tuple[tuple[float, ...], int, T]] = []

    def add(self, rank: tuple[float, ...], item: T) -> None:
        """Take an item in, if it is among the highest."""
        self.seen += 1
        heapq.heappush(self._heap, (rank, -self.seen, item))
        if len(self._heap) > self._limit:
            heapq.heappop(self._heap)

    def ranked(self) -> list[T]:
        """Return the items, the highest first."""
        return [item for _, _, item in sorted(self._heap, reverse=True)]


class Bucket(NamedTuple):
    """How often each outcome came from `start` to `end`."""

    start: int
    end: int
    outcomes: Counter[str]


class Timeline:
    """Counts outcomes in at most `most` spans of `width` seconds. They grow when they must."""

    def __init__(self, most: int = 50) -> None:
        self._most = most
        self._widths = iter(SECONDS)
        self.width = next(self._widths)
        self._buckets = defaultdict[int, Counter[str]](Counter)  # by their starts

    def add(self, at: float, outcome: str) -> None:
        """Count an outcome at a Unix time."""
        self._buckets[int(at // self.width) * self.width][outcome] += 1
        while max(self._buckets) - min(self._buckets) >= self._most * self.width:
            self.width = next(self._widths)
            counted, self._buckets = self._buckets, defaultdict(Counter)
            for start, outcomes in counted.items():
                self._buckets[start // self.width * self.width].update(outcomes)

    def buckets(self) -> list[Bucket]:
        """Return the spans that are not empty, in order."""
        return [Bucket(at, at + self.width, self._buckets[at]) for at in sorted(self._buckets)]


@dataclass(slots=True)
class Cluster:
    """A kept page and its copies: their number, and those that differ most from it.

    `ends` has some of the ends of their paths: true copies share theirs.
    """

    kept: LoggedMatch
    copies: Top[LoggedVerdict]
    ends: set[str] = field(default_factory=set)


class Clusters:
    """The kept pages with the most copies.

    If there are more than twice `capacity`, the smaller half is forgotten, as in lossy counting
    (Manku and Motwani 2002). Then a count can lack the copies that came before, and `exact` is
    False.
    """

    def __init__(self, capacity: int = 10_000, copies: int = COPIES) -> None:
        self.exact = True
        self._capacity = capacity
        self._copies = copies
        self._clusters: dict[str, Cluster] = {}

    def add(self, kept: LoggedMatch, page: LoggedVerdict, rank: tuple[float, ...]) -> None:
        """Count a copy of a kept page."""
        key = kept.key or kept.name
        if key not in self._clusters:
            self._clusters[key] = Cluster(kept, Top(self._copies))
        cluster = self._clusters[key]
        cluster.copies.add(rank, page)
        if len(cluster.ends) < MANY:
            cluster.ends.add(end_of(page.name))
        if len(self._clusters) > 2 * self._capacity:
            self.exact = False
            self._clusters = {c.kept.key or c.kept.name: c for c in self.largest(self._capacity)}

    def largest(self, most: int) -> list[Cluster]:
        """Return the largest clusters, the largest first."""
        return heapq.nlargest(most, self._clusters.values(), key=lambda c: c.copies.seen)
