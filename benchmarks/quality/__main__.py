"""`python -m benchmarks.quality FOLDER`: us and our peers on the same pages, in one table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.quality.contents import Contents
from benchmarks.quality.generated import Generated
from benchmarks.quality.labelled import LabelledSet, Result
from benchmarks.quality.measure import measure
from benchmarks.quality.pairs import Pairs
from benchmarks.quality.replays import Replays
from benchmarks.speed.measure import MissingError, markdown_table, say, write_json
from simhash_gate.common.wording import how_many

OUT = Path("build/quality")
QUICK = 10  # every tenth pair, page or site
SETS: dict[str, type[LabelledSet]] = {
    **{"pairs": Pairs, "generated": Generated},
    **{"text": Contents, "sites": Replays},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write what it rests on; 2 for a set that can't be read."""
    options = _options(arguments)
    try:
        pages = SETS[options.set].load(options.folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"{options.folder}: no labelled corpus of {options.set}: {error!r}")
        return 2
    if options.quick:
        pages = pages.sample(QUICK)
    results = dict(_results([*pages.ours, *options.peers], pages, options))
    print(markdown_table(pages.columns, [result.row for result in results.values()]))
    methods = {name: result.figures for name, result in results.items()}
    write_json(options.out / "results.json", {**pages.counts, "methods": methods})
    if options.plot:
        from benchmarks.quality.plot import save_plot

        save_plot(methods, options.plot)
    return 0


def _results(
    names: Sequence[str], pages: LabelledSet, options: argparse.Namespace
) -> Iterator[tuple[str, Result]]:
    for name in names:
        try:
            reader = pages.create(name)
        except MissingError as missing:
            say(f"{name}: left out: {missing}")
            continue
        readings = measure(reader, pages.pages, options.out / "cache", options.workers)
        errors = [f"{id_}: {r.error}" for id_, r in readings.items() if r.error]
        if errors:
            say(f"{name}: failed on {how_many(len(errors), 'page')}, the first {errors[0]}")
        result = pages.result(reader, readings)
        say(f"{name}: {result.headline}")
        yield name, result


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--set",
        choices=SETS,
        default="pairs",
        help="what is labelled: pairs of pages, those that are generated into the folder, the text "
        "of pages, or whole sites (%(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"for figures and what is remembered between runs ({OUT}, or {OUT}/SET)",
    )
    known = "; ".join(f"{name}: {', '.join(kind.peers)}" for name, kind in SETS.items())
    parser.add_argument(
        "--peers", metavar="NAME,...", help=f"which to compare with, or none. {known} (all)"
    )
    parser.add_argument("--plot", type=Path, metavar="SVG", help="of pairs: where to draw them")
    parser.add_argument(
        "--quick", action="store_true", help=f"every {QUICK}th pair, page or site only"
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes (%(default)s)",
    )
    options = parser.parse_args(arguments)
    if options.out is None:
        options.out = OUT if options.set == "pairs" else OUT / options.set
    peers = SETS[options.set].peers
    if options.peers is None:
        options.peers = list(peers)
    else:
        options.peers = [name for name in options.peers.split(",") if name not in ("", "none")]
        unknown = [name for name in options.peers if name not in peers]
        if unknown:
            parser.error(f"unknown peer {unknown[0]!r}; known are {', '.join(peers)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
