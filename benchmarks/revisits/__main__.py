"""`python -m benchmarks.revisits`: when to come back, by several methods, on simulated years."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.revisits.methods import Nutch, Oracle, Planned, WithSitemap
from benchmarks.revisits.year import DAYS, SITES, WITHIN, Figures, Method, Year, replay, simulate
from benchmarks.speed.measure import options_of, say, table, write_json

METHODS: dict[str, Callable[[Year], Method]] = {
    "timely": lambda _: Planned("timely"),
    "harmonic": lambda _: Planned("harmonic"),
    "timely, with lastmod": lambda year: WithSitemap("timely", year),
    "Nutch, first interval 30 days": lambda _: Nutch(30),
    "Nutch, first interval 5 days": lambda _: Nutch(5),
    "timely, true rates": lambda year: Oracle("timely", year),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each site, and write all figures."""
    flags: dict[str, tuple[Any, ...]] = {
        "--pages": (300, "of the site: a fifth can be visited in a day"),
        "--days": (DAYS, "of the year"),
        "--seeds": (3, "years of each site"),
        "--out": (Path("build/revisits"), "a folder for the figures"),
    }
    options = options_of(__doc__, arguments, flags)
    found: dict[str, Any] = {}
    for site in SITES:
        figures: defaultdict[str, list[Figures]] = defaultdict(list)
        for seed in range(1, options.seeds + 1):
            year = simulate(seed, options.pages, options.days, site)
            for name, method in METHODS.items():
                reached = replay(year, method(year), round(options.pages / 5), options.days)
                figures[name].append(reached)
                say(f"{site}, seed {seed}: {name}: {reached.found:.1%}, {reached.freshness:.1%}")
        changes = mean(each.changes for each in figures["timely"]) / options.days
        print(f"\nThe {site} site: {changes:.1f} changes a day\n")
        print(table(_row(name, some) for name, some in figures.items()))
        found[site] = {name: [vars(each) for each in some] for name, some in figures.items()}
    write_json(options.out / "revisits.json", {"sites": found})
    return 0


def _row(name: str, figures: Sequence[Figures]) -> dict[str, str]:
    return {
        "method": name,
        "visits": f"{mean(each.visits for each in figures):,.0f}",
        f"changes found within {WITHIN:g} days": f"{mean(each.found for each in figures):.1%}",
        "in the worst year": f"{min(each.found for each in figures):.1%}",
        "freshness": f"{mean(each.freshness for each in figures):.1%}",
    }


if __name__ == "__main__":
    sys.exit(main())
