"""`simhash-gate history`: the versions of pages, and what changed in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from simhash_gate.cli.console import Console, as_json, with_chosen, with_console
from simhash_gate.common.times import shown
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import Complain, complaining, how_many
from simhash_gate.compare.sketch import Sketch
from simhash_gate.fingerprints.hamming import hamming_distance, to_hex
from simhash_gate.history.versions import History, Version
from simhash_gate.offline.chosen import Chosen, text_of
from simhash_gate.report.explanation import KEEP_TEXTS, Explanation, Side
from simhash_gate.report.judged import LoggedVerdict
from simhash_gate.sources.open import open_kept
from simhash_gate.stores.base import KEPT_TEXT
from simhash_gate.stores.histories import PageHistory
from simhash_gate.stores.store import Store

NOTHING = "the store has no history of such pages. Crawls keep it when they end"

Past = tuple[PageHistory, History]


@click.group(epilog="Example: simhash-gate history list sqlite:///pages.sqlite")
def history() -> None:
    """Show the versions of pages that crawls have seen.

    STORE is written as in SIMHASH_GATE_STORE: sqlite:///path, redis://… or postgresql://…. It is
    only read; crawls may use it at the same time.
    """


@history.command(
    "list",
    short_help="List the pages with their versions.",
    epilog="Example: simhash-gate history list sqlite:///pages.sqlite --domain example.com",
)
@click.argument("store")
@click.option("--changed", is_flag=True, help="Only pages that have changed, the newest first.")
@with_chosen
@with_console
def list_(console: Console, store: str, changed: bool, chosen: Chosen) -> int:
    """Print one line of JSON for each page, by URL.

    It has the versions of the page, the oldest first, and when each was seen first and last.
    """
    with open_kept(store) as kept:
        pasts = _pasts_of(kept, chosen, console.complain)
    if changed:
        pasts = [past for past in pasts if past[1].changed]
        pasts.sort(key=lambda past: past[1].versions[-1].first_seen, reverse=True)
    for past in pasts:
        console.write(_listed(past))
    if not pasts and not console.complaints:
        console.say(NOTHING)
    return console.status()


def _pasts_of(store: Store, chosen: Chosen, complain: Complain) -> list[Past]:
    """Return the chosen pages with their histories, by URL; `complain` of what can't be read."""
    found = []
    for page in chosen.histories(store):
        with complaining(complain, page.url):
            found.append((page, History.decode(page.history)))
    return sorted(found, key=lambda past: (past[0].scope, past[0].url, past[0].key))


def _listed(past: Past) -> dict[str, Any]:
    page, history = past
    return {
        "scope": page.scope,
        "url": page.url,
        "last_visit": shown(page.seen),
        "gone": None if history.gone is None else shown(history.gone),
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
    own = without_credentials(url)  # others may be copies that were pages of their own once
    with open_kept(store) as kept:
        pasts = _pasts_of(kept, Chosen(page=own), console.complain)
        if not pasts:
            if not console.complaints:
                console.complain(own, NOTHING)
            return console.status()
        page, past = max(pasts, key=lambda past: (past[0].url == own, past[0].seen))
        two = _two_of(past.versions, versions)
        earlier, later = (_side(kept, page, version, console) for version in two)
        hints = [] if any(kept.blobs(KEPT_TEXT, data=False)) else [KEEP_TEXTS]
    bits = hamming_distance(*(version.fingerprint for version in two))
    found = Explanation(LoggedVerdict(page.url, "", distance=bits), later, earlier, hints=hints)
    if as_json:
        console.write(found.as_json())
    else:
        console.show(found.as_text())
    return console.status()


def _two_of(versions: Sequence[Version], numbers: Sequence[int]) -> list[Version]:
    known = len(versions)
    if known < 2:
        raise click.ClickException(f"the page has {how_many(known, 'version')}: nothing changed")
    chosen = (known - 1, known) if not numbers else tuple(numbers)
    if len(chosen) != 2 or not all(1 <= number <= known for number in chosen):
        raise click.UsageError(f"Name two versions of 1 to {known}, or none for the last two.")
    return [versions[number - 1] for number in chosen]


def _side(store: Store, page: PageHistory, version: Version, console: Console) -> Side:
    side = Side.known(f"{shown(version.first_seen)} to {shown(version.last_seen)}", version)
    if version.offers is not None:
        side = side._replace(sketch=Sketch(version.headline, compared=version.offers))
    text = None
    with complaining(console.complain, f"{page.url}: text of {shown(version.first_seen)}"):
        text = text_of(store, page.scope, version.digest)
    if text is None:
        return side
    links = frozenset(link.url for link in text.links)
    return side._replace(markdown=text.markdown, links=links)
