"""Which pages to visit in the time to come, by what was seen of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simhash_gate.history.rates import DAY, estimate, gaps_of
from simhash_gate.history.schedule import chosen, wait

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from simhash_gate.history.rates import Rates
    from simhash_gate.history.schedule import Hints, Policy
    from simhash_gate.history.versions import History

GONE = 30.0
"""Days after which a page that was found gone is looked for again; later, twice as many."""


class Known(NamedTuple):
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


def rates_of(pages: Sequence[Known], at: float) -> Rates:
    """Return what is known at a Unix time of how often each page changes."""
    gaps = [gaps_of(page.history, at) for page in pages]
    return estimate(gaps, [page.groups for page in pages])


def plan(
    pages: Sequence[Known],
    rates: Rates,
    policy: Policy,
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
    hints = hints and hints._replace(said=hints.said.copy())
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
            moments[hints.said[some] == 1] = start
            hints.said[some] = np.nan
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
