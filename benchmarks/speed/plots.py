"""How a cost grows, as SVG: the same points give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

STYLE = {"svg.hashsalt": "speed", "font.size": 9}


def save_growth(
    points: Iterable[tuple[str, float, float]], path: Path, across: str, up: str
) -> None:
    """Plot (name, size, cost) on logarithmic axes, so that linear growth has a slope of one."""
    save_lines(points, path, across, up, xscale="log", yscale="log")


def save_lines(
    points: Iterable[tuple[str, float, float]], path: Path, across: str, up: str, **axes: Any
) -> None:
    """Plot (name, size, cost), with what else matplotlib is to set on the axes."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, size, cost in points:
        lines.setdefault(name, []).append((size, cost))
    with mpl.rc_context({**STYLE, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(7, 4), layout="constrained")
        axis = figure.subplots()
        for name, line in lines.items():
            axis.plot(*zip(*sorted(line), strict=True), "o-", label=name)
        axis.set(xlabel=across, ylabel=up, **axes)
        axis.grid(alpha=0.3)
        axis.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})
