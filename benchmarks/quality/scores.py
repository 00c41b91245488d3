"""Labelled pairs and the distances a method gave them -> the figures of the table.

A pair is called duplicate when its distance is at most the method's threshold; a distance of None
(a page without a fingerprint) never is. Positive are `dup` pairs, negative `update` pairs that
changed by 5 % of their words or more, and `diff` pairs. What is none of these is told apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.quality.corpus import Pair

TINY_CHANGE = 0.01
LEAST_OF_OPERATOR = 20  # pairs: below, one pair more or less would decide who is worst
LEAST_OF_LANGUAGE = 30


class Rate(NamedTuple):
    """Of `total` pairs, `called` were called duplicate."""

    called: int
    total: int

    @property
    def share(self) -> float:
        """From 0 to 1; NaN for no pairs."""
        return self.called / self.total if self.total else float("nan")


@dataclass(frozen=True)
class Scores:
    """What a method's decisions are worth; the dictionaries are by kind, operator, language."""

    true_duplicates: Rate
    false_duplicates: Rate
    kinds: dict[str, Rate]
    operators: dict[str, Rate]
    languages: dict[str, Rate]
    update_1_to_5: Rate
    update_below_1: Rate

    @property
    def recall(self) -> float:
        """The share of duplicates that were called so."""
        return self.true_duplicates.share

    @property
    def precision(self) -> float:
        """The share of what was called duplicate that is; NaN if nothing was."""
        true = self.true_duplicates.called
        return Rate(true, true + self.false_duplicates.called).share

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        right = 2 * self.true_duplicates.called
        return Rate(right, right + self.false_duplicates.called + self._missed).share

    @property
    def mean_recall(self) -> float:
        """Recall of `dup`, each kind with the same weight: how many pairs it has is arbitrary."""
        return _mean(rate.share for kind, rate in self.kinds.items() if kind.startswith("dup "))

    @property
    def mean_false(self) -> float:
        """Share called duplicate of real updates and other pages, each kind with equal weight."""
        return _mean(rate.share for kind, rate in self.kinds.items() if not kind.startswith("dup "))

    @property
    def worst_operator(self) -> tuple[str, Rate] | None:
        """The scripted change around the article that hides most duplicates."""
        return _worst(self.operators, LEAST_OF_OPERATOR)

    @property
    def worst_language(self) -> tuple[str, Rate] | None:
        """The language with the lowest recall."""
        return _worst(self.languages, LEAST_OF_LANGUAGE)

    @property
    def _missed(self) -> int:
        return self.true_duplicates.total - self.true_duplicates.called


def score(pairs: Sequence[Pair], distances: Sequence[float | None], threshold: float) -> Scores:
    """Score one method; `distances` are in the order of the pairs, in the method's own unit."""
    judged = [
        (pair, distance is not None and distance <= threshold)
        for pair, distance in zip(pairs, distances, strict=True)
    ]
    scored = [(pair, called) for pair, called in judged if pair.group in ("dup", "update", "diff")]
    duplicates = [(pair, called) for pair, called in scored if pair.group == "dup"]
    small = [(pair, called) for pair, called in judged if pair.group == "small"]
    return Scores(
        true_duplicates=_rate(called for _, called in duplicates),
        false_duplicates=_rate(called for pair, called in scored if pair.group != "dup"),
        kinds=_by((f"{pair.label} {pair.kind}", called) for pair, called in scored),
        operators=_by((pair.op, called) for pair, called in duplicates if pair.kind == "noise"),
        languages=_by((pair.lang, called) for pair, called in duplicates if pair.lang),
        update_1_to_5=_rate(called for pair, called in small if pair.changed >= TINY_CHANGE),
        update_below_1=_rate(called for pair, called in small if pair.changed < TINY_CHANGE),
    )


def _rate(called: Iterable[bool]) -> Rate:
    decisions = list(called)
    return Rate(sum(decisions), len(decisions))


def _by(decisions: Iterable[tuple[str, bool]]) -> dict[str, Rate]:
    found = defaultdict(list)
    for name, called in decisions:
        found[name].append(called)
    return {name: _rate(found[name]) for name in sorted(found)}


def _worst(rates: dict[str, Rate], least: int) -> tuple[str, Rate] | None:
    enough = [(name, rate) for name, rate in rates.items() if rate.total >= least]
    return min(enough, key=lambda item: item[1].share, default=None)


def _mean(shares: Iterable[float]) -> float:
    found = list(shares)
    return sum(found) / len(found) if found else float("nan")
