"""`python -m benchmarks.urls CRAWL...`: rules about URLs, ours and others', on a crawl on disk.

A crawl is anything with pages and their URLs: a manifest, a WARC or WACZ file, an HttpCache; also
what `benchmarks.quality.archives` fetches. With `--generate SCENARIO...` sites that are made up
make one table of what was avoided and lost.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.measure import options_of, say, table, those_there, write_json
from benchmarks.urls.duster import Duster
from benchmarks.urls.methods import Discarder, Learned, MaybeDont, Method
from benchmarks.urls.pattern_tree import PatternTree
from benchmarks.urls.simulate import Figures, Simulation, shuffled
from benchmarks.urls.truth import SCENARIOS, generate, load

METHODS: tuple[type[Method], ...] = (Learned, Discarder, MaybeDont, Duster, PatternTree)
PACKAGES = ("duplicate-url-discarder", "duplicate-url-discarder-rules", "MaybeDont")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each order, and write all figures; 2 for a crawl without URLs."""
    scenes = {"nargs": "+", "choices": SCENARIOS, "metavar": "SCENARIO"}
    flags: dict[str, tuple[Any, ...]] = {
        "crawl": ((), "its pages, with their URLs", {"nargs": "*"}),
        "--generate": ((), f"sites in place of a crawl: {', '.join(SCENARIOS)}", scenes),
        "--articles": (1000, "of a site that is generated"),
        "--seed": (1, "of all that is random"),
        "--out": (Path("build/urls"), "for figures, and what is known of pages that were read"),
        "--workers": (os.cpu_count() or 1, "processes that read pages"),
    }
    options = options_of(__doc__, arguments, flags)
    if bool(options.generate) == bool(options.crawl):
        say("name a crawl, or --generate a scenario")
        return 2
    there = those_there({method.title: method for method in METHODS})
    methods = [type(method) for _, method in there]
    if options.generate:
        visited = {
            each: [*generate(each, options.articles, options.seed)] for each in options.generate
        }
    else:
        complaints: Counter[str] = Counter()
        complain = lambda _, message: complaints.update((message,))  # noqa: E731
        cache = options.out / "truth.jsonl"
        visits = load(options.crawl, cache, complain, workers=options.workers)
        for message, number in complaints.most_common():
            say(f"{number} × {message}")
        if not visits:
            say(f"{' '.join(options.crawl)}: no page whose URL is known")
            return 2
        mixed = shuffled(visits, options.seed)
        visited = {"In the order of the crawl": visits, f"Shuffled (seed {options.seed})": mixed}
    found: dict[str, dict[str, Any]] = {}
    rows = []
    for title, order in visited.items():
        figures = {method.title: Simulation(method()).run(order) for method in methods}
        found[title] = {name: vars(each) for name, each in figures.items()}
        told = {
            f"{name}: avoided, lost": _share(each) + f", {each.lost:,}"
            for name, each in figures.items()
        }
        avoidable = next(iter(figures.values())).avoidable
        rows.append({"scene": f"`{title}`", "avoidable": avoidable, **told})
        say(f"{title}: {', '.join(told.values())}")
        if not options.generate:
            print(f"\n{title}\n\n{table(_row(*each) for each in figures.items())}")
    if options.generate:
        print(table(rows))
    write_json(options.out / "urls.json", {"orders": found}, PACKAGES)
    return 0


def _share(figures: Figures) -> str:
    return f"{100 * figures.share:.1f} %" if figures.avoidable else "–"


def _row(title: str, figures: Figures) -> dict[str, Any]:
    each = 1e6 / max(1, figures.requests)
    counts = {name.replace("_", " "): n for name, n in vars(figures).items() if isinstance(n, int)}
    times = {
        "µs to decide": each * figures.decide_seconds,
        "µs to learn": each * figures.learn_seconds,
    }
    return {"method": title, "of the avoidable": _share(figures), **counts, **times}


if __name__ == "__main__":
    sys.exit(main())
