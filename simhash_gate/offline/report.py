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

_EXAMPLE = "those that `simhash-gate replay` prints"
_OF_A_LOG = {"outcome", "audit", "crawl"}


def run(settings: Settings, console: Console, *, sources: Sequence[str], output: str | None) -> int:
    """Write the report; return the exit status."""
    if output is None and sys.stdout.isatty():
        raise click.UsageError(
            "A report is not shown on a terminal. Write it to a file: -o report.html"
        )
    if output and Path(output).parent.exists():  # else it is made, once there is a report
        check_output(output)
    check_installed()
    sources = sources or [_last_log()]
    lines, total = _verdicts(sources, settings, console)
    summary = Summary()
    for place, line in console.bar(lines, total):
        with complaining(console.complain, place):
            summary.add_line(line)
    if not summary.seen:
        console.complain_of_nothing(shown(*sources), "no verdict in it")
        return console.status()
    report = render(summary, name=shown(*sources))
    if output is None:
        console.write_raw(report)
    else:
        with disk(output):
            write(report, output)
    console.say(f"verdicts in the report: {summary.seen}")
    return console.status()


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
) -> tuple[Lines, Callable[[], int | None]]:
    """Return the place and the line of each verdict, and what counts them, if that is cheap.

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
        lines = replay(pages.entries, settings, console.complain)
        parts.append((shown(*paths), line) for line in lines)
    if len(parts) > 1:
        return chain.from_iterable(parts), lambda: None
    return parts[0], pages.total if paths else lambda: count_lines(sources[0])


def _kept(url: str) -> Lines:
    with open_kept(url) as store:
        for record in store.records():
            line = {"url": record.url, "title": record.title, "words": record.words}
            yield shown(url), line | {"outcome": "kept", "time": record.first_seen}
