"""A plot of crawls without and with the gate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

STYLE = {"svg.hashsalt": "speed", "axes.spines.top": False, "axes.spines.right": False}
POINTS = 200
COLOURS = ("#999999", "#0072B2", "#E69F00")


def save_plot(runs: Mapping[str, Any], titles: Mapping[str, str], folder: Path) -> Path:
    """Write `crawl.svg`: each crawl's pages a second, and the time that the gate blocks."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 3.4), layout="constrained")
        rates, blocked = figure.subplots(1, 2)
        for place, (kind, title) in enumerate(titles.items()):
            speeds = [run["pages"] / run["seconds"] for run in runs[kind]]
            rates.bar(place, sorted(speeds)[len(speeds) // 2], color=COLOURS[place], label=title)
            rates.plot([place] * len(speeds), speeds, "k.", markersize=4)
        rates.set(ylabel="pages/s, median and each crawl", xticks=[])
        rates.legend(fontsize=8)
        for kind, label in (("probe", "another page each time"), ("repeat", "the same page")):
            times = sorted(ms for run in runs[kind] for ms in run["blocked_ms"])
            shares = [place / POINTS for place in range(POINTS + 1)]
            blocked.plot([times[int(s * (len(times) - 1))] for s in shares], shares, label=label)
        blocked.set(xlabel="event loop held by a page, ms", ylabel="share of pages", xscale="log")
        blocked.legend(fontsize=8)
        path = folder / "crawl.svg"
        figure.savefig(path, metadata={"Date": None})
    return path
