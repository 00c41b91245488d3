"""`python -m benchmarks.quality FOLDER`: us and our peers on the same pages, in one table."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality.generated import Generated
from benchmarks.quality.measure import measure
from benchmarks.quality.methods import METHODS
from benchmarks.quality.own import Own
from benchmarks.quality.sets import Contents, Pairs, Replays
from benchmarks.speed.measure import options_of, say, table, those_there

SETS: dict[str, Any] = {
    "pairs": Pairs,
    "generated": Generated,
    "text": Contents,
    "sites": Replays,
    "own": Own,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table; 2 for a set that can't be read."""
    known = "; ".join(f"{name}: {', '.join(kind.peers)}" for name, kind in SETS.items())
    about = "pairs of pages, made or not, their text, sites, or what a page of a site alone says"
    flags: dict[str, tuple[Any, ...]] = {
        "folder": (Path, "of the pages"),
        "--set": ("pairs", about, {"choices": SETS}),
        "--peers": (str, f"which to compare with, by commas, or none. {known} (all)"),
        "--workers": (os.cpu_count() or 1, "processes"),
    }
    options = options_of(__doc__, arguments, flags)
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
    rows = []
    given = labelled.pages, options.workers
    readers = {name: partial(measure, name, *given) for name in (*labelled.ours, *names)}
    for name, readings in those_there(readers):
        errors = [f"{id_}: {r.error}" for id_, r in readings.items() if r.error]
        if errors:
            say(f"{name}: failed on pages: {len(errors)}, the first {errors[0]}")
        cells = labelled.score(METHODS[name], readings)
        spent = sum(r.milliseconds for r in readings.values()) / max(1, len(readings))
        rows.append({"method": METHODS[name].title, **cells, "CPU ms a page": spent})
        say(f"{name}: {', '.join(list(cells.values())[:3])}")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
