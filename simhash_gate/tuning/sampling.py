"""Which pairs to ask about, and what the answers say of all: a stratified sample by distance.

The strata are distances, or bands of them where they matter less. Within one, pairs are drawn at
random, systematically over the scopes; the next question goes to the stratum where an answer takes
most of the uncertainty away (optimum allocation: Neyman 1934; Cochran, Sampling Techniques, 1977,
5.5 and 8.1). Each answer stands for its share of the stratum's pairs (Cochran 5.3).
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simhash_gate.common.proportion import Interval, wilson
from simhash_gate.tuning.threshold import HIGHEST, Counts, Score, f1_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_gate.collection.neighbours import Neighbour, Scope

STRATA = (*((bits, bits) for bits in range(HIGHEST + 1)), (9, 12), (13, 16))
"""First and last distance of each, in bits; duplicates beyond are nobody's to find."""
_wilson = lru_cache(maxsize=4096)(wilson)
_GOLDEN = (sqrt(5) - 1) / 2
_PRIOR = 0.5  # of a stratum whose answers all agree, the next may not


class Stratum(NamedTuple):
    """The pairs of a range of distances: in the order to ask about them, and the answers so far."""

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
        """How much of the variance of the number of duplicates the next answer takes away."""
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
    """Return the pair to ask about: one of each stratum, from the line outwards, then by gain."""
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
    """Count duplicates and others among all pairs, as the answers let one expect.

    Strata without answers count for nothing.
    """
    counts = Counts([0.0] * 65, [0.0] * 65)
    for stratum in all_strata:
        if stratum.answers:
            weight = len(stratum.pairs) / stratum.answers
            counts.duplicates[stratum.first] += weight * stratum.duplicates
            counts.others[stratum.first] += weight * stratum.others
    return counts


def score(all_strata: Sequence[Stratum]) -> list[Score]:
    """Return what each threshold is worth on all pairs, of which the answers are a sample.

    The 95 % intervals are made of Wilson's in each stratum (variance estimates recovered: Zou and
    Donner, Construction of confidence limits about effect measures, 2008; that of recall, a ratio,
    holds the values for which `(1 - recall) * found - recall * missed` can be 0, as Fieller's).
    """
    counts = weighted(all_strata)
    answered = [stratum for stratum in all_strata if stratum.answers]
    every, scores = sum(counts.duplicates), []
    for threshold, f1 in enumerate(f1_of(counts)):
        right, wrong = (sum(side[: threshold + 1]) for side in counts)
        scores.append(
            Score(
                threshold,
                right / (right + wrong) if right + wrong else None,
                right / every if every else 0.0,
                f1,
                _precision(answered, threshold),
                _recall(answered, threshold),
            )
        )
    return scores


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
    """Return the interval of a sum of shares of duplicates, each times a factor, or an array."""
    total = below = above = 0.0
    for factor, stratum in terms:
        share = stratum.duplicates / stratum.answers
        ends = [factor * end for end in _wilson(stratum.duplicates, stratum.answers)]
        rest = 1 - stratum.answers / len(stratum.pairs)  # what is not known for sure
        total += factor * share
        below += rest * (factor * share - np.minimum(*ends)) ** 2
        above += rest * (np.maximum(*ends) - factor * share) ** 2
    return total - np.sqrt(below), total + np.sqrt(above)


def _spread(pairs: list[Neighbour]) -> list[Neighbour]:
    """Put pairs, which are in order of their scopes, in an order that jumps over all of them.

    The first of it are a systematic sample, however many: multiples of the golden ratio, modulo 1,
    from a random start.
    """
    start = np.random.default_rng(len(pairs)).random()
    places = (start + _GOLDEN * np.arange(len(pairs))) % 1
    order = places.argsort().argsort()
    return [pairs[place] for place in order]
