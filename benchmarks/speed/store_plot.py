"""Two plots: a check-and-insert beside the least call to its server, and crawlers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.speed.plots import STYLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.speed.store import Row
    from benchmarks.speed.store_crowds import Crowd

OURS, LEAST = "#0072B2", "#999999"  # of Okabe and Ito's palette: told apart by everybody
COLOURS = {"SQLite": "#E69F00", "Redis": "#D55E00", "PostgreSQL": OURS}


def save_plot(rows: Sequence[Row], shared: Sequence[Crowd], path: Path) -> Path:
    """Write the plots as SVG; the same rows give the same bytes."""
    with mpl.rc_context({**STYLE, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9, 3), layout="constrained")
        calls, crawls = figure.subplots(1, 2)
        _calls(calls, rows)
        for kind in dict.fromkeys(row.store for row in shared):
            own = [row for row in shared if row.store == kind and row.version == shared[0].version]
            for scopes in sorted({row.scopes for row in own}):
                points = [row for row in own if row.scopes == scopes]
                crawls.plot(
                    [row.processes for row in points],
                    [row.pages_per_second for row in points],
                    "o-" if scopes == 1 else "o:",
                    color=COLOURS[kind],
                    label=f"{kind}, {scopes} scope{'s' * (scopes > 1)}",
                )
        crawls.set(xlabel="processes", ylabel="pages/s of all", ylim=(0, None))
        crawls.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})
    return path


def _calls(axis: Axes, rows: Sequence[Row]) -> None:
    times = [row.call for row in rows]
    bars = axis.barh([row.store for row in rows], times, color=OURS, label="check-and-insert")
    axis.bar_label(bars, fmt="%.0f", padding=3)
    asked = [row for row in rows if row.least]
    if asked:
        least = [row.least or 0 for row in asked]
        names = [row.store for row in asked]
        axis.barh(names, least, height=0.3, color=LEAST, label="the least call to its server")
        axis.legend(frameon=False)
    axis.set(xlabel="µs, median")
    axis.invert_yaxis()
