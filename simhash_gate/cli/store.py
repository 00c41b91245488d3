"""`simhash-gate store`: what a store remembers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.cli.options import Age, progress

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from simhash_gate.offline.console import Console
    from simhash_gate.stores import Store


@click.group(
    short_help="List, remove or move the pages of a store.",
    epilog="Example: simhash-gate store info sqlite:///pages.sqlite",
)
def store() -> None:
    """List, remove or move the pages that a store remembers.

    URL is written as in SIMHASH_GATE_STORE: sqlite:///path, redis://… or postgresql://….
    """


in_scope = click.option("--scope", metavar="NAME", help="Only pages of this scope.")
first_seen = click.option(
    "--age",
    type=Age(),
    metavar="AGE",
    help="Pages that were first seen longer ago than AGE: 90s, 30m, 12h, 7d.",
)


@store.command(
    "info",
    short_help="Count the pages of each scope.",
    epilog="Example: simhash-gate store info sqlite:///pages.sqlite",
)
@click.argument("url")
@progress
def store_info(url: str, progress: bool | None) -> int:
    """Print one line of JSON for each scope, the largest first.

    It counts pages and runs, and has the pipeline versions and the oldest and newest time.
    """
    from simhash_gate.offline.store import info

    with _store(url) as (opened, console):
        pages = console.watched(opened.records(), None, progress)
        _write(info(pages), console, progress=False)
    return console.status()


@store.command(
    "list",
    short_help="List the pages.",
    epilog="Example: simhash-gate store list sqlite:///pages.sqlite --scope example.com",
)
@click.argument("url")
@in_scope
@progress
def store_list(url: str, scope: str | None, progress: bool | None) -> int:
    """Print one line of JSON for each page, the oldest first. Pages of dead runs are left out."""
    from simhash_gate.offline.store import listed

    with _store(url) as (opened, console):
        _write((listed(record) for record in opened.records(scope)), console, progress)
    return console.status()


@store.command(
    "export",
    short_help="Print all data of each page, for `store import`.",
    epilog="Example: simhash-gate store export sqlite:///pages.sqlite > pages.jsonl",
)
@click.argument("url")
@in_scope
@progress
def store_export(url: str, scope: str | None, progress: bool | None) -> int:
    """Print one line of JSON for each page, the oldest first, with all data that the store has."""
    from simhash_gate.offline.store import exported

    with _store(url) as (opened, console):
        _write((exported(record) for record in opened.records(scope)), console, progress)
    return console.status()


@store.command(
    "import",
    short_help="Add the pages that `store export` printed.",
    epilog="Example: simhash-gate store import postgresql://host/pages pages.jsonl",
)
@click.argument("url")
@click.argument("file", default="-")
@progress
def store_import(url: str, file: str, progress: bool | None) -> int:
    """Add the pages of FILE to the store at URL. Without FILE, stdin is read.

    FILE is the output of `store export`. The pages are one run: they count when all of them are
    added.
    """
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.store import add_all, read_exported
    from simhash_gate.sources.jsonl import count_lines, shown_path
    from simhash_gate.stores import StoreError

    console = Console()
    records = console.watched(read_exported(file, console.complain), count_lines(file), progress)
    try:
        added = add_all(url, records)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    if not added:
        console.complain_of_nothing(shown_path(file), "no page in it")
    console.say(f"pages added: {added}")
    return console.status()


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
def store_prune(url: str, pages: int | None, age: float | None, progress: bool | None) -> int:
    """Remove the pages of dead runs: of crawls that did not end normally.

    With --age and --pages, also remove the pages that these options name.
    """
    from simhash_gate.offline.store import all_but_the_last, forget, older_than, remove_dead_runs

    with _store(url) as (opened, console):
        remove_dead_runs(url)
        removed = 0
        if age is not None:
            watched = console.watched(opened.records(), None, progress)
            removed += forget(opened, watched, older_than(age))
        if pages is not None:
            surplus = all_but_the_last(pages, opened.records())
            removed += forget(opened, console.watched(opened.records(), None, progress), surplus)
        console.say(f"pages removed, besides those of dead runs: {removed}")
    return console.status()


@store.command(
    "forget",
    short_help="Remove the pages of a scope, a URL, or an age.",
    epilog="Example: simhash-gate store forget sqlite:///pages.sqlite --scope example.com",
)
@click.argument("url")
@in_scope
@click.option("--page", metavar="URL", help="Only the page of this URL.")
@first_seen
@progress
def store_forget(
    url: str, scope: str | None, page: str | None, age: float | None, progress: bool | None
) -> int:
    """Remove the pages that match all of the options. Pages like them are new again.

    At least one of the options is needed.
    """
    from simhash_gate.common.urls import without_credentials
    from simhash_gate.offline.store import forget, older_than

    if scope is None and page is None and age is None:
        raise click.UsageError("Name the pages to remove: --scope, --page or --age.")
    page = page and without_credentials(page)  # as pages are remembered
    aged = older_than(float("-inf") if age is None else age)
    with _store(url) as (opened, console):
        watched = console.watched(opened.records(scope), None, progress)
        removed = forget(opened, watched, lambda r: page in (None, r.url) and aged(r))
        console.say(f"pages removed: {removed}")
    return console.status()


def _write(lines: Generator[dict[str, Any]], console: Console, progress: bool | None) -> None:
    """Write the lines; say if there are none. That is no error."""
    if not console.write_lines(lines, lambda: None, progress):
        console.say("the store has no pages that count")


@contextmanager
def _store(url: str) -> Iterator[tuple[Store, Console]]:
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.store import opened
    from simhash_gate.stores import StoreError

    try:
        with opened(url) as store:
            yield store, Console()
    except StoreError as error:
        raise click.ClickException(str(error)) from None
