"""How often pages change, by what irregular visits found."""

import math
import random
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.revisits.methods import certain
from simhash_gate.history.rates import (
    DAY,
    GRID,
    Rates,
    estimate,
    gaps_of,
)
from simhash_gate.history.versions import History, Visit

NOWHERE = ("site",)


class Gap(NamedTuple):
    """What a row of gaps has."""

    days: float
    changed: bool
    weight: float = 1.0


def estimated(pages: list[list[Gap]], groups: list) -> Rates:
    return estimate([np.array(gaps, np.float64).reshape(-1, 3) for gaps in pages], groups)


def seen(rate: float, *days: float, seed: int = 0) -> list[Gap]:
    """Gaps of a page that changes at a rate, visited after so many days each."""
    chance = random.Random(f"{rate} {seed} {days}")
    return [Gap(day, chance.random() < 1 - math.exp(-rate * day)) for day in days]


def test_gaps_are_those_between_visits_and_old_ones_count_less() -> None:
    def gaps(*visits: tuple[float, bool], at: float) -> list[Gap]:
        known = tuple(Visit(day * DAY, changed) for day, changed in visits)
        return [Gap(*each) for each in gaps_of(History((), known), at=at * DAY)]

    twice = ((0, True), (2, False), (2, True), (5, True))
    late = Gap(3, True, pytest.approx(2 ** (-87 / 90)))
    assert gaps(*twice, at=92) == [Gap(2, False, 0.5), late]
    assert gaps(twice[0], at=0) == []
    # Visits that are made rarely count for longer.
    rare = gaps(*((30 * number, True) for number in range(4)), at=90 + 450)
    assert rare[-1] == Gap(30, True, pytest.approx(0.5))
    # Those out of order are no gaps.
    assert [gap.days for gap in gaps((5, True), (2, True), (6, False), at=6)] == [4]


@pytest.mark.parametrize("rate", [1 / 60, 1 / 7, 1.0])
def test_the_rate_of_a_page_with_many_visits_is_found_whatever_its_site_does(rate: float) -> None:
    days = [random.Random(place).choice([0.5, 1, 2, 4, 8]) for place in range(400)]
    still = [[Gap(5, False)] * 20] * 50
    rates = estimated([seen(rate, *days), *still], [NOWHERE] * 51)
    assert rates.mean()[0] == pytest.approx(rate, rel=0.35)
    low, high = rates.interval(0, 0.99)
    assert low < rate < high < 3 * rate


def test_what_all_visits_found_is_no_infinite_rate_and_none_is_no_rate_of_zero() -> None:
    always, never = [Gap(1, True)] * 4, [Gap(1, False)] * 4
    rates = estimated([always, never], [("a",), ("b",)])
    assert 0.5 < rates.mean()[0] < 20
    assert 0 < rates.mean()[1] < 0.2
    assert rates.interval(0).high > 3 * rates.interval(0).low


def test_a_page_of_two_visits_borrows_from_its_site_and_from_its_group(monkeypatch) -> None:
    monkeypatch.setattr("simhash_gate.history.rates._TOGETHER", 7)  # pages are read in parts
    daily = [seen(1.0, *[1.0] * 20, seed=seed) for seed in range(30)]
    still = [[Gap(1.0, False)] * 20] * 30
    new: list[list[Gap]] = [*[[Gap(0.1, False)]] * 4, []]
    groups = [("a", "news")] * 30 + [("a", "archive")] * 30
    groups += [("a", "news"), ("a", "archive"), ("a", "other"), ("b", "news"), ("a", "news")]
    rates = estimated([*daily, *still, *new], groups).mean()
    news, archive, other, elsewhere, never_visited = rates[60:]
    assert news > other > archive
    assert news == pytest.approx(1.0, rel=0.3)
    assert never_visited == pytest.approx(1.0, rel=0.3)
    assert elsewhere == pytest.approx(other, rel=0.5)  # what all sites have in common


def test_certain_rates_have_themselves_as_their_mean() -> None:
    wanted = [0.0, 1 / 500, 0.1234, 3.0, 1e9]
    assert certain(wanted).mean() == pytest.approx([GRID[0], *wanted[1:4], GRID[-1]])
    assert certain([]).mean().shape == estimate([], []).mean().shape == (0,)
