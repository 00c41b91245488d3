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

from benchmarks.quality.corpus import Page, lines_of
from benchmarks.quality.labelled import (
    HALVES,
    LabelledSet,
    Result,
    about,
    finite,
    half_of,
    percent,
)
from benchmarks.quality.methods import PEERS, create
from benchmarks.quality.methods.base import Method, Reading, Window
from benchmarks.quality.scores import Rate

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
        return self._pages

    def sample(self, step: int) -> Replays:
        chosen = {*list(dict.fromkeys(page.site for page in self._pages))[::step]}
        return Replays([page for page in self._pages if page.site in chosen])

    def result(self, method: Method, readings: Mapping[str, Reading]) -> Result:
        """Replay all sites, and count what became of their pages."""
        sites: dict[str, Counts] = defaultdict(Counts)
        kinds: dict[str, Counts] = defaultdict(Counts)
        whole = Counts()
        for page, kept in replay(method, self._pages, readings):
            if page.scored:
                for counts in (whole, sites[page.site], kinds[page.kind]):
                    counts.add(page, readings[page.id].value is None, kept)
        large = {site: counts for site, counts in sites.items() if counts.fresh >= MANY_FRESH}
        holes = sum(counts.empty > MANY_EMPTY * counts.pages for counts in large.values())
        wrong = {half: _mean_wrong(large, half) for half in ("", *HALVES)}
        known = about(method, readings)
        row = (
            method.title,
            *(percent(value, 2) for value in wrong.values()),
            percent(whole.share_wrong, 2),
            percent(Rate(whole.found, whole.copies).share),
            percent(Rate(whole.empty, whole.pages).share),
            str(holes),
            f"{known['milliseconds']:.1f}",
        )
        figures = {
            **known,
            "mean_wrong": finite(wrong[""]),
            "mean_wrong_of_halves": {half: finite(wrong[half]) for half in HALVES},
            "sites_with_enough_fresh": len(large),
            "sites_with_many_wrong": sum(c.share_wrong > MANY_WRONG for c in large.values()),
            "sites_with_many_empty": holes,
            "all": asdict(whole),
            "kinds": {kind: asdict(counts) for kind, counts in kinds.items()},
            "sites": {site: asdict(counts) for site, counts in sites.items()},
        }
        return Result(f"wrongly dropped {percent(wrong[''], 2)}", row, figures)


def _mean_wrong(sites: Mapping[str, Counts], half: str) -> float:
    """Return what share of fresh pages is wrongly dropped, mean over these, or half of them."""
    shares = [counts.share_wrong for site, counts in sites.items() if half in ("", half_of(site))]
    return fmean(shares) if shares else float("nan")


def replay(
    method: Method, pages: Iterable[SitePage], readings: Mapping[str, Reading]
) -> Iterator[tuple[SitePage, str | None]]:
    """Yield each page, with the id of the kept page of its site that it is dropped for."""
    windows: dict[str, Window] = defaultdict(method.window)
    for page in pages:
        value = readings[page.id].value
        yield page, None if value is None else windows[page.site].see(page.id, value)
