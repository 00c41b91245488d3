"""The simulated year, and what is counted of the visits that methods make in it."""

from __future__ import annotations

import json

import pytest

from benchmarks.revisits.__main__ import METHODS, main
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


def page(*changes: float, born: float = 0.0, gone: float = 1e9) -> SimulatedPage:
    return SimulatedPage("u", "daily", 0.1, born, gone, [*changes])


def test_a_change_is_found_within_three_days_and_a_page_is_fresh_to_its_next_change() -> None:
    found = replay([page(0.5, 1.0, 3.9, 6.0, 18.0)], Given({4: [0], 9: [0]}), visits=1, days=20)
    # Of 0.5, 1, 3.9 and 6; that of day 18 comes too late in the year to count.
    assert (found.changes, found.in_time, found.visits) == (4, 3, 2)
    found = replay([page(2.5, 3.0, 8.0)], Given({4: [0]}), visits=1, days=10)
    assert (found.lived, found.fresh) == (10, 2.5 + 4)
    assert found.freshness == pytest.approx(0.65)


def test_a_new_page_is_visited_on_the_next_day_and_one_that_goes_has_changed_for_all() -> None:
    method = Given({3: []})
    replay([page(), page(born=2.5), page(born=30)], method, visits=1, days=10)
    assert [told[:2] for told in method.told] == [(0, 0), (1, 3)]
    method = Given({4: [0], 5: [0]})
    found = replay([page(3.5, gone=3.5)], method, visits=1, days=10)
    assert (found.changes, found.in_time, found.fresh) == (1, 1, 3.5 + 6)
    assert method.told == [(0, 0, True, False), (0, 4, True, True), (0, 5, False, True)]


def test_a_year_is_the_same_for_the_same_seed_and_has_pages_of_all_kinds() -> None:
    year = simulate(1)
    assert year == simulate(1) != simulate(2)
    assert {page.kind for page in year} == {*KINDS, "article"}
    for each in year:
        assert each.changes == sorted(each.changes)
        assert all(each.born < moment <= min(each.gone, 365) for moment in each.changes)


def test_all_methods_are_in_the_table_and_what_is_none_is_named(tmp_path, capsys) -> None:
    arguments = ["--pages", "20", "--days", "12", "--seeds", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert all(out.count(f"\n| {name} |") == 2 for name in METHODS)
    found = json.loads((tmp_path / "revisits.json").read_text())["sites"]
    assert found["usual"]["timely"][0]["visits"] == 44
    with pytest.raises(SystemExit):
        main(["--methods", "timely;best"])
    assert "unknown: 'best'" in capsys.readouterr().err
