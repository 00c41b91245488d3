"""Whole sites, replayed: which pages does a method drop wrongly, and which copies does it find?

The pages of a site come in order. A page is dropped for a kept page that the method calls the same;
a page of which the method reads nothing is kept, and like no other. To drop a page that is like no
earlier one is wrong, unless nobody can tell it from the page that it is dropped for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.quality.corpus import Page, lines_of
from benchmarks.quality.labelled import HALVES, LabelledSet, Result, half_of, milliseconds
from benchmarks.quality.methods import PEERS, Method, create
from benchmarks.quality.methods.base import Reading, Window
from benchmarks.quality.scores import Rate
from benchmarks.quality.table import finite, percent

MANY_FRESH = 20  # pages: on sites with fewer, one page more or less would decide the mean
MANY_EMPTY = 0.2
MANY_WRONG = 0.05


@dataclass(frozen=True, kw_only=True)
class SitePage(Page):
    """A page of a site. It counts if it is `scored`.

    No earlier page is like a `fresh` one; earlier pages say the same as one that `is_copy`; nobody
    can tell it from those that are `unsure`.
    """

    kind: str
    scored: bool
    fresh: bool
    is_copy: bool
    unsure: frozenset[str]


@dataclass
class Counts:
    """What became of the pages of a site, a kind, or all."""

    pages: int = 0
    empty: int = 0
    fresh: int = 0
    wrong: int = 0
    unsure: int = 0
    copies: int = 0
    found: int = 0

    @property
    def share_wrong(self) -> float:
        """Of the fresh pages."""
        return Rate(self.wrong, self.fresh).share

    def add(self, page: SitePage, empty: bool, kept: str | None) -> None:
        """Count a page; `kept` is the one it was dropped for."""
        self.pages += 1
        self.empty += empty
        self.fresh += page.fresh
        self.copies += page.is_copy
        if kept is not None:
            self.found += page.is_copy
            self.unsure += page.fresh and kept in page.unsure
            self.wrong += page.fresh and kept not in page.unsure


class Replays(LabelledSet):
    """The pages of whole sites, those of each in order."""

    ours = ("verdict", "distance")
    peers = PEERS
    create = staticmethod(create)
    columns = (
        "method",
        "wrongly dropped, mean over sites",
        *(f"the same, {half}" for half in HALVES),
        "wrongly dropped, of all",
        "copies found",
        "empty",
        f"sites with more than {MANY_EMPTY:.0%} empty".replace("%", " %"),
        "CPU ms a page",
    )

    def __init__(self, pages: Collection[SitePage]) -> None:
        self._pages = pages

    @classmethod
    def load(cls, folder: Path) -> Replays:
        """Read `pages.jsonl`."""
        return cls(
            [
                SitePage(
                    id=line["id"],
                    path=folder / line["path"],
                    url=line["url"],
                    site=line["domain"],
                    kind=line["kind"],
                    scored=line["scored"],
                    fresh=line["fresh"],
                    is_copy="copies" in line,
                    unsure=frozenset(line.get("unsure", ())),
                )
                for line in lines_of(folder / "pages.jsonl")
            ]
        )

    @property
    def pages(self) -> Collection[SitePage]:
        """All pages, scored or not."""
        return self._pages

    def sample(self, step: int) -> Replays:
        """Return every `step`-th site, whole."""
        chosen = {*list(dict.fromkeys(page.site for page in self._pages))[::step]}
        return Replays([page for page in self._pages if page.site in chosen])

    def result(self, name: str, method: Method, readings: Mapping[str, Reading]) -> ReplaysResult:
        """Replay all sites, and count what became of their pages."""
        sites: dict[str, Counts] = defaultdict(Counts)
        kinds: dict[str, Counts] = defaultdict(Counts)
        whole = Counts()
        for page, kept in replay(method, self._pages, readings):
            if page.scored:
                for counts in (whole, sites[page.site], kinds[page.kind]):
                    counts.add(page, readings[page.id].value is None, kept)
        errors = sum(bool(reading.error) for reading in readings.values())
        return ReplaysResult(name, method, whole, sites, kinds, milliseconds(readings), errors)


def replay(
    method: Method, pages: Iterable[SitePage], readings: Mapping[str, Reading]
) -> Iterator[tuple[SitePage, str | None]]:
    """Yield each page, with the id of the kept page of its site that it is dropped for."""
    windows: dict[str, Window] = defaultdict(method.window)
    for page in pages:
        value = readings[page.id].value
        yield page, None if value is None else windows[page.site].see(page.id, value)


@dataclass(frozen=True)
class ReplaysResult(Result):
    """One method; what became of the pages, of all, by site and by kind."""

    name: str
    method: Method
    whole: Counts
    sites: dict[str, Counts]
    kinds: dict[str, Counts]
    milliseconds: float
    errors: int

    @property
    def large(self) -> dict[str, Counts]:
        """The sites with enough fresh pages."""
        return {site: counts for site, counts in self.sites.items() if counts.fresh >= MANY_FRESH}

    @property
    def holes(self) -> int:
        """How many of these come out empty in good part."""
        return sum(counts.empty > MANY_EMPTY * counts.pages for counts in self.large.values())

    @property
    def headline(self) -> str:
        """The mean over sites of what is wrongly dropped."""
        return f"wrongly dropped {percent(self.mean_wrong(), 2)}"

    def mean_wrong(self, half: str = "") -> float:
        """Return what share of fresh pages is wrongly dropped, mean over these, or half of them."""
        shares = [c.share_wrong for site, c in self.large.items() if half in ("", half_of(site))]
        return fmean(shares) if shares else float("nan")

    @property
    def row(self) -> tuple[str, ...]:
        """The method's row in the table."""
        whole = self.whole
        return (
            self.method.title,
            *(percent(self.mean_wrong(half), 2) for half in ("", *HALVES)),
            percent(whole.share_wrong, 2),
            percent(Rate(whole.found, whole.copies).share),
            percent(Rate(whole.empty, whole.pages).share),
            str(self.holes),
            f"{self.milliseconds:.1f}",
        )

    @property
    def figures(self) -> dict[str, Any]:
        """All figures, with the counts that they rest on."""
        return {
            "title": self.method.title,
            "versions": self.method.versions(),
            "mean_wrong": finite(self.mean_wrong()),
            "mean_wrong_of_halves": {half: finite(self.mean_wrong(half)) for half in HALVES},
            "sites_with_enough_fresh": len(self.large),
            "sites_with_many_wrong": sum(
                counts.share_wrong > MANY_WRONG for counts in self.large.values()
            ),
            "sites_with_many_empty": self.holes,
            "milliseconds": self.milliseconds,
            "errors": self.errors,
            "all": asdict(self.whole),
            "kinds": {kind: asdict(counts) for kind, counts in self.kinds.items()},
            "sites": {site: asdict(counts) for site, counts in self.sites.items()},
        }
