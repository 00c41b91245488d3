"""`python -m benchmarks.speed.page`: what reading a page costs, stage by stage and against peers.

CPU time of this process, in milliseconds a page. All methods take turns on every page, so that what
else the machine does falls on all alike; ratios are of the same round, and medians over the rounds.
Of single pages, by their size, the ratio has a p50 and a p90.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count, pairwise, product
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from lxml import html
from selectolax.lexbor import LexborHTMLParser

from benchmarks.speed.measure import OUT, options_of, plotting, say, table, those_there, write_json
from benchmarks.speed.pages import grown, load, news, renewed
from simhash_gate import read_page
from simhash_gate.common.wording import how_many
from simhash_gate.page.blocks import blocks
from simhash_gate.page.clean import clean
from simhash_gate.page.extract import SteadyExtractor
from simhash_gate.page.flow import flow
from simhash_gate.page.markdown import write
from simhash_gate.page.parse import parse
from simhash_gate.workers.main import GARBAGE

PAGES, ROUNDS = 190, 5
QUICK_PAGES, QUICK_ROUNDS = 24, 3
BOUNDS = (0, 20_000, 100_000, 300_000, 10**9)  # bytes of single pages
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
QUICK_SIZES = SIZES[:-1]
KINDS = ("prose", "markup")
PACKAGES = ("lxml", "readability-lxml", "trafilatura", "resiliparse", "selectolax")
Method = Callable[[bytes], object]
Costs = dict[str, list[list[float]]]

BARE = "lxml.html parse"
FINGERPRINT = "page to fingerprint"
OURS: dict[str, Method] = {
    BARE: html.document_fromstring,
    FINGERPRINT: read_page,
    "page to fingerprint and Markdown": lambda body: read_page(body).markdown,
}
STAGES = ("parse", "clean", "extract", "flow", "blocks", "Markdown")
REST = "words, features, fingerprint"
_URL = "http://site.example/a/page.html"


def _plain() -> Method:
    from benchmarks.quality.methods import plain_recipe

    return lambda body: plain_recipe(body, _URL)


def _trafilatura(*, fast: bool) -> Method:
    from trafilatura import extract

    return lambda body: extract(body, output_format="markdown", fast=fast)


def _rs_trafilatura() -> Method:
    from rs_trafilatura import extract

    return lambda body: extract(body.decode("utf-8", "replace"), url=_URL)


def _resiliparse() -> Method:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda body: extract_plain_text(body.decode("utf-8", "replace"), main_content=True)


PEERS: dict[str, Callable[[], Method]] = {
    "plain recipe": _plain,
    "trafilatura": lambda: _trafilatura(fast=False),
    "trafilatura, fast": lambda: _trafilatura(fast=True),
    "rs-trafilatura": _rs_trafilatura,
    "resiliparse, main content": _resiliparse,
    "selectolax, parse alone": lambda: LexborHTMLParser,
}


def stages(body: bytes) -> dict[str, float]:
    """Read a page step by step; return the CPU milliseconds of each."""
    content: Any = body
    found = dict.fromkeys(STAGES, 0.0)
    steps: tuple[Callable[[Any], Any], ...] = (
        parse,
        clean,
        SteadyExtractor(),
        lambda article: flow(article.element),
        lambda content: (content, blocks(content))[0],
        lambda content: write(content, _URL),
    )
    for name, step in zip(STAGES, steps, strict=True):
        start = time.process_time()
        content = step(content)
        found[name] = 1000 * (time.process_time() - start)
        if content is None:
            break
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write what they rest on; 2 where there are no pages."""
    flags: dict[str, tuple[Any, ...]] = {
        "--pages": (Path, "a folder of real pages, as .html files"),
        "--quick": (False, "few pages, and none of 10 MB"),
        "--no-peers": (False, "as in a page-reading process, whose caches hold no others"),
        "--out": OUT,
    }
    options = options_of(__doc__, arguments, flags)
    try:
        most = QUICK_PAGES if options.quick else PAGES
        pages = load(options.pages, most) if options.pages else news(most)
    except (OSError, ValueError) as error:
        say(str(error))
        return 2
    methods = OURS | dict(those_there({} if options.no_peers else PEERS))
    costs = _measure(pages, methods, QUICK_ROUNDS if options.quick else ROUNDS)
    rounds = {name: [mean(pages) for pages in rounds] for name, rounds in costs.items()}
    shares = [sum(rounds[stage][n] for stage in STAGES[:-1]) for n in range(len(rounds[BARE]))]
    rounds[REST] = [a - b for a, b in zip(rounds[FINGERPRINT], shares, strict=True)]
    growth = _measure_growth(QUICK_SIZES if options.quick else SIZES)
    summary = {
        name: {
            "ms": median(values),
            "times a bare parse": median(a / b for a, b in zip(values, rounds[BARE], strict=True)),
        }
        for name, values in rounds.items()
    }
    size = median(map(len, pages))
    print(f"{how_many(len(pages), 'page')}, median {size / 1000:.0f} kB\n")
    print(table({"CPU per page": name, **told} for name, told in summary.items()), "\n")
    print("Single pages, times a bare parse: p50; p90\n\n" + table(_by_size(pages, methods, costs)))
    print("\nCPU in ms by size\n\n" + table(growth))
    data = {"summary": summary, "rounds": rounds, "growth": growth, "median bytes": size}
    write_json(options.out / "page.json", data, PACKAGES)
    with plotting():
        from benchmarks.speed.plots import COLOURS, GREY, draw_bars, draw_lines, drawn

        with drawn(options.out / "page.svg", 2) as (costs, sizes):
            ratios = {name: summary[name]["times a bare parse"] for name in methods}
            colours = [COLOURS[0] if name in OURS else GREY for name in ratios]
            draw_bars(costs, ratios, "%.1f", colours)
            costs.set(xscale="log", xlabel="CPU per page, times a bare lxml.html parse")
            points = [(f"{n}, {row['of']}", row["bytes"], row[n]) for n in OURS for row in growth]
            labels = {"xlabel": "bytes of the page", "ylabel": "CPU milliseconds"}
            draw_lines(sizes, points, **labels, xscale="log", yscale="log")
    return 0


def _measure(pages: list[bytes], methods: dict[str, Method], rounds: int) -> Costs:
    """Return by method and stage, for each round, the milliseconds of each page."""
    found: Costs = defaultdict(list)
    copies = count()
    for method in methods.values():
        method(renewed(pages[0], next(copies)))  # imports and tables are no cost of a page
    gc.collect()
    gc.set_threshold(GARBAGE)  # as in a page-reading process
    gc.freeze()  # nor is looking through them for garbage: which method that hit was chance
    for number in range(rounds):
        times: dict[str, list[float]] = defaultdict(list)
        for page in pages:
            for name, method in methods.items():
                times[name].append(_cost(method, renewed(page, next(copies))))
            for stage, milliseconds in stages(renewed(page, next(copies))).items():
                times[stage].append(milliseconds)
        for name, values in times.items():
            found[name].append(values)
        say(f"round {number + 1} of {rounds}")
    return found


def _by_size(
    pages: list[bytes], methods: Collection[str], costs: Costs
) -> Iterator[dict[str, Any]]:
    """Yield a row for the pages of each size, with each method's ratio to a bare parse."""
    typical = {
        name: [median(times) for times in zip(*costs[name], strict=True)] for name in methods
    }
    for least, bound in pairwise(BOUNDS):
        places = [place for place, page in enumerate(pages) if least <= len(page) < bound]
        if len(places) > 1:
            row: dict[str, Any] = {"kB": f"from {least // 1000}", "pages": len(places)}
            for name in methods:
                ratios = [typical[name][n] / typical[BARE][n] for n in places]
                p50, p90 = (quantiles(ratios, n=10, method="inclusive")[at] for at in (4, 8))
                row[name] = f"{p50:.1f}; {p90:.1f}"
            yield row


def _cost(method: Method, body: bytes) -> float:
    gc.collect(0)
    start = time.process_time()
    method(body)  # and let go of the result
    return 1000 * (time.process_time() - start)


def _measure_growth(sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Return rows of bytes and milliseconds by method."""
    rows = []
    for kind, size in product(KINDS, sizes):
        body, row = grown(size, kind), dict[str, Any]()
        times = 9 if size <= 100_000 else 3 if size <= 1_000_000 else 1
        for name, method in OURS.items():
            row[name] = median(_cost(method, body + b" " * n) for n in range(times))
        rows.append({"bytes": len(body), "of": kind, **row})
        say(f"{kind} of {size:,} bytes")
    return rows


if __name__ == "__main__":
    sys.exit(main())
