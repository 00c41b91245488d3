"""A threshold for each scope of a collection, by labelled pairs, and pairs to look at.

Labels are JSON Lines: `{"a": …, "b": …, "duplicate": true}`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from simhash_gate.collection.neighbours import FARTHEST
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.gate.policy import WHOLE_CRAWL
from simhash_gate.report.judged import Named, contradict
from simhash_gate.settings import read_settings
from simhash_gate.sources.find import names_store, shown
from simhash_gate.sources.jsonl import OF_A_LOG, json_objects
from simhash_gate.values import PREFIX, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simhash_gate.collection.neighbours import NearestPage, Scope
    from simhash_gate.common.wording import Complain
    from simhash_gate.settings import Settings

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


SHOWN = 3
"""Pairs to show on each side of the line."""


@dataclass(frozen=True)
class ScopeTuning:
    """One scope: its pages, the threshold set `now`, the one suggested, and pairs to look at.

    `other_names` counts, at each distance, the pages whose title contradicts that of the page they
    are near. The pairs are those next to the threshold that is suggested, on both its sides.
    """

    scope: Scope
    now: int
    suggestion: Suggestion
    labelled: Labelled | None
    other_names: list[int]
    under: list[NearestPage]
    beyond: list[NearestPage]

    @property
    def named(self) -> Named:
        """The pages within both thresholds, and those of another name by their titles."""
        within = slice(max(self.now, self.suggestion.threshold) + 1)
        return Named(sum(self.scope.histogram[within]), sum(self.other_names[within]))

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON."""
        return {
            "scope": self.scope.name,
            "pages": len(self.scope.pages),
            "looked_at": self.scope.looked_at,
            "histogram": self.scope.histogram,
            "other_names": self.other_names,
            "threshold": self.now,
            "suggested": self.suggestion.threshold,
            "reason": self.suggestion.reason,
            "labelled": self.labelled and self.labelled.as_json(),
            "under": list(map(_pair, self.under)),
            "beyond": list(map(_pair, self.beyond)),
        }


@dataclass(frozen=True)
class Tuning:
    """A collection: its scopes, the largest first, and what the labels of all of them tell."""

    sources: Sequence[str]
    general: int
    labelled: Labelled | None
    scopes: list[ScopeTuning]

    @property
    def is_store(self) -> bool:
        """Whether the pages are those that a crawl kept."""
        return any(map(names_store, self.sources))

    @property
    def block(self) -> str:
        """The settings to paste; "" where nothing should change."""
        lines, general = [], self.general
        whole = [scope for scope in self.scopes if scope.scope.name in ("", WHOLE_CRAWL)]
        if whole:
            general = whole[0].suggestion.threshold
        elif self.labelled and self.labelled.suffice:
            general = self.labelled.best.threshold
        if general != self.general:
            lines.append(f"SIMHASH_GATE_THRESHOLD = {general}")
        domains = []
        for tuned in self.scopes:
            then = general if tuned.now == self.general else tuned.now
            if tuned.suggestion.threshold != then and _is_domain(tuned.scope.name):
                policy = f'{{"threshold": {tuned.suggestion.threshold}}}'
                domains.append(f"    {json.dumps(tuned.scope.name)}: {policy},")
        if domains:
            head = "SIMHASH_GATE_DOMAINS = {  # beside what else you set for these domains"
            lines += [head, *domains, "}"]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON."""
        return {
            "source": shown(*self.sources),
            "threshold": self.general,
            "labelled": self.labelled and self.labelled.as_json(),
            "scopes": [scope.as_json() for scope in self.scopes],
            "settings": self.block,
        }


def _pair(pair: NearestPage) -> dict[str, Any]:
    """Return an object of JSON. `a` is the earlier page."""
    found: dict[str, Any] = {"distance": pair.distance}
    for name, page in (("a", pair.earlier), ("b", pair.page)):
        found[name] = {"name": page.name, "title": page.title, "words": page.words}
    return found


def tune(
    sources: Sequence[str], scopes: Sequence[Scope], settings: Settings, labels: Sequence[Label]
) -> Tuning:
    """Suggest a threshold for each scope, and find pairs on each side of it to look at."""
    every = _labelled(labels, scopes)
    found = []
    for scope in scopes:
        host = f"[{scope.name}]" if ":" in scope.name else scope.name
        now = settings.policies.site_of(f"//{host}").policy.threshold
        own, others = _labelled(labels, [scope]), _other_names(scope)
        suggestion = suggest(now, own, every)
        sides = _sides(scope, suggestion.threshold)
        found.append(ScopeTuning(scope, now, suggestion, own, others, *sides))
    return Tuning(sources, settings.policies.default.threshold, every, found)


def _labelled(labels: Sequence[Label], scopes: Sequence[Scope]) -> Labelled | None:
    known = [(distance, label.duplicate) for label, distance in with_distances(labels, scopes)]
    duplicates = sum(duplicate for _, duplicate in known)
    return Labelled(duplicates, len(known) - duplicates, score(known)) if known else None


def _is_domain(name: str) -> bool:
    """Tell whether a setting can name this scope: a manifest gives scopes any name."""
    try:
        read_settings({f"{PREFIX}DOMAINS": {name: {}}})
    except SettingsError:
        return False
    return True


def _other_names(scope: Scope) -> list[int]:
    found = Counter(
        pair.distance
        for pair in scope.neighbours
        if contradict(pair.page.title, pair.earlier.title)
    )
    return [found[distance] for distance in range(FARTHEST + 1)]


def _sides(scope: Scope, line: int) -> tuple[list[NearestPage], list[NearestPage]]:
    """Return the pairs next to the line on both its sides."""
    nearest = sorted(scope.neighbours, key=lambda pair: pair.distance)
    under = [pair for pair in nearest if pair.distance <= line]
    return under[::-1][:SHOWN], nearest[len(under) :][:SHOWN]
