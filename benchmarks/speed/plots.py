"""Plots as SVG: the same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Of Okabe and Ito's palette: told apart by everybody.
COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#000000", "#009E73", "#CC79A7")
GREY = "#999999"
STYLE: Any = {"svg.hashsalt": "speed", "font.size": 9, "axes.spines.top": False}


@contextmanager
def drawn(path: Path, plots: int = 1) -> Iterator[list[Axes]]:
    """Yield the axes of so many plots beside one another; write them when the block ends."""
    with mpl.rc_context({**STYLE, "axes.spines.right": False}):
        figure = Figure(figsize=(11, 4) if plots > 1 else (7, 4), layout="constrained")
        axes = figure.subplots(1, plots, squeeze=False)[0]
        yield list(axes)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def draw_lines(axis: Axes, points: Iterable[tuple[str, float, float]], **axes: Any) -> None:
    """Draw (name, x, y), with what else matplotlib is to set on the axes."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, x, y in points:
        lines.setdefault(name, []).append((x, y))
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        axis.plot(*zip(*sorted(line), strict=True), "o-", label=name, color=colour)
    axis.set(**axes)
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8)
