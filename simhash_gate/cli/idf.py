"""`simhash-gate idf`: the weights of words, as a table for `SIMHASH_GATE_IDF`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from simhash_gate.cli.console import (
    Console,
    check_output,
    output,
    refuse_stores,
    with_console,
    with_settings,
)
from simhash_gate.common.wording import how_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.settings import Settings


@click.command(epilog="Example: simhash-gate idf crawl/ -o idf.json")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@output
@click.option("--shingles", is_flag=True, help="Weigh shingles instead of words.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Keep only the N most frequent words.",
)
@click.option(
    "--min-pages",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Keep only words that are on at least N pages.",
)
@with_settings
@with_console
def idf(
    settings: Settings,
    console: Console,
    sources: Sequence[str],
    output: str | None,
    shingles: bool,
    most: int,
    min_pages: int,
) -> int:
    """Make a table of weights for SIMHASH_GATE_IDF. A rare word weighs more than a common one.

    SOURCE is anything with pages that `pairs` reads. Fingerprints and stores have no words.
    """
    from simhash_gate.sources.open import open_pages, shown
    from simhash_gate.tuning.idf import count_words

    refuse_stores(sources)
    if settings.options.idf:
        raise click.UsageError(
            "This command makes a table for SIMHASH_GATE_IDF. Do not set it here."
        )
    check_output(output)
    pages = open_pages(sources, console.complain, settings.max_bytes, console.say)
    entries = console.bar(pages.entries, pages.total)
    found = count_words(entries, settings, console.complain, shingles=shingles)
    weights = found.weights(most, min_pages)
    if not found.pages:
        console.complain_of_nothing(shown(*sources), "no page with words")
    elif not weights:
        seen = how_many(found.pages, "page")
        console.complain(shown(*sources), f"{seen}, and no word is in {min_pages} of them")
    else:
        table = json.dumps(weights, ensure_ascii=False, indent=0, sort_keys=True) + "\n"
        with console.sink(output) as write:
            write(table.encode())
        weighed = how_many(len(weights), "shingle" if shingles else "word")
        console.say(f"{weighed} of {how_many(found.pages, 'page')}")
        if found.error:
            pages_too_many = how_many(found.error, "page")
            console.say(
                f"counts are up to {pages_too_many} too high: the rarest words were forgotten"
            )
    return console.status()
