"""`simhash-gate pairs` and `similar`: which pages of a collection are alike."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import click

from simhash_gate.collection.listing import (
    Query,
    cluster_rows,
    find_pairs,
    find_query,
    pair_rows,
    similar_rows,
)
from simhash_gate.collection.table import format_of, write_rows
from simhash_gate.common.files import whole_file
from simhash_gate.common.wording import why
from simhash_gate.offline.console import check_output, disk
from simhash_gate.offline.members import Members, fingerprint_of, gather
from simhash_gate.sources.find import distinct, shown
from simhash_gate.sources.page_cache import PageCache
from simhash_gate.sources.parquet import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simhash_gate.collection.gathered import Gathered
    from simhash_gate.collection.table import Row
    from simhash_gate.offline.console import Console
    from simhash_gate.settings import Settings

PAIRS = ("a", "b", "distance", "a_title", "b_title")
COPIES = ("kept", "page", "distance", "kept_title", "title")
SIMILAR = ("page", "distance", "title", "fingerprint")


def run(  # noqa: PLR0913 - one for each option
    settings: Settings,
    console: Console,
    *,
    sources: Sequence[str],
    distance: int,
    across: bool,
    clusters: bool,
    form: str | None,
    output: str | None,
    cache: str | None,
    no_cache: bool,
) -> int:
    """Print all pairs, or the copies; return the exit status."""
    form = form or format_of(output)
    if form == "parquet":
        if not output:
            raise click.UsageError("Parquet is written to a file. Name it with -o FILE.")
        load()  # it may be missing: better now than after hours of reading
    check_output(output)
    kept = None if no_cache else _cache_path(cache)
    with _collection(sources, settings, console, kept, across=across) as gathered:
        if not len(gathered):
            return console.status()
        if clusters:
            rows = cluster_rows(gathered, distance)
        else:
            with console.bar(unit="pairs") as bar:
                found = find_pairs(gathered, distance, bar.update)
            rows = pair_rows(gathered, found)
        columns = (COPIES if clusters else PAIRS)[: 5 if gathered.named else 3]
        written = _write(rows, columns, form, output, console)
        console.say(f"pages: {len(gathered)}, {'copies' if clusters else 'pairs'}: {written}")
    return console.status()


def run_similar(
    settings: Settings,
    console: Console,
    *,
    sources: Sequence[str],
    page: str,
    distance: int,
    cache: str | None,
    no_cache: bool,
) -> int:
    """Print the pages that are like one; return the exit status."""
    kept = None if no_cache else _cache_path(cache)
    with _collection(sources, settings, console, kept, across=True) as gathered:
        if not len(gathered):
            return console.status()
        query = find_query(page, gathered)
        if query is None:
            bits = fingerprint_of(page, settings, console.complain)
            query = None if bits is None else Query(bits)
        if query is not None:
            columns = SIMILAR if gathered.named else ("page", "distance", "fingerprint")
            _write(similar_rows(gathered, query, distance), columns, "jsonl", None, console)
    return console.status()


@contextmanager
def _collection(
    sources: Sequence[str],
    settings: Settings,
    console: Console,
    cache: Path | None,
    *,
    across: bool,
) -> Iterator[Gathered]:
    """Gather sources. An empty collection is complained of."""
    sources = distinct(sources, console.say)
    members = Members(settings, console.complain, console.say, watch=console.bar)
    with (
        disk(f"temporary files in {gettempdir()} (TMPDIR names another folder)"),
        _open_cache(cache, settings, console) as members.cache,
        gather(sources, members, across=across) as gathered,
    ):
        if members.passed_over:
            console.say(f"pages without a fingerprint: {members.passed_over}")
        if not len(gathered):
            console.complain_of_nothing(shown(*sources), "no page with a fingerprint in it")
        yield gathered


@contextmanager
def _open_cache(
    path: Path | None, settings: Settings, console: Console
) -> Iterator[PageCache | None]:
    """Open the page cache, if there is to be one and it can be opened."""
    cache = None
    if path is not None:
        try:
            cache = PageCache(path, settings.options, console.say)
        except OSError as error:
            console.say(f"{path}: {why(error)}. Pages are read without a cache")
    try:
        yield cache
    finally:
        if cache is not None:
            cache.close()


def _cache_path(named: str | None) -> Path:
    """Return the path of the page cache: the one that is named, else that of the user."""
    if named:
        return Path(named)
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - it never raises
    return Path(folder, "simhash-gate", "pages.sqlite")


def _write(
    rows: Iterator[Row], columns: Sequence[str], form: str, output: str | None, console: Console
) -> int:
    """Write rows to stdout, or to a file that is replaced when all are written."""
    if output is None:
        return write_rows(rows, columns, form, console.write_raw)
    with disk(output), whole_file(output, private=False) as file:
        return write_rows(rows, columns, form, file.write)
