"""Which pairs to ask about, and what the answers say of all: a stratified sample by distance.

The strata are distances, or bands of them where they matter less. Within one, pairs are drawn at
random, systematically over the scopes; the next question goes to the stratum where an answer takes
most of the uncertainty away (optimum allocation: Neyman 1934; Cochran, Sampling Techniques, 1977,
5.5 and 8.1). Each answer stands for its share of the stratum's pairs (Cochran 5.3).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.offline.threshold import HIGHEST, Counts, Score, f1_of
from simhash_gate.proportion import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_gate.offline.neighbours import Neighbour, Scope

STRATA = (*((bits, bits) for bits in range(HIGHEST + 1)), (9, 12), (13, 16))
"""First and last distance of each, in bits; duplicates beyond are nobody's to find."""
_GOLDEN = (sqrt(5) - 1) / 2
_DRAWS = 4000
_PRIOR = 0.5  # Jeffreys'; Brown, Cai and DasGupta, Interval Estimation for a Proportion (2001)


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


def score(all_strata: Sequence[Stratum], confidence: float = 0.95) -> list[Score]:
    """Return what each threshold is worth on all pairs, of which the answers are a sample.

    The intervals are credible ones: quantiles of what follows when each stratum's share of
    duplicates is drawn, again and again, from its Beta posterior under Jeffreys' prior.
    """
    counts = weighted(all_strata)
    answered = [stratum for stratum in all_strata if stratum.answers]
    draws = _drawn(answered)
    sizes = np.array([len(stratum.pairs) for stratum in answered], dtype=np.float64)
    positive, scores = draws.sum(axis=1), []
    tails = (1 - confidence) / 2, (1 + confidence) / 2

    def interval(part: object, whole: object) -> Interval:
        shares = np.divide(part, whole, out=np.zeros(_DRAWS), where=np.asarray(whole) > 0)  # type: ignore[call-overload]
        low, high = np.quantile(shares, tails)
        return Interval(float(low), float(high))

    for threshold, f1 in enumerate(f1_of(counts)):
        within = np.array([stratum.first <= threshold for stratum in answered], dtype=bool)
        right, wrong = (sum(side[: threshold + 1]) for side in counts)
        every = sum(counts.duplicates)
        called = np.full(_DRAWS, sizes[within].sum())
        true = draws[:, within].sum(axis=1)
        scores.append(
            Score(
                threshold,
                right / (right + wrong) if right + wrong else None,
                right / every if every else 0.0,
                f1,
                interval(true, called) if called.any() else Interval(0.0, 1.0),
                interval(true, positive) if answered else Interval(0.0, 1.0),
            )
        )
    return scores


def _drawn(answered: Sequence[Stratum]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the numbers of duplicates, a row a draw: those seen, and those of the rest."""
    generator = np.random.default_rng(0)
    columns = []
    for stratum in answered:
        shares = generator.beta(stratum.duplicates + _PRIOR, stratum.others + _PRIOR, _DRAWS)
        rest = len(stratum.pairs) - stratum.answers
        columns.append(stratum.duplicates + generator.binomial(rest, shares))
    return np.array(columns, dtype=np.float64).T.reshape(_DRAWS, len(answered))


def _spread(pairs: list[Neighbour]) -> list[Neighbour]:
    """Put pairs, which are in order of their scopes, in an order that jumps over all of them.

    The first of it are a systematic sample, however many: multiples of the golden ratio, modulo 1,
    from a random start.
    """
    start = np.random.default_rng(len(pairs)).random()
    places = (start + _GOLDEN * np.arange(len(pairs))) % 1
    order = places.argsort().argsort()
    return [pairs[place] for place in order]
