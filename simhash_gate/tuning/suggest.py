"""A threshold for each scope of a collection, and why: with pairs on each side to look at."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simhash_gate.collection.neighbours import FARTHEST
from simhash_gate.gate.policy import WHOLE_CRAWL
from simhash_gate.report.judged import Named, contradict
from simhash_gate.settings import read_settings
from simhash_gate.sources.find import names_store, shown
from simhash_gate.tuning.threshold import Labelled, Suggestion, score, suggest, with_distances
from simhash_gate.values import PREFIX, SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.collection.neighbours import NearestPage, Scope
    from simhash_gate.settings import Settings
    from simhash_gate.tuning.threshold import Label

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
