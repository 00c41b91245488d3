"""`simhash-gate pairs` and `similar`: which pages of a collection are alike."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import click

from simhash_gate.cli.options import Size, check_output, progress, setting, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simhash_gate.collection.gathered import Gathered
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.page_cache import PageCache
    from simhash_gate.settings import Settings

PAIRS = ("a", "b", "distance", "a_title", "b_title")
COPIES = ("kept", "page", "distance", "kept_title", "title")
SIMILAR = ("page", "distance", "title", "fingerprint")

cache = click.option(
    "--cache",
    "cache_path",
    metavar="FILE",
    help="Keep the pages that were read in FILE, so that a later command need not read them again. "
    "The default is simhash-gate/pages.sqlite in $XDG_CACHE_HOME or ~/.cache.",
)
no_cache = click.option("--no-cache", is_flag=True, help="Read every page again, and keep none.")


@click.command(
    short_help="Find all pairs of near-duplicate pages.",
    epilog="Example: simhash-gate pairs crawl/ more.jsonl -k 5 -o pairs.csv",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "-k",
    "--distance",
    type=click.IntRange(0, 8),
    default=3,
    show_default=True,
    help="The greatest distance of two pages of a pair, in bits.",
)
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
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to FILE, not to stdout. FILE is replaced only when all is written.",
)
@click.option(
    "--memory",
    type=Size(),
    default="4G",
    show_default=True,
    metavar="SIZE",
    help="How much memory the comparison may use, such as 500M. The rest of the data waits in "
    "temporary files.",
)
@cache
@no_cache
@setting
@progress
def pairs(  # noqa: PLR0913, PLR0917 - one for each option
    sources: tuple[str, ...],
    distance: int,
    across: bool,
    clusters: bool,
    form: str | None,
    output: str | None,
    memory: int,
    cache_path: str | None,
    no_cache: bool,
    assignments: tuple[str, ...],
    progress: bool | None,
) -> int:
    """Print all pairs of near-duplicate pages. All SOURCEs together are one collection.

    SOURCE is a folder or file of HTML or text, a WARC file, a folder of Scrapy's HttpCache, JSON
    Lines, a Parquet file, a list of fingerprints, or the URL of a store.
    """
    from simhash_gate.collection.listing import cluster_rows, find_pairs, pair_rows
    from simhash_gate.collection.table import format_of, write_rows
    from simhash_gate.common.complaints import MissingExtraError
    from simhash_gate.offline.console import Console
    from simhash_gate.sources.parquet import load

    settings, console = settings_of(assignments), Console()
    form = form or format_of(output)
    if form == "parquet":
        if not output:
            raise click.UsageError("Parquet is written to a file: name it with -o FILE.")
        try:
            load()  # before hours of reading
        except MissingExtraError as error:
            raise click.ClickException(str(error)) from None
    if output:
        check_output(output)
    with _collection(
        sources, settings, console, progress, _cache_path(cache_path, no_cache), across=across
    ) as gathered:
        if not len(gathered):
            return console.status()
        if clusters:
            rows = cluster_rows(gathered, distance)
        else:
            with console.counted("pairs", progress) as tell:
                found = find_pairs(gathered, distance, memory, tell)
            rows = pair_rows(gathered, found)
        columns = (COPIES if clusters else PAIRS)[: 5 if gathered.named else 3]
        with _output(output, console) as write:
            written = write_rows(rows, columns, form, write)
        console.say(f"pages: {len(gathered)}, {'copies' if clusters else 'pairs'}: {written}")
    return console.status()


@click.command(
    short_help="Find the pages that are like one page.",
    epilog="Example: simhash-gate similar crawl/ https://example.com/story -k 8",
)
@click.argument("source")
@click.argument("page")
@click.option(
    "-k",
    "--distance",
    type=click.IntRange(0, 64),
    default=3,
    show_default=True,
    help="The greatest distance to PAGE, in bits.",
)
@cache
@no_cache
@setting
@progress
def similar(
    source: str,
    page: str,
    distance: int,
    cache_path: str | None,
    no_cache: bool,
    assignments: tuple[str, ...],
    progress: bool | None,
) -> int:
    """Print the pages of SOURCE that are like PAGE, the nearest first. Domains do not matter.

    SOURCE is anything that `pairs` reads. PAGE is a URL or a path as SOURCE has it, another HTML or
    text file, or a fingerprint of 16 hex digits.
    """
    from simhash_gate.collection.listing import Query, find_query, similar_rows
    from simhash_gate.collection.table import write_rows
    from simhash_gate.offline.console import Console
    from simhash_gate.offline.members import fingerprint_of

    settings, console = settings_of(assignments), Console()
    with _collection(
        [source], settings, console, progress, _cache_path(cache_path, no_cache), across=True
    ) as gathered:
        if not len(gathered):
            return console.status()
        query = find_query(page, gathered)
        if query is None:
            bits = fingerprint_of(page, settings, console.complain)
            query = None if bits is None else Query(bits)
        if query is not None:
            columns = SIMILAR if gathered.named else ("page", "distance", "fingerprint")
            rows = similar_rows(gathered, query, distance)
            with _output(None, console) as write:
                write_rows(rows, columns, "jsonl", write)
    return console.status()


@contextmanager
def _collection(
    sources: Sequence[str],
    settings: Settings,
    console: Console,
    progress: bool | None,
    cache_path: Path | None,
    *,
    across: bool,
) -> Iterator[Gathered]:
    """Gather sources in temporary files. An empty collection is complained of."""
    from simhash_gate.common.complaints import MissingExtraError
    from simhash_gate.offline.members import Members, gather
    from simhash_gate.sources.entry import TooManyError
    from simhash_gate.sources.open import distinct, shown
    from simhash_gate.stores import StoreError

    named, sources = sources, distinct(sources)
    if again := Counter(named) - Counter(sources):
        console.say(f"named more than once, read once: {shown(*again)}")
    members = Members(
        settings,
        console.complain,
        watch=lambda things, total: console.watched(
            things, total() if console.shows_a_bar(progress) else None, progress
        ),
    )
    try:
        with (
            _disk(f"temporary files in {gettempdir()} (TMPDIR names another folder)"),
            _cache(cache_path, settings, console) as members.cache,
            gather(sources, members, across=across) as gathered,
        ):
            if members.passed_over:
                console.say(f"pages without a fingerprint: {members.passed_over}")
            if not len(gathered):
                console.complain_of_nothing(shown(*sources), "no page with a fingerprint in it")
            yield gathered
    except (MissingExtraError, StoreError, TooManyError) as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def _cache(path: Path | None, settings: Settings, console: Console) -> Iterator[PageCache | None]:
    from simhash_gate.common.complaints import why
    from simhash_gate.offline.page_cache import PageCache

    if path is None:
        yield None
        return
    try:
        opened = PageCache(path, settings.options, console.say)
    except OSError as error:
        console.say(f"{path}: {why(error)}; pages that are read are not kept")
        yield None
        return
    try:
        yield opened
    finally:
        opened.close()


def _cache_path(named: str | None, without: bool) -> Path | None:
    if without:
        return None
    if named:
        return Path(named)
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - it never raises
    return Path(folder, "simhash-gate", "pages.sqlite")


@contextmanager
def _output(path: str | None, console: Console) -> Iterator[Callable[[bytes], object]]:
    from simhash_gate.common.files import whole_file

    if path is None:
        yield console.write_raw
    else:
        with _disk(path), whole_file(path, private=False) as file:
            yield file.write


@contextmanager
def _disk(place: str) -> Iterator[None]:
    """Tell where the disk failed. Raises click.ClickException."""
    from simhash_gate.common.complaints import why

    try:
        yield
    except OSError as error:
        raise click.ClickException(f"{place}: {why(error)}") from None
