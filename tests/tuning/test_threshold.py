"""Where a threshold should lie, from counts alone."""

from __future__ import annotations

import pytest

from simhash_gate.tuning.threshold import Labelled, best, score, suggest


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


def test_too_few_labels_move_no_threshold() -> None:
    few = Labelled(73, 1, score([(0, True)] * 70 + [(2, True)] * 3 + [(3, False)]))
    for labelled in (None, few):
        suggestion = suggest(3, labelled, labelled)
        assert suggestion == (3, "only labelled pairs can tell copies from updates")
    many = Labelled(70, 5, score([(0, True)] * 70 + [(2, False)] * 5))
    assert suggest(3, few, many).threshold == 0
