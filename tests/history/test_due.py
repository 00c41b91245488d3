"""Plans: which page is visited when, by its history and a budget."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from simhash_gate.history.due import Known, plan, rates_of
from simhash_gate.history.rates import DAY, certain
from simhash_gate.history.schedule import POLICIES, Hints
from simhash_gate.history.versions import History, Version, Visit

SITE = ("site",)
TIMELY = POLICIES["timely"]()


def known(*visits: tuple[float, bool]) -> Known:
    """A page that was visited on these days."""
    return Known(SITE, History((), tuple(Visit(day * DAY, changed) for day, changed in visits)))


def last_on(*days: float) -> list[Known]:
    return [known((day, True)) for day in days]


def planned(pages: list[Known], rates: list[float], policy=TIMELY, **kwargs) -> list[tuple]:
    visits = plan(pages, certain(rates), policy, **{"at": 10 * DAY, **kwargs})
    return [(visit.page, round(visit.at / DAY, 3)) for visit in visits]


def test_a_page_is_due_when_a_change_would_soon_be_found_too_late() -> None:
    pages = last_on(7.25, 3, 6.75, 9)
    assert planned(pages, [1, 1, 1, 1], budget=3) == [(1, 10), (2, 10), (0, 10.25)]
    # A crawl that is a little early does not wait a day.
    assert planned(last_on(7.01, 9), [1, 1], budget=1) == [(0, 10.01)]
    # Those that change most often are preferred.
    pages = last_on(1, 1, 1, 1)
    assert {page for page, _ in planned(pages, [0.01, 2, 0.3, 0.1], budget=2)} == {1, 2}


def test_a_plan_of_several_days_spends_the_budget_of_each_day() -> None:
    visits = planned(last_on(*[1] * 6), [1] * 6, budget=2, days=6)
    assert Counter(math.floor(at) for _, at in visits) == dict.fromkeys(range(10, 16), 2)
    first, second = ([page for page, _ in some] for some in (visits[:6], visits[6:]))
    assert sorted(first) == list(range(6))
    assert first == second


@pytest.mark.parametrize(
    ("pages", "budget", "days", "made"),
    [(9, 0.4, 10, 4), (9, 5, 0.5, 2), (9, 1.5, 3, 4), (2, 50, 1, 2), (0, 50, 1, 0)],
)
def test_a_budget_need_be_no_whole_number_and_no_page_is_visited_twice_in_a_day(
    pages: int, budget: float, days: float, made: int
) -> None:
    assert len(planned(last_on(*[1] * pages), [1] * pages, budget=budget, days=days)) == made


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_plans_within_the_time_and_in_its_order(name: str) -> None:
    chance = random.Random(name)
    pages = last_on(*[chance.uniform(0, 10) for _ in range(40)])
    rates = [chance.choice([0.01, 0.1, 1]) for _ in pages]
    visits = planned(pages, rates, POLICIES[name](), budget=10)
    assert len(visits) == 10
    assert visits == sorted(visits, key=lambda visit: visit[1])
    assert all(10 <= at <= 11 for _, at in visits)


def gone(there: float, *found: float) -> Known:
    """A page that was there on one day, and found gone on others."""
    at = there * DAY
    version = Version(at, at, 1, 1, 100, "", "run")
    history = History().visited(version, again=None, most=2)
    for day in found:
        history = history.left(day * DAY)
    return Known(SITE, history)


@pytest.mark.parametrize(
    ("found", "rests", "due"), [([1], 20, 31), ([1, 31], 50, 62), ([1, 31, 62], 100, 124)]
)
def test_a_page_that_is_gone_is_looked_for_ever_more_seldom(found, rests, due) -> None:
    page = gone(0, *found)
    assert not planned([page], [1.0], at=rests * DAY, budget=5)
    assert planned([page], [1.0], at=due * DAY, budget=5)
    # It takes no visit from others.
    pages = [page, *last_on(*[rests - 9] * 2)]
    assert {page for page, _ in planned(pages, [9, 1, 1], at=rests * DAY, budget=2)} == {1, 2}


def test_what_is_said_of_pages_counts_until_they_are_visited() -> None:
    said = Hints(np.array([0.0, 1.0, 0.0]), 0.9, 0.05)
    visits = planned(last_on(1, 1, 1), [0.01] * 3, budget=1, days=2, hints=said)
    assert visits[0] == (1, 10)
    assert visits[1][0] != 1
    assert list(said.said) == [0, 1, 0]


def test_what_visits_found_makes_the_plan() -> None:
    busy = [known(*[(day, True) for day in range(0, 10, 3)]) for _ in range(3)]
    still = [known(*[(day, day == 0) for day in range(0, 10, 3)]) for _ in range(9)]
    pages = [*still, *busy]
    rates = rates_of(pages, 12 * DAY)
    visits = plan(pages, rates, TIMELY, at=12 * DAY, budget=3)
    assert {visit.page for visit in visits} == {9, 10, 11}
