"""How often pages change: what irregular visits tell, page by page and of a site as a whole.

A visit tells that a page changed since the one before, not how often. If its changes are those of
a Poisson process with rate λ, a visit after a time t finds one with probability 1 - exp(-λt). The
likelihood of all visits follows, however irregular they are: Cho and Garcia-Molina, Estimating
frequency of change, ACM TOIT 3 (2003), section 4.3. Its maximum is infinite for a page that
changed at each visit, and 0 for one that never did: after two visits it says nothing. So a page is
judged by all rates at once, each as likely as it is among the pages of its kind (empirical Bayes):
those of its group, of its site, and of all. The page's own visits soon weigh more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simhash_gate.common.proportion import Interval
from simhash_gate.history.versions import History

Floats = npt.NDArray[np.float64]

DAY = 86_400.0
"""Seconds."""

GRID: Floats = np.concatenate(([1e-5], np.geomspace(1 / 1_000, 48, 44)))
"""The rates that are told apart, in changes a day. The first one is that of pages that never do."""

HALF_LIFE, HALF_VISITS = 90.0, 15
"""A visit counts half after so many days, but not before so many visits could have been made since.

Pages begin to change, and come to rest.
"""

_NEVER = 0.4  # of all pages, before any was seen twice
_BEFORE = 4.0  # pages that what was believed before weighs as much as
_TOGETHER = 2_000  # pages whose gaps are in memory at once
_ROUNDS = 25  # after which a share of pages hardly moves any more


_NO_GAPS: Floats = np.empty((0, 3))


def gaps_of(history: History, at: float) -> Floats:
    """Return a row for each time between two visits to a page, as it counts at a Unix time.

    A row has the days, whether the page had changed, 0 or 1, and the weight: from 1 downwards, the
    longer it is over.
    """
    visits = history.visits
    if len(visits) < 2:
        return _NO_GAPS
    times, changed = np.array(visits, dtype=np.float64).T
    days = np.diff(times) / DAY
    half_life = max(HALF_LIFE, HALF_VISITS * float(days.mean()))
    weight = 0.5 ** (np.maximum(0.0, at - times[1:]) / DAY / half_life)
    return np.asarray(np.stack((days, changed[1:], weight), axis=1)[days > 0])


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """What is known of the rates of pages: of each page, how likely each rate of `GRID` is."""

    weights: Floats

    def __len__(self) -> int:
        """Return how many pages these are."""
        return len(self.weights)

    def of(self, pages: npt.NDArray[np.intp]) -> Rates:
        """Return the rates of some of the pages."""
        return Rates(self.weights[pages])

    def mean(self) -> Floats:
        """Return the changes a day to expect of each page."""
        return np.asarray(self.weights @ GRID)

    def median(self, page: int) -> float:
        """Return the rate that the rate of a page is as likely above as below."""
        return self.interval(page, 0.0).low

    def interval(self, page: int, confidence: float = 0.9) -> Interval:
        """Return bounds between which the rate of a page is, with this probability."""
        share = np.cumsum(self.weights[page])
        ends = np.searchsorted(share, ((1 - confidence) / 2, (1 + confidence) / 2))
        low, high = GRID[np.minimum(ends, GRID.size - 1)]
        return Interval(float(low), float(high))


def estimate(pages: Sequence[Floats], groups: Sequence[Sequence[Hashable]]) -> Rates:
    """Return what the gaps between visits tell of the rates of pages.

    `groups` has, for each page, what it shares with others, from the widest to the closest: its
    site, and the shape of its URL for example. Groups with one name in one place are one.
    """
    likelihoods = _likelihoods(pages)
    prior = np.broadcast_to(_shares(likelihoods, _first_belief()), likelihoods.shape)
    for level in range(max(map(len, groups), default=0)):
        members: defaultdict[Any, list[int]] = defaultdict(list)
        for page, names in enumerate(groups):
            members[tuple(names[: level + 1])].append(page)
        closer = np.empty_like(likelihoods)
        for some in members.values():
            closer[some] = _shares(likelihoods[some], prior[some[0]])
        prior = closer
    return Rates(_normal(prior * likelihoods))


def _spread() -> Floats:
    """Return what spreads the shares of rates over the rates beside; none goes to or from never."""
    width = GRID.size - 1
    places = np.arange(width)
    spread = np.zeros((GRID.size, GRID.size))
    spread[0, 0] = 1.0
    for offset, share in zip(range(-2, 3), np.array([1, 4, 6, 4, 1]) / 16, strict=True):
        np.add.at(spread, (1 + np.clip(places + offset, 0, width - 1), 1 + places), share)
    return spread


_SPREAD = _spread()


def _first_belief() -> Floats:
    """Return what is believed of a page of which nothing is known: any order of magnitude."""
    belief = 1 / (1 + GRID)  # few pages change every hour
    belief[0] = 0.0
    belief *= (1 - _NEVER) / belief.sum()
    belief[0] = _NEVER
    return np.asarray(belief)


def _likelihoods(pages: Sequence[Floats]) -> Floats:
    """Return how likely the gaps of each page are by each rate, up to a factor for each page."""
    logs = np.zeros((len(pages), GRID.size))
    for start in range(0, len(pages), _TOGETHER):
        some = pages[start : start + _TOGETHER]
        owner = start + np.repeat(np.arange(len(some)), [len(gaps) for gaps in some])
        if owner.size:
            days, changed, weight = np.concatenate(some).T
            hits = changed > 0
            quiet = np.bincount(owner[~hits], days[~hits] * weight[~hits], len(pages))
            logs -= np.outer(quiet, GRID)
            found = np.log(-np.expm1(-np.outer(days[hits], GRID)))
            np.add.at(logs, owner[hits], weight[hits, None] * found)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf)))


def _shares(likelihoods: Floats, before: Floats) -> Floats:
    """Return which share of pages has each rate, beginning with what was believed before.

    Expectation maximisation, with the belief as so many pages more, and smoothed (Silverman et al.,
    A smoothed EM approach, JRSS B 52, 1990): a page's rate is not just one that others have.
    """
    shares = before
    for _ in range(_ROUNDS):
        counted = _normal(likelihoods * shares).sum(axis=0) + _BEFORE * before
        shares = _SPREAD @ (counted / counted.sum())
    return shares


def _normal(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
