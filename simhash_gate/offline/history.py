"""`simhash-gate history`: what a store knows of each page's past, and when to come back."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simhash_gate.common.times import shown
from simhash_gate.common.urls import is_of_domain, without_credentials
from simhash_gate.common.wording import complaining, how_many
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.history.due import Known, plan, rates_of
from simhash_gate.history.schedule import POLICIES, Hints, outlook, visit_rates
from simhash_gate.history.versions import History
from simhash_gate.identity.address import Address, address_of
from simhash_gate.sources.open import open_kept
from simhash_gate.stores.base import HISTORY
from simhash_gate.stores.histories import histories_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simhash_gate.common.wording import Complain
    from simhash_gate.history.rates import Rates
    from simhash_gate.history.schedule import Policy
    from simhash_gate.offline.console import Console
    from simhash_gate.stores import Store
    from simhash_gate.stores.histories import PageHistory

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
            "rate": _rounded(self.rate),
            "reason": self.reason,
        }


class Said(NamedTuple):
    """Which URLs have changed since their last visits, as somebody says who may be wrong.

    `changed` has True or False for a URL. `recall` is how likely a change is told of, `false` how
    likely a page is said to have changed that has not.
    """

    changed: Mapping[str, bool]
    recall: float = 0.8
    false: float = 0.1

    def of(self, urls: Iterable[str]) -> Hints:
        """Return what is said of each of these pages."""
        said = [float(self.changed.get(url, nan)) for url in urls]
        return Hints(np.array(said, dtype=np.float64), self.recall, self.false)


@dataclass(frozen=True)
class Wanted:
    """Which pages a command is about: those that agree with all of this."""

    domain: str | None = None
    scope: str | None = None
    url: str | None = None

    def of(self, store: Store, complain: Complain) -> list[Past]:
        """Return the pages of a store with their histories, in the order of their URLs."""
        url = self.url and without_credentials(self.url)
        found = []
        for page in histories_in(store.blobs(HISTORY, self.scope)):
            if url in (None, page.url) and (
                self.domain is None or is_of_domain(page.url, self.domain)
            ):
                with complaining(complain, page.url):
                    found.append(Past(page, History.decode(page.history)))
        return sorted(found, key=lambda past: (past.page.scope, past.page.url, past.page.request))


def list_pages(console: Console, *, url: str, wanted: Wanted) -> int:
    """Print the versions of each page, and how often it changes."""
    with open_kept(url) as store:
        pasts = wanted.of(store, console.complain)
    rates = _rates(pasts, max((past.history.seen for past in pasts), default=0.0))
    for number, past in enumerate(pasts):
        console.write(_listed(past, rates, number))
    if not pasts and not console.complaints:
        console.say(NOTHING)
    return console.status()


def _listed(past: Past, rates: Rates, number: int) -> dict[str, Any]:
    history = past.history
    rarely, often = rates.interval(number)
    return {
        "scope": past.page.scope,
        "url": past.page.url,
        "visits": len(history.visits),
        "changes": _changes(history),
        "last_visit": shown(history.seen),
        "gone": None if history.gone is None else shown(history.gone),
        "days_between_changes": _days(rates.median(number)),
        "between": [_days(often), _days(rarely)],
        "versions": [
            {
                "version": place,
                "first_seen": shown(version.first_seen),
                "last_seen": shown(version.last_seen),
                "words": version.words,
                "fingerprint": to_hex(version.fingerprint),
                "title": version.title,
                "run": version.run,
            }
            for place, version in enumerate(history.versions, 1)
        ],
    }


def policy_of(name: str, within: float) -> Policy:
    """Return the policy of a name; `within` are the days in which a change should be found."""
    return POLICIES[name](within)


def due(
    console: Console,
    *,
    url: str,
    wanted: Wanted,
    policy: Policy,
    budget: float,
    at: float,
    days: float,
) -> int:
    """Print the pages to visit, those that are due first at the beginning of each day."""
    with open_kept(url) as store:
        pasts = wanted.of(store, console.complain)
    for line in _due(pasts, policy, budget=budget, at=at, days=days):
        console.write(line.as_json())
    if pasts:
        _tell(console, pasts, policy, budget=budget, at=at)
    elif not console.complaints:
        console.say(NOTHING)
    return console.status()


def _tell(
    console: Console, pasts: Sequence[Past], policy: Policy, *, budget: float, at: float
) -> None:
    """Say what the budget is enough for."""
    there = [past for past in pasts if past.history.gone is None]
    rates = _rates(there, at)
    expected = outlook(rates, visit_rates(policy, rates, budget), policy.within)
    console.say(
        f"{how_many(len(there), 'page')}, about {float(rates.mean().sum()):.3g} changes a day. To "
        f"expect in the long run: {expected.found:.0%} of them found within {policy.within:g} "
        f"days, {expected.fresh:.0%} of the pages known as they are"
    )


def due_urls(
    store: Store,
    budget: float,
    at: float,
    *,
    days: float = 1.0,
    policy: Policy | None = None,
    said: Said | None = None,
    complain: Complain = lambda *_: None,
) -> list[DueUrl]:
    """Return the pages of a store to visit from a Unix time on, with so many visits a day.

    `policy` is `timely` by default. `said` is what sitemaps, feeds or the like say of pages.
    `complain` is told of histories that can't be read.
    """
    pasts = Wanted().of(store, complain)
    policy = policy or POLICIES["timely"]()
    return _due(pasts, policy, budget=budget, at=at, days=days, said=said)


def _due(
    pasts: Sequence[Past],
    policy: Policy,
    *,
    budget: float,
    at: float,
    days: float,
    said: Said | None = None,
) -> list[DueUrl]:
    rates = _rates(pasts, at)
    hints = said and said.of(past.page.url for past in pasts)
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
    changes = how_many(_changes(history), "change")
    found = f"{changes} in {how_many(len(history.visits) - 1, 'visit')}"
    each = _days(rate)
    often = "hardly ever"
    if each is not None and each < 1:
        often = f"every {24 * each:.1f} hours or so"
    elif each is not None:
        often = f"every {each:.{1 if each < 10 else 0}f} days or so"
    return f"changes {often} ({found}); last visit {days:.1f} days before"


def _changes(history: History) -> int:
    """Return how many visits after the first one found a change."""
    return sum(visit.changed for visit in history.visits[1:])


def _rates(pasts: Sequence[Past], at: float) -> Rates:
    return rates_of(_known(pasts), at)


def _known(pasts: Sequence[Past]) -> list[Known]:
    groups = groups_of((past.page.scope, past.page.url) for past in pasts)
    return [Known(group, past.history) for group, past in zip(groups, pasts, strict=True)]


def groups_of(pages: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what each page shares with others: its scope, and the kind of its URL."""
    return [(scope, _group_of(address_of(url))) for scope, url in pages]


def _group_of(address: Address) -> str:
    """Return the kind of a URL; without a query, whatever its page is called."""
    kind = address.kind
    return kind if address.query or not address.path else f"{kind.rpartition('/')[0]}/*"


def _days(rate: float) -> float | None:
    """Return the days between two changes; None for ten years and more."""
    return _rounded(1 / rate) if rate > 1 / 3_650 else None


def _rounded(number: float) -> float:
    """Return a number with three digits that count."""
    return float(f"{number:.3g}")
