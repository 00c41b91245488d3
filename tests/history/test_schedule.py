"""Policies: which visits do most for what each wants."""

import numpy as np
import pytest

from benchmarks.revisits.methods import certain
from simhash_gate.history.schedule import POLICIES, Hints, chosen, outlook, visit_rates, wait

RATES = (1 / 400, 1 / 60, 1 / 30, 1 / 9, 1 / 7, 1 / 2, 1.0, 3.0)
KNOWN = certain(RATES)


def test_visits_are_shared_out_as_each_policy_says() -> None:
    for policy in POLICIES.values():
        assert visit_rates(policy(), KNOWN, 0.4).sum() == pytest.approx(0.4)
    # Timely ones go to those that change most often, each third day, and no more than are worth it.
    third = 1 / 3
    timely = visit_rates(POLICIES["timely"](), KNOWN, 1.2)
    assert timely == pytest.approx([0, 0, 0, 0, 0.2, third, third, third])
    assert visit_rates(POLICIES["timely"](7), KNOWN, 1.2)[3:] == pytest.approx([1 / 7] * 5)
    assert visit_rates(POLICIES["timely"](), KNOWN, 100) == pytest.approx([third] * 8)
    assert visit_rates(POLICIES["harmonic"](), certain([]), 5).shape == (0,)


def test_harmonic_visits_go_more_often_to_what_changes_more_often_and_give_no_page_up() -> None:
    visits = visit_rates(POLICIES["harmonic"](), certain([0.5] * 4 + [40.0]), 1)
    assert visits[-1] > visits[0] > 0


@pytest.mark.parametrize("name", POLICIES)
def test_a_visit_is_due_when_its_price_is_reached(name: str) -> None:
    policy = POLICIES[name]()
    price = float(policy.price(KNOWN, np.full(8, 6.0))[5])
    days = wait(policy, KNOWN, price)
    reached = np.isfinite(days)
    later = policy.price(KNOWN, np.where(reached, days, 0.0))[reached]
    assert (later > 0.99 * price).all()
    sooner = policy.price(KNOWN, np.where(reached, days, 0.0) * 0.98)[reached]
    assert (sooner < price).all()
    assert (policy.price(KNOWN, np.full(8, 3_000.0))[~reached] < price).all()
    assert days[5] == pytest.approx(3.0 if name == "timely" else 6.0, rel=0.01)


def test_the_most_urgent_pages_are_chosen_and_the_budget_is_used() -> None:
    days = np.array([90.0, 9, 9, 9, 2, 4, 3, 1])
    assert chosen(POLICIES["timely"](), KNOWN, days, 3) == [6, 5, 3]
    # Page 7 is not due for two more days, but nothing else is left.
    assert chosen(POLICIES["timely"](), KNOWN, days, 7)[-1] == 7
    assert len(chosen(POLICIES["harmonic"](), KNOWN, days, 99)) == 8
    assert chosen(POLICIES["harmonic"](), KNOWN, days, 0) == []


def test_the_outlook_is_what_the_visits_find() -> None:
    rates = certain([0.1, 1.0])
    found = outlook(rates, np.array([1 / 3, 1 / 6]))
    assert found.found == pytest.approx((0.1 + 0.5) / 1.1)
    fresh = [(1 - np.exp(-0.3)) / 0.3, (1 - np.exp(-6)) / 6]
    assert found.fresh == pytest.approx(np.mean(fresh), rel=0.01)
    assert outlook(certain([]), np.array([])) == (1.0, 1.0, 3.0)


def hints(*said: float, recall: float = 0.9, false: float = 0.05) -> Hints:
    return Hints(np.array(said), recall, false)


def test_a_signal_changes_what_is_believed_by_the_rule_of_bayes() -> None:
    rates, days = certain([0.1] * 3), np.full(3, 5.0)
    weights, unchanged = hints(1, 0, np.nan).believed(rates, days)
    quiet = np.exp(-0.5)
    some = np.sum(weights * unchanged, axis=1)
    assert some[0] == pytest.approx(quiet * 0.05 / (quiet * 0.05 + (1 - quiet) * 0.9), rel=0.02)
    assert some[1] == pytest.approx(quiet * 0.95 / (quiet * 0.95 + (1 - quiet) * 0.1), rel=0.02)
    assert some[2] == pytest.approx(quiet, rel=0.02)
    assert weights.sum(axis=1) == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("name", POLICIES)
def test_pages_of_which_a_change_is_told_come_first_if_the_signal_knows(name: str) -> None:
    policy, days = POLICIES[name](), np.array([1.0, 2, 3, 5, 8, 13, 2, 5])
    alike = certain([0.05] * 3), np.full(3, 6.0)
    assert chosen(policy, *alike, 3, hints=hints(0, np.nan, 1)) == [2, 1, 0]
    for nothing in (hints(*[0] * 8, recall=0.0, false=0.0), hints(*[np.nan] * 8)):
        unchanged = pytest.approx(policy.price(KNOWN, days), rel=0.01)
        assert policy.price(KNOWN, days, nothing) == unchanged


def test_a_change_that_is_told_of_can_wait_until_more_have_come() -> None:
    """One visit each three days finds all; one at each signal takes visits from others."""
    rates, days = certain([1.0, 0.01]), np.array([1.0, 30.0])
    assert chosen(POLICIES["timely"](), rates, days, 1, hints=hints(1, 1)) == [1]
    assert chosen(POLICIES["timely"](), rates, np.array([3.0, 30]), 1, hints=hints(1, 1)) == [0]
