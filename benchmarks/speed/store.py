"""`python -m benchmarks.speed.store`: what stores cost: calls, and crawlers at once.

Calls: a scope holds 100,000 pages; half of what comes is a duplicate. The stores take turns, so
that what else the machine does falls on all alike.

Crowds: eight processes offer pages to one scope. Half of the pages are near copies of others, in
the same process or in another one.
"""

from __future__ import annotations

import random
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from statistics import median
from typing import Any, NamedTuple

from benchmarks.servers import stores
from benchmarks.speed.measure import options_of, say, table
from benchmarks.speed.store_crowds import NEAR, RADIUS, WINDOW, crowds, make_page
from simhash_gate.stores import StoreError, open_store

TURN = 20  # calls in a row: a crawler asks one store, whose code and data stay at hand


class Sizes(NamedTuple):
    """Pages in the scope, check-and-inserts that are timed, and pages that a crowd offers."""

    pages: int
    calls: int
    crawled: int


FULL = Sizes(100_000, 4_000, 24_000)


class Contender:
    """A store with its scope."""

    def __init__(self, name: str, url: str, stack: ExitStack) -> None:
        self.name = name
        self.calls: list[float] = []
        self._run = uuid.uuid4().hex
        self._chance = random.Random(7)
        self._pages = 0
        self._store = stack.enter_context(closing(open_store(url)))
        self._store.begin(self._run)

    def fill(self, pages: int) -> None:
        """Add pages."""
        say(f"{self.name}: {pages:,} pages")
        for group in range(pages):
            page = make_page(group, self._run, self._chance)
            self._store.check_and_add(page, None, window=WINDOW)
        self._pages = pages

    def time_call(self, number: int) -> None:
        """Time one check-and-insert: every second page is a duplicate."""
        duplicate = number % 2
        group = self._chance.randrange(self._pages) if duplicate else self._pages + number
        page = make_page(group, self._run, self._chance)
        start = time.perf_counter()
        answer = self._store.check_and_add(page, RADIUS, near=NEAR, window=WINDOW)
        self.calls.append(1e6 * (time.perf_counter() - start))
        if answer.added == bool(duplicate):
            raise AssertionError(f"{self.name}: wrong answer for page {group}")


def main(arguments: Sequence[str] | None = None, sizes: Sizes = FULL) -> int:
    """Measure, and print the tables."""
    options_of(__doc__, arguments, {})
    with ExitStack() as stack:
        print(table(_calls([*_contenders(stack)], sizes)), "\n")
    print(table(crowds(sizes.crawled)))
    return 0


def _calls(contenders: Sequence[Contender], sizes: Sizes) -> list[dict[str, Any]]:
    """Time all stores by turns, so that what else the machine does hits each."""
    for contender in contenders:
        contender.fill(sizes.pages)
    for start in range(0, sizes.calls, TURN):
        for contender in contenders:
            for number in range(start, start + TURN):
                contender.time_call(number)
    return [{"store": each.name, "µs, median": median(each.calls)} for each in contenders]


def _contenders(stack: ExitStack) -> Iterator[Contender]:
    """Yield the stores that can be measured here."""
    for kind, new_url in stack.enter_context(stores()).items():
        try:
            yield Contender(kind, new_url(), stack)
        except (ImportError, StoreError) as error:
            say(f"{kind}: left out: {error}")


if __name__ == "__main__":
    sys.exit(main())
