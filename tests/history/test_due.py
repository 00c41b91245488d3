"""Plans: which page is visited when, by its history and a budget."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from simhash_gate.history.due import Known, plan, rates_of
from simhash_gate.history.rates import DAY, certain
from simhash_gate.history.schedule import POLICIES
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


def test_those_that_change_most_often_are_preferred() -> None:
    pages = last_on(1, 1, 1, 1)
    assert {page for page, _ in planned(pages, [0.01, 2, 0.3, 0.1], budget=2)} == {1, 2}


def test_a_crawl_that_is_a_little_early_does_not_wait_a_day() -> None:
    assert planned(last_on(7.01, 9), [1, 1], budget=1) == [(0, 10.01)]


def test_a_plan_of_several_days_spends_the_budget_of_each_day() -> None:
    visits = planned(last_on(*[1] * 6), [1] * 6, budget=2, days=6)
    assert Counter(math.floor(at) for _, at in visits) == dict.fromkeys(range(10, 16), 2)
    first, second = ([page for page, _ in some] for some in (visits[:6], visits[6:]))
    assert sorted(first) == list(range(6))
    assert first == second


@pytest.mark.parametrize(("budget", "days", "made"), [(0.4, 10, 4), (5, 0.5, 2), (1.5, 3, 4)])
def test_a_budget_need_be_no_whole_number(budget: float, days: float, made: int) -> None:
    assert len(planned(last_on(*[1] * 9), [1] * 9, budget=budget, days=days)) == made


def test_no_page_is_visited_twice_in_a_day() -> None:
    assert len(planned(last_on(1, 2), [1, 1], budget=50)) == 2
    assert planned([], [], budget=50) == []


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
    ("found", "at", "due"),
    [
        ([1], 20, False),
        ([1], 31, True),
        ([1, 31], 50, False),
        ([1, 31], 62, True),
        ([1, 31, 62], 100, False),
        ([1, 31, 62], 124, True),
    ],
)
def test_a_page_that_is_gone_is_looked_for_ever_more_seldom(found, at, due) -> None:
    visits = planned([gone(0, *found)], [1.0], at=at * DAY, budget=5)
    assert bool(visits) == due


def test_a_page_that_is_gone_takes_no_visit_from_others() -> None:
    pages = [gone(0, 1), *last_on(1, 1)]
    assert {page for page, _ in planned(pages, [9, 1, 1], budget=2)} == {1, 2}


def test_what_visits_found_makes_the_plan() -> None:
    busy = [known(*[(day, True) for day in range(0, 10, 3)]) for _ in range(3)]
    still = [known(*[(day, day == 0) for day in range(0, 10, 3)]) for _ in range(9)]
    pages = [*still, *busy]
    rates = rates_of(pages, 12 * DAY)
    visits = plan(pages, rates, TIMELY, at=12 * DAY, budget=3)
    assert {visit.page for visit in visits} == {9, 10, 11}
