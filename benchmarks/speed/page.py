"""`python -m benchmarks.speed.page`: what reading a page costs, beside peers.

CPU time of this process, in milliseconds a page. All methods take turns on every page, so that what
else the machine does falls on all alike; ratios are of the same round, and medians over the rounds.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import mean, median
from types import FrameType
from typing import Any

from lxml import html
from selectolax.lexbor import LexborHTMLParser

from benchmarks.speed.measure import options_of, say, table, those_there
from benchmarks.speed.pages import load, renewed
from simhash_gate import read_page
from simhash_gate.common.wording import how_many
from simhash_gate.workers.main import GARBAGE

PAGES, ROUNDS = 190, 5
Method = Callable[[bytes], object]
Costs = dict[str, list[float]]

BARE = "lxml.html parse"
OURS: dict[str, Method] = {
    BARE: html.document_fromstring,
    "page to fingerprint": read_page,
    "page to fingerprint and Markdown": lambda body: read_page(body).markdown,
}
_URL = "http://site.example/a/page.html"


def _plain() -> Method:
    from benchmarks.quality.methods import plain_recipe

    return lambda body: plain_recipe(body, _URL)


def _trafilatura(*, fast: bool) -> Method:
    from trafilatura import extract

    return lambda body: extract(body, output_format="markdown", fast=fast)


def _resiliparse() -> Method:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda body: extract_plain_text(body.decode("utf-8", "replace"), main_content=True)


PEERS: dict[str, Callable[[], Method]] = {
    "plain recipe": _plain,
    "trafilatura": lambda: _trafilatura(fast=False),
    "trafilatura, fast": lambda: _trafilatura(fast=True),
    "resiliparse, main content": _resiliparse,
    "selectolax, parse alone": lambda: LexborHTMLParser,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table; 2 where there are no pages."""
    flags: dict[str, tuple[Any, ...]] = {
        "--pages": (Path, "a folder of real pages, as .html files", {"required": True}),
        "--no-peers": (False, "as in a page-reading process, whose caches hold no others"),
        "--steps": (False, "tell in which modules the time goes, by samples of the CPU time"),
    }
    options = options_of(__doc__, arguments, flags)
    try:
        pages = load(options.pages, PAGES)
    except (OSError, ValueError) as error:
        say(str(error))
        return 2
    if options.steps:
        print(table({"module": name, "% of the CPU": share} for name, share in _steps(pages)))
        return 0
    methods = OURS | dict(those_there({} if options.no_peers else PEERS))
    rounds = _measure(pages, methods)
    summary = {
        name: {
            "ms": median(values),
            "times a bare parse": median(a / b for a, b in zip(values, rounds[BARE], strict=True)),
        }
        for name, values in rounds.items()
    }
    size = median(map(len, pages))
    print(f"{how_many(len(pages), 'page')}, median {size / 1000:.0f} kB\n")
    print(table({"CPU per page": name, **told} for name, told in summary.items()))
    return 0


def _measure(pages: list[bytes], methods: dict[str, Method]) -> Costs:
    """Return by method, for each round, the milliseconds of a page."""
    found: Costs = defaultdict(list)
    copies = count()
    for method in methods.values():
        method(renewed(pages[0], next(copies)))  # imports and tables are no cost of a page
    gc.collect()
    gc.set_threshold(GARBAGE)  # as in a page-reading process
    gc.freeze()  # nor is looking through them for garbage: which method that hit was chance
    for number in range(ROUNDS):
        times: dict[str, list[float]] = defaultdict(list)
        for page in pages:
            for name, method in methods.items():
                times[name].append(_cost(method, renewed(page, next(copies))))
        for name, values in times.items():
            found[name].append(mean(values))
        say(f"round {number + 1} of {ROUNDS}")
    return found


def _steps(pages: list[bytes]) -> list[tuple[str, float]]:
    """Return the modules of the package by the share of the CPU time that each was working.

    What a library does counts for the module that called it. A sample stands for the time since the
    one before it: Python hears of the signal only when a library returns.
    """
    taken, last = Counter[str](), time.process_time()

    def sample(_signal: int, frame: FrameType | None) -> None:
        nonlocal last
        while frame and not (name := frame.f_globals["__name__"]).startswith("simhash_gate."):
            frame = frame.f_back
        now = time.process_time()
        taken[name if frame else ""] += now - last  # type: ignore[assignment]
        last = now

    copies, read = count(), OURS["page to fingerprint and Markdown"]
    read(renewed(pages[0], next(copies)))
    signal.signal(signal.SIGPROF, sample)
    for page in pages * ROUNDS:
        body = renewed(page, next(copies))
        last = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
        read(body)
        signal.setitimer(signal.ITIMER_PROF, 0)
    of_all = 100 / sum(taken.values())
    return [(name, round(seconds * of_all, 1)) for name, seconds in taken.most_common(20)]


def _cost(method: Method, body: bytes) -> float:
    gc.collect(0)
    start = time.process_time()
    method(body)  # and let go of the result
    return 1000 * (time.process_time() - start)


if __name__ == "__main__":
    sys.exit(main())
