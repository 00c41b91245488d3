"""`python -m benchmarks.revisits`: when to come back, by several methods, on simulated years."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean

from benchmarks.revisits.methods import Alone, Nutch, Oracle, Planned, WithSitemap
from benchmarks.revisits.replay import WITHIN, Figures, Method, replay
from benchmarks.revisits.year import DAYS, SITES, SimulatedPage, simulate
from benchmarks.speed.measure import markdown_table, say, write_json
from simhash_gate.history.schedule import POLICIES


def _planned(name: str) -> Callable[[Sequence[SimulatedPage]], Method]:
    return lambda _: Planned(name)


METHODS: dict[str, Callable[[Sequence[SimulatedPage]], Method]] = {
    **{name: _planned(name) for name in POLICIES},
    "timely, each page alone": lambda _: Alone("timely"),
    "timely, with lastmod": lambda year: WithSitemap("timely", year),
    "harmonic, with lastmod": lambda year: WithSitemap("harmonic", year),
    "Nutch, first interval 30 days": lambda _: Nutch(),
    "Nutch, first interval 5 days": lambda _: Nutch(5),
    "Nutch, 5 days, whole budget": lambda _: Nutch(5, fill=True),
    "timely, true rates": lambda year: Oracle("timely", year),
    "harmonic, true rates": lambda year: Oracle("harmonic", year),
}
COLUMNS = (
    "method",
    "visits",
    f"changes found within {WITHIN:g} days",
    "in the worst year",
    "freshness",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each site, and write all figures."""
    options = _options(arguments)
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for site in options.sites:
        figures: defaultdict[str, list[Figures]] = defaultdict(list)
        for seed in range(1, options.seeds + 1):
            year = simulate(seed, options.pages, options.days, site)
            for name in options.methods:
                reached = replay(
                    year,
                    METHODS[name](year),
                    visits=round(options.pages * options.share),
                    days=options.days,
                )
                figures[name].append(reached)
                say(f"{site}, seed {seed}: {name}: {reached.found:.1%}, {reached.freshness:.1%}")
        changes = mean(each.changes for each in next(iter(figures.values())))
        print(
            f"\nThe {site} site: {options.pages} pages, {options.days} days, "
            f"{changes / options.days:.1f} changes a day, {options.seeds} seeds\n"
        )
        print(markdown_table(COLUMNS, [_row(name, some) for name, some in figures.items()]))
        found[site] = {name: [_as_json(each) for each in some] for name, some in figures.items()}
    write_json(options.out / "revisits.json", {"sites": found})
    return 0


def _row(name: str, figures: Sequence[Figures]) -> tuple[str, ...]:
    return (
        name,
        f"{mean(each.visits for each in figures):,.0f}",
        f"{mean(each.found for each in figures):.1%}",
        f"{min(each.found for each in figures):.1%}",
        f"{mean(each.freshness for each in figures):.1%}",
    )


def _as_json(figures: Figures) -> dict[str, float]:
    return {**vars(figures), "found": figures.found, "freshness": figures.freshness}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.revisits", description=__doc__)
    parser.add_argument("--pages", type=int, default=300, help="of the site (%(default)s)")
    parser.add_argument("--days", type=int, default=DAYS, help="of the year (%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="years of each site (%(default)s)")
    parser.add_argument(
        "--share",
        type=float,
        default=0.2,
        help="of the pages that can be visited in a day (%(default)s)",
    )
    parser.add_argument(
        "--sites", default=",".join(SITES), metavar="NAME,...", help="which sites (%(default)s)"
    )
    parser.add_argument(
        "--methods",
        default=";".join(METHODS),
        metavar="NAME;...",
        help="which to compare (%(default)s)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/revisits"), metavar="DIR", help="(%(default)s)"
    )
    options = parser.parse_args(arguments)
    options.sites = options.sites.split(",")
    options.methods = options.methods.split(";")
    for given, known in ((options.sites, SITES), (options.methods, METHODS)):
        for name in given:
            if name not in known:
                parser.error(f"unknown: {name!r}; known are {', '.join(known)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
