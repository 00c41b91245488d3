"""When to come back to which page, with a budget of visits: two policies, and what each is for.

A policy says what a visit to a page is worth, after a time without one: its price. If each page is
visited as soon as its price reaches one that all pages share, no other visits of the same number do
more for what the policy wants. That price is the Lagrange multiplier of the budget; it is found by
bisection.

What is wanted is a cost C(t) at the time t after a visit. Visits every t days cost the mean of C
from 0 to t, and their price is what makes t best: the integral of s C'(s) from 0 to t. Each price
is linear in C. So that of a page whose rate is unsure is the mean over all rates that it may have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simhash_gate.history.rates import DAY, GRID, Floats, Rates, estimate, gaps_of
from simhash_gate.history.versions import History

WITHIN = 3.0
"""Days within which a change should be found."""

_SOONEST, _LATEST = 1 / 96, 3_650.0  # days between two visits
_TIMES = np.geomspace(_SOONEST, _LATEST, 160)  # between them, prices are interpolated
_HALVINGS = 60
_TINY = 1e-12


class Hints(NamedTuple):
    """What a noisy signal, such as `lastmod` in a sitemap, says of pages since their last visits.

    `changed` is 1 for a page that has by the signal, 0 for one that has not, and no number for
    one of which it says nothing. `recall` is how likely the signal tells of a page that has
    changed, `false` how likely it does of one that has not.
    """

    changed: Floats
    recall: float
    false: float

    def believed(self, rates: Rates, days: Floats) -> tuple[Floats, Floats]:
        """Return how likely each rate of each page is now, and how likely it has not changed."""
        quiet = np.exp(-np.outer(days, GRID))
        unchanged = quiet * self._likely(self.false)
        likelihood = unchanged + (1 - quiet) * self._likely(self.recall)
        weights = rates.weights * likelihood
        return weights / weights.sum(axis=1, keepdims=True), unchanged / likelihood

    def of(self, pages: npt.NDArray[np.intp]) -> Hints:
        """Return what is said of some of the pages."""
        return self._replace(changed=self.changed[pages])

    def _likely(self, share: float) -> Floats:
        share = min(max(share, 0.001), 0.999)
        likelihood = np.where(self.changed == 1, share, 1 - share)
        return np.where(np.isnan(self.changed), 1.0, likelihood)[:, None]


class VisitPolicy(ABC):
    """What a visit to a page is worth, by its rate and the days since the last one."""

    def __init__(self, within: float = WITHIN) -> None:
        self.within = within

    def price(self, rates: Rates, days: Floats, hints: Hints | None = None) -> Floats:
        """Return what a visit to each page is worth, so many days after the last one."""
        if hints is None:
            return np.asarray(np.sum(rates.weights * self._price(GRID, days[:, None]), axis=1))
        weights, unchanged = hints.believed(rates, days)
        return np.asarray(np.sum(weights * self._hinted(days, unchanged, hints), axis=1))

    def prices(self, rates: Rates) -> tuple[Floats, Floats]:
        """Return times in days, rising, and what a visit to each page is worth after each."""
        step = (np.nextafter(self.within, 0), self.within)  # it may be a jump
        times = np.sort(np.concatenate((_TIMES, step)))
        return times, rates.weights @ self._price(GRID[:, None], times)

    @abstractmethod
    def _price(self, rates: Floats, days: Floats) -> Floats:
        """Return what a visit is worth by each rate after each number of days; it never falls."""

    def _hinted(self, days: Floats, unchanged: Floats, hints: Hints) -> Floats:
        """Return what a visit is worth by each rate, if a page is so likely unchanged.

        It is that after the time in which a page becomes so unlikely to be unchanged without a
        signal: Azar et al. (2018); Busa-Fekete et al., Crawling with noisy change signals (2025).
        """
        return self._price(GRID, -np.log(np.maximum(unchanged, _TINY)) / GRID)


class Harmonic(VisitPolicy):
    """The first change that is not known yet costs 1, the second 1/2, the third 1/3, and so on.

    The cost is that of Kolobov et al., Staying up to date with online content changes using
    reinforcement learning for scheduling, NeurIPS 2019. No page is given up, however often it
    changes.
    """

    def _price(self, rates: Floats, days: Floats) -> Floats:
        return np.asarray(days + np.expm1(-rates * days) / rates)


class Timely(VisitPolicy):
    """As many changes as can be are found within some days.

    A visit finds what has changed in the days `within` before. Sooner than that, nothing is lost
    by waiting; later, the changes of a day are lost with each day. So the pages that change most
    often are visited every `within` days, as many of them as the budget allows.
    """

    def _price(self, rates: Floats, days: Floats) -> Floats:
        return np.where(days >= self.within, rates * self.within, 0.0)

    def _hinted(self, days: Floats, unchanged: Floats, hints: Hints) -> Floats:
        """A page of which it tells has one change or more; others have those that it misses."""
        waiting = self._price(GRID, days[:, None])
        found = np.where(days[:, None] >= self.within, np.maximum(waiting, 1 - unchanged), 0.0)
        missed = np.where(hints.changed == 0, 1 - hints.recall, 1.0)[:, None]
        return np.where(hints.changed[:, None] == 1, found, missed * waiting)


POLICIES: dict[str, type[VisitPolicy]] = {"timely": Timely, "harmonic": Harmonic}


class Outlook(NamedTuple):
    """What visits find in the long run, if pages change as is believed.

    `found` is the share of changes that are found within `days`; `fresh` the share of pages that
    are known as they are, over time.
    """

    found: float
    fresh: float
    days: float


def visit_rates(policy: VisitPolicy, rates: Rates, budget: float) -> Floats:
    """Return how many visits a day each page gets of a budget of so many visits a day.

    It is less than the budget in all where more visits are worth nothing.
    """
    times, prices = policy.prices(rates)
    low, high = _TINY, 2 * float(prices.max(initial=_TINY))
    cheap, dear = 1 / _reached(times, prices, low), np.zeros(len(rates))
    if cheap.sum() <= budget:
        return cheap
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        found = 1 / _reached(times, prices, middle)
        if found.sum() > budget:
            low, cheap = middle, found
        else:
            high, dear = middle, found
    # Pages that are worth the same share what is left.
    left, more = budget - dear.sum(), cheap.sum() - dear.sum()
    return np.asarray(dear + (cheap - dear) * (left / more))


def wait(policy: VisitPolicy, rates: Rates, price: float) -> Floats:
    """Return the days after which a visit to each page is worth so much; infinite for never."""
    return _reached(*policy.prices(rates), max(price, _TINY))


def outlook(rates: Rates, visits: Floats, days: float = WITHIN) -> Outlook:
    """Return what so many visits a day to each page find."""
    means = rates.mean()
    found = float(means @ np.minimum(1.0, days * visits) / means.sum()) if len(rates) else 1.0
    changes = GRID / np.maximum(visits, 1 / _LATEST)[:, None]
    known = np.sum(rates.weights * -np.expm1(-changes) / changes, axis=1)
    return Outlook(found, float(known.mean()) if len(rates) else 1.0, days)


def chosen(
    policy: VisitPolicy,
    rates: Rates,
    days: Floats,
    visits: int,
    hints: Hints | None = None,
) -> list[int]:
    """Return the pages to visit now, the most urgent first: no more than `visits`.

    `days` is how long ago the last visit to each page was. Visits of which the policy expects
    nothing are made if the budget allows it: where most changes are to be expected.
    """
    price = policy.price(rates, days, hints)
    order = np.lexsort((-rates.mean() * days, -price))
    return [int(page) for page in order[:visits]]


def _reached(times: Floats, prices: Floats, price: float) -> Floats:
    """Return the time at which the price of each page reaches one; infinite for never."""
    price *= 1 - 1e-9  # sums in another order differ in the last digits
    place = np.sum(prices < price, axis=1)
    pages = np.arange(len(prices))
    above, below = np.minimum(place, times.size - 1), np.maximum(place - 1, 0)
    high, low = (np.log(np.maximum(prices[pages, p], _TINY)) for p in (above, below))
    share = np.clip((np.log(price) - low) / np.maximum(high - low, _TINY), 0.0, 1.0)
    start, end = np.log(times[below]), np.log(times[above])
    return np.where(place < times.size, np.exp(start + share * (end - start)), np.inf)


GONE = 30.0
"""Days after which a page that was found gone is looked for again; later, twice as many."""


class VisitedPage(NamedTuple):
    """A page that was visited. `groups` is what it shares with others, from the widest on."""

    groups: Sequence[Hashable]
    history: History


class Due(NamedTuple):
    """A visit to make. `page` is the place of the page among those that are known.

    `at` is a Unix time. `days` is how long ago the last visit is then.
    """

    page: int
    at: float
    days: float


def rates_of(pages: Sequence[VisitedPage], at: float) -> Rates:
    """Return what is known at a Unix time of how often each page changes."""
    gaps = [gaps_of(page.history, at) for page in pages]
    return estimate(gaps, [page.groups for page in pages])


def plan(
    pages: Sequence[VisitedPage],
    rates: Rates,
    policy: VisitPolicy,
    *,
    at: float,
    budget: float,
    days: float = 1.0,
    hints: Hints | None = None,
) -> Iterator[Due]:
    """Yield the visits to make from a Unix time on, with a budget of so many visits a day.

    It is planned day by day, as if no visit found a change; of each day, those come first that are
    due first. `hints` are what is said of the pages at the beginning.
    """
    hints = hints and hints._replace(changed=hints.changed.copy())
    last = np.array([page.history.seen for page in pages]) / DAY
    asleep = np.array([_asleep(page.history) for page in pages])
    first = start = at / DAY
    made = 0
    while start < first + days:
        stop = min(start + 1.0, first + days)
        most = round(budget * (stop - first)) - made
        made += most
        # Visits are made at any time between the two: one that is due soon may come a bit earlier.
        middle = (start + stop) / 2
        awake = np.flatnonzero(middle - last >= asleep)
        now = hints and hints.of(awake)
        order = chosen(policy, rates.of(awake), middle - last[awake], most, hints=now)
        some, of_some = awake[order], rates.of(awake[order])
        price = float(policy.price(of_some, middle - last[some]).min(initial=np.inf))
        moments = np.clip(last[some] + wait(policy, of_some, price), start, stop)
        if hints is not None:
            moments[hints.changed[some] == 1] = start
            hints.changed[some] = np.nan
        for place in np.argsort(moments, kind="stable"):
            page, moment = int(some[place]), float(moments[place])
            yield Due(page, moment * DAY, moment - float(last[page]))
        last[some] = start
        start = stop


def _asleep(history: History) -> float:
    """Return for how many days after the last visit a page is not looked for."""
    if history.gone is None:
        return 0.0
    there = history.last.last_seen if history.last else history.gone
    return max(GONE, (history.gone - there) / DAY)
