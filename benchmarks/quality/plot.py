"""Methods by what they call duplicates of what are some, and of what are none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.speed.plots import STYLE


def save_plot(methods: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Write recall against what is wrongly called a duplicate, each kind with the same weight."""
    with mpl.rc_context({**STYLE, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(7, 4), layout="constrained")
        axis = figure.subplots()
        for name, told in methods.items():
            x, y = (
                100 * told["mean_false"],
                100 * told["true_duplicates"][0] / told["true_duplicates"][1],
            )
            axis.plot(x, y, "o", color="#0072B2" if "simhash_gate" in told["title"] else "#999999")
            axis.annotate(name, (x, y), (4, 3), textcoords="offset points", fontsize=7)
        axis.set(
            xlabel="% of updates and other pages called duplicates", ylabel="% of copies found"
        )
        axis.grid(alpha=0.3)
        axis.margins(0.1)
        figure.savefig(path, metadata={"Date": None})
