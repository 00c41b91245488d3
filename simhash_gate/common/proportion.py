"""Confidence intervals of shares that were counted in a sample."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple


class Interval(NamedTuple):
    """Bounds of a share, 0 to 1."""

    low: float
    high: float


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return the score interval of a share that was counted as `successes` in `trials`.

    Without trials, it is 0 to 1. Raises ValueError for impossible counts. Source: Wilson, Probable
    inference, the law of succession, and statistical inference (1927).
    """
    from statistics import NormalDist  # loads slowly

    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials}: expected a share")
    if trials == 0:
        return Interval(0.0, 1.0)
    squared = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    share = successes / trials
    centre = share + squared / (2 * trials)
    spread = sqrt(squared * (share * (1 - share) / trials + squared / (4 * trials**2)))
    scale = 1 + squared / trials
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return Interval(low if successes else 0.0, high if successes < trials else 1.0)
