"""Plans: which page is visited when, by its history and a budget."""

import numpy as np
import pytest

from benchmarks.revisits.methods import certain
from simhash_gate.history.rates import DAY
from simhash_gate.history.schedule import POLICIES, Hints, VisitedPage, plan
from simhash_gate.history.versions import History, Version, Visit

SITE = ("site",)
TIMELY = POLICIES["timely"]()


def last_on(*days: float) -> list[VisitedPage]:
    """Pages that were visited on these days."""
    return [VisitedPage(SITE, History((), (Visit(day * DAY, True),))) for day in days]


def planned(pages: list[VisitedPage], rates: list[float], policy=TIMELY, **kwargs) -> list[tuple]:
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


@pytest.mark.parametrize(
    ("pages", "budget", "days", "made"),
    [(9, 0.4, 10, 4), (9, 5, 0.5, 2), (9, 1.5, 3, 4), (2, 50, 1, 2), (0, 50, 1, 0)],
)
def test_a_budget_need_be_no_whole_number_and_no_page_is_visited_twice_in_a_day(
    pages: int, budget: float, days: float, made: int
) -> None:
    assert len(planned(last_on(*[1] * pages), [1] * pages, budget=budget, days=days)) == made


def gone(there: float, *found: float) -> VisitedPage:
    """A page that was there on one day, and found gone on others."""
    at = there * DAY
    version = Version(at, at, 1, 1, 100, "", "run")
    history = History().visited(version, again=None, most=2)
    for day in found:
        history = history.left(day * DAY)
    return VisitedPage(SITE, history)


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
    hints = Hints(np.array([0.0, 1.0, 0.0]), 0.9, 0.05)
    visits = planned(last_on(1, 1, 1), [0.01] * 3, budget=1, days=2, hints=hints)
    assert visits[0] == (1, 10)
    assert visits[1][0] != 1
    assert list(hints.changed) == [0, 1, 0]
