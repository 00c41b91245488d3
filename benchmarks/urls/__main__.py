"""`python -m benchmarks.urls CRAWL...`: rules about URLs, ours and others', on a crawl on disk.

A crawl is anything with pages and their URLs: a manifest, a WARC or WACZ file, an HttpCache; also
what `benchmarks.quality.archives` fetches. `--generate SCENARIO...` makes sites in place of it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.speed.measure import options_of, say, table, those_there
from benchmarks.urls.duster import Duster
from benchmarks.urls.methods import Discarder, Learned, Method
from benchmarks.urls.pattern_tree import PatternTree
from benchmarks.urls.simulate import Figures, Simulation
from benchmarks.urls.truth import SCENARIOS, generate, load

METHODS: tuple[type[Method], ...] = (Learned, Discarder, Duster, PatternTree)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for the crawl, or for each site; 2 for a crawl without URLs."""
    scenes = {"nargs": "+", "choices": SCENARIOS, "metavar": "SCENARIO"}
    flags: dict[str, tuple[Any, ...]] = {
        "crawl": ((), "its pages, with their URLs", {"nargs": "*"}),
        "--generate": ((), f"sites in place of a crawl: {', '.join(SCENARIOS)}", scenes),
        "--articles": (1000, "of a site that is generated"),
        "--seed": (1, "of a site that is generated"),
        "--workers": (os.cpu_count() or 1, "processes that read pages"),
    }
    options = options_of(__doc__, arguments, flags)
    if bool(options.generate) == bool(options.crawl):
        say("name a crawl, or --generate a scenario")
        return 2
    there = those_there({method.title: method for method in METHODS})
    methods = [type(method) for _, method in there]
    if options.generate:
        articles, seed = options.articles, options.seed
        visited = {each: [*generate(each, articles, seed)] for each in options.generate}
    else:
        complaints: Counter[str] = Counter()
        complain = lambda _, message: complaints.update((message,))  # noqa: E731
        visited = {"the crawl": load(options.crawl, complain, workers=options.workers)}
        for message, number in complaints.most_common():
            say(f"{number} × {message}")
        if not visited["the crawl"]:
            say(f"{' '.join(options.crawl)}: no page whose URL is known")
            return 2
    rows: list[dict[str, Any]] = []
    for title, visits in visited.items():
        figures = {method.title: Simulation(method()).run(visits) for method in methods}
        told = {f"{name}: avoided, lost": _told(each) for name, each in figures.items()}
        avoidable = next(iter(figures.values())).avoidable
        rows.append({"scene": title, "avoidable": avoidable, **told})
    print(table(rows))
    return 0


def _told(figures: Figures) -> str:
    avoided = f"{figures.avoided / figures.avoidable:.1%}" if figures.avoidable else "–"
    return f"{avoided}, {figures.lost:,}"


if __name__ == "__main__":
    sys.exit(main())
