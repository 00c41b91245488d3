"""`simhash-gate store`: the arguments of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from simhash_gate.cli.options import age, progress, scope, setting, settings_of
from simhash_gate.offline.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

older = click.option(
    "--age",
    type=age,
    metavar="AGE",
    help="Pages that were last seen longer ago than AGE: 90s, 30m, 12h, 7d.",
)


domain = click.option(
    "--domain", metavar="NAME", help="Only pages of this domain and its subdomains."
)
page = click.option("--page", metavar="URL", help="Only the page that this URL leads to.")


def chosen(command: F) -> F:
    """Give a command the options that choose pages."""
    for option in (older, page, scope, domain):
        command = option(command)
    return command


@click.group(
    short_help="Fill a store; list, remove or move its pages.",
    epilog="Example: simhash-gate store info sqlite:///pages.sqlite",
)
def store() -> None:
    """Fill a store, or list, remove or move the pages that it remembers.

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

    It counts pages, runs, the texts that the site repeats, histories and texts of pages, and has
    the pipeline versions, the kinds of notes on the site, and the oldest and newest time.
    """
    from simhash_gate.offline.store import info

    return info(Console(progress), url=url)


@store.command(
    "list",
    short_help="List the pages.",
    epilog="Example: simhash-gate store list sqlite:///pages.sqlite --scope example.com",
)
@click.argument("url")
@chosen
@progress
def _list(url: str, progress: bool | None, **options: Any) -> int:
    """Print one line of JSON for each page, the oldest first. Pages of dead runs are left out.

    A page must match all of the options.
    """
    from simhash_gate.offline.chosen import Chosen
    from simhash_gate.offline.store import list_pages

    return list_pages(Console(progress), url=url, chosen=Chosen(**options))


@store.command(
    "export",
    short_help="Print everything that is remembered, for `store import`.",
    epilog="Example: simhash-gate store export sqlite:///pages.sqlite > pages.jsonl",
)
@click.argument("url")
@chosen
@progress
def _export(url: str, progress: bool | None, **options: Any) -> int:
    """Print one line of JSON for each page, with all data that the store has, the oldest first.

    After the pages come lines with their histories, their texts, and what is known of their sites.
    A page must match all of the options.
    """
    from simhash_gate.offline.chosen import Chosen
    from simhash_gate.offline.store import export

    return export(Console(progress), url=url, chosen=Chosen(**options))


@store.command(
    "import",
    short_help="Fill a store from an archive, a corpus or another store.",
    epilog="Example: simhash-gate store import sqlite:///pages.sqlite archive/ corpus.jsonl",
)
@click.argument("url")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@setting
@progress
def _import(
    url: str, sources: tuple[str, ...], assignments: tuple[str, ...], progress: bool | None
) -> int:
    """Add the pages of SOURCEs to the store at URL, so that a new crawl knows them.

    SOURCE is anything with pages: WARC, WACZ, Scrapy's HttpCache, HTML, JSON Lines, Parquet, and
    folders of them; a corpus that `dedupe` made; or the output of `store export`, which is also
    read from stdin if no SOURCE is named.

    The store then has the pages that a crawl would keep that meets all pages in this order. The
    settings should be those of your crawl. All pages are one run: they count when all are added.
    """
    from simhash_gate.offline.store_import import run

    return run(settings_of(assignments), Console(progress), url=url, sources=sources or ("-",))


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
@domain
@older
@progress
def _prune(
    url: str, pages: int | None, domain: str | None, age: float | None, progress: bool | None
) -> int:
    """Remove the pages of dead runs, and what is remembered of sites that have no pages left.

    Dead runs are crawls that did not end normally. With --age and --pages, also remove the pages
    that these options name; with --domain, only those of a domain.
    """
    from simhash_gate.offline.chosen import Chosen
    from simhash_gate.offline.store import prune

    return prune(Console(progress), url=url, chosen=Chosen(domain, age=age), pages=pages)


@store.command(
    "forget",
    short_help="Remove the pages of a domain, a URL, or an age.",
    epilog="Example: simhash-gate store forget sqlite:///pages.sqlite --domain example.com",
)
@click.argument("url")
@chosen
@progress
def _forget(url: str, progress: bool | None, **options: Any) -> int:
    """Remove the pages that match all of the options. Pages like them are new again.

    Their histories and texts, and what is remembered of sites that have no pages left, go too. At
    least one of the options is needed.
    """
    from simhash_gate.offline.chosen import Chosen
    from simhash_gate.offline.store import forget

    return forget(Console(progress), url=url, chosen=Chosen(**options))
