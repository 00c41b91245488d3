"""`python -m benchmarks.speed.crawl`: what a crawl loses to the gate, in one table.

Real crawls of a site on loopback that has a process of its own, in turn without the gate, with it,
and with a callback that reads the Markdown; then one in which the time is taken that the gate holds
the event loop, and one of a single page over and over.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.speed.crawl_run import KINDS
from benchmarks.speed.crawl_site import ROOT, running
from benchmarks.speed.measure import add_out, markdown_table, plotting, say, write_json

Runs = dict[str, list[dict[str, Any]]]

PAGES, ROUNDS = 1000, 5
QUICK_PAGES, QUICK_ROUNDS = 150, 1
TIMED = ("probe", "repeat")
TITLES = {
    "off": "no gate",
    "on": "gate, empty callback",
    "markdown": "gate, callback reads the Markdown",
}
COLUMNS = (  # of the table, in the summary, in digits
    ("pages/s", "pages/s", ".0f"),
    ("of no gate", "ratio", ".2f"),
    ("start, ms", "start ms", ".0f"),
    ("first page, ms", "first page ms", ".0f"),
    ("CPU of the crawl, ms/page", "crawl CPU ms", ".2f"),
    ("of workers", "workers CPU ms", ".2f"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write what it rests on; 2 where there are no pages."""
    options = _options(arguments)
    try:
        with running(options.pages) as (url, size):
            runs = _measure(url, options.count, options.rounds)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        say(f"not measured: {error}")
        return 2
    summary = {"median page bytes": size, "pages": options.count, **summarise(runs)}
    print(table(summary))
    write_json(options.out / "crawl.json", {"summary": summary, "runs": runs}, ("scrapy",))
    with plotting():
        from benchmarks.speed.crawl_plot import save_plot

        say(f"wrote {save_plot(runs, TITLES, options.out)}")
    return 0


def _measure(url: str, pages: int, rounds: int) -> Runs:
    runs: Runs = {kind: [] for kind in KINDS}
    for number in range(rounds):
        for kind in KINDS:
            command = [sys.executable, "-m", "benchmarks.speed.crawl_run", url, kind, str(pages)]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
            runs[kind].append(json.loads(done.stdout))
            say(f"round {number + 1}, {kind}: {_rate(runs[kind][-1]):.0f} pages/s")
    return runs


def summarise(runs: Runs) -> dict[str, Any]:
    """Return medians over the rounds; ratios are of runs in the same round."""
    summary: dict[str, Any] = {}
    for kind in TITLES:
        ratios = [_rate(on) / _rate(off) for on, off in zip(runs[kind], runs["off"], strict=True)]
        summary[kind] = {
            "pages/s": median(map(_rate, runs[kind])),
            "ratio": median(ratios),
            "start ms": median(run["start"] * 1000 for run in runs[kind]),
            "first page ms": median(run["first"] * 1000 for run in runs[kind]),
            "crawl CPU ms": median(run["cpu_ms"] for run in runs[kind]),
            "workers CPU ms": median(run["workers_cpu_ms"] for run in runs[kind]),
        }
    for kind in TIMED:
        summary[kind] = {
            f"{name} {at}": value
            for name in ("blocked_ms", "callbacks_ms", "lookups_ms")
            for at, value in _percentiles([ms for run in runs[kind] for ms in run[name]]).items()
        }
    bodies = [run["stats"].get("simhash_gate/repeated", 0) for run in runs["repeat"]]
    summary["repeat"]["not read again"] = sum(bodies) / sum(run["pages"] for run in runs["repeat"])
    return summary


def _rate(run: dict[str, Any]) -> float:
    rate: float = run["pages"] / run["seconds"]
    return rate


def _percentiles(values: list[float]) -> dict[str, float]:
    if len(values) < 2:
        return {"p50": 0.0, "p99": 0.0}
    cuts = quantiles(values, n=100, method="inclusive")
    return {"p50": cuts[49], "p99": cuts[98]}


def table(summary: dict[str, Any]) -> str:
    """Return the summary in Markdown."""
    crawls = markdown_table(
        ("", *(heading for heading, _, _ in COLUMNS)),
        [
            (title, *(format(summary[kind][name], form) for _, name, form in COLUMNS))
            for kind, title in TITLES.items()
        ],
    )
    probe, repeat = summary["probe"], summary["repeat"]
    blocked = markdown_table(
        ("the event loop, ms a page, CPU of its thread", "p50", "p99"),
        [
            ("judging a page", *_pair(probe, "blocked_ms")),
            ("one exchange with a worker", *_pair(probe, "callbacks_ms")),
            ("judging a body that came before", *_pair(repeat, "blocked_ms")),
            ("of it, instead of reading the page", *_pair(repeat, "lookups_ms")),
        ],
    )
    pages = (
        f"{summary['pages']} pages a crawl, {summary['median page bytes']:,} bytes the median one; "
        f"of bodies that came before, {repeat['not read again']:.1%} were not read again."
    )
    return "\n\n".join((crawls, blocked, pages))


def _pair(row: dict[str, float], name: str) -> tuple[str, str]:
    return f"{row[f'{name} p50']:.3f}", f"{row[f'{name} p99']:.3f}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.crawl", description=__doc__)
    parser.add_argument(
        "--pages", type=Path, metavar="DIR", help="*.html files to serve (generated pages)"
    )
    add_out(parser, "crawl.json and crawl.svg")
    parser.add_argument("--count", type=int, metavar="N", help=f"pages a crawl ({PAGES})")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"crawls of each kind ({ROUNDS})")
    parser.add_argument("--quick", action="store_true", help="less of all, in under a minute")
    options = parser.parse_args(arguments)
    options.count = options.count or (QUICK_PAGES if options.quick else PAGES)
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    return options


if __name__ == "__main__":
    sys.exit(main())
