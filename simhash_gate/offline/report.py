"""`simhash-gate report`: the verdicts of a crawl, a store or a replay as one HTML file."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simhash_gate.common.wording import complaining
from simhash_gate.offline.console import check_output, disk
from simhash_gate.offline.replay import replay
from simhash_gate.offline.texts import PageTexts, of_journal, of_pages
from simhash_gate.report.html import check_installed, render, write
from simhash_gate.report.summary import Summary
from simhash_gate.sources.jsonl import STDIN, count_lines, first_object, json_objects
from simhash_gate.sources.open import names_store, open_kept, open_pages, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simhash_gate.offline.console import Console
    from simhash_gate.settings import Settings

    Lines = Iterator[tuple[str, dict[str, Any]]]

LAST_LOGS = Path(".scrapy", "simhash_gate")
"""The folder of a Scrapy project that is searched for the log of the last crawl."""

_OF_A_LOG = {"outcome", "audit"}
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
    if output is None and sys.stdout.isatty():
        raise click.UsageError(
            "A report is not shown on a terminal. Write it to a file: -o report.html"
        )
    if output and Path(output).parent.exists():  # else it is made, once there is a report
        check_output(output)
    check_installed()
    sources = sources or [_last_log()]
    lines, total, own = _verdicts(sources, settings, console)
    summary = Summary()
    for place, line in console.bar(lines, total):
        with complaining(console.complain, place):
            summary.add_line(line)
    if not summary.seen:
        console.complain_of_nothing(shown(*sources), "no verdict in it")
        return console.status()
    # Pages that a replay can't judge are complained of, and are in the figures all the same.
    summary.unusable = console.complaints - (summary.total.outcomes["error"] if own else 0)
    texts = _texts(summary, settings, console, own, pages, journal)
    report = render(summary, name=shown(*sources), texts=texts)
    if output is None:
        console.write_raw(report)
    else:
        with disk(output):
            write(report, output)
    console.say(f"verdicts in the report: {summary.seen}")
    return console.status()


def _texts(
    summary: Summary,
    settings: Settings,
    console: Console,
    own: Sequence[str],
    pages: Sequence[str],
    journal: str | None,
) -> PageTexts | None:
    """Return what reads the texts of pages, None if it is not known where any page is."""
    complain, most = console.complain, settings.max_bytes
    found = []
    known = summary.setting("JOURNAL")
    if own:  # what can't be read of them was told when they were judged
        found.append(of_pages(lambda: open_pages(own, _quiet, most, lambda _: None).entries))
    if pages:
        found.append(of_pages(lambda: open_pages(pages, complain, most, console.say).entries))
    if journal:
        found.append(of_journal(journal, complain))
    elif known and Path(known).exists():
        found.append(of_journal(known, _quiet))
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


def _verdicts(
    sources: Sequence[str], settings: Settings, console: Console
) -> tuple[Lines, Callable[[], int | None], list[str]]:
    """Return the place and the line of each verdict, what counts them, if that is cheap, and pages.

    A store gives its kept pages. Pages are replayed, those of all sources together.
    """
    parts: list[Lines] = []
    paths = []
    for source in sources:
        if names_store(source):
            parts.append(_kept(source))
        elif source == STDIN or not first_object(source).keys().isdisjoint(_OF_A_LOG):
            parts.append(json_objects(source, console.complain, _EXAMPLE))
        else:
            paths.append(source)
    if paths:
        pages = open_pages(paths, console.complain, settings.max_bytes, console.say)
        head = settings.crawl_line("report", shown(*paths))
        lines = chain([head], replay(pages.entries, settings, console.complain))
        parts.append((shown(*paths), line) for line in lines)
    if len(parts) > 1:
        return chain.from_iterable(parts), lambda: None, paths
    return parts[0], pages.total if paths else lambda: count_lines(sources[0]), paths


def _kept(url: str) -> Lines:
    with open_kept(url) as store:
        for record in store.records():
            line = {"url": record.url, "title": record.title, "words": record.words}
            yield shown(url), line | {"outcome": "kept", "time": record.first_seen}
