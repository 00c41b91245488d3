"""`simhash-gate history`: the versions of pages, what changed in them, and when to come back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.cli.history_diff import diff
from simhash_gate.cli.options import domain, moment, scope, with_console
from simhash_gate.common.times import shown
from simhash_gate.common.wording import how_many
from simhash_gate.fingerprints.hamming import to_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.cli.console import Console
    from simhash_gate.history.rates import Rates
    from simhash_gate.history.schedule import Policy
    from simhash_gate.offline.history import Past


@click.group(epilog="Example: simhash-gate history list sqlite:///pages.sqlite")
def history() -> None:
    """Show the versions of pages that crawls have seen, and plan the next visits.

    STORE is written as in SIMHASH_GATE_STORE: sqlite:///path, redis://… or postgresql://…. It is
    only read; crawls may use it at the same time.
    """


@history.command(
    "list",
    short_help="List the pages with their versions.",
    epilog="Example: simhash-gate history list sqlite:///pages.sqlite --domain example.com",
)
@click.argument("store")
@domain
@scope
@click.option("--url", metavar="URL", help="Only the page at this URL.")
@with_console
def list_(
    console: Console, store: str, domain: str | None, scope: str | None, url: str | None
) -> int:
    """Print one line of JSON for each page, by URL.

    It has the versions of the page, the oldest first, how many visits found a change, and the days
    between two changes: as expected, and the bounds between which they are with 90 % probability.
    """
    from simhash_gate.offline.history import NOTHING, Wanted, rates_at
    from simhash_gate.sources.open import open_kept

    with open_kept(store) as kept:
        pasts = Wanted(domain, scope, url).of(kept, console.complain)
    rates = rates_at(pasts, max((past.history.seen for past in pasts), default=0.0))
    for number, past in enumerate(pasts):
        console.write(_listed(past, rates, number))
    if not pasts and not console.complaints:
        console.say(NOTHING)
    return console.status()


@history.command(
    "due",
    short_help="List the pages to visit next, with a time for each.",
    epilog="Example: simhash-gate history due sqlite:///pages.sqlite --budget 1000 --days 7",
)
@click.argument("store")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    required=True,
    metavar="N",
    help="How many visits a day you can make.",
)
@click.option(
    "--policy",
    type=click.Choice(["timely", "fresh", "harmonic", "proportional", "uniform"]),
    default="timely",
    help="What the visits are for. timely (the default) finds as many changes as can be within "
    "--within days. harmonic knows as many pages as can be as they are now, and gives no page up.",
)
@click.option(
    "--within",
    type=click.FloatRange(min=0, min_open=True),
    default=3.0,
    metavar="DAYS",
    help="timely: the days within which a change should be found; 3 by default.",
)
@click.option(
    "--at", type=moment, metavar="TIME", help="Plan from TIME on, not from now: 2024-06-01T12:00."
)
@click.option(
    "--days",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    metavar="DAYS",
    help="For how many days; 1 by default.",
)
@domain
@scope
@with_console
def due(
    console: Console,
    store: str,
    budget: float,
    policy: str,
    within: float,
    at: float | None,
    days: float,
    domain: str | None,
    scope: str | None,
) -> int:
    """Print one line of JSON for each visit: the URL and from when on it is due.

    Those come first that are due first. A page that was visited once is taken to change like
    others of its site. Pages that are gone are looked for again after a month, and then ever more
    seldom.
    """
    from simhash_gate.history.schedule import POLICIES
    from simhash_gate.offline.history import NOTHING, Wanted, due_of
    from simhash_gate.sources.open import open_kept

    at = time.time() if at is None else at
    chosen = POLICIES[policy](within)
    with open_kept(store) as kept:
        pasts = Wanted(domain, scope).of(kept, console.complain)
    for line in due_of(pasts, chosen, budget=budget, at=at, days=days):
        console.write(line.as_json())
    if pasts:
        _tell(console, pasts, chosen, budget=budget, at=at)
    elif not console.complaints:
        console.say(NOTHING)
    return console.status()


def _listed(past: Past, rates: Rates, number: int) -> dict[str, Any]:
    from simhash_gate.offline.history import changes_of, days_between

    history = past.history
    rarely, often = rates.interval(number)
    return {
        "scope": past.page.scope,
        "url": past.page.url,
        "visits": len(history.visits),
        "changes": changes_of(history),
        "last_visit": shown(history.seen),
        "gone": None if history.gone is None else shown(history.gone),
        "days_between_changes": days_between(rates.median(number)),
        "between": [days_between(often), days_between(rarely)],
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


def _tell(
    console: Console, pasts: Sequence[Past], policy: Policy, *, budget: float, at: float
) -> None:
    """Say what the budget is enough for."""
    from simhash_gate.history.schedule import outlook, visit_rates
    from simhash_gate.offline.history import rates_at

    there = [past for past in pasts if past.history.gone is None]
    rates = rates_at(there, at)
    expected = outlook(rates, visit_rates(policy, rates, budget), policy.within)
    console.say(
        f"{how_many(len(there), 'page')}, about {float(rates.mean().sum()):.3g} changes a day. To "
        f"expect in the long run: {expected.found:.0%} of them found within {policy.within:g} "
        f"days, {expected.fresh:.0%} of the pages known as they are"
    )


history.add_command(diff)
