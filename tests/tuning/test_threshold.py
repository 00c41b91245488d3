"""Where a threshold should lie, from counts alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from simhash_gate.tuning.threshold import Labelled, best, score, suggest, valley


def histogram(*counts: int) -> list[int]:
    return [*counts, *[0] * (25 - len(counts))]


def test_thresholds_are_scored_by_what_they_call_duplicate() -> None:
    scores = score([(0, True), (0, True), (2, True), (2, False), (20, True), (20, False)])
    assert [s.threshold for s in scores] == list(range(9))
    assert (scores[0].precision, scores[0].recall) == (1, 2 / 4)
    assert (scores[2].precision, scores[2].recall) == (3 / 4, 3 / 4)
    assert scores[2].f1 == pytest.approx(3 / 4)
    nothing = score([(5, True), (9, False)])[0]  # which calls nothing a duplicate
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, 0, 0)
    assert [s.f1 for s in score([(5, False)])] == [0.0] * 9


@pytest.mark.parametrize(
    ("f1s", "taken"),
    [
        ([0.5, 0.9, 0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.5], 3),  # the middle of what is equal
        ([0.5, 0.9, 0.9, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], 1),  # the lower of two
        ([0.5, 0.5, 0.901, 0.5, 0.89, 0.9, 0.9, 0.89, 0.5], 5),  # no lone peak
        ([0.5, 0.5, 0.92, 0.5, 0.89, 0.9, 0.9, 0.89, 0.5], 2),  # unless it is worth it
    ],
)
def test_the_best_threshold_is_good_on_both_sides(f1s: list[float], taken: int) -> None:
    assert best(f1s) == taken


def test_the_valley_after_the_copies_is_suggested_where_it_is_nearest_to_the_setting() -> None:
    threshold, reason = valley(histogram(300, 60, 20, 2, 9, 25, 40, 10), now=6)
    assert threshold == 3
    assert "2 pages at 3 bits, before 9 at 4" in reason
    wide = histogram(300, 60, 0, 0, 0, 0, 0, 0, 30, 90)
    assert [valley(wide, now).threshold for now in (0, 3, 5, 8)] == [2, 3, 5, 7]
    assert valley(histogram(300, 60, 40), now=0).threshold == 3  # nothing comes after the copies


def test_without_a_valley_the_setting_stays() -> None:
    falling = histogram(300, 60, 50, 40, 35, 30, 25, 20, 15, 12, 10, 8, 6, 5, 4, 3, 2, 1)
    assert valley(falling, now=4).threshold == 4
    chance = histogram(300, 9, 10, 12, 9, 8, 11, 9, 8, 10, 9, 8, 9, 8, 9, 8, 8)
    assert valley(chance, now=3).threshold == 3
    assert "no valley" in valley(chance, now=3).reason
    assert valley(histogram(), now=5).threshold == 5


def test_a_valley_does_not_move_the_threshold_against_the_few_labels_there_are() -> None:
    scope = SimpleNamespace(histogram=[342, 0, 3] + [0] * 22)
    assert suggest(scope, 3, None, None, is_store=False).threshold == 1
    pairs = [(0, True)] * 70 + [(2, True)] * 3 + [(3, False)]
    few = Labelled(73, 1, score(pairs))
    suggestion = suggest(scope, 3, few, few, is_store=False)
    assert suggestion.threshold == 3
    assert "would be 1, but F1 on the labelled pairs" in suggestion.reason
    against = Labelled(70, 4, score([(0, True)] * 70 + [(2, False)] * 4))
    assert suggest(scope, 3, against, against, is_store=False).threshold == 1
