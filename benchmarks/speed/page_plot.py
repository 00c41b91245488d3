"""Two plots: methods by their cost, and cost by the size of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.speed.page_methods import OURS, STAGES

# Okabe and Ito's palette: told apart by everybody.
COLOURS = ("#000000", "#0072B2", "#E69F00")
STYLE = {"svg.hashsalt": "speed", "font.size": 9, "axes.spines.top": False}
LINES = {"prose": "-", "markup": "--"}


def save_plot(summary: dict[str, Any], growth: dict[str, Any], folder: Path) -> Path:
    """Write `page.svg`; the same results give the same bytes."""
    with mpl.rc_context({**STYLE, "axes.spines.right": False}):
        figure = Figure(figsize=(11, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        _costs(left, summary)
        _growth(right, growth)
        path = folder / "page.svg"
        figure.savefig(path, metadata={"Date": None})
    return path


def _costs(axis: Axes, summary: dict[str, Any]) -> None:
    names = [
        name
        for name, value in summary.items()
        if isinstance(value, dict) and name not in STAGES and not name.startswith("words")
    ]
    ratios = [summary[name]["ratio"] for name in names]
    colours = [COLOURS[1] if name in OURS else "#999999" for name in names]
    bars = axis.barh([name.partition(":")[0] for name in names], ratios, color=colours)
    axis.bar_label(bars, fmt="%.1f", padding=3)
    axis.set_xscale("log")
    axis.invert_yaxis()
    axis.set_xlabel("CPU per page, times a bare lxml.html parse")


def _growth(axis: Axes, growth: dict[str, Any]) -> None:
    for kind, methods in growth.items():
        for (name, points), colour in zip(methods.items(), COLOURS, strict=True):
            x, y = zip(*points, strict=True)
            axis.loglog(x, y, LINES[kind], color=colour, marker="o", label=f"{name}, {kind}")
    axis.set(xlabel="bytes of the page", ylabel="CPU milliseconds")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8)
