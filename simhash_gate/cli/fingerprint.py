"""`simhash-gate fingerprint`: what the pipeline makes of each page."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from typing import Any

import click

from simhash_gate.cli.console import Console, with_console, with_settings
from simhash_gate.compare.sketch import Sketch
from simhash_gate.options import Options, pipeline_version
from simhash_gate.pipeline import STEPS, read_closely
from simhash_gate.report.explanation import Side
from simhash_gate.settings import Settings
from simhash_gate.sources import Entry
from simhash_gate.sources.open import open_pages, shown
from simhash_gate.sources.read_pages import extract_pages


@click.command(epilog="Example: simhash-gate fingerprint crawl/ --text")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--text", is_flag=True, help="Also print the text of each page, without Markdown.")
@click.option("--steps", is_flag=True, help="Also print what each rule took out of a page.")
@with_settings
@with_console
def fingerprint(
    settings: Settings, console: Console, sources: Sequence[str], text: bool, steps: bool
) -> int:
    """Print one line of JSON for each page, in order.

    SOURCE is anything with pages that `pairs` reads.
    """
    source = open_pages(sources, console.complain, settings.max_bytes, console.say)
    lines = _lines(source.entries, settings, text=text, steps=steps)
    if not console.write_lines(lines, source.total):
        console.complain_of_nothing(shown(*sources), "no page in it")
    return console.status()


def _lines(
    entries: Iterable[Entry], settings: Settings, *, text: bool, steps: bool
) -> Generator[dict[str, Any]]:
    """Yield a line for each entry, in order. One without a fingerprint has a reason."""
    fields, version = bool(settings.options.compare), pipeline_version(settings.options)
    for entry, read in extract_pages(entries, settings, partial(_read, text=text, steps=steps)):
        line: dict[str, Any] = {"path": entry.path or entry.place}
        if entry.url and not entry.guessed:
            line["url"] = entry.url
        if entry.id is not None:
            line["id"] = entry.id
        scope = settings.policies.site_of(entry.url).scope if entry.scope is None else entry.scope
        line |= {"scope": scope, "pipeline": version}
        if isinstance(read, dict):
            line |= read
        else:
            reason = f"unreadable: {read}" if read else entry.skipped
            side = Side("", words=0, sketch=Sketch(), reason=reason)
            line |= side.as_json(fields=fields) | ({"text": ""} if text else {})
        yield line


def _read(
    body: bytes, url: str, encoding: str | None, options: Options, *, text: bool, steps: bool
) -> dict[str, Any]:
    taken: list[dict[str, object]] | None = [] if steps else None
    STEPS.set(taken)
    reading = read_closely(body, url=url, encoding=encoding, options=options)
    line = Side.read("", reading.page).as_json(fields=bool(options.compare))
    line |= {} if taken is None else {"steps": taken}
    return line | {"text": reading.text} if text else line
