"""`python -m benchmarks.speed.store`: what a check-and-insert and a revisit cost in each store.

A scope holds 100,000 pages and as many histories; half of what comes is a duplicate, and a page is
revisited: its history is read and kept anew. Every store is asked by turns with
the least that its server can be asked for: `PING`, or `SELECT 1` and a commit. So the ratio holds
on a machine that does other things, too. Then eight processes crawl one scope.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.servers import postgres_server, redis_server
from benchmarks.speed.measure import add_out, markdown_table, plotting, say, write_json
from benchmarks.speed.store_pages import NEAR, RADIUS, WINDOW, make_history, make_page
from simhash_gate.stores import StoreError, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simhash_gate.stores import Store

PACKAGES = ("redis", "psycopg")
SCOPE = "example.com"
CRAWLERS = 8
TURN = 20  # calls in a row: a crawler asks one store, whose code and data stay at hand


class Sizes(NamedTuple):
    """Pages in the scope, check-and-inserts that are timed, pages of each crawler."""

    pages: int
    calls: int
    crawled: int


FULL = Sizes(100_000, 4_000, 4_000)
QUICK = Sizes(5_000, 500, 500)


@dataclass
class Row:
    """One store: medians in µs, pages a second of all crawlers, and pages that two of them kept.

    `read` and `keep` are those of a history.
    """

    store: str
    call: float
    least: float | None
    bytes_per_page: float | None
    read: float
    keep: float
    bytes_per_history: float | None
    pages_per_second: float | None = None
    kept_twice: int | None = None


class Contender:
    """A store with its scope filled; `least` asks its server for the least, `size` is in bytes."""

    def __init__(
        self,
        name: str,
        url: str,
        least: Callable[[], object] | None = None,
        size: Callable[[], int] | None = None,
    ) -> None:
        self.name = name
        self.url = url
        self.least = least
        self._size = size
        self._run = uuid.uuid4().hex
        self._chance = random.Random(7)
        self._pages = 0
        self.store: Store = open_store(url)
        self.store.begin(self._run)

    def fill(self, pages: int) -> float | None:
        """Add pages; return how many bytes each takes, if the server tells."""
        before = self._size() if self._size else 0
        for group in range(pages):
            page = make_page(group, self._run, SCOPE, self._chance)
            self.store.check_and_add(page, None, window=WINDOW)
        self._pages = pages
        return (self._size() - before) / pages if self._size else None

    def fill_histories(self) -> float | None:
        """Keep a history of each page in a run that ends; return how many bytes each takes."""
        before = self._size() if self._size else 0
        past = uuid.uuid4().hex
        self.store.begin(past)
        for group in range(self._pages):
            self.store.keep_history(make_history(group, past, SCOPE, self._chance))
        self.store.end(past)
        return (self._size() - before) / self._pages if self._size else None

    def time_revisit(self) -> tuple[float, float]:
        """Return the seconds of reading a history of an ended run, and of keeping one."""
        group = self._chance.randrange(self._pages)
        history = make_history(group, self._run, SCOPE, self._chance)
        start = time.perf_counter()
        found = self.store.history(SCOPE, history.request, self._run)
        read = time.perf_counter()
        self.store.keep_history(history)
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


def main(arguments: Sequence[str] | None = None, sizes: Sizes | None = None) -> int:
    """Measure, print the table, write figures and plot."""
    options = _options(arguments)
    sizes = sizes or (QUICK if options.quick else FULL)
    with ExitStack() as stack:
        contenders = list(_contenders(stack, options))
        rows = measure(contenders, sizes)
        for row, contender in zip(rows, contenders, strict=True):
            contender.store.close()
            if contender.name != "memory":
                row.pages_per_second, row.kept_twice = crowd(contender.url, sizes.crawled)
    print(table(rows))
    figures = {**sizes._asdict(), "stores": [asdict(row) for row in rows]}
    write_json(options.out / "store.json", figures, PACKAGES)
    with plotting():
        from benchmarks.speed.store_plot import save_plot

        say(f"wrote {save_plot(rows, options.out / 'store.svg')}")
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


def crowd(url: str, pages: int) -> tuple[float, int]:
    """Return the pages a second of eight processes on one scope, and how many were kept twice."""
    groups = CRAWLERS * pages // 2
    command = [sys.executable, "-m", "benchmarks.speed.store_pages"]
    processes = [
        subprocess.Popen(
            [*command, url, uuid.uuid4().hex, str(number), str(groups), str(pages)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(CRAWLERS)
    ]
    try:
        _answers(processes)
        results = [json.loads(line) for line in _answers(processes, "go\n")]
        for process in processes:
            process.communicate("end\n")
    finally:
        for process in processes:
            process.kill()
            process.wait()
    kept = Counter(group for result in results for group in result["kept"])
    if set(kept) != {group for result in results for group in result["seen"]}:
        raise AssertionError(f"{url}: a page was lost")
    taken = max(r["finished"] for r in results) - min(r["began"] for r in results)
    return CRAWLERS * pages / taken, sum(count > 1 for count in kept.values())


def _answers(processes: Sequence[subprocess.Popen[str]], word: str = "") -> list[str]:
    """Send all processes a word, then read a line of each."""
    for process in processes:
        assert process.stdin
        process.stdin.write(word)
        process.stdin.flush()
    return [process.stdout.readline() for process in processes if process.stdout]


def _contenders(stack: ExitStack, options: argparse.Namespace) -> Iterator[Contender]:
    """Yield the stores that can be measured here."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    path = folder / "store.sqlite"
    yield Contender("memory", "memory:")
    yield Contender("SQLite", f"sqlite:///{path}", size=lambda: _size_of(path))
    try:
        url = options.redis or stack.enter_context(redis_server(folder / "redis"))
        client = stack.enter_context(_redis_client(url))
    except (ImportError, OSError, StoreError) as error:
        say(f"Redis: left out: {error}")
    else:
        prefixed = f"{url}?prefix=benchmark-{uuid.uuid4().hex}:"
        yield Contender(
            "Redis", prefixed, client.ping, lambda: int(client.info("memory")["used_memory"])
        )
    try:
        url = options.postgres or stack.enter_context(postgres_server(folder / "postgresql"))
        yield _postgres(stack, url)
    except (ImportError, OSError, StoreError) as error:
        say(f"PostgreSQL: left out: {error}")


@contextmanager
def _redis_client(url: str) -> Iterator[Any]:
    from redis import Redis

    with closing(Redis.from_url(url, protocol=2)) as client:
        yield client


def _postgres(stack: ExitStack, url: str) -> Contender:
    import psycopg

    from simhash_gate.stores.postgres.connection import read_address

    connection = stack.enter_context(psycopg.connect(read_address(url).conninfo))

    def least() -> None:
        connection.execute("SELECT 1")
        connection.commit()

    def size() -> int:
        with connection.transaction():
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0

    return Contender("PostgreSQL", url, least, size)


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
        f"pages/s, {CRAWLERS} processes",
        "kept twice",
    )
    lines = []
    for row in rows:
        ratio = row.call / row.least if row.least else None
        histories = (row.read, row.keep, row.bytes_per_history)
        crawls = (row.pages_per_second, row.kept_twice)
        values = (row.least, ratio, row.bytes_per_page, *histories, *crawls)
        formats = (".1f", ".2f", ",.0f", ".1f", ".1f", ",.0f", ",.0f", "d")
        cells = [
            "" if value is None else format(value, form)
            for value, form in zip(values, formats, strict=True)
        ]
        lines.append((row.store, f"{row.call:.1f}", *cells))
    return markdown_table(columns, lines)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.store", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pages: does it run at all?")
    add_out(parser, "store.json and store.svg")
    parser.add_argument("--redis", metavar="URL", help="a server that runs, not one of its own")
    parser.add_argument(
        "--postgres", metavar="URL", help="a database that may be filled, not one of its own"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
