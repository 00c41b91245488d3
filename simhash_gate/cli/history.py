"""`simhash-gate history`: the versions of pages, and what changed in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import click

from simhash_gate.cli.console import Console, as_json, with_chosen, with_console
from simhash_gate.common.times import shown
from simhash_gate.common.urls import without_credentials
from simhash_gate.common.wording import Complain, complaining, how_many, printable
from simhash_gate.fingerprints.hamming import hamming_distance, to_hex
from simhash_gate.history.texts import KeptPage, unpack
from simhash_gate.history.versions import History, Version
from simhash_gate.offline.chosen import Chosen
from simhash_gate.offline.differences import TextChange, changes, section
from simhash_gate.sources.open import open_kept
from simhash_gate.stores.base import KEPT_TEXT
from simhash_gate.stores.histories import PageHistory
from simhash_gate.stores.store import Store

NOTHING = "the store has no history of such pages. Crawls keep it when they end"
Side = tuple[Version, KeptPage | None]


class Past(NamedTuple):
    """A page and its history."""

    page: PageHistory
    history: History


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
@with_chosen
@with_console
def list_(console: Console, store: str, chosen: Chosen) -> int:
    """Print one line of JSON for each page, by URL.

    It has the versions of the page, the oldest first, and when each was seen first and last.
    """
    with open_kept(store) as kept:
        pasts = _pasts_of(kept, chosen, console.complain)
    for past in pasts:
        console.write(_listed(past))
    if not pasts and not console.complaints:
        console.say(NOTHING)
    return console.status()


def _pasts_of(store: Store, chosen: Chosen, complain: Complain) -> list[Past]:
    """Return the pages of a store that are chosen, with their histories, by URL.

    `complain` is told of histories that can't be read.
    """
    found = []
    for page in chosen.histories(store):
        with complaining(complain, page.url):
            found.append(Past(page, History.decode(page.history)))
    return sorted(found, key=lambda past: (past.page.scope, past.page.url, past.page.request))


def _listed(past: Past) -> dict[str, Any]:
    history = past.history
    return {
        "scope": past.page.scope,
        "url": past.page.url,
        "last_visit": shown(past.page.seen),
        "gone": None if history.gone is None else shown(history.gone),
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
        pasts = _pasts_of(kept, Chosen(page=url), console.complain)
        if not pasts:
            if not console.complaints:
                console.complain(without_credentials(url), NOTHING)
            return console.status()
        own = without_credentials(url)  # others may be copies that were pages of their own once
        past = max(pasts, key=lambda past: (past.page.url == own, past.page.seen))
        sides = [(each, _text(kept, past.page, each, console)) for each in _two_of(past, versions)]
    distance = hamming_distance(*(version.fingerprint for version, _ in sides))
    if as_json:
        console.write(_as_json(past.page.url, distance, sides))
    else:
        console.show(_as_text(past.page.url, distance, sides))
    return console.status()


def _two_of(past: Past, numbers: Sequence[int]) -> list[Version]:
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
            lines = (change.as_text() for change in found)
            yield from section((titles if found else nothing)[name], lines)
