"""`simhash-gate report`: the verdicts of a crawl, a store or a replay as one HTML file."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from simhash_gate.cli.console import Console, check_place, output, with_console, with_settings
from simhash_gate.common.wording import complaining
from simhash_gate.journal.segments import drops
from simhash_gate.offline.logs import entry_of, last_log, named_logs
from simhash_gate.page import Page
from simhash_gate.report.html import check_installed, render
from simhash_gate.report.pairs import Texts
from simhash_gate.report.summary import Summary
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry
from simhash_gate.sources.jsonl import count_lines, json_objects
from simhash_gate.sources.open import names_store, open_kept, open_pages, shown
from simhash_gate.sources.read_pages import read_pages
from simhash_gate.values import PREFIX

Lines = Iterator[tuple[str, dict[str, Any]]]


@click.command(epilog="Example: simhash-gate report verdicts.jsonl -o report.html")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@output
@click.option(
    "--pages",
    metavar="SOURCE",
    multiple=True,
    help="Where the pages of a verdict log are, such as .scrapy/httpcache/news, for the texts of "
    "kept and dropped pages. Anything that `replay` reads. Repeat the option for more sources.",
)
@with_settings
@with_console
def report(
    settings: Settings,
    console: Console,
    sources: Sequence[str],
    output: str | None,
    pages: Sequence[str],
) -> int:
    """Make one HTML file of the verdicts in all SOURCEs. Open it in a browser.

    SOURCE is a verdict log, a folder of them, or the URL of a store. A verdict log is the file that
    SIMHASH_GATE_VERDICTS names, or the output of `replay`, which judges pages; it may be packed by
    gzip; - is stdin. Logs of several crawlers are one report, with a table of the figures
    of each. Without SOURCE, the newest log in .scrapy/simhash_gate is read.
    """
    sources = sources or [last_log()]
    if output is None and sys.stdout.isatty():
        raise click.UsageError(
            "A report is not shown on a terminal. Write it to a file: -o report.html"
        )
    if output and Path(output).parent.exists():  # else it is made, once there is a report
        check_place(output, sources)
    check_installed()
    summary = Summary()

    def refuse(path: str) -> None:
        give = f"Of pages, give those of: simhash-gate replay {shown(path)}"
        console.complain(shown(path), f"no verdict in it. {give}")

    paths = [*named_logs(sources, console.say, refuse)]

    def lines() -> Lines:
        for path in paths:
            summary.begin(shown(path))
            logged = json_objects(path, console.complain, _EXAMPLE)
            yield from _kept(path) if names_store(path) else logged

    for place, line in console.bar(
        lines(), lambda: count_lines(paths[0]) if len(paths) == 1 else None
    ):
        with complaining(console.complain, place):
            summary.add_line(line)
    for place in summary.empty if summary.seen else ():
        console.complain(place, "no verdict in it")
    if not summary.seen:
        console.complain_of_nothing(shown(*sources), "no verdict in it")
        return console.status()
    summary.unusable = console.complaints
    texts = _texts(summary, settings, console, pages)
    name = f"{len(summary.crawlers)} crawlers" if summary.are_several else shown(*sources)
    report = render(summary, name=name, texts=texts)
    with console.sink(output, private=True) as file:
        file.write(report)
    console.say(f"verdicts in the report: {summary.seen}")
    return console.status()


_EXAMPLE = "those that `simhash-gate replay` prints"


def _texts(
    summary: Summary, settings: Settings, console: Console, pages: Sequence[str]
) -> Texts | None:
    """Return what reads the texts of pages, None if it is not known where any page is."""
    journals = {crawl.settings.get(PREFIX + "JOURNAL", "") for crawl in summary.crawls}
    known = sorted(path for path in journals if path and Path(path).exists())

    def sources() -> Iterator[Iterable[Entry]]:
        if pages:
            yield open_pages(pages, console.complain, settings.max_bytes, console.say).entries
        for path in known:
            yield map(entry_of, drops(path, lambda *_: None))

    def texts(names: Collection[str]) -> Mapping[str, str]:
        """Read the sources in turn: the first page of a name counts."""
        found: dict[str, str] = {}
        for entries in sources() if names else ():
            for entry, page in read_pages(_wanted(entries, set(names) - found.keys()), settings):
                if isinstance(page, Page):
                    found[entry.id] = page.markdown
        return found

    return texts if pages or known else None


def _kept(url: str) -> Lines:
    """Yield the kept pages of a store as verdicts."""
    with open_kept(url) as store:
        for record in store.records():
            line = {"url": record.url, "title": record.title, "words": record.words}
            yield shown(url), line | {"outcome": "kept", "time": record.first_seen}


def _wanted(entries: Iterable[Entry], left: set[str]) -> Iterator[Entry]:
    """Yield the first page of each name that is left; its id is the name."""
    for entry in entries if left else ():
        for name in {entry.name, str(entry.id)} & left if not entry.skipped else ():
            left.discard(name)
            yield replace(entry, id=name)
        if not left:
            return
