"""`python -m benchmarks.speed.store`: what stores cost: calls, crawlers at once, memory.

Calls: a scope holds 100,000 pages; half of what comes is a duplicate. Every store is asked by turns
with the least that its server can be asked for: `PING`, or `SELECT 1` and a commit. So the ratio
holds on a machine that does other things, too.

Crowds: 1 to 8 processes offer the same number of pages in all, to one scope or to many. Half of
the pages are near copies of others, in the same process or in another one.

Memory: one process meets many scopes that others have filled, with one page each; in memory it
fills them itself.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.servers import KINDS, stores
from benchmarks.speed.measure import OUT, options_of, plotting, say, table, write_json
from benchmarks.speed.store_crowds import NEAR, RADIUS, WINDOW, crowds, make_page, meetings
from simhash_gate.stores import StoreError, open_store

PACKAGES = ("redis", "psycopg")
PARTS = ("calls", "crowds", "memory")
TURN = 20  # calls in a row: a crawler asks one store, whose code and data stay at hand


class Sizes(NamedTuple):
    """How much of each part.

    Pages in the scope and check-and-inserts that are timed; pages that a crowd offers; scopes that
    one process meets, with the pages of each.
    """

    pages: int
    calls: int
    crawled: int
    met: tuple[tuple[int, int], ...]


FULL = Sizes(100_000, 4_000, 24_000, ((20, 10_000), (10_000, 5)))
QUICK = Sizes(5_000, 500, 1_000, ((2, 500), (50, 5)))


class Contender:
    """A store with its scope; `least` asks its server for the least, `size` is in bytes."""

    def __init__(self, name: str, url: str, stack: ExitStack) -> None:
        self.name = name
        self.calls: list[float] = []
        self.leasts: list[float] = []
        self.bytes_per_page: float | None = None
        self._run = uuid.uuid4().hex
        self._chance = random.Random(7)
        self._pages = 0
        least, self._size = _measures(name, url, stack)
        self._least = least
        self._store = stack.enter_context(closing(open_store(url)))
        self._store.begin(self._run)

    def fill(self, pages: int) -> None:
        """Add pages, and note how many bytes each takes, if the server tells."""
        say(f"{self.name}: {pages:,} pages")
        before = self._size() if self._size else 0
        for group in range(pages):
            page = make_page(group, self._run, "example.com", self._chance)
            self._store.check_and_add(page, None, window=WINDOW)
        self._pages = pages
        self.bytes_per_page = (self._size() - before) / pages if self._size else None

    def time_call(self, number: int) -> None:
        """Time one check-and-insert, and the least call: every second page is a duplicate."""
        if self._least:
            start = time.perf_counter()
            self._least()
            self.leasts.append(1e6 * (time.perf_counter() - start))
        duplicate = number % 2
        group = self._chance.randrange(self._pages) if duplicate else self._pages + number
        page = make_page(group, self._run, "example.com", self._chance)
        start = time.perf_counter()
        answer = self._store.check_and_add(page, RADIUS, near=NEAR, window=WINDOW)
        self.calls.append(1e6 * (time.perf_counter() - start))
        if answer.added == bool(duplicate):
            raise AssertionError(f"{self.name}: wrong answer for page {group}")

    def figures(self) -> dict[str, Any]:
        """Return medians in µs."""
        least, call = median(self.leasts) if self.leasts else None, median(self.calls)
        told = {"µs a check-and-insert": call, "µs of the least call": least}
        ratio = call / least if least else None
        return {"store": self.name, **told, "ratio": ratio, "bytes a page": self.bytes_per_page}


def _measures(
    name: str, url: str, stack: ExitStack
) -> tuple[Callable[[], object] | None, Callable[[], int] | None]:
    """Return what asks the server of a store for the least, and for its size."""
    if name == "Redis":
        from redis import Redis

        client = stack.enter_context(closing(Redis.from_url(url.partition("?")[0], protocol=2)))
        return client.ping, lambda: int(client.info("memory")["used_memory"])
    if name == "PostgreSQL":
        import psycopg

        db = stack.enter_context(psycopg.connect(url.partition("?")[0]))

        def ask(what: str) -> int:
            row = db.execute(f"SELECT {what}").fetchone()
            db.commit()
            return int(row[0]) if row else 0

        size_now = "pg_database_size(current_database())"
        return lambda: ask("1"), lambda: ask(size_now)
    if name == "SQLite":
        path = Path(url.removeprefix("sqlite:///"))

        def size() -> int:
            with closing(sqlite3.connect(path)) as db:  # what waits beside it is brought home first
                db.execute("PRAGMA wal_checkpoint")
            return path.stat().st_size

        return None, size
    return None, None


def main(arguments: Sequence[str] | None = None, sizes: Sizes | None = None) -> int:
    """Measure, print the tables, write figures and plot."""
    flags: dict[str, tuple[Any, ...]] = {
        "--parts": (PARTS, "which (all)", {"nargs": "+", "choices": PARTS}),
        "--kinds": (KINDS, "which stores (all)", {"nargs": "+", "choices": KINDS}),
        "--quick": (False, "fewer pages: does it run at all?"),
        "--out": OUT,
    }
    options = options_of(__doc__, arguments, flags)
    sizes = sizes or (QUICK if options.quick else FULL)
    figures: dict[str, list[dict[str, Any]]] = {}
    if "calls" in options.parts:
        with ExitStack() as stack:
            figures["calls"] = _calls([*_contenders(stack, options.kinds)], sizes)
    if "crowds" in options.parts:
        figures["crowds"] = crowds(options.kinds, sizes.crawled)
    if "memory" in options.parts:
        figures["memory"] = meetings(options.kinds, sizes.met)
    for rows in figures.values():
        print(table(rows), "\n")
    write_json(options.out / "store.json", {**sizes._asdict(), **figures}, PACKAGES)
    if {"calls", "crowds"} <= {*figures}:
        with plotting():
            _plot(figures["calls"], figures["crowds"], options.out / "store.svg")
    return 0


def _calls(contenders: Sequence[Contender], sizes: Sizes) -> list[dict[str, Any]]:
    """Time all stores by turns, so that what else the machine does hits each."""
    for contender in contenders:
        contender.fill(sizes.pages)
    for start in range(0, sizes.calls, TURN):
        for contender in contenders:
            for number in range(start, start + TURN):
                contender.time_call(number)
    return [contender.figures() for contender in contenders]


def _contenders(stack: ExitStack, kinds: Sequence[str]) -> Iterator[Contender]:
    """Yield the stores that can be measured here."""
    for kind, new_url in stack.enter_context(stores(kinds)).items():
        try:
            yield Contender(kind, new_url(), stack)
        except (ImportError, StoreError) as error:
            say(f"{kind}: left out: {error}")


def _plot(calls: list[dict[str, Any]], shared: list[dict[str, Any]], path: Path) -> None:
    """Draw a check-and-insert beside the least call to its server, and crawlers at once."""
    from benchmarks.speed.plots import COLOURS, GREY, draw_bars, draw_lines, drawn

    with drawn(path, 2) as (bars, lines):
        draw_bars(
            bars, {row["store"]: row["µs a check-and-insert"] for row in calls}, "%.0f", COLOURS[0]
        )
        least = {row["store"]: row["µs of the least call"] or 0 for row in calls}
        bars.barh([*least], [*least.values()], height=0.3, color=GREY)
        bars.set(xlabel="µs, median; grey: the least call to its server")
        points = [
            (f"{r['store']}, scopes: {r['scopes']}", r["processes"], r["pages/s"]) for r in shared
        ]
        draw_lines(lines, points, xlabel="processes", ylabel="pages/s of all", ylim=(0, None))


if __name__ == "__main__":
    sys.exit(main())
