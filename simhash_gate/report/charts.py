"""Bar charts as numbers, which the template draws as SVG: across in per cent, up in pixels.

They show numbers and outcomes, and no text of a page.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from typing import TYPE_CHECKING, NamedTuple

from simhash_gate.gate.verdict import ANSWERED
from simhash_gate.report.bounded import DAY, PAGES, SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simhash_gate.report.bounded import Bucket

SHOWN = (
    *("new", "kept", "near", "updated", "rewritten", "duplicate", "unchanged"),
    *(*ANSWERED, "error"),
)
"""The outcomes of pages, in the order in which they are stacked."""

LEAST_BITS = 8
TOP, BASE = 18, 190
"""Where the highest bar ends and where all begin, in pixels from above."""

_MOST_TICKS = 6
_ROUND = tuple(factor * 10**power for power in range(15) for factor in (1, 2, 5))


class Bar(NamedTuple):
    """A bar: its outcomes, each with its upper edge and its height, and what is written on it."""

    left: float
    width: float
    parts: list[tuple[str, float, float]]
    label: str


class Chart(NamedTuple):
    """A bar chart. Ticks are places with labels; `threshold` is the place of a line, or None."""

    title: str
    bars: list[Bar]
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]
    threshold: float | None = None

    @property
    def outcomes(self) -> list[str]:
        """The outcomes that the bars have."""
        there = {outcome for bar in self.bars for outcome, _, _ in bar.parts}
        return [outcome for outcome in SHOWN if outcome in there]


def distances(counts: Counter[tuple[int, str]], threshold: int | None) -> Chart:
    """Return the chart of pages by their distance to the nearest kept page."""
    by_bits: dict[int, Counter[str]] = {}
    for (bits, outcome), pages in counts.items():
        by_bits.setdefault(bits, Counter())[outcome] += pages
    end = max(LEAST_BITS, *by_bits)
    width = 100 / (end + 1)
    highest = max(outcomes.total() for outcomes in by_bits.values())
    is_labelled = end <= 16  # else there is no room
    return Chart(
        title="bits apart",
        bars=[
            Bar(
                (bits + 0.05) * width,
                0.9 * width,
                _stacked(outcomes, highest),
                _short(outcomes.total()) if is_labelled else "",
            )
            for bits, outcomes in sorted(by_bits.items())
        ],
        across=[((n + 0.5) * width, str(n)) for n in range(0, end + 1, 1 if is_labelled else 8)],
        up=_up(highest),
        threshold=(threshold + 1) * width if threshold is not None and threshold < end else None,
    )


def timeline(buckets: Sequence[Bucket], *, by_time: bool) -> Chart:
    """Return the chart of outcomes by time (UTC), or by the order of pages."""
    first, last = buckets[0].start, buckets[-1].end
    highest = max(bucket.outcomes.total() for bucket in buckets)
    step = _step(last - first, SECONDS if by_time else PAGES)
    scale = 100 / (last - first)
    return Chart(
        title="time (UTC)" if by_time else "pages, in the order they were read",
        bars=[
            Bar(
                (bucket.start - first) * scale,
                (bucket.end - bucket.start) * scale,
                _stacked(bucket.outcomes, highest),
                "",
            )
            for bucket in buckets
        ],
        across=[
            ((at - first) * scale, _clock(at, step) if by_time else _short(at))
            for at in range(-(-first // step) * step, last + 1, step)
        ],
        up=_up(highest),
    )


def _stacked(outcomes: Counter[str], highest: int) -> list[tuple[str, float, float]]:
    scale = (BASE - TOP) / highest
    upper: float = BASE
    parts = []
    for outcome in SHOWN:
        if height := outcomes[outcome] * scale:
            upper -= height
            parts.append((outcome, upper, height))
    return parts


def _up(highest: int) -> list[tuple[float, str]]:
    step = _step(highest, _ROUND)
    return [
        (BASE - (BASE - TOP) * pages / highest, _short(pages))
        for pages in range(0, highest + 1, step)
    ]


def _step(length: int, steps: Sequence[int]) -> int:
    """Return the smallest step that leads to no more ticks than there is room for."""
    return next((step for step in steps if length < _MOST_TICKS * step), steps[-1])


def _clock(seconds: int, step: int) -> str:
    time = datetime.fromtimestamp(seconds, timezone.utc)
    if step >= 364 * DAY:
        return f"{time:%b %Y}"
    if seconds % DAY == 0:
        return f"{time.day} {time:%b}"
    return f"{time:%H:%M:%S}" if step < 60 else f"{time:%H:%M}"


def _short(number: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            digits = 0 if number >= 10 * size or number % size == 0 else 1
            return f"{number / size:.{digits}f}{unit}"
    return str(number)
