"""`simhash-gate urls`: the arguments of its commands."""

from __future__ import annotations

import click

from simhash_gate.cli.options import output, progress, setting, settings_of
from simhash_gate.offline.console import Console

_FORMS = ("json", "discarder", "clearurls")


@click.group(
    short_help="Read, edit and move the rules about URLs.",
    epilog="Example: simhash-gate urls list sqlite:///pages.sqlite",
)
def urls() -> None:
    """Work with rules that say which parts of URLs make no difference.

    A crawl learns them, and keeps them in its store. RULES is the URL of a store, or a JSON file of
    rules.
    """


@urls.command(
    "list",
    short_help="List the rules, with their evidence.",
    epilog="Example: simhash-gate urls list sqlite:///pages.sqlite",
)
@click.argument("source", metavar="RULES")
@progress
def _list(source: str, progress: bool | None) -> int:
    """Print one line of JSON for each rule, by site."""
    from simhash_gate.offline.urls import list_rules

    return list_rules(Console(progress), source=source)


@urls.command(
    "test",
    short_help="Show what the rules make of URLs.",
    epilog="Example: simhash-gate urls test rules.json 'https://example.com/a?utm_source=x'",
)
@click.argument("source", metavar="RULES")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@setting
@progress
def _test(
    source: str, urls: tuple[str, ...], assignments: tuple[str, ...], progress: bool | None
) -> int:
    """Print the canonical URL of each URL, and the rules that make it.

    URLs with the same canonical URL have the same page, as far as the rules know.
    """
    from simhash_gate.offline.urls import try_rules

    return try_rules(settings_of(assignments), Console(progress), source=source, urls=urls)


@urls.command(
    "export",
    short_help="Write the rules to a file.",
    epilog="Example: simhash-gate urls export sqlite:///pages.sqlite -o rules.json",
)
@click.argument("source", metavar="RULES")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS[:2]),
    default="json",
    help="json (the default) has everything. discarder is the format of duplicate-url-discarder; "
    "it has active rules only.",
)
@output
@progress
def _export(source: str, form: str, output: str | None, progress: bool | None) -> int:
    """Write the rules as sorted JSON, one a line.

    You can edit the file and import it again. "word": "pinned" makes a rule act, "word":
    "forbidden" keeps it from acting, and "word": "guess" lets it act after few cases.
    """
    from simhash_gate.offline.urls import export

    return export(Console(progress), source=source, form=form, output=output)


@urls.command(
    "import",
    short_help="Add the rules of a file to a store.",
    epilog="Example: simhash-gate urls import sqlite:///pages.sqlite rules.json",
)
@click.argument("store", metavar="STORE")
@click.argument("path", metavar="FILE")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default="json",
    help="json (the default) is what `urls export` writes. discarder is the format of "
    "duplicate-url-discarder, clearurls that of the catalogue of ClearURLs. Rules in these two "
    "are guesses: the pages of each site confirm or refute them.",
)
@setting
@progress
def _import(
    store: str, path: str, form: str, assignments: tuple[str, ...], progress: bool | None
) -> int:
    """Add the rules of FILE to the store. A rule takes the place of the same rule in the store."""
    from simhash_gate.offline.urls import import_

    return import_(settings_of(assignments), Console(progress), store=store, path=path, form=form)


@urls.command(
    "learn",
    short_help="Learn rules from verdict logs.",
    epilog="Example: simhash-gate urls learn verdicts.jsonl -o rules.json",
)
@click.argument("sources", nargs=-1, required=True, metavar="VERDICTS...")
@click.option("--into", metavar="STORE", help="Add the rules to a store, and print none.")
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

    Write the rules as JSON. - is stdin.
    """
    from simhash_gate.offline.urls import learn

    return learn(
        settings_of(assignments), Console(progress), sources=sources, output=output, into=into
    )
