"""Where the threshold should lie, by labelled pairs.

Labels are JSON Lines: `{"a": …, "b": …, "duplicate": true}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.offline.logs import OF_A_LOG
from simhash_gate.sources.jsonl import json_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.collection.neighbours import Scope
    from simhash_gate.common.wording import Complain

HIGHEST = 8
"""Bits: up to this threshold every store finds all pages within it."""
WITHIN = 0.005
"""The most F1 that is given up for a threshold with good neighbours."""
LEAST_OF_EACH = 5
"""Pairs of each label that are needed to choose a threshold."""
_OF_ALL = "all labelled pairs, as too few are its own"
_EXAMPLE = '{"a": "https://…", "b": "https://…", "duplicate": true}'


@dataclass(frozen=True)
class Label:
    """Two pages, by URL or else by path, and whether they are duplicates."""

    a: str
    b: str
    duplicate: bool

    @property
    def names(self) -> frozenset[str]:
        """The two pages, in whichever order."""
        return frozenset((self.a, self.b))


def read_labels(path: str, complain: Complain) -> list[Label]:
    """Read the labels of a file, or those of an audit in a verdict log.

    Of two labels of one pair, the later one counts.
    """
    labels: dict[frozenset[str], Label] = {}
    for place, line in json_objects(path, complain, _EXAMPLE):
        if "a" not in line and not OF_A_LOG.isdisjoint(line):
            continue
        with complaining(complain, place):
            label = _label(line)
            labels[label.names] = label
    return list(labels.values())


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


def unknown(labels: Sequence[Label], scopes: Sequence[Scope]) -> int:
    """Return how many labels name two pages that are not in one scope."""
    known = {label.names for label, _ in with_distances(labels, scopes)}
    return sum(label.names not in known for label in labels)


def _label(line: dict[str, Any]) -> Label:
    for key in ("a", "b"):
        if not isinstance(line.get(key), str):
            raise ValueError(f"{key!r} is {line.get(key)!r}: expected a URL, or a path")
    if not isinstance(line.get("duplicate"), bool):
        raise ValueError(f"'duplicate' is {line.get('duplicate')!r}: expected true or false")
    a, b = without_credentials(line["a"]), without_credentials(line["b"])
    return Label(a, b, line["duplicate"])


class Score(NamedTuple):
    """How good a threshold is. Precision is None if no pair is within the threshold."""

    threshold: int
    precision: float | None
    recall: float
    f1: float


class Suggestion(NamedTuple):
    """A threshold, and why."""

    threshold: int
    reason: str


def score(pairs: Sequence[tuple[int, bool]]) -> list[Score]:
    """Return how good each threshold is on pairs of a distance and a label: True for a duplicate.

    F1 is the harmonic mean of precision and recall; 0.0 without duplicates.
    """
    duplicates, found = sum(duplicate for _, duplicate in pairs), []
    for threshold in range(HIGHEST + 1):
        called = [duplicate for distance, duplicate in pairs if distance <= threshold]
        right = sum(called)
        found.append(
            Score(
                threshold,
                right / len(called) if called else None,
                right / duplicates if duplicates else 0.0,
                2 * right / (len(called) + duplicates) if duplicates else 0.0,
            )
        )
    return found


def best(f1s: Sequence[float]) -> int:
    """Return the threshold to take: its F1 is nearly the best, and so are those on both sides.

    Of the thresholds within `WITHIN` of the best, take the one with the highest mean of its F1 and
    those of its neighbours (weights 1, 2, 1), because a single peak of few pairs may be chance. Of
    equals in a row, take the middle, or the lower of two, because a page that is dropped wrongly is
    worse than a copy that passes.
    """
    last = len(f1s) - 1
    smooth = [
        round((f1s[max(0, t - 1)] + 2 * f1 + f1s[min(last, t + 1)]) / 4, 9)
        for t, f1 in enumerate(f1s)
    ]
    allowed = [t for t, f1 in enumerate(f1s) if f1 >= max(f1s) - WITHIN]
    first = max(allowed, key=lambda t: (smooth[t], -t))
    end = first
    while end + 1 in allowed and smooth[end + 1] == smooth[first]:
        end += 1
    return (first + end) // 2


@dataclass(frozen=True)
class Labelled:
    """What labels tell: `scores` of each threshold, 0 to 8, on `duplicates` and `others` pairs."""

    duplicates: int
    others: int
    scores: list[Score]

    @property
    def suffice(self) -> bool:
        """Whether there are enough of either label to choose a threshold by."""
        return min(self.duplicates, self.others) >= LEAST_OF_EACH

    @property
    def best(self) -> Score:
        """The score of the threshold to take."""
        return self.scores[best([score.f1 for score in self.scores])]

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON."""
        return {
            "duplicates": self.duplicates,
            "others": self.others,
            "thresholds": [score._asdict() for score in self.scores],
        }


def suggest(now: int, own: Labelled | None, every: Labelled | None) -> Suggestion:
    """Suggest a threshold by labels of the scope's own, or of all scopes; else what is set `now`.

    Distances alone can't tell copies from updates.
    """
    for labelled, whose in ((own, "its labelled pairs"), (every, _OF_ALL)):
        if labelled and labelled.suffice:
            found = labelled.best
            reason = (
                f"F1 {found.f1:.3f} on {whose} ({how_many(labelled.duplicates, 'duplicate')}, "
                f"{how_many(labelled.others, 'other')})"
            )
            if now != found.threshold and now < len(labelled.scores):
                reason += f", {labelled.scores[now].f1:.3f} at {now}"
            return Suggestion(found.threshold, reason)
    return Suggestion(now, "only labelled pairs can tell copies from updates")
