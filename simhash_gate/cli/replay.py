"""`simhash-gate replay`: the gate of a crawl, over pages on disk."""

from __future__ import annotations

from collections.abc import Sequence

import click

from simhash_gate.cli.console import Console, with_console, with_settings
from simhash_gate.offline.replay import replay as verdicts
from simhash_gate.report.summary import Summary
from simhash_gate.settings import Settings
from simhash_gate.sources.open import open_pages, shown


@click.command(epilog="Example: simhash-gate replay pages.jsonl -s SIMHASH_GATE_THRESHOLD=5")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@with_settings
@with_console
def replay(settings: Settings, console: Console, sources: Sequence[str]) -> int:
    """Judge the pages of all SOURCEs in order, as a crawl would. Print one line of JSON for each.

    SOURCE is anything with pages that `pairs` reads.

    Pages are remembered in memory. To remember them in a store, set SIMHASH_GATE_STORE.
    """
    summary = Summary()
    pages = open_pages(sources, console.complain, settings.max_bytes, console.say)
    lines = verdicts(pages.entries, settings, console.complain)
    if not console.write_lines(lines, pages.total, summary.add_line):
        console.complain_of_nothing(shown(*sources), "no page in it")
    outcomes = summary.total.outcomes.most_common()
    parts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes)
    console.say(f"pages: {summary.seen} ({parts or 'none'})")
    for remark in summary.remarks():
        console.say(remark)
    return console.status()
