"""`simhash-gate report`: the verdicts of a crawl, a store or a replay as one HTML file."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simhash_gate.common.wording import complaining
from simhash_gate.offline.console import check_output, disk
from simhash_gate.offline.fleet import fleet_table, is_folder, is_log, logs_in
from simhash_gate.offline.replay import replay
from simhash_gate.offline.texts import PageTexts, of_journal, of_pages
from simhash_gate.report.fleet import Fleet
from simhash_gate.report.html import check_installed, render, write
from simhash_gate.sources.jsonl import STDIN, count_lines, json_objects
from simhash_gate.sources.open import names_store, open_kept, open_pages, shown
from simhash_gate.values import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simhash_gate.offline.console import Console
    from simhash_gate.report.counts import Counts
    from simhash_gate.settings import Settings

    Lines = Iterator[tuple[str, dict[str, Any]]]


class Log(NamedTuple):
    """The verdicts of one source: their places and lines."""

    name: str
    lines: Lines


LAST_LOGS = Path(".scrapy", "simhash_gate")
"""The folder of a Scrapy project that is searched for the log of the last crawl."""

_EXAMPLE = "those that `simhash-gate replay` prints"


def run(
    settings: Settings,
    console: Console,
    *,
    sources: Sequence[str],
    output: str | None,
    journal: str | None,
    pages: Sequence[str],
) -> int:
    """Write the report; return the exit status.

    Texts come from the journal, from `pages`, and from those sources that are pages.
    """
    sources = sources or [_last_log()]
    in_words = output is None and sys.stdout.isatty()
    if in_words and len(sources) == 1 and not is_folder(sources[0]):
        raise click.UsageError(
            "A report is not shown on a terminal. Write it to a file: -o report.html"
        )
    if output and Path(output).parent.exists():  # else it is made, once there is a report
        check_output(output)
    if not in_words:
        check_installed()
    logs, total, own = _logs(sources, settings, console)
    fleet = Fleet()
    for place, line in console.bar(_lines(logs, fleet), total):
        with complaining(console.complain, place):
            fleet.add_line(line)
    summary = fleet.total
    for place in fleet.empty if summary.seen else ():
        console.complain(place, "no verdict in it")
    if not summary.seen:
        console.complain_of_nothing(shown(*sources), "no verdict in it")
        return console.status()
    # Pages that a replay can't judge are complained of, and are in the figures all the same.
    summary.unusable = console.complaints - (summary.total.outcomes["error"] if own else 0)
    several = None if fleet.is_one else fleet
    if in_words:
        console.show([*(fleet_table(fleet)), "For all of it, write the report: -o report.html"])
        return console.status()
    texts = _texts(summary, settings, console, own, pages, journal)
    name = f"{len(fleet.crawlers)} crawlers" if several else shown(*sources)
    report = render(summary, name=name, texts=texts, fleet=several)
    if output is None:
        console.write_raw(report)
    else:
        with disk(output):
            write(report, output)
    console.say(f"verdicts in the report: {summary.seen}")
    for line in fleet_table(fleet) if several else ():
        console.say(line)
    return console.status()


def _lines(logs: Iterable[Log], fleet: Fleet) -> Lines:
    """Yield the place and the line of each verdict. The fleet is told where a log begins."""
    for log in logs:
        fleet.begin(log.name)
        yield from log.lines


def _texts(
    summary: Counts,
    settings: Settings,
    console: Console,
    own: Sequence[str],
    pages: Sequence[str],
    journal: str | None,
) -> PageTexts | None:
    """Return what reads the texts of pages, None if it is not known where any page is."""
    complain, most = console.complain, settings.max_bytes
    found = []
    journals = {crawl.settings.get(PREFIX + "JOURNAL", "") for crawl in summary.crawls}
    if own:  # what can't be read of them was told when they were judged
        found.append(of_pages(lambda: open_pages(own, _quiet, most, lambda _: None).entries))
    if pages:
        found.append(of_pages(lambda: open_pages(pages, complain, most, console.say).entries))
    if journal:
        found.append(of_journal(journal, complain))
    else:
        known = sorted(path for path in journals if path and Path(path).exists())
        found += [of_journal(path, _quiet) for path in known]
    return PageTexts(settings, found) if found else None


def _quiet(place: str, message: str) -> None:
    """Pass over what can't be used: it was told already, or nobody has asked for it."""


def _last_log() -> str:
    """Return the newest verdict log of the project that the working directory is in."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        logs = sorted((folder / LAST_LOGS).glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
        if logs:
            return str(logs[-1])
    raise click.ClickException(
        f"no verdict log in {LAST_LOGS}, here or in a folder above. Name a SOURCE, or crawl with "
        f"SIMHASH_GATE_VERDICTS = '{LAST_LOGS}/%(name)s.jsonl'"
    )


def _logs(
    sources: Sequence[str], settings: Settings, console: Console
) -> tuple[list[Log], Callable[[], int | None], list[str]]:
    """Return the verdicts, what counts them, if that is cheap, and the sources that are pages.

    A store gives its kept pages. Pages are replayed, those of all sources together.
    """
    logs: list[Log] = []
    paths = []
    for source in sources:
        found = logs_in(source, console.say) if is_folder(source) else [source]
        for path in found:
            if names_store(path):
                logs.append(Log(shown(path), _kept(path)))
            elif path == STDIN or is_log(path):
                logs.append(Log(shown(path), json_objects(path, console.complain, _EXAMPLE)))
            else:
                paths.append(path)
        if not found:
            paths.append(source)
    if paths:
        pages = open_pages(paths, console.complain, settings.max_bytes, console.say)
        head = settings.crawl_line("report", shown(*paths))
        lines = chain([head], replay(pages.entries, settings, console.complain))
        logs.append(Log(shown(*paths), ((shown(*paths), line) for line in lines)))
    if len(logs) > 1:
        return logs, lambda: None, paths
    return logs, pages.total if paths else lambda: count_lines(logs[0].name), paths


def _kept(url: str) -> Lines:
    with open_kept(url) as store:
        for record in store.records():
            line = {"url": record.url, "title": record.title, "words": record.words}
            yield shown(url), line | {"outcome": "kept", "time": record.first_seen}
