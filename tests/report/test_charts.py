"""The numbers of the charts: bars stack to their sums, ticks are few and round."""

from __future__ import annotations

from collections import Counter

import pytest

from simhash_gate.report.bounded import DAY, Bucket
from simhash_gate.report.charts import BASE, TOP, distances, timeline
from tests.report.verdicts import NOON

START = int(NOON)


def test_outcomes_are_stacked_and_the_highest_bar_fills_the_chart() -> None:
    chart = distances(Counter({(0, "duplicate"): 30, (0, "near"): 10, (5, "near"): 20}), 3)
    assert chart.outcomes == ["near", "duplicate"]
    first, second = chart.bars
    middle = BASE - (BASE - TOP) / 4
    assert first.parts == [("near", middle, BASE - middle), ("duplicate", TOP, middle - TOP)]
    assert second.parts == [("near", (BASE + TOP) / 2, (BASE - TOP) / 2)]
    assert [first.label, second.label] == ["40", "20"]
    assert chart.threshold == pytest.approx(400 / 9)
    assert [label for _, label in chart.up] == ["0", "10", "20", "30", "40"]
    assert [label for _, label in chart.across] == [*"012345678"]


def test_distances_of_pages_that_share_nothing_fit_too() -> None:
    chart = distances(Counter({(64, "duplicate"): 2_500_000}), None)
    assert chart.threshold is None
    assert [label for _, label in chart.across] == [*map(str, range(0, 65, 8))]
    assert [label for _, label in chart.up] == ["0", "500k", "1M", "1.5M", "2M", "2.5M"]


@pytest.mark.parametrize(
    ("length", "labels"),
    [
        (1, ["12:00:00", "12:00:01"]),
        (90, ["12:00:00", "12:00:30", "12:01:00", "12:01:30"]),
        (DAY, ["12:00", "18:00", "2 Jun", "06:00", "12:00"]),
        (5 * DAY, ["2 Jun", "3 Jun", "4 Jun", "5 Jun", "6 Jun"]),
        (800 * DAY, ["Oct 2024", "Oct 2025"]),
    ],
)
def test_times_are_labelled_at_round_times(length: int, labels: list[str]) -> None:
    buckets = [Bucket(START, START + length, Counter(new=1))]
    chart = timeline(buckets, by_time=True)
    assert [label for _, label in chart.across] == labels
    assert all(0 <= place <= 100 for place, _ in chart.across)


def test_pages_are_labelled_in_their_order() -> None:
    buckets = [Bucket(n, n + 100, Counter(new=1)) for n in range(0, 2_000, 100)]
    across = timeline(buckets, by_time=False).across
    assert across == [(0, "0"), (25, "500"), (50, "1k"), (75, "1.5k"), (100, "2k")]
