"""`simhash-gate urls`: the arguments of its commands."""

from __future__ import annotations

import click

from simhash_gate.cli.options import output, progress, setting, settings_of
from simhash_gate.offline.console import Console


@click.group(
    short_help="Read, edit and move what is known of URLs.",
    epilog="Example: simhash-gate urls list sqlite:///pages.sqlite",
)
def urls() -> None:
    """Work with what sites have shown to make no difference in their URLs.

    A crawl learns that, and keeps it in its store. SOURCE is the URL of a store, or a JSON file
    that `urls export` wrote.
    """


@urls.command(
    "list",
    short_help="List what is known.",
    epilog="Example: simhash-gate urls list sqlite:///pages.sqlite",
)
@click.argument("source", metavar="SOURCE")
@progress
def _list(source: str, progress: bool | None) -> int:
    """Print one line of JSON for each part of URLs, by site."""
    from simhash_gate.offline.urls import list_atoms

    return list_atoms(Console(progress), source=source)


@urls.command(
    "test",
    short_help="Show the key of URLs.",
    epilog="Example: simhash-gate urls test urls.json 'https://example.com/a?utm_source=x'",
)
@click.argument("source", metavar="SOURCE")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@setting
@progress
def _test(
    source: str, urls: tuple[str, ...], assignments: tuple[str, ...], progress: bool | None
) -> int:
    """Print the key and the canonical URL of each URL, and what of it makes no difference.

    URLs with the same key have the same page, as far as is known.
    """
    from simhash_gate.offline.urls import try_urls

    return try_urls(settings_of(assignments), Console(progress), source=source, urls=urls)


@urls.command(
    "export",
    short_help="Write what is known to a file.",
    epilog="Example: simhash-gate urls export sqlite:///pages.sqlite -o urls.json",
)
@click.argument("source", metavar="SOURCE")
@output
@progress
def _export(source: str, output: str | None, progress: bool | None) -> int:
    """Write what is known as JSON, one part of URLs a line.

    You can edit the file and import it again: "word": "forbidden" keeps a part from being taken
    for one that makes no difference.
    """
    from simhash_gate.offline.urls import export

    return export(Console(progress), source=source, output=output)


@urls.command(
    "import",
    short_help="Add the lines of a file to a store.",
    epilog="Example: simhash-gate urls import sqlite:///pages.sqlite urls.json",
)
@click.argument("store", metavar="STORE")
@click.argument("path", metavar="FILE")
@setting
@progress
def _import(store: str, path: str, assignments: tuple[str, ...], progress: bool | None) -> int:
    """Add the lines of FILE to the store. A line takes the place of the same one in the store."""
    from simhash_gate.offline.urls import import_

    settings_of(assignments)
    return import_(Console(progress), store=store, path=path)


@urls.command(
    "learn",
    short_help="Learn from verdict logs.",
    epilog="Example: simhash-gate urls learn verdicts.jsonl -o urls.json",
)
@click.argument("sources", nargs=-1, required=True, metavar="VERDICTS...")
@click.option("--into", metavar="STORE", help="Add what is learned to a store, and print nothing.")
@output
@setting
@progress
def _learn(
    sources: tuple[str, ...],
    into: str | None,
    output: str | None,
    assignments: tuple[str, ...],
    progress: bool | None,
) -> int:
    """Learn from what crawls (SIMHASH_GATE_VERDICTS) or `replay` said of pages.

    Write what was learned as JSON. - is stdin.
    """
    from simhash_gate.offline.urls import learn

    return learn(
        settings_of(assignments), Console(progress), sources=sources, output=output, into=into
    )
