"""`simhash-gate tune`: where the threshold of each scope should lie, and why."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any

from simhash_gate.collection.neighbours import FARTHEST, find_neighbours
from simhash_gate.common.wording import how_many
from simhash_gate.gate.policy import WHOLE_CRAWL
from simhash_gate.offline.members import members
from simhash_gate.report.names import Named, contradict
from simhash_gate.settings import read_settings
from simhash_gate.sources.open import names_store, shown
from simhash_gate.tuning import sampling
from simhash_gate.tuning.labels import with_distances
from simhash_gate.tuning.questions import Sample, contradicting, names_of, read_texts, sample
from simhash_gate.tuning.threshold import (
    LEAST_OF_EACH,
    Score,
    Suggestion,
    best,
    count,
    score,
    valley,
)
from simhash_gate.values import PREFIX, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simhash_gate.collection.gathered import Member
    from simhash_gate.collection.neighbours import Neighbour, Scope, Scopes
    from simhash_gate.common.complaints import Complain
    from simhash_gate.settings import Settings
    from simhash_gate.tuning.labels import Label

SAMPLES = 3
"""Pairs to show on each side of the line."""
CLOSER = 20
"""Pairs of a scope whose claims are compared, of the `MOST_CLOSER` largest scopes."""
MOST_CLOSER = 10
NO_SIGN = "no valley counts where so many near pages are other ones: only labels can tell"
_OF_ALL = "all labelled pairs, as too few are its own"


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
        """Return it as JSON can say it."""
        return {
            "duplicates": self.duplicates,
            "others": self.others,
            "thresholds": [score._asdict() for score in self.scores],
        }


@dataclass(frozen=True)
class ScopeTuning:
    """One scope: its pages, the threshold set `now`, the one suggested, and pairs to look at.

    `other_names` counts the pages at each distance whose title contradicts that of the page they
    are near; `closer` the pairs within the thresholds whose claims were compared, by what differs.
    """

    scope: Scope
    now: int
    suggestion: Suggestion
    labelled: Labelled | None
    other_names: list[int]
    closer: Counter[str] = field(default_factory=Counter)
    under: list[Sample] = field(default_factory=list)
    beyond: list[Sample] = field(default_factory=list)

    @property
    def named(self) -> Named:
        """The pages within both thresholds, and those of another name by their titles."""
        within = slice(max(self.now, self.suggestion.threshold) + 1)
        return Named(sum(self.scope.histogram[within]), sum(self.other_names[within]))

    @property
    def says_little(self) -> bool:
        """Whether so many near pages are other ones that distances say little of them."""
        return self.named.are_many or _are_many(self.closer)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON can say it."""
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

    source: str
    general: int
    labelled: Labelled | None
    scopes: list[ScopeTuning]

    @property
    def is_store(self) -> bool:
        """Whether the pages are those that a crawl kept."""
        return names_store(self.source)

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
        """Return all of it as JSON can say it."""
        return {
            "source": shown(self.source),
            "threshold": self.general,
            "labelled": self.labelled and self.labelled.as_json(),
            "scopes": [scope.as_json() for scope in self.scopes],
            "settings": self.block,
        }


def collect(
    path: str,
    settings: Settings,
    complain: Complain,
    *,
    only: str | None = None,
    watched: Callable[[Iterable[Member]], Iterable[Member]] = lambda pages: pages,
) -> Scopes:
    """Read a collection, of the scope `only` if it is named.

    Of a store with several pipeline versions, the pages of that with the most are taken, and the
    rest is complained of. Raises `StoreError` and `MissingExtraError`.
    """
    pages = list(watched(members(path, settings, complain)))
    versions = Counter(page.pipeline for page in pages)
    if len(versions) > 1:
        (taken, number), *_ = versions.most_common()
        complain(
            path,
            f"left out {how_many(len(pages) - number, 'page')} of other pipeline versions than "
            f"{taken!r}, that of {how_many(number, 'page')}: fingerprints of two versions can't be "
            "compared",
        )
        pages = [page for page in pages if page.pipeline == taken]
    return find_neighbours(pages, only)


def tune(path: str, scopes: Sequence[Scope], settings: Settings, labels: Sequence[Label]) -> Tuning:
    """Suggest a threshold for each scope, and find pairs on each side of it to look at."""
    every = _labelled(labels, scopes)
    is_store = names_store(path)
    tuned = []
    for scope in scopes:
        host = f"[{scope.name}]" if ":" in scope.name else scope.name
        now = settings.policies.site_of(f"//{host}").policy.threshold
        own = _labelled(labels, [scope])
        suggestion = suggest(scope, now, own, every, is_store=is_store)
        tuned.append(ScopeTuning(scope, now, suggestion, own, _other_names(scope)))
    lines = [{item.now, item.suggestion.threshold} for item in tuned]
    pairs = [
        pair
        for item, both in zip(tuned, lines, strict=True)
        for pair in chain(*(chain(*_sides(item.scope, line)) for line in both))
    ]
    closer = [_closer(item.scope, max(both)) for item, both in zip(tuned, lines, strict=True)]
    closer[MOST_CLOSER:] = [[] for _ in closer[MOST_CLOSER:]]
    texts = read_texts(path, names_of(chain(pairs, *closer)), settings)
    found = []
    for item, near in zip(tuned, closer, strict=True):
        told = replace(item, closer=contradicting(near, texts))
        if told.says_little and not any(x and x.suffice for x in (item.labelled, every)):
            told = replace(told, suggestion=Suggestion(item.now, NO_SIGN))
        under, beyond = _sides(told.scope, told.suggestion.threshold)
        found.append(
            replace(
                told,
                under=[sample(pair, texts) for pair in under],
                beyond=[sample(pair, texts) for pair in beyond],
            )
        )
    return Tuning(path, settings.policies.default.threshold, every, found)


def unknown(labels: Sequence[Label], scopes: Sequence[Scope]) -> int:
    """Return how many labels name a pair of which not both pages are in one of the scopes."""
    pages = [page for scope in scopes for page in scope.pages]
    known = {label.names for label, _, _ in with_distances(labels, pages)}
    return sum(label.names not in known for label in labels)


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
        return Suggestion(now, "a store keeps no page that was dropped: only labels can tell")
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


def _labelled(labels: Sequence[Label], scopes: Sequence[Scope]) -> Labelled | None:
    """Score labels: a sample by the share of all pairs it stands for, others one by one."""
    if labels and all(label.sampled for label in labels):
        strata = sampling.strata(scopes, {label.names: label.duplicate for label in labels})
        duplicates = sum(stratum.duplicates for stratum in strata)
        others = sum(stratum.others for stratum in strata)
        return Labelled(duplicates, others, sampling.score(strata)) if duplicates + others else None
    pages = [page for scope in scopes for page in scope.pages]
    known = [(distance, label.duplicate) for label, _, distance in with_distances(labels, pages)]
    duplicates = sum(duplicate for _, duplicate in known)
    return Labelled(duplicates, len(known) - duplicates, score(count(known))) if known else None


def _is_domain(name: str) -> bool:
    """Tell whether a setting can be of this scope, which a manifest may name as it likes."""
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


def _are_many(closer: Counter[str]) -> bool:
    return Named(closer.total(), closer.total() - closer[""]).are_many


def _closer(scope: Scope, line: int) -> list[Neighbour]:
    """Return pairs within a line whose claims are compared: all, or a sample of them."""
    near = [pair for pair in scope.neighbours if pair.distance <= line]
    return near if len(near) <= CLOSER else Random(0).sample(near, CLOSER)


def _sides(scope: Scope, line: int) -> tuple[list[Neighbour], list[Neighbour]]:
    """Return the pairs next to the line on both its sides."""
    nearest = sorted(scope.neighbours, key=lambda pair: pair.distance)
    under = [pair for pair in nearest if pair.distance <= line]
    return under[::-1][:SAMPLES], nearest[len(under) :][:SAMPLES]
