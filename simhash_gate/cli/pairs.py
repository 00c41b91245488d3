"""`simhash-gate pairs` and `similar`: which pages of a collection are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from tempfile import gettempdir

import click

from simhash_gate.cli.console import Console, check_place, disk, output, with_console, with_settings
from simhash_gate.collection.gathered import Gathered
from simhash_gate.collection.listing import cluster_rows, find_query, pair_rows, similar_rows
from simhash_gate.collection.table import format_of, write_rows
from simhash_gate.common.urls import without_credentials
from simhash_gate.offline.members import Members
from simhash_gate.options import pipeline_version
from simhash_gate.settings import Settings
from simhash_gate.sources.find import distinct, shown
from simhash_gate.sources.parquet import load

PAIRS = ("a", "b", "distance", "a_title", "b_title")
COPIES = ("kept", "page", "distance", "kept_title", "title")
SIMILAR = ("page", "distance", "title", "fingerprint")
_distance = partial(click.option, "-k", "--distance", metavar="K", default=3, show_default=True)


@click.command(epilog="Example: simhash-gate pairs crawl/ more.jsonl -k 5 -o pairs.csv")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@_distance(type=click.IntRange(0, 8), help="The greatest distance of two pages of a pair, in bits.")
@click.option("--across", is_flag=True, help="Also compare pages of different domains.")
@click.option(
    "--clusters",
    is_flag=True,
    help="Instead of all pairs, print each copy with the page that a crawl would keep.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    help="The format of the output. By default, the name of FILE tells it; without FILE it is "
    "jsonl.",
)
@output
@with_settings
@with_console
def pairs(
    settings: Settings,
    console: Console,
    sources: Sequence[str],
    distance: int,
    across: bool,
    clusters: bool,
    form: str | None,
    output: str | None,
) -> int:
    """Print all pairs of near-duplicate pages. All SOURCEs together are one collection.

    SOURCE is a file of HTML, text, Markdown, JSON Lines, WARC, WACZ or Parquet, a folder of them, a
    folder of Scrapy's HttpCache, a list of fingerprints, or the URL of a store.
    """
    form = form or format_of(output)
    if form == "parquet":
        if not output:
            raise click.UsageError("Parquet is written to a file. Name it with -o FILE.")
        load()  # it may be missing: better now than after hours of reading
    check_place(output, sources)
    with _collection(sources, settings, console, across=across) as gathered:
        if not len(gathered):
            return console.status()
        if clusters:
            rows = cluster_rows(gathered, distance)
        else:
            with console.bar(unit="pairs") as bar:
                rows = pair_rows(gathered, distance, bar.update)
        columns = (COPIES if clusters else PAIRS)[: 5 if gathered.named else 3]
        with console.sink(output) as file:
            written = write_rows(rows, columns, form, file)
        console.say(f"pages: {len(gathered)}, {'copies' if clusters else 'pairs'}: {written}")
    return console.status()


@click.command(epilog="Example: simhash-gate similar crawl/ https://example.com/story -k 8")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.argument("page")
@_distance(type=click.IntRange(0, 64), help="The greatest distance to PAGE, in bits.")
@with_settings
@with_console
def similar(
    settings: Settings, console: Console, sources: Sequence[str], page: str, distance: int
) -> int:
    """Print the pages of all SOURCEs that are like PAGE, the nearest first. Domains do not matter.

    SOURCE is anything that `pairs` reads. PAGE is a URL or a path as SOURCE has it, another HTML or
    text file, or a fingerprint of 16 hex digits.
    """
    with _collection(sources, settings, console, across=True) as gathered:
        if not len(gathered):
            return console.status()
        query = find_query(page, gathered) or _query_of(page, settings, console)
        if query is not None:
            columns = SIMILAR if gathered.named else ("page", "distance", "fingerprint")
            with console.sink(None) as file:
                write_rows(similar_rows(gathered, *query, distance), columns, "jsonl", file)
    return console.status()


def _query_of(page: str, settings: Settings, console: Console) -> tuple[int, None] | None:
    """Ask for the first page of a source; None, complained of, without any."""
    page = without_credentials(page)
    if "://" in page:
        console.complain(page, "no page of the source has this URL, and a fingerprint")
        return None
    found = Members(settings, console.complain, lambda _: None)
    member = next(found.of([page]), None)
    if member is None and found.passed_over:
        console.complain(page, "no fingerprint: there is no text to compare")
    return None if member is None else (member.fingerprint, None)


@contextmanager
def _collection(
    sources: Sequence[str], settings: Settings, console: Console, *, across: bool
) -> Iterator[Gathered]:
    """Gather sources. An empty collection is complained of, and so are several pipeline versions.

    One source without names has its rows known by number.
    """
    sources = distinct(sources, console.say)
    members = Members(settings, console.complain, console.say, watch=console.bar)
    with disk(f"temporary files in {gettempdir()} (TMPDIR names another folder)"):
        numbered = members.numbered(sources[0]) if len(sources) == 1 else None
        version = pipeline_version(settings.options)
        with closing(Gathered(version, across=across, named=numbered is None)) as gathered:
            for batch in numbered or ():
                gathered.extend(batch)
            for member in members.of(sources) if numbered is None else ():
                gathered.add(member)
            gathered.finish()
            if len(gathered.versions) > 1:
                counts = ", ".join(f"{name}: {n}" for name, n in gathered.versions.most_common())
                console.complain(
                    shown(*sources),
                    f"pages of {len(gathered.versions)} pipeline versions ({counts}); "
                    "only those of the same are compared",
                )
            if members.passed_over:
                console.say(f"pages without a fingerprint: {members.passed_over}")
            if not len(gathered):
                console.complain_of_nothing(shown(*sources), "no page with a fingerprint in it")
            yield gathered
