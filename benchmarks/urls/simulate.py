"""The requests of a crawl, once more: which of them does a method skip, and what is lost by it?"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.urls.methods import Method
from benchmarks.urls.truth import Visit


@dataclass
class Figures:
    """What became of the requests of a crawl, and what the method took for it.

    A fetch is `avoidable` if its content was requested before, by another URL. It is `avoided` if
    it was skipped, and its content had been fetched; a skip is `early` if it had not. Contents are
    `lost` if nothing fetched them in the end. Skipped pages of which nobody knows whether their
    content is another's are `unknown`: they count neither way. A skip that is `taken_back` is a
    fetch, and counts as nothing else.
    """

    requests: int = 0
    fetched: int = 0
    avoidable: int = 0
    avoided: int = 0
    early: int = 0
    unknown: int = 0
    contents: int = 0
    lost: int = 0
    taken_back: int = 0
    rules: int = 0
    decide_seconds: float = 0.0
    learn_seconds: float = 0.0

    @property
    def share(self) -> float:
        """How much of the avoidable was avoided."""
        return self.avoided / self.avoidable if self.avoidable else math.nan


class Simulation:
    """Makes the requests of a crawl, one after the other, as a method lets it."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._first_urls: dict[int, str] = {}
        self._urls: set[str] = set()
        self._skipped: dict[str, tuple[Visit, str]] = {}
        self.figures = Figures()

    def run(self, visits: Iterable[Visit]) -> Figures:
        """Make the requests, and return what became of these."""
        figures, requested, contents = self.figures, set[int](), set[int]()
        for visit in visits:
            figures.requests += 1
            if visit.sure:
                contents.add(visit.content)
                figures.avoidable += visit.content in requested
            requested.add(visit.content)
            began = time.thread_time()
            skips = self._method.skips(visit.scope, visit.url)
            figures.decide_seconds += time.thread_time() - began
            if skips:
                is_there = visit.content in self._first_urls
                counted = "unknown" if not visit.sure else "avoided" if is_there else "early"
                self._skipped[visit.url] = visit, counted
                self._add(counted, 1)
            else:
                self._fetch(visit)
        figures.contents = len(contents)
        figures.lost = len(contents - self._first_urls.keys())
        figures.rules = self._method.rules
        return figures

    def _fetch(self, visit: Visit) -> None:
        self._add("fetched", 1)
        first = self._first_urls.get(visit.content)
        same: bool | None = first is not None
        kept = first or (visit.differs_from if visit.differs_from in self._urls else "")
        if not visit.sure:
            same, kept = None, ""
        self._first_urls.setdefault(visit.content, visit.url)
        self._urls.add(visit.url)
        began = time.thread_time()
        self._method.learn(visit.scope, visit.url, kept, same)
        taken_back = self._method.taken_back()
        self.figures.learn_seconds += time.thread_time() - began
        for url in taken_back:
            late, counted = self._skipped.pop(url)
            self._add(counted, -1)
            self._add("taken_back", 1)
            self._fetch(late)

    def _add(self, name: str, number: int) -> None:
        setattr(self.figures, name, getattr(self.figures, name) + number)


def shuffled(visits: Sequence[Visit], seed: int) -> list[Visit]:
    """Return the visits in another order, the same one for the same seed."""
    order = [*visits]
    random.Random(seed).shuffle(order)
    return order
