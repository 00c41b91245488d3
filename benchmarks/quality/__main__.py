"""`python -m benchmarks.quality FOLDER`: us and our peers on the same pages, in one table."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality.generated import Generated
from benchmarks.quality.measure import measure
from benchmarks.quality.methods import METHODS
from benchmarks.quality.sets import Contents, FeaturesOfPairs, Pairs, Replays
from benchmarks.speed.measure import options_of, say, table, those_there, write_json

OUT = Path("build/quality")
QUICK = 10  # every tenth pair, page or site
SETS: dict[str, Any] = {
    "pairs": Pairs,
    "generated": Generated,
    "text": Contents,
    "sites": Replays,
    "features": FeaturesOfPairs,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write what it rests on; 2 for a set that can't be read."""
    known = "; ".join(f"{name}: {', '.join(kind.peers)}" for name, kind in SETS.items())
    flags: dict[str, tuple[Any, ...]] = {
        "folder": (Path, "of the pages"),
        "--set": (
            "pairs",
            "pairs of pages, made or not, their text, sites, or other features",
            {"choices": SETS},
        ),
        "--out": (Path, f"for figures, and what was read before ({OUT}, or {OUT}/SET)"),
        "--peers": (str, f"which to compare with, by commas, or none. {known} (all)"),
        "--plot": (Path, "of pairs: where to draw them, as SVG"),
        "--quick": (False, f"every {QUICK}th pair, page or site only"),
        "--workers": (os.cpu_count() or 1, "processes"),
    }
    options = options_of(__doc__, arguments, flags)
    out = options.out or (OUT if options.set == "pairs" else OUT / options.set)
    peers = SETS[options.set].peers
    asked = ",".join(peers) if options.peers is None else options.peers
    names = [name for name in asked.split(",") if name not in ("", "none")]
    try:
        if unknown := {*names} - {*peers}:
            raise ValueError(f"no such peers: {unknown}")
        labelled = SETS[options.set].load(options.folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"{options.folder}: no labelled corpus of {options.set}: {error!r}")
        return 2
    labelled = labelled.sample(QUICK) if options.quick else labelled
    rows, figures = [], dict[str, dict[str, Any]]()
    given = labelled.pages, out / "cache", options.workers
    readers = {name: partial(measure, name, *given) for name in (*labelled.ours, *names)}
    for name, readings in those_there(readers):
        errors = [f"{id_}: {r.error}" for id_, r in readings.items() if r.error]
        if errors:
            say(f"{name}: failed on pages: {len(errors)}, the first {errors[0]}")
        method = METHODS[name]
        cells, told = labelled.score(method, readings)
        spent = sum(r.milliseconds for r in readings.values()) / max(1, len(readings))
        rows.append({"method": method.title, **cells, "CPU ms a page": spent})
        told |= {"title": method.title, "milliseconds": spent, "errors": len(errors)}
        figures[name] = told
        say(f"{name}: {', '.join(list(cells.values())[:3])}")
    print(table(rows))
    needs = sorted({need for name in figures for need in METHODS[name].needs})
    pages = {"pages": len(labelled.pages), "methods": figures}
    write_json(out / "results.json", pages, needs)
    if options.plot:
        _plot(figures, options.plot)
    return 0


def _plot(methods: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Draw recall against what is wrongly called a duplicate, each kind with the same weight."""
    from benchmarks.speed.plots import drawn

    with drawn(path) as (axis,):
        for name, told in methods.items():
            x, y = 100 * told["mean_false"], 100 * told["recall"]
            axis.plot(x, y, "o", color="#0072B2" if "simhash_gate" in told["title"] else "#999999")
            axis.annotate(name, (x, y), (4, 3), textcoords="offset points", fontsize=7)
        axis.set(
            xlabel="% of updates and other pages called duplicates", ylabel="% of copies found"
        )
        axis.margins(0.1)


if __name__ == "__main__":
    sys.exit(main())
