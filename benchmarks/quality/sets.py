"""What is labelled: pairs of pages, the text of pages, whole sites; and what a method is worth.

Each has `pages.jsonl` as docs/quality.md says. `score` returns what a table tells of a method,
by column, and all figures.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.quality.features import COUNTS
from benchmarks.quality.methods import CONTENT, FEATURES, OURS, PEERS, Content, Method
from simhash_gate import read_page
from simhash_gate.features import Idf, shingles
from simhash_gate.gate.policy import scope_of

if TYPE_CHECKING:
    from benchmarks.quality.measure import Reading

    Readings = Mapping[str, Reading]

Told = tuple[dict[str, str], dict[str, Any]]
HALVES = "half the rules are made on", "other half"
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

    def sample(self, step: int) -> Pairs:
        """Return every `step`-th pair, with its pages."""
        pairs = self.pairs[::step]
        ids = {id_ for pair in pairs for id_ in (pair.a, pair.b)}
        return Pairs([page for page in self.pages if page.id in ids], pairs)

    def score(self, method: Method, readings: Readings) -> Told:
        both = ((readings[pair.a].value, readings[pair.b].value) for pair in self.pairs)
        distances = [None if a is None or b is None else method.distance(a, b) for a, b in both]
        scores = Scores(self.pairs, distances, method.threshold)
        cells = {"F1": scores.f1, "P": scores.precision, "R": scores.recall}
        told = {name: share(value) for name, value in cells.items()}
        for name in ("update", "update 1–5 %", "update < 1 %"):
            rate = scores.rates.get(name, Rate(0, 0)).share
            told[f"`{name}` called duplicate"] = percent(rate)
        return told, {name: finite(value) for name, value in vars(scores).items()}


class FeaturesOfPairs(Pairs):
    """Pairs by the distance of fingerprints alone, each made of other features."""

    ours, peers = ("fingerprint", *FEATURES), ()

    @classmethod
    def load(cls, folder: Path) -> FeaturesOfPairs:
        pairs = super().load(folder)
        pages = [read_page(page.path.read_bytes(), url=page.url) for page in pairs.pages]
        COUNTS.parent.mkdir(parents=True, exist_ok=True)
        Idf.fit(pages, lambda words: (*words, *shingles(words))).save(COUNTS)
        return cls(pairs.pages, pairs.pairs)


class Scores:
    """Pairs and the distances that a method gave them, in their order; None never is a duplicate.

    Positive are `dup` pairs, negative real updates and `diff` pairs. `rates` are the shares called
    duplicate by group, by label and kind, and of copies by operator and by language.
    """

    def __init__(
        self, pairs: Sequence[Pair], distances: Sequence[float | None], threshold: float
    ) -> None:
        called: defaultdict[str, list[bool]] = defaultdict(list)
        for pair, distance in zip(pairs, distances, strict=True):
            names = [pair.group]
            if pair.group == pair.label:
                names.append(f"{pair.label}: {pair.kind}")
            if pair.group == "dup":
                names += [f"copy: {name}" for name in {pair.op, pair.lang} if name]
            for name in names:
                called[name].append(distance is not None and distance <= threshold)
        self.rates = {name: Rate(sum(own), len(own)) for name, own in sorted(called.items())}
        right, all_of = self.rates.get("dup", (0, 0))
        wrong = sum(self.rates.get(name, (0, 0))[0] for name in ("update", "diff"))
        self.recall, self.precision = Rate(right, all_of).share, Rate(right, right + wrong).share
        self.f1 = Rate(2 * right, right + wrong + all_of).share
        others = ("update: ", "diff: ")
        false = [rate.share for name, rate in self.rates.items() if name.startswith(others)]
        self.mean_false = fmean(false) if false else math.nan


class Contents:
    """Main contents: which words of it does a method find, and how many others?

    Precision, recall and F1 of a page are over its words, each as often as it comes; those of a
    kind are means over its pages. A title is right if its words are; where none is known it does
    not count.
    """

    ours, peers = CONTENT[:1], CONTENT[1:]
    kinds = ("article", "documentation", "service", "listing", "collection", "product", "forum")

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = pages

    @classmethod
    def load(cls, folder: Path) -> Contents:
        return cls(load_pages(folder, "", "kind", "title", "text"))

    def sample(self, step: int) -> Contents:
        return Contents(self.pages[::step])

    def score(self, method: Method, readings: Readings) -> Told:
        groups: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
        titles = []
        for page in self.pages:
            found = readings[page.id].value or Content("", None)
            ours, theirs = Counter(_words(found.text)), Counter(_words(page.facts["text"] or ""))
            common, all_ours, all_theirs = (ours & theirs).total(), ours.total(), theirs.total()
            parts = [(common, all_ours), (common, all_theirs), (2 * common, all_ours + all_theirs)]
            both = float(not all_ours and not all_theirs)
            outcome = *(a / b if b else both for a, b in parts), not all_ours
            for group in ("all", page.facts["kind"], half_of(page.site)):
                groups[group].append(outcome)
            if found.title is not None and page.facts["title"]:
                titles.append(_words(found.title) == _words(page.facts["title"]))
        names = ("precision", "recall", "f1", "empty")
        scores: dict[str, dict[str, float]] = {}
        for group, outcomes in sorted(groups.items()):
            means = map(fmean, zip(*outcomes, strict=True))
            scores[group] = dict(zip(names, means, strict=True)) | {"pages": len(outcomes)}
        whole, right = scores["all"], fmean(titles) if titles else math.nan
        cells = {"F1": whole["f1"], "P": whole["precision"], "R": whole["recall"]}
        cells |= {n: scores[n]["f1"] if n in scores else math.nan for n in (*HALVES, *self.kinds)}
        cells |= {"titles right": right, "empty": whole["empty"]}
        told = {name: share(value) for name, value in cells.items()}
        return told, {"titles": finite(right), "scores": scores}


class Replays:
    """Whole sites, replayed: which pages does a method drop wrongly, which copies does it find?

    The pages of a site come in order. A page is dropped for a kept page that the method calls the
    same; one of which it reads nothing is kept, and like no other. To drop a page that is like no
    earlier one is wrong, unless nobody can tell it from the page that it is dropped for.
    """

    ours, peers = ("verdict", "distance"), PEERS
    counted = ("pages", "empty", "fresh", "wrong", "unsure", "copies", "found")

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = pages

    @classmethod
    def load(cls, folder: Path) -> Replays:
        return cls(load_pages(folder, "domain", "kind", "scored", "fresh"))

    def sample(self, step: int) -> Replays:
        chosen = {*list(dict.fromkeys(page.site for page in self.pages))[::step]}
        return Replays([page for page in self.pages if page.site in chosen])

    def score(self, method: Method, readings: Readings) -> Told:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        windows: dict[str, Any] = defaultdict(lambda: method.window(method))
        for page in self.pages:
            value, facts = readings[page.id].value, page.facts
            kept = None if value is None else windows[page.site].see(page.id, value)
            fresh, unsure = facts["fresh"], kept in facts.get("unsure", ())
            copy, dropped = "copies" in facts, kept is not None
            wrong = dropped and fresh and not unsure
            excused = dropped and fresh and unsure
            counted = (1, value is None, fresh, wrong, excused, copy, dropped and copy)
            for group in ("all", page.site, f"kind {facts['kind']}") if facts["scored"] else ():
                counts[group].update(dict(zip(self.counted, counted, strict=True)))
        sites = {page.site for page in self.pages}
        shares = [
            each["wrong"] / each["fresh"]
            for group, each in counts.items()
            if group in sites and each["fresh"] >= MANY_FRESH
        ]
        whole, mean_wrong = counts["all"], fmean(shares) if shares else math.nan
        cells = {
            "wrongly dropped, mean over sites": percent(mean_wrong, 2),
            "wrongly dropped, of all": percent(Rate(whole["wrong"], whole["fresh"]).share, 2),
            "copies found": percent(Rate(whole["found"], whole["copies"]).share),
            "empty": percent(Rate(whole["empty"], whole["pages"]).share),
        }
        return cells, {"mean_wrong": finite(mean_wrong), "sites": len(shares), **counts}


def half_of(domain: str) -> str:
    """Tell which half of the sites a registered domain is of: rules are made on one alone."""
    return HALVES[int(md5(domain.encode()).hexdigest(), 16) % 2]


def share(value: float) -> str:
    """Write a share with three digits."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def percent(value: float, digits: int = 1) -> str:
    """Write a share in per cent."""
    return "–" if math.isnan(value) else f"{100 * value:.{digits}f} %"


def finite(value: Any) -> Any:
    """Return a figure as JSON has it: None for no figure."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
