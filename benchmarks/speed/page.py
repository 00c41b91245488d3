"""`python -m benchmarks.speed.page`: what reading a page costs, stage by stage and against peers.

CPU time of this process, in milliseconds a page. All methods take turns on every page, so that what
else the machine does falls on all alike; ratios are of the same round, and medians over the rounds.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.speed.measure import add_out, markdown_table, plotting, say, write_json
from benchmarks.speed.page_methods import BARE, FINGERPRINT, OURS, STAGES, Method, peers, stages
from benchmarks.speed.page_set import grown, load, renewed
from simhash_gate.common.wording import how_many
from simhash_gate.workers.main import GARBAGE

PAGES, ROUNDS = 190, 5
QUICK_PAGES, QUICK_ROUNDS = 24, 3
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
QUICK_SIZES = SIZES[:-1]
KINDS = ("prose", "markup")
PACKAGES = ("lxml", "readability-lxml", "trafilatura", "resiliparse", "selectolax")

Rounds = dict[str, list[float]]
Growth = dict[str, dict[str, list[list[float]]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write what they rest on; 2 where there are no pages."""
    options = _options(arguments)
    try:
        pages = load(options.pages, QUICK_PAGES if options.quick else PAGES)
    except (OSError, ValueError) as error:
        say(str(error))
        return 2
    found, missing = ({}, []) if options.no_peers else peers()
    for line in missing:
        say(line)
    rounds = _measure(pages, OURS | found, QUICK_ROUNDS if options.quick else ROUNDS)
    growth = _measure_growth(QUICK_SIZES if options.quick else SIZES)
    summary = {"pages": len(pages), "median bytes": median(map(len, pages)), **summarise(rounds)}
    print(f"{how_many(len(pages), 'page')}, median {summary['median bytes'] / 1000:.0f} kB\n")
    print(table(summary), growth_table(growth), sep="\n\n")
    data = {"summary": summary, "rounds": rounds, "growth": growth}
    write_json(options.out / "page.json", data, PACKAGES)
    with plotting():
        from benchmarks.speed.page_plot import save_plot

        say(f"wrote {save_plot(summary, growth, options.out)}")
    return 0


def _measure(pages: list[bytes], methods: dict[str, Method], rounds: int) -> Rounds:
    """Return the mean milliseconds a page, by method and stage, of each round."""
    found: Rounds = defaultdict(list)
    copies = count()
    for method in methods.values():
        method(renewed(pages[0], next(copies)))  # imports and tables are no cost of a page
    gc.collect()
    gc.set_threshold(GARBAGE)  # as in a page-reading process
    gc.freeze()  # nor is looking through them for garbage: which method that hit was chance
    for number in range(rounds):
        times: Rounds = defaultdict(list)
        for page in pages:
            for name, method in methods.items():
                times[name].append(_cost(method, renewed(page, next(copies))))
            for stage, seconds in stages(renewed(page, next(copies))).items():
                times[stage].append(1000 * seconds)
        for name, values in times.items():
            found[name].append(mean(values))
        rest = mean(times[FINGERPRINT]) - sum(mean(times[stage]) for stage in STAGES[:-1])
        found["words, features, fingerprint"].append(rest)
        say(f"round {number + 1} of {rounds}")
    return found


def _cost(method: Method, body: bytes) -> float:
    gc.collect(0)
    start = time.process_time()
    method(body)  # and let go of the result
    return 1000 * (time.process_time() - start)


def _measure_growth(sizes: Sequence[int]) -> Growth:
    """Return pairs of bytes and milliseconds, by kind of page and method."""
    growth: Growth = {kind: {name: [] for name in OURS} for kind in KINDS}
    for kind in KINDS:
        for size in sizes:
            body = grown(size, kind)
            times = 9 if size <= 100_000 else 3 if size <= 1_000_000 else 1
            for name, method in OURS.items():
                cost = median(_cost(method, body + b" " * n) for n in range(times))
                growth[kind][name].append([len(body), cost])
            say(f"{kind} of {size:,} bytes")
    return growth


def summarise(rounds: Rounds) -> dict[str, Any]:
    """Return the median milliseconds, and the median of the ratios to a bare parse."""
    return {
        name: {
            "ms": median(values),
            "ratio": median(a / b for a, b in zip(values, rounds[BARE], strict=True)),
        }
        for name, values in rounds.items()
    }


def table(summary: dict[str, Any]) -> str:
    """Return the costs as a Markdown table; the stages are parts of our rows."""
    rows = [
        (name, f"{value['ms']:.2f}", f"{value['ratio']:.2f}")
        for name, value in summary.items()
        if isinstance(value, dict)
    ]
    return markdown_table(("CPU per page", "ms", "times a bare parse"), rows, "---")


def growth_table(growth: Growth) -> str:
    """Return milliseconds by size as a Markdown table."""
    rows = [
        (f"{row[0][0]:,.0f}", kind, *(f"{cost:.1f} ms" for _, cost in row))
        for kind, methods in growth.items()
        for row in zip(*methods.values(), strict=True)
    ]
    return markdown_table(("bytes", "of", *OURS), rows, "---")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.page", description=__doc__)
    parser.add_argument("--pages", type=Path, metavar="DIR", help="real pages, as .html files")
    parser.add_argument("--quick", action="store_true", help="few pages, and none of 10 MB")
    parser.add_argument(
        "--no-peers",
        action="store_true",
        help="read pages alone, as a page-reading process does, whose caches hold no others",
    )
    add_out(parser, "page.json and page.svg")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
