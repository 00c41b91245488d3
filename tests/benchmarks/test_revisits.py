"""The simulated year, and what is counted of the visits that methods make in it."""

from __future__ import annotations

import json

import pytest

from benchmarks.revisits.__main__ import METHODS, main
from benchmarks.revisits.methods import Nutch, Oracle, Planned
from benchmarks.revisits.replay import replay
from benchmarks.revisits.year import KINDS, SimulatedPage, simulate


class Given:
    """Visits what it was given, by day, and writes down what it was told."""

    def __init__(self, visits: dict[int, list[int]]) -> None:
        self.visits = visits
        self.told: list[tuple] = []

    def visited(self, page: int, url: str, day: float, *, changed: bool, gone: bool) -> None:
        self.told.append((page, day, changed, gone))

    def plan(self, day: float, visits: int) -> list[int]:
        return self.visits.get(int(day), [])


def page(*changes: float, born: float = 0.0, gone: float = 1e9, url: str = "u") -> SimulatedPage:
    return SimulatedPage(url, "daily", 0.1, born, gone, [*changes])


def test_a_change_is_found_by_a_visit_within_three_days() -> None:
    method = Given({4: [0], 9: [0]})
    figures = replay([page(0.5, 1.0, 3.9, 6.0, 18.0)], method, visits=1, days=20)
    # Of 0.5, 1, 3.9 and 6; that of day 18 comes too late in the year to count.
    assert (figures.changes, figures.in_time, figures.visits) == (4, 3, 2)
    assert [changed for _, _, changed, _ in method.told] == [True, True, True]


def test_a_page_is_fresh_from_a_visit_to_its_next_change() -> None:
    figures = replay([page(2.5, 3.0, 8.0)], Given({4: [0]}), visits=1, days=10)
    assert (figures.lived, figures.fresh) == (10, 2.5 + 4)
    assert figures.freshness == pytest.approx(0.65)


def test_a_new_page_is_visited_on_the_next_day_at_the_cost_of_others() -> None:
    method = Given({3: []})
    replay([page(), page(born=2.5), page(born=30)], method, visits=1, days=10)
    assert [told[:2] for told in method.told] == [(0, 0), (1, 3)]


def test_a_page_that_goes_has_changed_once_and_for_all() -> None:
    method = Given({4: [0], 5: [0]})
    figures = replay([page(3.5, gone=3.5)], method, visits=1, days=10)
    assert (figures.changes, figures.in_time) == (1, 1)
    assert method.told == [(0, 0, True, False), (0, 4, True, True), (0, 5, False, True)]
    assert figures.fresh == 3.5 + 6


def test_a_year_is_the_same_for_the_same_seed_and_has_pages_of_all_kinds() -> None:
    year = simulate(1)
    assert year == simulate(1) != simulate(2)
    assert len(year) == 360
    assert {page.kind for page in year} == {*KINDS, "article"}
    for each in year:
        assert each.changes == sorted(each.changes)
        assert all(each.born < moment <= min(each.gone, 365) for moment in each.changes)
    still = sum(not page.changes for page in year[:300])
    assert 100 < still < 200
    busy = simulate(1, site="busy")
    assert sum(len(page.changes) for page in busy) > 2 * sum(len(page.changes) for page in year)


def test_the_interval_of_nutch_grows_and_shrinks() -> None:
    nutch = Nutch(10)
    nutch.visited(0, "u", 0, changed=True, gone=False)
    assert nutch.due[0] == 10
    assert nutch.plan(9, 5) == []
    nutch.visited(0, "u", 10, changed=False, gone=False)
    assert nutch.interval[0] == pytest.approx(14)
    assert nutch.due[0] == pytest.approx(10 - 3 + 14)
    nutch.visited(0, "u", 20, changed=True, gone=False)
    assert nutch.interval[0] == pytest.approx(11.2)
    assert nutch.due[0] == pytest.approx(31.2)
    nutch.visited(0, "u", 31, changed=False, gone=True)
    assert nutch.interval[0] == pytest.approx(16.8)


@pytest.fixture(scope="module")
def figures():
    """What methods reach in a small year."""
    year, reached = simulate(1, pages=100, days=150), {}
    for name, method in {
        "timely": Planned("timely"),
        "fresh": Planned("fresh"),
        "uniform": Planned("uniform"),
        "nutch": Nutch(5),
        "nutch, whole budget": Nutch(5, fill=True),
        "oracle": Oracle("timely", year),
    }.items():
        reached[name] = replay(year, method, visits=20, days=150)
    return reached


def test_what_is_due_finds_nearly_all_changes_in_time_and_more_than_others(figures) -> None:
    assert figures["timely"].found >= 0.95
    assert figures["oracle"].found >= 0.97
    for name in ("uniform", "nutch", "nutch, whole budget", "fresh"):
        assert figures[name].found < figures["timely"].found - 0.02, name


def test_the_policy_for_freshness_is_freshest(figures) -> None:
    for name in ("uniform", "nutch", "nutch, whole budget", "timely"):
        assert figures[name].freshness < figures["fresh"].freshness, name


def test_the_budget_is_kept(figures) -> None:
    assert max(each.visits for each in figures.values()) <= 20 * 149


def test_all_methods_are_in_the_table(tmp_path, capsys) -> None:
    arguments = ["--pages", "20", "--days", "12", "--seeds", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert all(out.count(f"\n| {name} |") == 2 for name in METHODS)
    found = json.loads((tmp_path / "revisits.json").read_text())["sites"]
    assert found["usual"]["timely"][0]["visits"] == 44


def test_what_is_no_method_is_named(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--methods", "timely;best"])
    assert "unknown: 'best'" in capsys.readouterr().err
