"""Main contents: which words of it does a method find, and how many others?

Precision, recall and F1 of a page are over its words, each as often as it comes; those of a kind
are means over its pages. A title is right if its words are; pages without a known one don't count.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.quality.corpus import Page, lines_of
from benchmarks.quality.labelled import (
    HALVES,
    LabelledSet,
    Result,
    about,
    finite,
    half_of,
    percent,
    share,
)
from benchmarks.quality.methods import CONTENT_OURS, CONTENT_PEERS, create_extractor
from benchmarks.quality.methods.base import Content, Extractor, Reading
from simhash_gate.gate.policy import scope_of

KINDS = ("article", "documentation", "service", "listing", "collection", "product", "forum")
ALL = "all"
NOTHING = Content("", None)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Labelled(Page):
    """A page with its kind, its title, "" if unknown, and the text of its main content."""

    kind: str
    title: str
    text: str


class Outcome(NamedTuple):
    """What a method found of one page; `title` tells if it is right, None if that is unknown."""

    precision: float
    recall: float
    f1: float
    title: bool | None
    empty: bool


class Scores(NamedTuple):
    """Means over `pages`; `titles` over those whose title is known, NaN for none."""

    pages: int
    precision: float
    recall: float
    f1: float
    titles: float
    empty: float


class Contents(LabelledSet):
    """Pages with their main content."""

    ours = CONTENT_OURS
    peers = CONTENT_PEERS
    create = staticmethod(create_extractor)
    columns = (
        "method",
        "F1",
        "P",
        "R",
        *(f"F1, {half}" for half in HALVES),
        *KINDS,
        "titles right",
        "empty",
        "CPU ms a page",
    )

    def __init__(self, pages: Collection[Labelled]) -> None:
        self._pages = pages

    @classmethod
    def load(cls, folder: Path) -> Contents:
        """Read `pages.jsonl`."""
        return cls(
            [
                Labelled(
                    id=line["id"],
                    path=folder / line["path"],
                    url=line["url"] or "",
                    site=scope_of(line["url"] or "", "domain"),
                    kind=line["kind"],
                    title=line["title"] or "",
                    text=line["text"] or "",
                )
                for line in lines_of(folder / "pages.jsonl")
            ]
        )

    @property
    def pages(self) -> Collection[Labelled]:
        return self._pages

    def sample(self, step: int) -> Contents:
        return Contents(list(self._pages)[::step])

    def result(self, extractor: Extractor, readings: Mapping[str, Reading]) -> Result:
        """Score the text and the title of each page; nothing was found where reading failed."""
        groups: dict[str, list[Outcome]] = defaultdict(list)
        for page in self._pages:
            outcome = compare(page, readings[page.id].value or NOTHING)
            for group in (ALL, page.kind, half_of(page.site)):
                groups[group].append(outcome)
        scores = {group: _mean(outcomes) for group, outcomes in sorted(groups.items())}
        whole = scores[ALL]
        known = about(extractor, readings)
        row = (
            extractor.title,
            *map(share, (whole.f1, whole.precision, whole.recall)),
            *(share(scores.get(group, NO_PAGES).f1) for group in (*HALVES, *KINDS)),
            share(whole.titles),
            percent(whole.empty),
            f"{known['milliseconds']:.1f}",
        )
        told = {
            group: {name: finite(value) for name, value in means._asdict().items()}
            for group, means in scores.items()
        }
        return Result(f"F1 {whole.f1:.3f}", row, {**known, "scores": told})


def compare(page: Labelled, found: Content) -> Outcome:
    """Compare what was found of a page with what is there."""
    ours, theirs = Counter(_words(found.text)), Counter(_words(page.text))
    common, ours_all, theirs_all = (ours & theirs).total(), ours.total(), theirs.total()
    title = None
    if found.title is not None and page.title:
        title = _words(found.title) == _words(page.title)
    if not ours_all and not theirs_all:
        return Outcome(1, 1, 1, title, True)
    return Outcome(
        common / ours_all if ours_all else 0,
        common / theirs_all if theirs_all else 0,
        2 * common / (ours_all + theirs_all),
        title,
        not ours_all,
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _mean(outcomes: Collection[Outcome]) -> Scores:
    titles = [outcome.title for outcome in outcomes if outcome.title is not None]
    return Scores(
        len(outcomes),
        fmean(outcome.precision for outcome in outcomes),
        fmean(outcome.recall for outcome in outcomes),
        fmean(outcome.f1 for outcome in outcomes),
        fmean(titles) if titles else float("nan"),
        fmean(outcome.empty for outcome in outcomes),
    )


NO_PAGES = Scores(0, *[float("nan")] * 5)
