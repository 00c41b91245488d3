"""`simhash-gate history`: the arguments of its commands."""

from __future__ import annotations

import time

import click

from simhash_gate.cli.options import as_json, moment, progress, scope
from simhash_gate.cli.store import domain
from simhash_gate.offline.console import Console

_POLICIES = ("timely", "fresh", "harmonic", "proportional", "uniform")


@click.group(
    short_help="Show how pages changed, and when to come back.",
    epilog="Example: simhash-gate history list sqlite:///pages.sqlite",
)
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
@progress
def _list(
    store: str, domain: str | None, scope: str | None, url: str | None, progress: bool | None
) -> int:
    """Print one line of JSON for each page, by URL.

    It has the versions of the page, the oldest first, how many visits found a change, and the days
    between two changes: as expected, and the bounds between which they are with 90 % probability.
    """
    from simhash_gate.offline.history import Wanted, list_pages

    return list_pages(Console(progress), url=store, wanted=Wanted(domain, scope, url))


@history.command(
    "diff",
    short_help="Show what changed between two versions of a page.",
    epilog="Example: simhash-gate history diff sqlite:///pages.sqlite https://example.com/a 1 3",
)
@click.argument("store")
@click.argument("url")
@click.argument("versions", nargs=-1, type=click.IntRange(min=1), metavar="[VERSION VERSION]")
@as_json
@progress
def _diff(
    store: str, url: str, versions: tuple[int, ...], as_json: bool, progress: bool | None
) -> int:
    """Compare two versions of the page at URL: the last two, or those with these numbers.

    `history list` shows the numbers. The words and links that differ are shown if the crawl kept
    the text of both versions: see SIMHASH_GATE_KEEP_MARKDOWN.
    """
    from simhash_gate.offline.history_diff import diff

    return diff(Console(progress), url=store, page=url, versions=versions, as_json=as_json)


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
    type=click.Choice(_POLICIES),
    default="timely",
    help="What the visits are for. timely (the default) finds as many changes as can be within "
    "--within days. fresh knows as many pages as can be as they are now. harmonic does the same, "
    "and gives no page up. proportional visits pages as often as they change; uniform, all equally "
    "often.",
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
@progress
def _due(
    store: str,
    policy: str,
    within: float,
    at: float | None,
    domain: str | None,
    scope: str | None,
    progress: bool | None,
    **plan: float,
) -> int:
    """Print one line of JSON for each visit: the URL and from when on it is due.

    Those come first that are due first. A page that was visited once is taken to change like
    others of its site. Pages that are gone are looked for again after a month, and then ever more
    seldom.
    """
    from simhash_gate.offline.history import Wanted, due, policy_of

    return due(
        Console(progress),
        url=store,
        wanted=Wanted(domain, scope),
        policy=policy_of(policy, within),
        at=time.time() if at is None else at,
        **plan,
    )
