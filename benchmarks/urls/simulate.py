"""The requests of a crawl, once more: which of them does a method skip, and what is lost by it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.urls.methods import Method
from benchmarks.urls.truth import Visit


@dataclass
class Figures:
    """What became of the requests of a crawl.

    A fetch is `avoidable` if its content was requested before, by another URL. It is `avoided` if
    it was skipped, and its content had been fetched. Contents are `lost` if nothing fetched them in
    the end. A skip that is taken back is a fetch. A skipped page counts neither way if nobody knows
    whether its content is another's.
    """

    avoidable: int = 0
    avoided: int = 0
    lost: int = 0


class Simulation:
    """Makes the requests of a crawl, one after the other, as a method lets it."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._first_urls: dict[int, str] = {}
        self._urls: set[str] = set()
        self._skipped: dict[str, tuple[Visit, bool]] = {}
        self.figures = Figures()

    def run(self, visits: Iterable[Visit]) -> Figures:
        """Make the requests, and return what became of these."""
        figures, requested, contents = self.figures, set[int](), set[int]()
        for visit in visits:
            if visit.sure:
                contents.add(visit.content)
                figures.avoidable += visit.content in requested
            requested.add(visit.content)
            if self._method.skips(visit.scope, visit.url):
                avoided = visit.sure and visit.content in self._first_urls
                self._skipped[visit.url] = visit, avoided
                figures.avoided += avoided
            else:
                self._fetch(visit)
        figures.lost = len(contents - self._first_urls.keys())
        return figures

    def _fetch(self, visit: Visit) -> None:
        first = self._first_urls.get(visit.content)
        same: bool | None = first is not None
        kept = first or (visit.differs_from if visit.differs_from in self._urls else "")
        if not visit.sure:
            same, kept = None, ""
        self._first_urls.setdefault(visit.content, visit.url)
        self._urls.add(visit.url)
        self._method.learn(visit.scope, visit.url, kept, same)
        for url in self._method.taken_back():
            late, avoided = self._skipped.pop(url)
            self.figures.avoided -= avoided
            self._fetch(late)
