"""A threshold for each scope of a collection, and why: with pairs on each side to look at."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any

from simhash_gate.collection.neighbours import FARTHEST
from simhash_gate.gate.policy import WHOLE_CRAWL
from simhash_gate.report.judged import Named, contradict
from simhash_gate.settings import read_settings
from simhash_gate.sources.find import names_store, shown
from simhash_gate.tuning.labels import (
    ShownPair,
    contradicting,
    names_of,
    read_texts,
    show_pair,
    with_distances,
)
from simhash_gate.tuning.threshold import Labelled, Suggestion, score, suggest
from simhash_gate.values import PREFIX, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_gate.collection.neighbours import Neighbour, Scope
    from simhash_gate.settings import Settings
    from simhash_gate.tuning.labels import Label, Texts

SHOWN = 3
"""Pairs to show on each side of the line."""
CLOSER = 20
"""Pairs of a scope whose claims are compared, of the `MOST_CLOSER` largest scopes."""
MOST_CLOSER = 10
NO_SIGN = "so many near pages are different ones that a valley means nothing: only labels can tell"


@dataclass(frozen=True)
class ScopeTuning:
    """One scope: its pages, the threshold set `now`, the one suggested, and pairs to look at.

    `other_names` counts, at each distance, the pages whose title contradicts that of the page they
    are near. `closer` counts the pairs within the thresholds whose claims were compared, by what
    differs.
    """

    scope: Scope
    now: int
    suggestion: Suggestion
    labelled: Labelled | None
    other_names: list[int]
    closer: Counter[str] = field(default_factory=Counter)
    under: list[ShownPair] = field(default_factory=list)
    beyond: list[ShownPair] = field(default_factory=list)

    @property
    def named(self) -> Named:
        """The pages within both thresholds, and those of another name by their titles."""
        within = slice(max(self.now, self.suggestion.threshold) + 1)
        return Named(sum(self.scope.histogram[within]), sum(self.other_names[within]))

    @property
    def says_little(self) -> bool:
        """Whether so many near pages are different ones that distances say little."""
        closer = Named(self.closer.total(), self.closer.total() - self.closer[""])
        return self.named.are_many or closer.are_many

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON."""
        return {
            "scope": self.scope.name,
            "pages": len(self.scope.pages),
            "looked_at": self.scope.looked_at,
            "histogram": self.scope.histogram,
            "other_names": self.other_names,
            "closer": {
                "pairs": self.closer.total(),
                **{what: self.closer[what] for what in ("names", "offers", "fields")},
            },
            "threshold": self.now,
            "suggested": self.suggestion.threshold,
            "reason": self.suggestion.reason,
            "labelled": self.labelled and self.labelled.as_json(),
            "under": [pair.as_json() for pair in self.under],
            "beyond": [pair.as_json() for pair in self.beyond],
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


def tune(
    sources: Sequence[str], scopes: Sequence[Scope], settings: Settings, labels: Sequence[Label]
) -> Tuning:
    """Suggest a threshold for each scope, and find pairs on each side of it to look at."""
    every = _labelled(labels, scopes)
    is_store = any(map(names_store, sources))
    first = [_by_numbers(scope, settings, labels, every, is_store=is_store) for scope in scopes]
    closer = [_closer(tuned) for tuned in first[:MOST_CLOSER]]
    closer += [[] for _ in first[MOST_CLOSER:]]
    wanted = list(chain(*closer))
    for tuned in first:
        for line in {tuned.now, tuned.suggestion.threshold}:
            wanted += chain(*_sides(tuned.scope, line))
    texts = read_texts(sources, names_of(wanted), settings)
    found = [
        _by_texts(tuned, near, texts, every) for tuned, near in zip(first, closer, strict=True)
    ]
    return Tuning(sources, settings.policies.default.threshold, every, found)


def _by_numbers(
    scope: Scope,
    settings: Settings,
    labels: Sequence[Label],
    every: Labelled | None,
    *,
    is_store: bool,
) -> ScopeTuning:
    """Suggest a threshold by labels and distances alone."""
    host = f"[{scope.name}]" if ":" in scope.name else scope.name
    now = settings.policies.site_of(f"//{host}").policy.threshold
    own = _labelled(labels, [scope])
    suggestion = suggest(scope, now, own, every, is_store=is_store)
    return ScopeTuning(scope, now, suggestion, own, _other_names(scope))


def _by_texts(
    tuned: ScopeTuning, near: Iterable[Neighbour], texts: Texts, every: Labelled | None
) -> ScopeTuning:
    """Take the suggestion back if too many near pages are different ones; add pairs to show."""
    tuned = replace(tuned, closer=contradicting(near, texts))
    has_labels = any(labelled and labelled.suffice for labelled in (tuned.labelled, every))
    if tuned.says_little and not has_labels:
        tuned = replace(tuned, suggestion=Suggestion(tuned.now, NO_SIGN))
    under, beyond = _sides(tuned.scope, tuned.suggestion.threshold)
    return replace(
        tuned,
        under=[show_pair(pair, texts) for pair in under],
        beyond=[show_pair(pair, texts) for pair in beyond],
    )


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


def _closer(tuned: ScopeTuning) -> list[Neighbour]:
    """Return pairs within the thresholds whose claims are compared: all, or a sample of them."""
    line = max(tuned.now, tuned.suggestion.threshold)
    near = [pair for pair in tuned.scope.neighbours if pair.distance <= line]
    return near if len(near) <= CLOSER else Random(0).sample(near, CLOSER)


def _sides(scope: Scope, line: int) -> tuple[list[Neighbour], list[Neighbour]]:
    """Return the pairs next to the line on both its sides."""
    nearest = sorted(scope.neighbours, key=lambda pair: pair.distance)
    under = [pair for pair in nearest if pair.distance <= line]
    return under[::-1][:SHOWN], nearest[len(under) :][:SHOWN]
