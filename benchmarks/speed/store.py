"""`python -m benchmarks.speed.store`: what stores cost: calls, crawlers at once, memory.

Calls: a scope holds 100,000 pages and as many histories; half of what comes is a duplicate, and a
page is revisited: its history is read and kept anew. Every store is asked by turns with the least
that its server can be asked for: `PING`, or `SELECT 1` and a commit. So the ratio holds on a
machine that does other things, too.

Crowds: 1 to 8 processes offer the same number of pages in all, to one scope or to many. Half of
the pages are near copies of others, in the same process or in another one.

Memory: one process meets many scopes that others have filled, with one page each; in memory it
fills them itself.

With `--against`, crowds and memory are those of two versions by turns, each with a store of its
own on the same servers.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import time
import uuid
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.servers import KINDS, stores
from benchmarks.speed.measure import add_out, markdown_table, plotting, say, write_json
from benchmarks.speed.store_crowds import crowds, crowds_table, meetings, meetings_table
from benchmarks.speed.store_pages import NEAR, RADIUS, WINDOW, make_page
from simhash_gate.stores import StoreError, open_store
from simhash_gate.stores.base import HISTORY as VISITS
from simhash_gate.stores.histories import PageHistory, history_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simhash_gate.stores import Store

    Measures = tuple[Callable[[], object], Callable[[], int]]

PACKAGES = ("redis", "psycopg")
PARTS = ("calls", "crowds", "memory")
ROOT = Path(__file__).resolve().parents[2]
SCOPE = "example.com"
TURN = 20  # calls in a row: a crawler asks one store, whose code and data stay at hand
HISTORY = 400  # bytes, of a page with three versions


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
ALL_SCOPES = ((1_000, 10_000), (100_000, 5))


@dataclass
class Row:
    """The calls to one store: medians in µs. `read` and `keep` are those of a history."""

    store: str
    call: float
    least: float | None
    bytes_per_page: float | None
    read: float
    keep: float
    bytes_per_history: float | None


class Contender:
    """A store with its scope filled; `least` asks its server for the least, `size` is in bytes."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.least: Callable[[], object] | None = None
        self.size: Callable[[], int] | None = None
        self._run = uuid.uuid4().hex
        self._chance = random.Random(7)
        self._pages = 0
        self.store: Store = open_store(url)
        self.store.begin(self._run)

    def fill(self, pages: int) -> float | None:
        """Add pages; return how many bytes each takes, if the server tells."""
        before = self.size() if self.size else 0
        for group in range(pages):
            page = make_page(group, self._run, SCOPE, self._chance)
            self.store.check_and_add(page, None, window=WINDOW)
        self._pages = pages
        return (self.size() - before) / pages if self.size else None

    def fill_histories(self) -> float | None:
        """Keep a history of each page in a run that ends; return how many bytes each takes."""
        before = self.size() if self.size else 0
        past = uuid.uuid4().hex
        self.store.begin(past)
        for group in range(self._pages):
            self.store.put(make_history(group, past, SCOPE, self._chance).blob)
        self.store.end(past)
        return (self.size() - before) / self._pages if self.size else None

    def time_revisit(self) -> tuple[float, float]:
        """Return the seconds of reading a history of an ended run, and of keeping one."""
        group = self._chance.randrange(self._pages)
        history = make_history(group, self._run, SCOPE, self._chance)
        start = time.perf_counter()
        found = history_in(self.store.get(VISITS, SCOPE, history.request, run=self._run))
        read = time.perf_counter()
        self.store.put(history.blob)
        kept = time.perf_counter()
        if len(found) != len(history.history):
            raise AssertionError(f"{self.name}: no history of page {group}")
        return read - start, kept - read

    def time_call(self, number: int) -> float:
        """Return the seconds of one check-and-insert: every second page is a duplicate."""
        duplicate = number % 2
        group = self._chance.randrange(self._pages) if duplicate else self._pages + number
        page = make_page(group, self._run, SCOPE, self._chance)
        start = time.perf_counter()
        answer = self.store.check_and_add(page, RADIUS, near=NEAR, window=WINDOW)
        taken = time.perf_counter() - start
        if answer.added == bool(duplicate):
            raise AssertionError(f"{self.name}: wrong answer for page {group}")
        return taken

    def time_least(self) -> float | None:
        """Return the seconds of the least that its server can be asked for."""
        if self.least is None:
            return None
        start = time.perf_counter()
        self.least()
        return time.perf_counter() - start


def make_history(group: int, run: str, scope: str, chance: random.Random) -> PageHistory:
    """Return what a run knows of the visits to the page of a group."""
    request = f"{random.Random(f'request {group}').getrandbits(160):040x}"
    url = f"https://www.example.com/news/2024/05/what-an-article-is-about-{group:07d}.html"
    return PageHistory(scope, request, url, run, time.time(), chance.randbytes(HISTORY))


def main(arguments: Sequence[str] | None = None, sizes: Sizes | None = None) -> int:
    """Measure, print the tables, write figures and plot."""
    options = _options(arguments)
    sizes = sizes or (QUICK if options.quick else FULL)
    if options.all_scopes:
        sizes = sizes._replace(met=ALL_SCOPES)
    servers = {name: getattr(options, name) for name in ("kinds", "redis", "postgres")}
    versions = [ROOT, *(path.resolve() for path in options.against)]
    figures: dict[str, Any] = sizes._asdict()
    if "calls" in options.parts:
        with ExitStack() as stack:
            calls = measure(list(_contenders(stack, servers)), sizes)
        print(table(calls))
        figures["stores"] = [asdict(row) for row in calls]
    if "crowds" in options.parts:
        shared = crowds(servers, versions, sizes.crawled, options.rounds)
        print(crowds_table(shared))
        figures["crowds"] = [asdict(row) for row in shared]
    if "memory" in options.parts:
        met = meetings(servers, versions, sizes.met)
        print(meetings_table(met))
        figures["meetings"] = [asdict(row) for row in met]
    write_json(options.out / "store.json", figures, PACKAGES)
    if {"calls", "crowds"} <= {*options.parts}:
        with plotting():
            from benchmarks.speed.store_plot import save_plot

            say(f"wrote {save_plot(calls, shared, options.out / 'store.svg')}")
    return 0


def measure(contenders: Sequence[Contender], sizes: Sizes) -> list[Row]:
    """Time all stores by turns, so that what else the machine does hits each."""
    weights, history_weights = [], []
    for contender in contenders:
        say(f"{contender.name}: {sizes.pages:,} pages")
        weights.append(contender.fill(sizes.pages))
        history_weights.append(contender.fill_histories())
    revisits: list[list[tuple[float, float]]] = [[] for _ in contenders]
    calls: list[list[float]] = [[] for _ in contenders]
    least: list[list[float]] = [[] for _ in contenders]
    for start in range(0, sizes.calls, TURN):
        for place, contender in enumerate(contenders):
            for number in range(start, start + TURN):
                taken = contender.time_least()
                if taken is not None:
                    least[place].append(taken)
                calls[place].append(contender.time_call(number))
            revisits[place] += [contender.time_revisit() for _ in range(TURN)]
    return [
        Row(
            contender.name,
            median(calls[place]) * 1e6,
            median(least[place]) * 1e6 if least[place] else None,
            weights[place],
            median(read for read, _ in revisits[place]) * 1e6,
            median(keep for _, keep in revisits[place]) * 1e6,
            history_weights[place],
        )
        for place, contender in enumerate(contenders)
    ]


def _contenders(stack: ExitStack, servers: dict[str, Any]) -> Iterator[Contender]:
    """Yield the stores that can be measured here."""
    measures = {"Redis": _redis, "PostgreSQL": _postgres}
    for kind, new_url in stack.enter_context(stores(**servers)).items():
        url = new_url()
        try:
            contender = Contender(kind, url)
            if kind == "SQLite":
                path = Path(url.removeprefix("sqlite:///"))
                contender.size = lambda path=path: _size_of(path)
            elif kind in measures:
                contender.least, contender.size = measures[kind](stack, url)
        except (ImportError, StoreError) as error:
            say(f"{kind}: left out: {error}")
        else:
            stack.callback(contender.store.close)
            yield contender


def _redis(stack: ExitStack, url: str) -> Measures:
    from redis import Redis

    client = stack.enter_context(closing(Redis.from_url(url.partition("?")[0], protocol=2)))
    return client.ping, lambda: int(client.info("memory")["used_memory"])


def _postgres(stack: ExitStack, url: str) -> Measures:
    import psycopg

    connection = stack.enter_context(psycopg.connect(url.partition("?")[0]))

    def least() -> None:
        connection.execute("SELECT 1")
        connection.commit()

    def size() -> int:
        with connection.transaction():
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0

    return least, size


def _size_of(path: Path) -> int:
    """Return the bytes of a SQLite database, with what waits beside it brought home first."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint")
    return path.stat().st_size


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown."""
    columns = (
        "store",
        "µs a check-and-insert",
        "µs of the least call",
        "ratio",
        "bytes a page",
        "µs to read a history",
        "µs to keep one",
        "bytes a history",
    )
    lines = []
    for row in rows:
        ratio = row.call / row.least if row.least else None
        histories = (row.read, row.keep, row.bytes_per_history)
        values = (row.least, ratio, row.bytes_per_page, *histories)
        formats = (".1f", ".2f", ",.0f", ".1f", ".1f", ",.0f")
        cells = [
            "" if value is None else format(value, form)
            for value, form in zip(values, formats, strict=True)
        ]
        lines.append((row.store, f"{row.call:.1f}", *cells))
    return markdown_table(columns, lines)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.store", description=__doc__)
    for name, all_of in (("--parts", PARTS), ("--kinds", KINDS)):
        parser.add_argument(name, nargs="+", default=all_of, choices=all_of, help="all by default")
    parser.add_argument("--quick", action="store_true", help="fewer pages: does it run at all?")
    parser.add_argument(
        "--against",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="the checkout of another version, by turns",
    )
    parser.add_argument("--rounds", type=int, default=1, help="of crowds (%(default)s)")
    parser.add_argument(
        "--all-scopes",
        action="store_true",
        help="meet 1,000 scopes of 10,000 pages and 100,000 of 5, not 20 and 10,000",
    )
    add_out(parser, "store.json and store.svg")
    parser.add_argument("--redis", metavar="URL", help="a server that runs, not one of its own")
    parser.add_argument(
        "--postgres", metavar="URL", help="a database that may be filled, not one of its own"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
