"""`simhash-gate idf`: the weights of words, as a table for `SIMHASH_GATE_IDF`.

The weight of a word is smooth inverse document frequency, ln((1 + pages) / (1 + pages with it)) + 1
(Spärck Jones, A statistical interpretation of term specificity, 1972; smoothed as scikit-learn's
`TfidfTransformer` does), divided by that of a word which no page has: words outside of the table
weigh 1, as does a word that no page has. Words are those of the features: boilerplate doesn't
count.
"""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass, field
from functools import partial
from math import log
from typing import TYPE_CHECKING

import click

from simhash_gate.cli.console import (
    Console,
    check_output,
    output,
    with_console,
    with_settings,
)
from simhash_gate.common.wording import how_many
from simhash_gate.pipeline import read_closely
from simhash_gate.sources.open import open_pages, shown
from simhash_gate.sources.read_pages import extract_pages
from simhash_gate.workers.pool import ReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simhash_gate.options import Options
    from simhash_gate.settings import Settings

MOST_COUNTED = 4_000_000
"""Words that are counted at a time, some 400 MB of them."""


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
    if settings.options.idf:
        raise click.UsageError(
            "This command makes a table for SIMHASH_GATE_IDF. Do not set it here."
        )
    check_output(output, sources)
    pages = open_pages(sources, console.complain, settings.max_bytes, console.say)
    entries = console.bar(pages.entries, pages.total)
    found = Frequencies()
    for entry, read in extract_pages(entries, settings, partial(_read, shingles=shingles)):
        if isinstance(read, ReadError):
            console.complain(entry.place, str(read))
        elif read is not None:
            names, digest, failure = read
            if failure:
                console.complain(entry.place, failure)
            elif names:
                found.add(names, digest)
    weights = found.weights(most, min_pages)
    if not found.pages:
        console.complain_of_nothing(shown(*sources), "no page with words")
    elif not weights:
        seen = how_many(found.pages, "page")
        console.complain(shown(*sources), f"{seen}, and no word is in {min_pages} of them")
    else:
        table = json.dumps(weights, ensure_ascii=False, indent=0, sort_keys=True) + "\n"
        with console.sink(output) as file:
            file.write(table.encode())
        weighed = how_many(len(weights), "shingle" if shingles else "word")
        console.say(f"{weighed} of {how_many(found.pages, 'page')}")
        if found.error:
            pages_too_many = how_many(found.error, "page")
            console.say(
                f"counts are up to {pages_too_many} too high: the rarest words were forgotten"
            )
    return console.status()


@dataclass
class Frequencies:
    """In how many pages each word is. Copies of a page, by their digest, count once.

    With more than `most` words, the rarest are forgotten; a word that comes (again) is then taken
    to have been in as many pages as any forgotten one, `error`: its count is that much too high at
    most, and never too low (lossy counting: Manku and Motwani 2002, 4.2).
    """

    most: int = MOST_COUNTED
    pages: int = 0
    error: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)

    def add(self, names: Iterable[str], digest: int) -> None:
        """Count the words of a page, each once."""
        if digest in self._seen:
            return
        self._seen.add(digest)
        self.pages += 1
        for name in names:
            self.counts[name] = self.counts.get(name, self.error) + 1
        while len(self.counts) > self.most:
            self.error += 1
            self.counts = {name: n for name, n in self.counts.items() if n > self.error}

    def weights(self, most: int, least_pages: int) -> dict[str, float]:
        """Return the weights, 0 to 1, of the `most` most frequent words of that many pages."""
        known = ((-n, name) for name, n in self.counts.items() if n >= least_pages)
        unseen = self._idf(0)
        return {name: round(self._idf(-n) / unseen, 4) for n, name in heapq.nsmallest(most, known)}

    def _idf(self, pages: int) -> float:
        return log((1 + self.pages) / (1 + min(pages, self.pages))) + 1


def _read(
    body: bytes, url: str, encoding: str | None, options: Options, *, shingles: bool
) -> tuple[list[str], int, str]:
    """Return the words or shingles of a page, its digest, and why it could not be read."""
    reading = read_closely(body, url=url, encoding=encoding, options=options)
    failure = (reading.page.reason or "") if reading.page.unreadable else ""
    names = list(reading.features)
    if not shingles and options.shingle != "char":
        names = list(dict.fromkeys(word for shingle in names for word in shingle.split(" ")))
    return names, reading.page.digest, failure
