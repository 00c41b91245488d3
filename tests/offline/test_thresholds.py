"""Where a threshold should lie, from counts alone."""

import pytest

from simhash_gate.offline.thresholds import Labelled, Scope
from simhash_gate.settings import read_settings


def test_thresholds_are_scored_by_what_they_call_duplicate() -> None:
    pairs = [(0, True), (0, True), (2, True), (2, False), (20, True), (20, False)]
    scores = Labelled.of(pairs).scores
    assert [s.threshold for s in scores] == list(range(9))
    assert (scores[0].precision, scores[0].recall) == (1, 2 / 4)
    assert (scores[2].precision, scores[2].recall) == (3 / 4, 3 / 4)
    assert scores[2].f1 == pytest.approx(3 / 4)
    nothing = Labelled.of([(5, True), (9, False)]).scores[0]  # which calls nothing a duplicate
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, 0, 0)
    assert [s.f1 for s in Labelled.of([(5, False)]).scores] == [0.0] * 9


def test_of_equally_good_thresholds_the_lowest_is_taken() -> None:
    assert Labelled.of([(1, True), (5, True), (8, False)]).best.threshold == 5


def test_too_few_labels_move_no_threshold() -> None:
    settings = read_settings({})
    few = Labelled.of([(0, True)] * 70 + [(2, True)] * 3 + [(3, False)])
    for labelled in (None, few):
        scope = Scope("hive.example")
        scope.suggest(settings, labelled, labelled)
        assert scope.suggested == 3
        assert scope.reason == "only labelled pairs can tell copies from updates"
    scope.suggest(settings, few, Labelled.of([(0, True)] * 70 + [(2, False)] * 5))
    assert scope.suggested == 0
