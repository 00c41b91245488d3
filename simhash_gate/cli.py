"""The `simhash-gate` command: the gate over files, without a crawl.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.offline.console import Console
    from simhash_gate.settings import Settings
    from simhash_gate.stores import Store

INTERRUPTED = 130  # what a shell reports of a process that Ctrl-C ended: 128 + 2

setting = click.option(
    "-s",
    "--set",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    help="A SIMHASH_GATE_* setting, as in Scrapy. May be given several times.",
)
progress = click.option(
    "--progress/--no-progress",
    default=None,
    help="Show a progress bar on stderr; by default where a terminal shows it and no results.",
)


class Age(click.ParamType[float]):
    """A time span such as 7d, in seconds."""

    name = "age"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the seconds; fail with what is allowed."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", str(value))
        if not found:
            self.fail(f"{value!r}: expected a number and s, m, h or d, such as 7d", param, ctx)
        return float(found[1]) * {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[found[2]]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="simhash-gate")
def cli() -> None:
    """Fingerprint pages, replay a crawl through the gate, compare two pages, look into a store.

    Exit status: 0, or 1 if an input could not be used, 2 for a wrong command line or setting.
    """


@cli.command(short_help="Print a line of JSON for each HTML file.")
@click.argument("paths", nargs=-1)
@click.option(
    "--input",
    "manifest",
    metavar="FILE",
    help='JSON Lines: {"path": …}, relative to FILE, and, if you like, "url", "id", "encoding".',
)
@setting
@progress
def fingerprint(
    paths: tuple[str, ...],
    manifest: str | None,
    assignments: tuple[str, ...],
    progress: bool | None,
) -> int:
    """Print one JSON line for each HTML file of PATHS, in order; folders are searched for them."""
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.files import html_files
    from simhash_gate.offline.fingerprint import fingerprints
    from simhash_gate.offline.manifest import manifest as read_manifest

    if bool(paths) == bool(manifest):
        raise click.UsageError("Give either PATHS or --input FILE.")
    settings, console = _settings(assignments), Console()
    source = (
        read_manifest(manifest, console.complain, settings.max_bytes, needs_url=False)
        if manifest
        else html_files(paths, console.complain, settings.max_bytes)
    )
    console.write_lines(fingerprints(source.entries, settings), source.total, progress)
    return console.status()


@cli.command(short_help="Judge stored pages as a crawl would.")
@click.argument("source")
@setting
@progress
def replay(source: str, assignments: tuple[str, ...], progress: bool | None) -> int:
    """Judge the pages of SOURCE in order, as a crawl would, and print one JSON line for each.

    SOURCE is a manifest (JSON Lines with "path" and "url"), a WARC file (.warc, .warc.gz) or a
    folder of Scrapy's HttpCache.
    """
    from simhash_gate.gate.policy import SettingsError
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.entry import MissingExtraError
    from simhash_gate.offline.replay import replay as judge_all
    from simhash_gate.offline.sources import open_source
    from simhash_gate.stores import StoreError

    settings, console = _settings(assignments), Console()
    try:
        pages = open_source(source, console.complain, settings.max_bytes)
        lines = judge_all(pages.entries, settings, console.complain)
        outcomes = console.write_lines(lines, pages.total, progress)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    except (MissingExtraError, StoreError) as error:
        raise click.ClickException(str(error)) from None
    console.summarise(outcomes)
    return console.status()


@cli.command(short_help="Show how near two pages are, and what differs.")
@click.argument("a")
@click.argument("b")
@click.option("--url-a", metavar="URL", default="", help="Where A came from.")
@click.option("--url-b", metavar="URL", default="", help="Where B came from: its policy is used.")
@click.option("--markdown", is_flag=True, help="Show what was read of each page.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@setting
def compare(
    a: str,
    b: str,
    url_a: str,
    url_b: str,
    markdown: bool,
    as_json: bool,
    assignments: tuple[str, ...],
) -> int:
    """Show how near two HTML files are, what the gate says of B after A, and what differs."""
    from simhash_gate.offline.comparison import compare as compare_pages
    from simhash_gate.offline.comparison import read_sides
    from simhash_gate.offline.console import Console

    settings, console = _settings(assignments), Console()
    sides = read_sides(((a, url_a), (b, url_b)), settings, console.complain)
    if len(sides) == 2:
        found = compare_pages(sides[0], sides[1], settings)
        if as_json:
            console.write(found.as_json(markdown=markdown))
        else:
            color = False if os.environ.get("NO_COLOR") else None
            for line in found.as_text(markdown=markdown):
                click.echo(line, color=color)
    return console.status()


@cli.group(short_help="Look into a store of kept pages, clear it, or move it.")
def store() -> None:
    """Say what the store at URL remembers, remove some of it, or move it to another store.

    URL is as SIMHASH_GATE_STORE has it: sqlite:///path, redis://… or postgresql://….
    """


in_scope = click.option("--scope", metavar="NAME", help="Only pages of this scope.")
first_seen = click.option(
    "--age",
    type=Age(),
    metavar="AGE",
    help="Pages first seen longer ago: 90s, 30m, 12h, 7d.",
)


@store.command("info", short_help="Print a line of JSON for each scope.")
@click.argument("url")
@progress
def store_info(url: str, progress: bool | None) -> int:
    """Print a line for each scope, the largest first: pages, pipeline versions, oldest, newest."""
    from simhash_gate.offline.store import info

    with _store(url) as (opened, console):
        pages = console.watched(opened.records(), None, progress)
        console.write_lines(info(pages), lambda: None, progress=False)
    return console.status()


@store.command("list", short_help="Print a line of JSON for each page.")
@click.argument("url")
@in_scope
@progress
def store_list(url: str, scope: str | None, progress: bool | None) -> int:
    """Print a line for each remembered page that counts, oldest first."""
    from simhash_gate.offline.store import listed

    with _store(url) as (opened, console):
        lines = (listed(record) for record in opened.records(scope))
        console.write_lines(lines, lambda: None, progress)
    return console.status()


@store.command("export", short_help="Print all of each page, for `store import`.")
@click.argument("url")
@in_scope
@progress
def store_export(url: str, scope: str | None, progress: bool | None) -> int:
    """Print all that is remembered of each page, oldest first, one line of JSON for each."""
    from simhash_gate.offline.store import exported

    with _store(url) as (opened, console):
        lines = (exported(record) for record in opened.records(scope))
        console.write_lines(lines, lambda: None, progress)
    return console.status()


@store.command("import", short_help="Add the pages that `store export` printed.")
@click.argument("url")
@click.argument("file", default="-")
@progress
def store_import(url: str, file: str, progress: bool | None) -> int:
    """Add the pages of FILE, or stdin, which `store export` wrote, to the store at URL.

    They are one run: they count when all of them are there.
    """
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.jsonl import count_lines
    from simhash_gate.offline.store import add_all, read_exported
    from simhash_gate.stores import StoreError

    console = Console()
    records = console.watched(read_exported(file, console.complain), count_lines(file), progress)
    try:
        console.say(f"pages added: {add_all(url, records)}")
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    return console.status()


@store.command("prune", short_help="Remove dead runs, and what is too old or too much.")
@click.argument("url")
@click.option("--pages", type=click.IntRange(min=0), help="Keep the last so many of each scope.")
@first_seen
@progress
def store_prune(url: str, pages: int | None, age: float | None, progress: bool | None) -> int:
    """Remove what runs that died have left; with --pages and --age, what is beyond these too."""
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


@store.command("forget", short_help="Remove the pages of a scope, a URL, or an age.")
@click.argument("url")
@in_scope
@click.option("--page", metavar="URL", help="Only the page of this URL.")
@first_seen
@progress
def store_forget(
    url: str, scope: str | None, page: str | None, age: float | None, progress: bool | None
) -> int:
    """Remove pages, so that their like is new again: those that all of the options agree on."""
    from simhash_gate.offline.store import forget, older_than

    if scope is None and page is None and age is None:
        raise click.UsageError("Say which pages: --scope, --page or --age.")
    aged = older_than(float("-inf") if age is None else age)
    with _store(url) as (opened, console):
        watched = console.watched(opened.records(scope), None, progress)
        removed = forget(opened, watched, lambda r: page in (None, r.url) and aged(r))
        console.say(f"pages removed: {removed}")
    return console.status()


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


def _settings(assignments: Sequence[str]) -> Settings:
    from simhash_gate.gate.policy import SettingsError
    from simhash_gate.settings import PREFIX, read_settings

    given = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.startswith(PREFIX):
            raise click.UsageError(f"-s {assignment}: expected {PREFIX}NAME=VALUE")
        given[name] = value
    try:
        return read_settings(given)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        status = cli.main(arguments, prog_name="simhash-gate", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    return status or 0


if __name__ == "__main__":
    sys.exit(main())
