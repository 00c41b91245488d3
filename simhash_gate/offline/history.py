"""What a store knows of each page's past, and when to come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np

from simhash_gate.common.times import shown
from simhash_gate.common.wording import Complain, complaining, how_many
from simhash_gate.history.rates import Rates
from simhash_gate.history.schedule import POLICIES, Hints, VisitedPage, VisitPolicy, plan, rates_of
from simhash_gate.history.versions import History
from simhash_gate.identity.address import address_of
from simhash_gate.offline.chosen import Chosen
from simhash_gate.stores.histories import PageHistory
from simhash_gate.stores.store import Store

NOTHING = "the store has no history of such pages. Crawls keep it when they end"


class Past(NamedTuple):
    """A page and its history."""

    page: PageHistory
    history: History


class DueUrl(NamedTuple):
    """A page to visit: its URL, from when on (Unix time), how often it changes a day, and why."""

    url: str
    time: float
    rate: float
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return an object of JSON."""
        return {
            "url": self.url,
            "due": shown(self.time),
            "time": round(self.time, 3),
            "rate": rounded(self.rate),
            "reason": self.reason,
        }


class ChangeSignals(NamedTuple):
    """Which URLs have changed since their last visits, as somebody says who may be wrong.

    `changed` has True or False for a URL. `recall` is how likely a change is told of, `false` how
    likely a page is said to have changed that has not.
    """

    changed: Mapping[str, bool]
    recall: float = 0.8
    false: float = 0.1

    def of(self, urls: Iterable[str]) -> Hints:
        """Return what is said of each of these pages."""
        changed = [float(self.changed.get(url, nan)) for url in urls]
        return Hints(np.array(changed, dtype=np.float64), self.recall, self.false)


def pasts_of(
    store: Store, chosen: Chosen | None = None, complain: Complain = lambda *_: None
) -> list[Past]:
    """Return the pages of a store that are chosen, with their histories, by URL.

    `complain` is told of histories that can't be read.
    """
    found = []
    for page in (chosen or Chosen()).histories(store):
        with complaining(complain, page.url):
            found.append(Past(page, History.decode(page.history)))
    return sorted(found, key=lambda past: (past.page.scope, past.page.url, past.page.request))


def due_urls(
    pasts: Sequence[Past],
    budget: float,
    at: float,
    *,
    days: float = 1.0,
    policy: VisitPolicy | None = None,
    signals: ChangeSignals | None = None,
) -> list[DueUrl]:
    """Return which of these pages to visit from a Unix time on, with so many visits a day.

    `policy` is `timely` by default. `signals` are what sitemaps, feeds or the like say of pages.
    """
    policy = policy or POLICIES["timely"]()
    rates = rates_at(pasts, at)
    hints = signals and signals.of(past.page.url for past in pasts)
    visits = plan(_known(pasts), rates, policy, at=at, budget=budget, days=days, hints=hints)
    means = rates.mean()
    return [
        DueUrl(
            pasts[visit.page].page.url,
            visit.at,
            float(means[visit.page]),
            _reason(pasts[visit.page].history, rates.median(visit.page), visit.days),
        )
        for visit in visits
    ]


def _reason(history: History, rate: float, days: float) -> str:
    if history.gone is not None:
        return f"gone {days:.1f} days before; is it back?"
    changes = how_many(changes_of(history), "change")
    found = f"{changes} in {how_many(len(history.visits) - 1, 'visit')}"
    each = days_between(rate)
    often = "hardly ever"
    if each is not None and each < 1:
        often = f"every {24 * each:.1f} hours or so"
    elif each is not None:
        often = f"every {each:.{1 if each < 10 else 0}f} days or so"
    return f"changes {often} ({found}); last visit {days:.1f} days before"


def changes_of(history: History) -> int:
    """Return how many visits after the first one found a change."""
    return sum(visit.changed for visit in history.visits[1:])


def rates_at(pasts: Sequence[Past], at: float) -> Rates:
    """Return how often each page changes, as far as is known at a Unix time."""
    return rates_of(_known(pasts), at)


def _known(pasts: Sequence[Past]) -> list[VisitedPage]:
    groups = groups_of((past.page.scope, past.page.url) for past in pasts)
    return [VisitedPage(group, past.history) for group, past in zip(groups, pasts, strict=True)]


def groups_of(pages: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what each page shares with others: its scope, and the kind of its URL.

    Without a query, it is that of all pages of a folder, whatever they are called.
    """
    found = []
    for scope, url in pages:
        address = address_of(url)
        kind = address.kind
        named = address.path and not address.query
        found.append((scope, f"{kind.rpartition('/')[0]}/*" if named else kind))
    return found


def days_between(rate: float) -> float | None:
    """Return the days between two changes; None for ten years and more."""
    return rounded(1 / rate) if rate > 1 / 3_650 else None


def rounded(number: float) -> float:
    """Return a number with three digits that count."""
    return float(f"{number:.3g}")
