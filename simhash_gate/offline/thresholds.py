"""How far apart the pages of each scope are, and which threshold labelled pairs suggest.

Labels are JSON Lines: `{"a": …, "b": …, "duplicate": true}`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from simhash_gate.collection.gathered import Member
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import Complain, complaining, how_many
from simhash_gate.report.doubt import Named, contradict
from simhash_gate.settings import Settings
from simhash_gate.sources.jsonl import json_objects
from simhash_gate.values import checked, json_value

FARTHEST = 24
"""Bits: beyond, pages are unrelated, and so many that they would hide what is near."""
HIGHEST = 8
"""Bits: up to this threshold every store finds all pages within it."""
LEAST_OF_EACH = 5
"""Pairs of each label that are needed to choose a threshold."""
MOST_COMPARISONS = 4_000_000_000
"""In one scope; of one with more pages than that allows, a sample is looked at."""
SHOWN = 3
"""Pairs to show on each side of a threshold."""
_PAGE = json_value("a URL, or a path", str)
_FLAG = json_value("true or false", bool)
_EXAMPLE = '{"a": "https://…", "b": "https://…", "duplicate": true}'


class Label(NamedTuple):
    """Two pages, by URL or else by path, and whether they are duplicates."""

    a: str
    b: str
    duplicate: bool


def read_labels(path: str, complain: Complain) -> list[Label]:
    """Read the labels of a file. Lines without a label are left out.

    Of two labels of one pair, the later one counts.
    """
    labels: dict[frozenset[str], Label] = {}
    for place, line in json_objects(path, complain, _EXAMPLE):
        if "duplicate" not in line:
            continue
        with complaining(complain, place):
            named = (checked(line, key, _PAGE, needed=True) for key in ("a", "b"))
            a, b = map(without_credentials, named)
            duplicate = checked(line, "duplicate", _FLAG, needed=True)
            labels[frozenset((a, b))] = Label(a, b, duplicate)
    return list(labels.values())


class Score(NamedTuple):
    """How good a threshold is. Precision is None if no pair is within the threshold."""

    threshold: int
    precision: float | None
    recall: float
    f1: float


class Labelled(NamedTuple):
    """What labels tell: `scores` of each threshold, 0 to 8, on `duplicates` and `others` pairs."""

    duplicates: int
    others: int
    scores: list[Score]

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, bool]]) -> Labelled:
        """Return how good each threshold is on pairs of a distance and a label.

        F1 is the harmonic mean of precision and recall; 0.0 without duplicates.
        """
        duplicates, scores = sum(duplicate for _, duplicate in pairs), []
        for threshold in range(HIGHEST + 1):
            called = [duplicate for distance, duplicate in pairs if distance <= threshold]
            right = sum(called)
            precision = right / len(called) if called else None
            recall = right / duplicates if duplicates else 0.0
            f1 = 2 * right / (len(called) + duplicates) if duplicates else 0.0
            scores.append(Score(threshold, precision, recall, f1))
        return cls(duplicates, len(pairs) - duplicates, scores)

    @property
    def suffice(self) -> bool:
        """Whether there are enough of either label to choose a threshold by."""
        return min(self.duplicates, self.others) >= LEAST_OF_EACH

    @property
    def best(self) -> Score:
        """The score of the threshold to take: of equals the lowest.

        A page that is dropped wrongly is worse than a copy that passes.
        """
        return max(self.scores, key=lambda score: score.f1)

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON."""
        thresholds = [score._asdict() for score in self.scores]
        return {"duplicates": self.duplicates, "others": self.others, "thresholds": thresholds}


class NearestPage(NamedTuple):
    """A page, the nearest earlier one of its scope, and their distance in bits."""

    page: Member
    earlier: Member
    distance: int

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON. `a` is the earlier page."""
        found: dict[str, Any] = {"distance": self.distance}
        for name, page in (("a", self.earlier), ("b", self.page)):
            found[name] = {"name": page.name, "title": page.title, "words": page.words}
        return found


def _by_distance(pairs: Iterable[NearestPage]) -> list[int]:
    found = Counter(pair.distance for pair in pairs)
    return [found[distance] for distance in range(FARTHEST + 1)]


@dataclass
class Scope:
    """The pages of one scope, in order, and those at most `FARTHEST` from an earlier one.

    `looked_at` counts the pages whose nearest page was looked for. `now` is the threshold that is
    set, `suggested` the one that labels suggest.
    """

    name: str
    pages: list[Member] = field(default_factory=list)
    looked_at: int = 0
    nearest: list[NearestPage] = field(default_factory=list)
    now: int = 0
    suggested: int = 0
    reason: str = "only labelled pairs can tell copies from updates"
    labelled: Labelled | None = None

    @property
    def histogram(self) -> list[int]:
        """How many pages are 0, 1, ... `FARTHEST` bits from the nearest earlier one."""
        return _by_distance(self.nearest)

    @property
    def other_names(self) -> list[int]:
        """How many of these have a title that contradicts that of the earlier one."""
        pairs = self.nearest
        return _by_distance(it for it in pairs if contradict(it.page.title, it.earlier.title))

    @property
    def named(self) -> Named:
        """The pages within both thresholds, and those of another name by their titles."""
        within = slice(max(self.now, self.suggested) + 1)
        return Named(sum(self.histogram[within]), sum(self.other_names[within]))

    @property
    def sides(self) -> tuple[list[NearestPage], list[NearestPage]]:
        """The pairs to look at, next to the suggested threshold: those within it, and beyond."""
        nearest = sorted(self.nearest, key=lambda pair: pair.distance)
        under = [pair for pair in nearest if pair.distance <= self.suggested]
        return under[::-1][:SHOWN], nearest[len(under) :][:SHOWN]

    def find_nearest(self) -> None:
        """Find the nearest earlier page of each; of a large scope, of a sample of its pages.

        The sample is the same in every run. Of equally near pages the first is taken. Every pair is
        compared, a row at a time: at these distances an index saves nothing.
        """
        fingerprints = np.array([page.fingerprint for page in self.pages], np.uint64)
        number = len(fingerprints)
        most = 2 * MOST_COMPARISONS // number
        places = range(number) if number <= most else random.Random(0).sample(range(number), most)
        self.looked_at = len(places)
        for place in sorted(places):
            if place:
                distances = np.bitwise_count(fingerprints[:place] ^ fingerprints[place])
                earlier = int(distances.argmin())
                if (distance := int(distances[earlier])) <= FARTHEST:
                    pair = self.pages[place], self.pages[earlier]
                    self.nearest.append(NearestPage(*pair, distance))

    def suggest(self, settings: Settings, own: Labelled | None, every: Labelled | None) -> None:
        """Suggest a threshold by labels of the scope's own, or of all scopes; else the one set."""
        host = f"[{self.name}]" if ":" in self.name else self.name
        self.now = self.suggested = settings.policies.site_of(f"//{host}").policy.threshold
        self.labelled = own
        of_all = "all labelled pairs, as too few are its own"
        for labelled, whose in ((own, "its labelled pairs"), (every, of_all)):
            if labelled and labelled.suffice:
                found = labelled.best
                self.suggested = found.threshold
                self.reason = (
                    f"F1 {found.f1:.3f} on {whose} ({how_many(labelled.duplicates, 'duplicate')}, "
                    f"{how_many(labelled.others, 'other')})"
                )
                if self.now not in (found.threshold, *range(HIGHEST + 1, 65)):
                    self.reason += f", {labelled.scores[self.now].f1:.3f} at {self.now}"
                return

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON."""
        under, beyond = self.sides
        return {
            "scope": self.name,
            "pages": len(self.pages),
            "looked_at": self.looked_at,
            "histogram": self.histogram,
            "other_names": self.other_names,
            "threshold": self.now,
            "suggested": self.suggested,
            "reason": self.reason,
            "labelled": self.labelled and self.labelled.as_json(),
            "under": [pair.as_json() for pair in under],
            "beyond": [pair.as_json() for pair in beyond],
        }


def scopes_of(members: Iterable[Member], only: str | None = None) -> tuple[list[Scope], int]:
    """Return all scopes, or the one named `only`, those with the most pages first.

    A page that comes again under its own name is no copy, but a later visit: it is left out, and
    counted.
    """
    scopes: dict[str, Scope] = {}
    seen: set[tuple[str, str]] = set()
    repeated = 0
    for member in members:
        if only not in (None, member.scope):
            continue
        if (member.scope, member.name) in seen:
            repeated += 1
            continue
        seen.add((member.scope, member.name))
        scopes.setdefault(member.scope, Scope(member.scope)).pages.append(member)
    for scope in scopes.values():
        scope.find_nearest()
    return sorted(scopes.values(), key=lambda it: (-len(it.pages), it.name)), repeated


def with_distances(labels: Iterable[Label], scopes: Iterable[Scope]) -> Iterator[tuple[Label, int]]:
    """Yield each label whose two pages are in one of the scopes, with their distance."""
    pages: dict[str, dict[str, int]] = {}
    for scope in scopes:
        for page in scope.pages:
            pages.setdefault(page.name, {}).setdefault(page.scope, page.fingerprint)
    for label in labels:
        a, b = pages.get(label.a, {}), pages.get(label.b, {})
        for name in sorted(a.keys() & b.keys()):
            yield label, (a[name] ^ b[name]).bit_count()


def suggest_thresholds(
    scopes: Sequence[Scope], settings: Settings, labels: Sequence[Label]
) -> Labelled | None:
    """Suggest a threshold for each scope; return what the labels of all of them tell."""

    def tell(some: Sequence[Scope]) -> Labelled | None:
        known = [(distance, label.duplicate) for label, distance in with_distances(labels, some)]
        return Labelled.of(known) if known else None

    every = tell(scopes)
    for scope in scopes:
        scope.suggest(settings, tell([scope]), every)
    return every
