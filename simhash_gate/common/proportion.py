"""Confidence intervals of shares that were counted in a sample."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the ends of the score interval of a share that was counted as `successes` in `trials`.

    Without trials, it is 0 to 1. Raises ValueError for impossible counts. Source: Wilson, Probable
    inference, the law of succession, and statistical inference (1927).
    """
    from statistics import NormalDist  # loads slowly

    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials}: expected a share")
    if trials == 0:
        return 0.0, 1.0
    squared = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    share = successes / trials
    centre = share + squared / (2 * trials)
    spread = sqrt(squared * (share * (1 - share) / trials + squared / (4 * trials**2)))
    scale = 1 + squared / trials
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return low if successes else 0.0, high if successes < trials else 1.0


@lru_cache(maxsize=4096)
def upper_bound(successes: int, trials: int, confidence: float = 0.95) -> float:
    """Return the upper end of the exact one-sided interval of a share.

    It is the share at which so few successes have the chance 1 - `confidence`. Without trials, it
    is 1. Source: Clopper and Pearson, The use of confidence or fiducial limits (1934).
    """
    if successes >= trials:
        return 1.0
    ways = [
        lgamma(trials + 1) - lgamma(i + 1) - lgamma(trials - i + 1) for i in range(successes + 1)
    ]
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        share = (low + high) / 2
        there, not_there = log(share), log1p(-share)
        chance = sum(exp(w + i * there + (trials - i) * not_there) for i, w in enumerate(ways))
        low, high = (share, high) if chance > 1 - confidence else (low, share)
    return high
