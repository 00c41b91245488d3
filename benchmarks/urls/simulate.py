"""The requests of a crawl, once more: which of them does a method skip, and what is lost by it?"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.urls.method import Method
from benchmarks.urls.truth import Visit


@dataclass
class Figures:
    """What became of the requests of a crawl, and what the method took for it.

    A fetch is `avoidable` if its content was requested before, by another URL. It is `avoided` if
    it was skipped, and its content had been fetched; a skip is `early` if it had not. Contents are
    `lost` if nothing fetched them in the end. Skipped pages of which nobody knows whether their
    content is another's are `unknown`: they count neither way. Of the `probes`, which are fetched
    though they could be skipped, `wrong_probes` found another content. A skip that is `taken_back`
    is a fetch, and counts as nothing else.
    """

    requests: int = 0
    fetched: int = 0
    avoidable: int = 0
    avoided: int = 0
    early: int = 0
    unknown: int = 0
    contents: int = 0
    lost: int = 0
    probes: int = 0
    wrong_probes: int = 0
    taken_back: int = 0
    rules: int = 0
    decide_seconds: float = 0.0
    learn_seconds: float = 0.0
    bytes: int = 0

    @property
    def share(self) -> float:
        """How much of the avoidable was avoided."""
        return self.avoided / self.avoidable if self.avoidable else float("nan")

    def microseconds(self, seconds: float) -> float:
        """Return what a request took, of some seconds."""
        return 1e6 * seconds / max(1, self.requests)


class Simulation:
    """Makes the requests of a crawl, one after the other, as a method lets it.

    A simulation can go on after its first requests: what was fetched is known to it.
    """

    def __init__(self, method: Method, *, seed: int = 0) -> None:
        self._method = method
        self._random = random.Random(seed)
        self._first_urls: dict[int, str] = {}
        self._urls: set[str] = set()
        self._skipped: dict[str, tuple[Visit, str]] = {}

    def run(self, visits: Iterable[Visit], *, skipping: bool = True) -> Figures:
        """Make the requests, and return what became of these; without `skipping` make all."""
        figures = Figures()
        requested = {*self._first_urls}
        contents: set[int] = set()
        for visit in visits:
            figures.requests += 1
            if visit.sure:
                contents.add(visit.content)
                figures.avoidable += visit.content in requested
            requested.add(visit.content)
            if not (skipping and self._is_skipped(visit, figures)):
                figures.fetched += 1
                self._fetch(visit, figures)
        figures.contents = len(contents)
        figures.lost = len(contents - self._first_urls.keys())
        figures.rules = self._method.rules
        return figures

    def _is_skipped(self, visit: Visit, figures: Figures) -> bool:
        began = time.thread_time()
        skips = self._method.skips(visit.scope, visit.url)
        figures.decide_seconds += time.thread_time() - began
        if not skips:
            return False
        is_there = visit.content in self._first_urls
        if self._method.probing and self._random.random() < self._method.probing:
            figures.probes += 1
            figures.wrong_probes += visit.sure and not is_there
            return False
        counted = "unknown" if not visit.sure else "avoided" if is_there else "early"
        self._skipped[visit.url] = visit, counted
        _add(figures, counted, 1)
        return True

    def _fetch(self, visit: Visit, figures: Figures) -> None:
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
        figures.learn_seconds += time.thread_time() - began
        for url in taken_back:
            late, counted = self._skipped.pop(url)
            _add(figures, counted, -1)
            figures.fetched += 1
            figures.taken_back += 1
            self._fetch(late, figures)


def _add(figures: Figures, name: str, number: int) -> None:
    setattr(figures, name, getattr(figures, name) + number)


def crawl(create: Callable[[], Method], visits: Sequence[Visit], *, seed: int) -> Figures:
    """Return the figures of a crawl that learns as it goes.

    It runs twice: to count the memory that the method keeps takes time.
    """

    def run() -> tuple[Figures, Method]:
        method = create()
        return Simulation(method, seed=seed).run(visits), method

    figures, _ = run()
    tracemalloc.start()
    try:
        _, method = run()
        gc.collect()
        figures.bytes, _ = tracemalloc.get_traced_memory()
        del method
    finally:
        tracemalloc.stop()
    return figures


def halves(create: Callable[[], Method], visits: Sequence[Visit], *, seed: int) -> Figures:
    """Return the figures of the second half of each site.

    All of the first one is fetched. Then batches are learned from, once and for all.
    """
    method = create()
    simulation = Simulation(method, seed=seed)
    first, second = halved(visits)
    simulation.run(first, skipping=False)
    method.settle()
    return simulation.run(second)


def halved(visits: Sequence[Visit]) -> tuple[list[Visit], list[Visit]]:
    """Return the first and the second half of each site."""
    sites: dict[str, list[Visit]] = {}
    for visit in visits:
        sites.setdefault(visit.scope, []).append(visit)
    first = [visit for site in sites.values() for visit in site[: len(site) // 2]]
    second = [visit for site in sites.values() for visit in site[len(site) // 2 :]]
    return first, second


def shuffled(visits: Sequence[Visit], seed: int) -> list[Visit]:
    """Return the visits in another order, the same one for the same seed."""
    order = [*visits]
    random.Random(seed).shuffle(order)
    return order


def as_json(figures: Figures) -> dict[str, Any]:
    """Return all figures, with the shares that are in the table."""
    share = figures.share
    return {
        **vars(figures),
        "share_avoided": None if share != share else share,  # noqa: PLR0124 - no number
        "decide_microseconds": figures.microseconds(figures.decide_seconds),
        "learn_microseconds": figures.microseconds(figures.learn_seconds),
    }
