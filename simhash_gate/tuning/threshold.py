"""Where the threshold should lie: told by labelled pairs, or else by the valley of a histogram."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.common.proportion import Interval, wilson
from simhash_gate.common.wording import how_many

if TYPE_CHECKING:
    from collections.abc import Sequence

HIGHEST = 8
"""Bits: up to here every store finds all that is within a threshold."""
WITHIN = 0.005
"""F1 given away, at most, for a threshold whose neighbours are as good."""
LEAST_OF_EACH = 5
"""Pairs of either label; fewer say nothing of a threshold."""
_LAST_HILL = 16
_EMPTY = 3  # distances in a row without a page end the copies too
_UNLIKELY = 1.645  # standard errors: by chance in 5 of 100


class Counts(NamedTuple):
    """Labelled pairs by distance, 0 to 64 bits: how many are duplicates, how many others."""

    duplicates: list[float]
    others: list[float]


class Score(NamedTuple):
    """What a threshold is worth; precision and F1 are None where nothing would be called."""

    threshold: int
    precision: float | None
    recall: float
    f1: float
    precision_interval: Interval
    recall_interval: Interval


class Suggestion(NamedTuple):
    """A threshold, and why."""

    threshold: int
    reason: str


def count(labelled: Sequence[tuple[int, bool]]) -> Counts:
    """Count pairs of a distance and a label: True for a duplicate."""
    counts = Counts([0.0] * 65, [0.0] * 65)
    for distance, duplicate in labelled:
        (counts.duplicates if duplicate else counts.others)[distance] += 1
    return counts


def f1_of(counts: Counts) -> list[float]:
    """Return F1, the harmonic mean of precision and recall, of each threshold; 0.0 for no pairs."""
    found = []
    for threshold in range(HIGHEST + 1):
        right, wrong = (sum(side[: threshold + 1]) for side in counts)
        positive = sum(counts.duplicates)
        found.append(2 * right / (right + wrong + positive) if positive else 0.0)
    return found


def score(counts: Counts) -> list[Score]:
    """Return what each threshold is worth on pairs that were counted one by one."""
    scores = []
    positive = round(sum(counts.duplicates))
    for threshold, f1 in enumerate(f1_of(counts)):
        right, wrong = (round(sum(side[: threshold + 1])) for side in counts)
        called = right + wrong
        scores.append(
            Score(
                threshold,
                right / called if called else None,
                right / positive if positive else 0.0,
                f1,
                wilson(right, called),
                wilson(right, positive),
            )
        )
    return scores


def best(f1s: Sequence[float]) -> int:
    """Return the threshold to take: nearly the best F1, and good on both sides of it.

    Of those within `WITHIN` of the best, the one whose F1 is highest when it is averaged with its
    neighbours' (weights 1, 2, 1): a lone peak of few pairs is chance. Of equals in a row, the
    middle, or the lower of two: a page dropped wrongly is worse than a copy that passes.
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
    """Suggest the valley after the copies; what is set, `now`, where there is none.

    `histogram` counts pages by the distance of the nearest earlier page. From 0 on, the first
    distance counts that significantly more pages follow, at some distance beyond, with none fewer
    between (difference of two Poisson counts, one-sided, 5 %), or that no page has, nor the next
    two. Further valleys don't: what lies between two may be copies or updates, and nobody knows
    without labels. Of a valley that is wide, the distance nearest to `now` is taken.
    """
    low, after = _first_valley(histogram)
    if low is None:
        return Suggestion(
            now, f"no valley up to {HIGHEST} bits: nothing tells copies from updates but labels"
        )
    wide = low
    while wide < HIGHEST and wide + 1 < len(histogram) and histogram[wide + 1] <= histogram[low]:
        wide += 1
    pages = how_many(histogram[low], "page") if histogram[low] else "no pages"
    place = f"at {how_many(low, 'bit')}" if wide == low else f"from {low} to {wide} bits"
    beyond = f", before {histogram[after]} at {after}" if after is not None else ""
    return Suggestion(
        min(max(now, low), wide),
        f"the valley of the histogram: {pages} {place}{beyond}",
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
