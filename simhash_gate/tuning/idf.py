"""How rare each word is among the pages of a collection, as weights.

The weight of a word is smooth inverse document frequency, ln((1 + pages) / (1 + pages with it)) + 1
(Spärck Jones, A statistical interpretation of term specificity, 1972; smoothed as scikit-learn's
`TfidfTransformer` does), divided by that of a word which no page has: words outside of the table
weigh 1, as does a word that no page has. Words are those of the features: fleeting lines don't
count.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import partial
from math import log
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.pipeline import read_closely
from simhash_gate.sources.read_pages import extract_pages
from simhash_gate.workers.pool import ReadError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from simhash_gate.common.wording import Complain
    from simhash_gate.options import Options
    from simhash_gate.settings import Settings
    from simhash_gate.sources import Entry


MOST_COUNTED = 4_000_000
"""Words that are counted at a time, some 400 MB of them."""


class PageWords(NamedTuple):
    """The words or shingles of a page, a digest of its text, and why it could not be read."""

    names: list[str]
    digest: int
    failure: str


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


def count_words(
    entries: Iterable[Entry], settings: Settings, complain: Complain, *, shingles: bool
) -> Frequencies:
    """Count the words, or the shingles, of all pages. Complain of those that can't be read."""
    found = Frequencies()
    for entry, said in extract_pages(entries, settings, partial(_words_of, shingles=shingles)):
        if isinstance(said, ReadError):
            complain(entry.place, str(said))
        elif said is not None and said.failure:
            complain(entry.place, said.failure)
        elif said is not None and said.names:
            found.add(said.names, said.digest)
    return found


def names_of(features: Collection[str], options: Options, *, shingles: bool) -> list[str]:
    """Return the shingles of a page, or the words in them."""
    if shingles or options.shingle == "char":
        return list(features)
    return list(dict.fromkeys(word for shingle in features for word in shingle.split(" ")))


def _words_of(
    body: bytes, url: str, encoding: str | None, options: Options, *, shingles: bool
) -> PageWords:
    reading = read_closely(body, url=url, encoding=encoding, options=options)
    failure = (reading.page.reason or "") if reading.page.unreadable else ""
    return PageWords(
        names_of(reading.features, options, shingles=shingles), reading.page.digest, failure
    )
