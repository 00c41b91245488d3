"""Where the threshold should lie: by labelled pairs, or else by the valley of a histogram.

Labels are JSON Lines: `{"a": …, "b": …, "duplicate": true}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
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
_LAST_HILL = 16
_EMPTY = 3  # distances in a row without a page end the copies too
_EXAMPLE = '{"a": "https://…", "b": "https://…", "duplicate": true}'
_UNLIKELY = 1.645  # standard errors: by chance in 5 of 100


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


def valley(histogram: Sequence[int], now: int) -> Suggestion:
    """Suggest the valley after the copies; if there is none, what is set `now`.

    `histogram` counts pages by the distance of the nearest earlier page. The valley is the first
    distance from 0 on that has significantly fewer pages than a larger distance, with none fewer
    between (difference of two Poisson counts, one-sided, 5 %), or that has no page, nor have the
    next two. Later valleys do not count: the pages between two may be copies or updates, which only
    labels can tell. In a wide valley, the distance nearest to `now` is taken.
    """
    low, after = _first_valley(histogram)
    if low is None:
        return Suggestion(
            now, f"no valley up to {HIGHEST} bits, so only labels can tell copies from updates"
        )
    wide = low
    while wide < HIGHEST and wide + 1 < len(histogram) and histogram[wide + 1] <= histogram[low]:
        wide += 1
    pages = how_many(histogram[low], "page") if histogram[low] else "no pages"
    place = f"at {how_many(low, 'bit')}" if wide == low else f"from {low} to {wide} bits"
    beyond = f", before {histogram[after]} at {after}" if after is not None else ""
    return Suggestion(
        min(max(now, low), wide), f"the valley of the histogram: {pages} {place}{beyond}"
    )


def _first_valley(histogram: Sequence[int]) -> tuple[int | None, int | None]:
    for low in range(min(HIGHEST + 1, len(histogram))):
        if low and not any(histogram[low : low + _EMPTY]) and any(histogram[:low]):
            return low, None
        for after in range(low + 1, min(_LAST_HILL + 1, len(histogram))):
            lowest, here = histogram[low], histogram[after]
            if here < lowest:
                break
            if here - lowest > _UNLIKELY * sqrt(here + lowest):
                return low, after
    return None, None


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


def suggest(
    scope: Scope, now: int, own: Labelled | None, every: Labelled | None, *, is_store: bool
) -> Suggestion:
    """Suggest a threshold by labels of the scope's own, of all scopes, or else by the histogram."""
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
    if is_store:
        return Suggestion(now, "a store keeps no page that was dropped, so only labels can tell")
    guess = valley(scope.histogram, now)
    for labelled in (own, every):
        if labelled and now < len(labelled.scores):
            there, here = (labelled.scores[at].f1 for at in (guess.threshold, now))
            if there < here:
                return Suggestion(
                    now,
                    f"{guess.reason} would be {guess.threshold}, but F1 on the labelled pairs, few "
                    f"as they are, is {there:.3f} there and {here:.3f} here",
                )
    return guess
