"""Which pairs to ask about, and what the answers say of all pairs: a stratified sample.

A stratum is a distance, or a band of large distances. Within a stratum, pairs are drawn at random,
systematically over the scopes. The next question goes to the stratum where an answer reduces the
uncertainty most (optimum allocation: Neyman 1934; Cochran, Sampling Techniques, 1977, 5.5 and 8.1).
Each answer stands for its share of the pairs of the stratum (Cochran 5.3).
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simhash_gate.common.proportion import Interval, wilson
from simhash_gate.tuning.threshold import HIGHEST, Counts, Score, scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_gate.collection.neighbours import Neighbour, Scope

STRATA = (*((bits, bits) for bits in range(HIGHEST + 1)), (9, 12), (13, 16))
"""First and last distance of each, in bits. Duplicates farther apart are not looked for."""
_wilson = lru_cache(maxsize=4096)(wilson)
_GOLDEN = (sqrt(5) - 1) / 2
_PRIOR = 0.5  # answers of each kind that are added: the next may not agree with all others


class Stratum(NamedTuple):
    """The pairs of a range of distances, in the order to ask about them, and the answers so far."""

    first: int
    last: int
    pairs: list[Neighbour]
    duplicates: int
    others: int

    @property
    def answers(self) -> int:
        """How many pairs were labelled."""
        return self.duplicates + self.others

    @property
    def gain(self) -> float:
        """By how much the next answer reduces the variance of the number of duplicates."""
        share = (self.duplicates + _PRIOR) / (self.answers + 2 * _PRIOR)
        return len(self.pairs) ** 2 * share * (1 - share) / (self.answers * (self.answers + 1) or 1)


def strata(scopes: Iterable[Scope], answers: dict[frozenset[str], bool]) -> list[Stratum]:
    """Divide the neighbours of all scopes, and count the answers that are known."""
    neighbours = [pair for scope in scopes for pair in scope.neighbours]
    found = []
    for first, last in STRATA:
        pairs = _spread([pair for pair in neighbours if first <= pair.distance <= last])
        known = [answers[pair.names] for pair in pairs if pair.names in answers]
        found.append(Stratum(first, last, pairs, sum(known), len(known) - sum(known)))
    return found


def next_pair(
    all_strata: Sequence[Stratum], asked: set[frozenset[str]], line: int
) -> Neighbour | None:
    """Return the pair to ask about: first one of each stratum, from the line on; then by gain."""
    open_ones = []
    for stratum in all_strata:
        pair = next((pair for pair in stratum.pairs if pair.names not in asked), None)
        if pair is not None:
            open_ones.append((stratum, pair))
    if not open_ones:
        return None
    unknown = [entry for entry in open_ones if not entry[0].answers]
    if unknown:
        return min(unknown, key=lambda entry: abs(entry[0].first - line - 0.5))[1]
    return max(open_ones, key=lambda entry: entry[0].gain)[1]


def weighted(all_strata: Iterable[Stratum]) -> Counts:
    """Estimate from the answers how many of all pairs are duplicates, and how many are others.

    Strata without answers are left out.
    """
    counts = Counts([0.0] * 65, [0.0] * 65)
    for stratum in all_strata:
        if stratum.answers:
            weight = len(stratum.pairs) / stratum.answers
            counts.duplicates[stratum.first] += weight * stratum.duplicates
            counts.others[stratum.first] += weight * stratum.others
    return counts


def score(all_strata: Sequence[Stratum]) -> list[Score]:
    """Return how good each threshold is on all pairs, of which the answers are a sample.

    The 95 % intervals combine those of Wilson of each stratum (Zou and Donner, Construction of
    confidence limits about effect measures, 2008). Recall is a ratio: its interval holds the values
    for which `(1 - recall) * found - recall * missed` can be 0, as that of Fieller does.
    """
    answered = [stratum for stratum in all_strata if stratum.answers]
    return scores(weighted(all_strata), partial(_precision, answered), partial(_recall, answered))


def _precision(answered: Sequence[Stratum], threshold: int) -> Interval:
    within = [stratum for stratum in answered if stratum.first <= threshold]
    if not within:
        return Interval(0.0, 1.0)
    called = sum(len(stratum.pairs) for stratum in within)
    low, high = _bounds((len(stratum.pairs) / called, stratum) for stratum in within)
    return Interval(max(0.0, float(low)), min(1.0, float(high)))


def _recall(answered: Sequence[Stratum], threshold: int) -> Interval:
    """Try every value in steps of a thousandth."""
    recalls = np.arange(1001) / 1000
    low, high = _bounds(
        (len(stratum.pairs) * ((stratum.first <= threshold) - recalls), stratum)
        for stratum in answered
    )
    possible = recalls[(low <= 0) & (high >= 0)].tolist()
    return Interval(possible[0], possible[-1]) if possible else Interval(0.0, 1.0)


def _bounds(terms: Iterable[tuple[Any, Stratum]]) -> tuple[Any, Any]:
    """Return the interval of a sum of shares of duplicates, each times a number or an array."""
    total = below = above = 0.0
    for factor, stratum in terms:
        share = stratum.duplicates / stratum.answers
        ends = [factor * end for end in _wilson(stratum.duplicates, stratum.answers)]
        rest = 1 - stratum.answers / len(stratum.pairs)  # the share that nobody was asked about
        total += factor * share
        below += rest * (factor * share - np.minimum(*ends)) ** 2
        above += rest * (np.maximum(*ends) - factor * share) ** 2
    return total - np.sqrt(below), total + np.sqrt(above)


def _spread(pairs: list[Neighbour]) -> list[Neighbour]:
    """Put pairs in an order whose first n are a systematic sample of all, for every n.

    Their places are multiples of the golden ratio, modulo 1, from a random start.
    """
    start = np.random.default_rng(len(pairs)).random()
    places = (start + _GOLDEN * np.arange(len(pairs))) % 1
    order = places.argsort().argsort()
    return [pairs[place] for place in order]
