"""Two plots of all methods: how far pairs are apart, and what every threshold would give."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from benchmarks.quality.methods import OURS
from benchmarks.quality.scores import curve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.quality.corpus import Corpus
    from benchmarks.quality.pairs import PairsResult

# Okabe and Ito's palette: told apart by everybody.
LABELS = {
    "dup": ("dup", "#0072B2"),
    "update": ("update ≥ 5 %", "#E69F00"),
    "diff": ("diff", "#B22222"),
}
STYLE = {"svg.hashsalt": "quality", "font.size": 9, "axes.spines.top": False}
FARTHEST = 32  # bits, where unrelated texts are; and parts of the whole in other units
NOWHERE = FARTHEST + 6  # where pairs stand that have no distance
COLUMNS = 3


def save_plots(results: Sequence[PairsResult], corpus: Corpus, folder: Path) -> list[Path]:
    """Write `distances.svg` and `precision-recall.svg`; the same results give the same bytes."""
    graded = [result for result in results if result.method.unit]
    with mpl.rc_context({**STYLE, "axes.spines.right": False}):
        figures = {
            "distances": _histograms(graded, corpus),
            "precision-recall": _curves(results, corpus),
        }
        paths = []
        for name, figure in figures.items():
            paths.append(folder / f"{name}.svg")
            figure.savefig(paths[-1], metadata={"Date": None})
    return paths


def _histograms(results: Sequence[PairsResult], corpus: Corpus) -> Figure:
    rows = -(-len(results) // COLUMNS)
    figure = Figure(figsize=(11, 0.6 + 2.2 * rows), layout="constrained")
    axes = list(figure.subplots(rows, COLUMNS, squeeze=False, sharey=True).flat)
    for axis, result in zip(axes, results, strict=False):
        _histogram(axis, result, corpus)
    for axis in axes[len(results) :]:
        axis.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.supylabel("share of the label's pairs", fontsize=9)
    return figure


def _histogram(axis: Axes, result: PairsResult, corpus: Corpus) -> None:
    """Bars side by side on a root scale: the few pairs on the wrong side are what matters."""
    part = 1 if result.method.unit == "bits" else 1 / FARTHEST
    for number, (group, (label, colour)) in enumerate(LABELS.items()):
        found = Counter(
            NOWHERE if distance is None else min(ceil(distance / part), FARTHEST)
            for pair, distance in zip(corpus.pairs, result.distances, strict=True)
            if pair.group == group
        )
        # One outline of bars with gaps between them: a path for each would be ten times the file.
        bins = range(NOWHERE + 1)
        edges = [bin_ + (number + side) / 3 - 0.5 for bin_ in bins for side in (0, 1)]
        heights = [share for bin_ in bins for share in (found[bin_] / max(1, found.total()), 0)]
        axis.stairs(heights[:-1], edges, fill=True, color=colour, label=label)
    after = int(result.method.threshold / part) + 0.5
    axis.axvline(after, color="black", linestyle=":", linewidth=1, label="threshold")
    axis.set_yscale("function", functions=(lambda y: y.clip(0) ** 0.5, lambda y: y**2))
    axis.set_ylim(0, 1)
    axis.set_yticks([0.01, 0.1, 0.25, 0.5, 1])
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axis.set_title(_plain(result), fontsize=9)
    axis.set_xlabel(result.method.unit)
    ticks = [0, 8, 16, 24, FARTHEST]
    ends = [f"{tick * part:g}" for tick in ticks]
    if part == 1:
        ends[-1] += "+"
    axis.set_xticks([*ticks, NOWHERE], [*ends, "none"])
    axis.set_xlim(-1, NOWHERE + 1)


def _curves(results: Sequence[PairsResult], corpus: Corpus) -> Figure:
    figure = Figure(figsize=(9.5, 5.5), layout="constrained")
    axis = figure.subplots()
    colours = mpl.colormaps["tab20"].colors
    for number, result in enumerate(results):
        ours = result.name in OURS
        style = {"color": colours[number % len(colours)], "zorder": 3 if ours else 2}
        label = f"{_plain(result)} ({result.scores.f1:.3f})"
        if result.method.unit:
            points = [(r, p) for _, p, r in curve(corpus.pairs, result.distances)]
            axis.plot(*zip(*points, strict=True), linewidth=2.5 if ours else 1.2, **style)
        axis.plot(
            result.scores.recall,
            result.scores.precision,
            "o" if result.method.unit else "D",
            markersize=8 if ours else 6,
            label=label,
            **style,
        )
    left = min((r.scores.recall for r in results if r.scores.true_duplicates.called), default=0)
    left = max(0, left - 0.05)
    axis.set(xlabel="recall", ylabel="precision", xlim=(left, 1.01), ylim=(0.5, 1.01))
    axis.grid(alpha=0.3)
    figure.legend(
        loc="outside right upper", frameon=False, title="at its threshold (F1)", fontsize=8
    )
    return figure


def _plain(result: PairsResult) -> str:
    return result.method.title.partition(":")[0].replace("*", "").replace("`", "")
