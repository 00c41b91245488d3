"""What is labelled: pairs of pages, the text of pages, whole sites; and what a method is worth.

Each has `pages.jsonl` as docs/quality.md says. `score` returns what a table tells of a method,
by column.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.quality.methods import CONTENT, OURS, PEERS, Content, Method, Reading
from simhash_gate.gate.policy import scope_of

Readings = Mapping[str, Reading]
REAL_CHANGE = 0.05  # of the words: from here on an update is worth fetching
TINY_CHANGE = 0.01
MANY_FRESH = 20  # pages: on sites with fewer, one page more or less would decide the mean


class Page(NamedTuple):
    """One page: where its bytes are, the site it is of, and all that its line says."""

    id: str
    path: Path
    url: str
    site: str
    facts: Mapping[str, Any]


class Pair(NamedTuple):
    """Two pages and what is true of them; `changed` is the share of words that differ."""

    a: str
    b: str
    label: str
    kind: str
    op: str
    changed: float
    lang: str
    confidence: str

    @property
    def group(self) -> str:
        """What the pair counts as: updates too small, and labels too unsure, are told apart."""
        if self.confidence == "low":
            return "low"
        if self.label != "update" or self.changed >= REAL_CHANGE:
            return self.label
        return "update 1–5 %" if self.changed >= TINY_CHANGE else "update < 1 %"


class Rate(NamedTuple):
    """Of `total`, so many were `called` what they are counted for."""

    called: int
    total: int

    @property
    def share(self) -> float:
        """From 0 to 1; NaN for none."""
        return self.called / self.total if self.total else math.nan


def load_pages(folder: Path, site: str = "", *needed: str) -> list[Page]:
    """Read `pages.jsonl`; raises OSError, or ValueError or KeyError for lines that are none of it.

    `site` names the field that has it; else it is the domain of the URL. All others are `needed`.
    """
    found = []
    for line in lines_of(folder / "pages.jsonl"):
        url, _ = line["url"] or "", [line[name] for name in needed]
        place = line[site] if site else line.get("site") or scope_of(url, "domain")
        found.append(Page(line["id"], folder / line["path"], url, place, line))
    return found


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON Lines; raises OSError, or ValueError that says where."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error


class Pairs:
    """Labelled pairs: how often is a page rightly called a duplicate, and how often wrongly?"""

    ours: tuple[str, ...] = OURS
    peers: tuple[str, ...] = PEERS

    def __init__(self, pages: Sequence[Page], pairs: Sequence[Pair]) -> None:
        self.pages, self.pairs = pages, pairs

    @classmethod
    def load(cls, folder: Path) -> Pairs:
        lines = lines_of(folder / "pairs.jsonl")
        pairs = [Pair(*(line[name] for name in Pair._fields)) for line in lines]
        return cls(load_pages(folder, "", "words"), pairs)

    def score(self, method: Method, readings: Readings) -> dict[str, str]:
        scores = self.scored(method, readings)
        found = {"F1": scores.f1, "P": scores.precision, "R": scores.recall}
        told = {name: share(value) for name, value in found.items()}
        groups = ("update", "update 1–5 %", "update < 1 %", "diff")
        return told | {f"`{name}` called duplicate": scores.told(name) for name in groups}

    def scored(self, method: Method, readings: Readings) -> Scores:
        """Return the scores of a method."""
        both = ((readings[pair.a].value, readings[pair.b].value) for pair in self.pairs)
        distances = [None if a is None or b is None else method.distance(a, b) for a, b in both]
        return Scores(self.pairs, distances, method.threshold)


class Scores:
    """Pairs and the distances that a method gave them, in their order; None never is a duplicate.

    Positive are `dup` pairs, negative real updates and `diff` pairs. `rates` are the shares called
    duplicate by group, and of copies by operator.
    """

    def __init__(
        self, pairs: Sequence[Pair], distances: Sequence[float | None], threshold: float
    ) -> None:
        called: defaultdict[str, list[bool]] = defaultdict(list)
        for pair, distance in zip(pairs, distances, strict=True):
            for name in (pair.group, f"{pair.group}: {pair.op}"):
                called[name].append(distance is not None and distance <= threshold)
        self.rates = {name: Rate(sum(own), len(own)) for name, own in called.items()}
        right, all_of = self.rates.get("dup", (0, 0))
        wrong = sum(self.rates.get(name, (0, 0))[0] for name in ("update", "diff"))
        self.recall, self.precision = Rate(right, all_of).share, Rate(right, right + wrong).share
        self.f1 = Rate(2 * right, right + wrong + all_of).share

    def told(self, name: str) -> str:
        """Return the rate of some pairs in per cent."""
        return percent(self.rates.get(name, Rate(0, 0)).share)


class Contents:
    """Main contents: which words of it does a method find, and how many others?

    F1 of a page is over its words, each as often as it comes; that of a kind is a mean over its
    pages. A title is right if its words are; where none is known it does not count.
    """

    ours, peers = CONTENT[:1], CONTENT[1:]
    kinds = ("article", "documentation", "service", "listing", "collection", "product", "forum")

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = pages

    @classmethod
    def load(cls, folder: Path) -> Contents:
        return cls(load_pages(folder, "", "kind", "title", "text"))

    def score(self, method: Method, readings: Readings) -> dict[str, str]:
        found: defaultdict[str, list[float]] = defaultdict(list)
        titles = []
        for page in self.pages:
            read = readings[page.id].value or Content("", None)
            ours, theirs = Counter(words_of(read.text)), Counter(words_of(page.facts["text"] or ""))
            both = ours.total() + theirs.total()
            f1 = 2 * (ours & theirs).total() / both if both else 1.0
            found["F1"].append(f1)
            found[page.facts["kind"]].append(f1)
            if read.title is not None and page.facts["title"]:
                titles.append(words_of(read.title) == words_of(page.facts["title"]))
        means = {name: fmean(found[name]) for name in ("F1", *self.kinds) if name in found}
        means["titles right"] = fmean(titles) if titles else math.nan
        return {name: share(value) for name, value in means.items()}


class Replays:
    """Whole sites, replayed: which pages does a method drop wrongly, which copies does it find?

    The pages of a site come in order. A page is dropped for a kept page that the method calls the
    same; one of which it reads nothing is kept, and like no other. To drop a page that is like no
    earlier one is wrong, unless nobody can tell it from the page that it is dropped for.
    """

    ours, peers = ("verdict", "distance"), PEERS
    counted = ("fresh", "wrong", "unsure", "copies", "found")

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = pages

    @classmethod
    def load(cls, folder: Path) -> Replays:
        return cls(load_pages(folder, "domain", "kind", "scored", "fresh"))

    def score(self, method: Method, readings: Readings) -> dict[str, str]:
        sites = self.counts(method, readings)
        whole = sum(sites.values(), Counter[str]())
        large = [each for each in sites.values() if each["fresh"] >= MANY_FRESH]
        wrong = fmean(each["wrong"] / each["fresh"] for each in large) if large else math.nan
        return {
            f"wrongly dropped, mean over {len(large)} sites": percent(wrong, 2),
            "copies found": percent(Rate(whole["found"], whole["copies"]).share),
        }

    def counts(self, method: Method, readings: Readings) -> dict[str, Counter[str]]:
        """Return by site what became of its pages."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        windows: dict[str, Any] = defaultdict(lambda: method.window(method))
        for page in self.pages:
            value, facts = readings[page.id].value, page.facts
            kept = None if value is None else windows[page.site].see(page.id, value)
            fresh, unsure = facts["fresh"], kept in facts.get("unsure", ())
            copy, dropped = "copies" in facts, kept is not None
            wrong = dropped and fresh and not unsure
            excused = dropped and fresh and unsure
            if facts["scored"]:
                counted = (fresh, wrong, excused, copy, dropped and copy)
                found[page.site].update(dict(zip(self.counted, counted, strict=True)))
        return found


def share(value: float) -> str:
    """Write a share with three digits."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def percent(value: float, digits: int = 1) -> str:
    """Write a share in per cent."""
    return "–" if math.isnan(value) else f"{100 * value:.{digits}f} %"


def words_of(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    return re.findall(r"\w+", text.lower())
