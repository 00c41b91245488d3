"""`simhash-gate history`: the versions of pages, what changed in them, and when to come back."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from simhash_gate.cli.console import Console, as_json, moment, with_chosen, with_console
from simhash_gate.common.times import shown
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import complaining, how_many, printable
from simhash_gate.fingerprints.hamming import hamming_distance, to_hex
from simhash_gate.history.rates import Rates
from simhash_gate.history.schedule import POLICIES, outlook, visit_rates
from simhash_gate.history.texts import KeptPage, unpack
from simhash_gate.history.versions import Version
from simhash_gate.offline.chosen import Chosen
from simhash_gate.offline.differences import TextChange, changes
from simhash_gate.offline.history import (
    NOTHING,
    Past,
    changes_of,
    days_between,
    due_urls,
    pasts_of,
    rates_at,
)
from simhash_gate.sources.open import open_kept
from simhash_gate.stores.base import KEPT_TEXT
from simhash_gate.stores.histories import PageHistory
from simhash_gate.stores.store import Store

Side = tuple[Version, KeptPage | None]


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
@with_chosen
@with_console
def list_(console: Console, store: str, chosen: Chosen) -> int:
    """Print one line of JSON for each page, by URL.

    It has the versions of the page, the oldest first, how many visits found a change, and the days
    between two changes: as expected, and the bounds between which they are with 90 % probability.
    """
    with open_kept(store) as kept:
        pasts = pasts_of(kept, chosen, console.complain)
    rates = rates_at(pasts, max((past.history.seen for past in pasts), default=0.0))
    for number, past in enumerate(pasts):
        console.write(_listed(past, rates, number))
    if not pasts and not console.complaints:
        console.say(NOTHING)
    return console.status()


@history.command(
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
    type=click.Choice(list(POLICIES)),
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
@with_chosen
@with_console
def due(
    console: Console,
    store: str,
    budget: float,
    policy: str,
    within: float,
    at: float | None,
    days: float,
    chosen: Chosen,
) -> int:
    """Print one line of JSON for each visit: the URL and from when on it is due.

    Those come first that are due first. A page that was visited once is taken to change like
    others of its site. Pages that are gone are looked for again after a month, and then ever more
    seldom.
    """
    at = time.time() if at is None else at
    wanted = POLICIES[policy](within)
    with open_kept(store) as kept:
        pasts = pasts_of(kept, chosen, console.complain)
    for line in due_urls(pasts, budget, at, days=days, policy=wanted):
        console.write(line.as_json())
    if pasts:
        there = [past for past in pasts if past.history.gone is None]
        rates = rates_at(there, at)
        expected = outlook(rates, visit_rates(wanted, rates, budget), wanted.within)
        console.say(
            f"{how_many(len(there), 'page')}, about {float(rates.mean().sum()):.3g} changes a day. "
            f"To expect in the long run: {expected.found:.0%} of them found within "
            f"{wanted.within:g} days, {expected.fresh:.0%} of the pages known as they are"
        )
    elif not console.complaints:
        console.say(NOTHING)
    return console.status()


def _listed(past: Past, rates: Rates, number: int) -> dict[str, Any]:
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
            {"version": place} | _version(version)
            for place, version in enumerate(history.versions, 1)
        ],
    }


def _version(version: Version) -> dict[str, Any]:
    return {
        "first_seen": shown(version.first_seen),
        "last_seen": shown(version.last_seen),
        "words": version.words,
        "fingerprint": to_hex(version.fingerprint),
        "title": version.title,
        "run": version.run,
    }


@history.command(
    short_help="Show what changed between two versions of a page.",
    epilog="Example: simhash-gate history diff sqlite:///pages.sqlite https://example.com/a 1 3",
)
@click.argument("store")
@click.argument("url")
@click.argument("versions", nargs=-1, type=click.IntRange(min=1), metavar="[VERSION VERSION]")
@as_json
@with_console
def diff(console: Console, store: str, url: str, versions: tuple[int, ...], as_json: bool) -> int:
    """Compare two versions of the page at URL: the last two, or those with these numbers.

    `history list` shows the numbers. The words and links that differ are shown if the crawl kept
    the text of both versions: see SIMHASH_GATE_KEEP_MARKDOWN.
    """
    with open_kept(store) as kept:
        pasts = pasts_of(kept, Chosen(page=url), console.complain)
        if not pasts:
            if not console.complaints:
                console.complain(without_credentials(url), NOTHING)
            return console.status()
        past = max(pasts, key=lambda past: past.page.seen)
        sides = [(each, _text(kept, past.page, each, console)) for each in _two_of(past, versions)]
    distance = hamming_distance(*(version.fingerprint for version, _ in sides))
    if as_json:
        console.write(_as_json(past.page.url, distance, sides))
    else:
        console.show(_as_text(past.page.url, distance, sides))
    return console.status()


def _two_of(past: Past, numbers: Sequence[int]) -> list[Version]:
    """Return the versions with these numbers. Raises click.UsageError if there are none."""
    versions = past.history.versions
    known = len(versions)
    if known < 2:
        raise click.ClickException(f"the page has {how_many(known, 'version')}: nothing changed")
    chosen = (known - 1, known) if not numbers else tuple(numbers)
    if len(chosen) != 2 or not all(1 <= number <= known for number in chosen):
        raise click.UsageError(f"Name two versions of 1 to {known}, or none for the last two.")
    return [versions[number - 1] for number in chosen]


def _text(store: Store, page: PageHistory, version: Version, console: Console) -> KeptPage | None:
    data = store.get(KEPT_TEXT, page.scope, to_hex(version.digest))
    with complaining(console.complain, f"{page.url}: text of {shown(version.first_seen)}"):
        return unpack(data) if data else None
    return None


def _differences(sides: Sequence[Side]) -> dict[str, list[TextChange] | None]:
    """Return the words and the links that differ; None where a text is missing."""
    a, b = (text for _, text in sides)
    if a is None or b is None:
        return {"changes": None, "links": None}
    old, new = ({link.url for link in text.links} for text in (a, b))
    gone = [TextChange((), [url], (), ()) for url in sorted(old - new)]
    come = [TextChange((), (), [url], ()) for url in sorted(new - old)]
    return {"changes": [*changes(a.markdown.split(), b.markdown.split())], "links": gone + come}


def _as_json(url: str, distance: int, sides: Sequence[Side]) -> dict[str, Any]:
    """Return an object of JSON; `changes` and `links` are null where a text is missing."""
    line: dict[str, Any] = {"url": url, "distance": distance}
    for name, (version, text) in zip("ab", sides, strict=True):
        line[name] = _version(version) | {"text": text is not None}
    for name, found in _differences(sides).items():
        line[name] = None if found is None else [change._asdict() for change in found]
    return line


def _as_text(url: str, distance: int, sides: Sequence[Side]) -> Iterator[str]:
    """Yield lines of text: what went in red, what came in green."""
    yield click.style(printable(url), bold=True)
    for name, (version, text) in zip("ab", sides, strict=True):
        seen = f"{shown(version.first_seen)} to {shown(version.last_seen)}"
        words, fingerprint = how_many(version.words, "word"), to_hex(version.fingerprint)
        yield f"{name}  {seen}, {words}, {fingerprint}"
        yield f"   {printable(version.title)}"
        if text is None:
            yield "   no text is kept of it. A crawl keeps texts with SIMHASH_GATE_KEEP_MARKDOWN"
    yield f"distance  {distance} of 64 bits"
    nothing = {"changes": "no word of the text differs", "links": "no link differs"}
    titles = {"changes": "words that differ", "links": "links that differ"}
    for name, found in _differences(sides).items():
        if found is not None:
            yield ""
            yield click.style((titles if found else nothing)[name], bold=True)
            yield from (f"   {change.as_text()}" for change in found)
