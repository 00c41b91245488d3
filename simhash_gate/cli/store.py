"""`simhash-gate store`: the arguments of its commands."""

from __future__ import annotations

import click

from simhash_gate.cli.options import age, progress, scope
from simhash_gate.offline.console import Console

first_seen = click.option(
    "--age",
    type=age,
    metavar="AGE",
    help="Pages that were first seen longer ago than AGE: 90s, 30m, 12h, 7d.",
)


@click.group(
    short_help="List, remove or move the pages of a store.",
    epilog="Example: simhash-gate store info sqlite:///pages.sqlite",
)
def store() -> None:
    """List, remove or move the pages that a store remembers.

    URL is written as in SIMHASH_GATE_STORE: sqlite:///path, redis://… or postgresql://….
    """


@store.command(
    "info",
    short_help="Count the pages of each scope.",
    epilog="Example: simhash-gate store info sqlite:///pages.sqlite",
)
@click.argument("url")
@progress
def _info(url: str, progress: bool | None) -> int:
    """Print one line of JSON for each scope, the largest first.

    It counts pages and runs, and has the pipeline versions and the oldest and newest time.
    """
    from simhash_gate.offline.store import info

    return info(Console(progress), url=url)


@store.command(
    "list",
    short_help="List the pages.",
    epilog="Example: simhash-gate store list sqlite:///pages.sqlite --scope example.com",
)
@click.argument("url")
@scope
@progress
def _list(url: str, scope: str | None, progress: bool | None) -> int:
    """Print one line of JSON for each page, the oldest first. Pages of dead runs are left out."""
    from simhash_gate.offline.store import list_pages

    return list_pages(Console(progress), url=url, scope=scope)


@store.command(
    "export",
    short_help="Print all data of each page, for `store import`.",
    epilog="Example: simhash-gate store export sqlite:///pages.sqlite > pages.jsonl",
)
@click.argument("url")
@scope
@progress
def _export(url: str, scope: str | None, progress: bool | None) -> int:
    """Print one line of JSON for each page, the oldest first, with all data that the store has."""
    from simhash_gate.offline.store import export

    return export(Console(progress), url=url, scope=scope)


@store.command(
    "import",
    short_help="Add the pages that `store export` printed.",
    epilog="Example: simhash-gate store import postgresql://host/pages pages.jsonl",
)
@click.argument("url")
@click.argument("file", default="-")
@progress
def _import(url: str, file: str, progress: bool | None) -> int:
    """Add the pages of FILE to the store at URL. Without FILE, stdin is read.

    FILE is the output of `store export`. The pages are one run: they count when all of them are
    added.
    """
    from simhash_gate.offline.store import import_pages

    return import_pages(Console(progress), url=url, file=file)


@store.command(
    "prune",
    short_help="Remove dead runs, and pages that are too old or too many.",
    epilog="Example: simhash-gate store prune sqlite:///pages.sqlite --age 30d --pages 10000",
)
@click.argument("url")
@click.option(
    "--pages",
    type=click.IntRange(min=0),
    metavar="N",
    help="Remove all pages of each scope but the last N.",
)
@first_seen
@progress
def _prune(url: str, pages: int | None, age: float | None, progress: bool | None) -> int:
    """Remove the pages of dead runs: of crawls that did not end normally.

    With --age and --pages, also remove the pages that these options name.
    """
    from simhash_gate.offline.store import prune

    return prune(Console(progress), url=url, pages=pages, age=age)


@store.command(
    "forget",
    short_help="Remove the pages of a scope, a URL, or an age.",
    epilog="Example: simhash-gate store forget sqlite:///pages.sqlite --scope example.com",
)
@click.argument("url")
@scope
@click.option("--page", metavar="URL", help="Only the page of this URL.")
@first_seen
@progress
def _forget(
    url: str, scope: str | None, page: str | None, age: float | None, progress: bool | None
) -> int:
    """Remove the pages that match all of the options. Pages like them are new again.

    At least one of the options is needed.
    """
    from simhash_gate.offline.store import forget

    return forget(Console(progress), url=url, scope=scope, page=page, age=age)
