"""Crawlers that share a store, and one that meets many scopes: processes of any version.

They run by turns of the versions, so that what else the machine does hits each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.servers import stores
from benchmarks.speed.measure import markdown_table, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROCESSES = (1, 2, 4, 8)
MANY = 64
CRAWLER = Path(__file__).with_name("store_pages.py")


@dataclass
class Crowd:
    """Processes on one store: medians of the rounds, and the most pages that were kept twice.

    `ratio` is that of pages a second to those of the last version in the same round.
    """

    store: str
    version: str
    scopes: int
    processes: int
    pages_per_second: float
    ratio: float
    kept_twice: int


@dataclass
class Meeting:
    """A process that meets scopes with pages: the bytes it gains, all it has, and the seconds."""

    store: str
    version: str
    scopes: int
    pages: int
    gained: int
    peak: int
    seconds: float


def crowds(
    servers: Mapping[str, Any], versions: Sequence[Path], crawled: int, rounds: int
) -> list[Crowd]:
    """Let processes offer `crawled` pages in all to each store, the versions by turns."""
    rows = []
    with stores(**servers) as new_urls:
        new_urls.pop("memory", None)
        urls = {pair: new_urls[pair[0]]() for pair in product(new_urls, versions)}
        for kind, scopes, processes in product(new_urls, (1, MANY), PROCESSES):
            say(f"{kind}: {processes} processes, scopes: {scopes}")
            speeds: dict[Path, list[float]] = {version: [] for version in versions}
            twice: Counter[Path] = Counter()
            for number, version in product(range(rounds), versions):
                numbers = (scopes, crawled // 2, crawled // processes)
                name = f"round-{number}-{processes}-{scopes}"
                told = _crawl(version, processes, "crowd", urls[kind, version], name, *numbers)
                kept = Counter(group for crawler in told for group in crawler["kept"])
                if set(kept) != {group for crawler in told for group in crawler["seen"]}:
                    raise AssertionError(f"{kind}: a page was lost")
                began = min(crawler["began"] for crawler in told)
                taken = max(crawler["finished"] for crawler in told) - began
                speeds[version].append(sum(len(crawler["seen"]) for crawler in told) / taken)
                twice[version] = max(twice[version], sum(count > 1 for count in kept.values()))
            for version, own in speeds.items():
                pairs = zip(own, speeds[versions[-1]], strict=True)
                ratio = median(one / last for one, last in pairs)
                figures = (scopes, processes, median(own), ratio, twice[version])
                rows.append(Crowd(kind, str(version), *figures))
    return rows


def meetings(
    servers: Mapping[str, Any], versions: Sequence[Path], cases: Sequence[tuple[int, int]]
) -> list[Meeting]:
    """Let a process of each version meet all scopes, each with its pages, for each case."""
    rows = []
    for (scopes, pages), version in product(cases, versions):
        with stores(**servers) as new_urls:  # anew: the last ones are full
            for kind, new_url in new_urls.items():
                say(f"{kind}: {scopes:,} scopes of {pages:,} pages")
                url = new_url()
                (told,) = _crawl(version, 1, "meet", url, "filled", scopes, pages, 0)
                if kind != "memory":
                    (told,) = _crawl(version, 1, "meet", url, "filled", scopes, 1, 1)
                rows.append(Meeting(kind, str(version), scopes, pages, **told))
    return rows


def _crawl(version: Path, processes: int, *task: object) -> list[dict[str, Any]]:
    """Let processes of a version do a task at once; return what each tells."""
    task_name, url, name, *numbers = map(str, task)
    with ExitStack() as stack:
        started = []
        for place in range(processes):
            process = subprocess.Popen(
                [sys.executable, CRAWLER, task_name, url, name, str(place), *numbers],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(version)},
            )
            started.append(stack.enter_context(process))
            stack.callback(process.kill)
        for library in _answers(started):
            if not Path(library).is_relative_to(version):
                raise AssertionError(f"{version} has no simhash_gate: {library} was used")
        told = _answers(started, "go\n")
        for process in started:
            process.communicate("end\n")
    return told


def _answers(processes: Sequence[subprocess.Popen[str]], word: str = "") -> list[Any]:
    """Send all processes a word, then read a line of each."""
    for process in processes:
        assert process.stdin
        process.stdin.write(word)
        process.stdin.flush()
    return [json.loads(process.stdout.readline()) for process in processes if process.stdout]


def crowds_table(rows: Sequence[Crowd]) -> str:
    """Return the rows as a table in Markdown."""
    columns = ("store", "version", "scopes", "processes", "pages/s", "ratio", "kept twice")
    return markdown_table(
        columns,
        [
            (r.store, r.version, str(r.scopes), str(r.processes), f"{r.pages_per_second:,.0f}",
             f"{r.ratio:.2f}", str(r.kept_twice))
            for r in rows
        ],
    )  # fmt: skip


def meetings_table(rows: Sequence[Meeting]) -> str:
    """Return the rows as a table in Markdown."""
    columns = ("store", "version", "scopes", "pages each", "MB gained", "MB in all", "s")
    return markdown_table(
        columns,
        [
            (r.store, r.version, f"{r.scopes:,}", f"{r.pages:,}", f"{r.gained / 1e6:.1f}",
             f"{r.peak / 1e6:.1f}", f"{r.seconds:.1f}")
            for r in rows
        ],
    )  # fmt: skip
