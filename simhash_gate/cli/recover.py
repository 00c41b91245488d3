"""`simhash-gate recover`: the dropped pages of a journal, as lines or as a file of their own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from simhash_gate.cli.console import Console, distances, domain, moment, with_console
from simhash_gate.common.wording import why
from simhash_gate.journal.contents import Selection, copy, line, selected


@click.command(epilog="Example: simhash-gate recover dropped --distance 3.. --since 7d")
@click.argument("path")
@domain
@click.option(
    "--matched",
    "matched_url",
    metavar="URL",
    default="",
    help="Only pages that were dropped as copies of the page at URL.",
)
@click.option("--spider", metavar="NAME", default="", help="Only pages that this spider dropped.")
@click.option(
    "--since",
    type=moment,
    metavar="TIME",
    help="Only pages dropped at TIME or later: 2024-06-01T12:00 (UTC), or an age such as 7d.",
)
@click.option("--until", type=moment, metavar="TIME", help="Only pages dropped at TIME or earlier.")
@click.option(
    "--distance",
    "distances",
    type=distances,
    metavar="BITS",
    default="0..64",
    help="Only pages at this distance from the kept page: 4, 4..12, 4.. or ..12.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write the pages to a new WARC file. Print no lines."
)
@with_console
def recover(console: Console, path: str, output: str | None, **wanted: Any) -> int:
    """Print one line of JSON for each dropped page in the journal at PATH.

    PATH is the folder that SIMHASH_GATE_JOURNAL names, one of its files, or a file that -o wrote. A
    page must match all of the options.

    This command sends the pages to the callbacks of their spider: scrapy crawl SPIDER -s
    SIMHASH_GATE_RECOVER=PATH
    """
    if path.endswith((".jsonl", ".html", ".json")):
        raise click.UsageError(f"{path} is no journal. Name the folder of SIMHASH_GATE_JOURNAL")
    versions: Counter[str] = Counter()
    given = {name: value for name, value in wanted.items() if value is not None}
    try:
        pages = selected(path, Selection(**given), console.complain, versions)
        if output is None:
            console.write_lines(line(found) for found in pages)
        else:
            copy(console.bar(pages), output)
    except OSError as error:
        console.complain(output or path, why(error))
    if len(versions) > 1:
        names = ", ".join(sorted(versions))
        console.say(f"distances of several pipeline versions can't be compared: {names}")
    console.say(f"pages: {versions.total()}")
    return console.status()
