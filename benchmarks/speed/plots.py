"""How a cost grows: both axes logarithmic, so that linear growth has a slope of one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

STYLE = {"svg.hashsalt": "speed", "font.size": 9}


def save_growth(
    points: Iterable[tuple[str, float, float]], path: Path, across: str, up: str
) -> None:
    """Write a plot of (name, size, cost) as SVG; the same points give the same bytes."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, size, cost in points:
        lines.setdefault(name, []).append((size, cost))
    with mpl.rc_context({**STYLE, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(7, 4), layout="constrained")
        axis = figure.subplots()
        for name, line in lines.items():
            axis.plot(*zip(*sorted(line), strict=True), "o-", label=name)
        axis.set(xlabel=across, ylabel=up, xscale="log", yscale="log")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})
