"""The simulated year, and what is counted of the visits that methods make in it."""

from __future__ import annotations

import json

import pytest

from benchmarks.revisits.__main__ import METHODS, main
from benchmarks.revisits.replay import replay
from benchmarks.revisits.year import SimulatedPage


class Given:
    """Visits what it was given, by day."""

    def __init__(self, visits: dict[int, list[int]]) -> None:
        self.visits = visits

    def visited(self, page: int, url: str, day: float, *, changed: bool, gone: bool) -> None:
        pass

    def plan(self, day: float, visits: int) -> list[int]:
        return self.visits.get(int(day), [])


def page(*changes: float) -> SimulatedPage:
    return SimulatedPage("u", "daily", 0.1, 0.0, 1e9, [*changes])


def test_a_change_is_found_within_three_days_and_a_page_is_fresh_to_its_next_change() -> None:
    found = replay([page(0.5, 1.0, 3.9, 6.0, 18.0)], Given({4: [0], 9: [0]}), visits=1, days=20)
    # Of 0.5, 1, 3.9 and 6; that of day 18 comes too late in the year to count.
    assert (found.changes, found.in_time, found.visits) == (4, 3, 2)
    found = replay([page(2.5, 3.0, 8.0)], Given({4: [0]}), visits=1, days=10)
    assert (found.lived, found.fresh) == (10, 2.5 + 4)
    assert found.freshness == pytest.approx(0.65)


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
