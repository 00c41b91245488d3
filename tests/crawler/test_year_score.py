"""What the closing figures of a year say of crawls that are made up, one visit at a time."""

from __future__ import annotations

import pytest

from crawler.site.year.plan import Year
from crawler.truth import changed_fraction
from crawler.year.alarms import Alarms
from crawler.year.score import LARGE, score
from crawler.year.visits import Day, Visit

A, B = "http://morning.example/a", "http://morning.example/print/a"


@pytest.fixture(scope="module")
def year():
    return Year(60, 3, 40)


@pytest.fixture(scope="module")
def edits(year):
    """An article with a small edit and one with a large one: (id, version after it)."""
    found = {}
    for life in year.lives:
        said = [version.words() for version in life.versions]
        for number in range(1, len(said)):
            apart = changed_fraction(said[number - 1], said[number])
            found.setdefault(apart >= LARGE, (life.article.id, number + 1))
    return found[False], found[True]


def visit(day, url, article, version, outcome, *, status=200):
    return Visit(
        day=day,
        moment=day + 0.25,
        url=url,
        status=status,
        article=article,
        version=version,
        content=f"{article};{version}",
        outcome=outcome,
        delivered=status == 200 and outcome in ("new", "near", "updated", "rewritten"),
    )


def gone(day, url, status=404):
    return visit(day, url, "", 0, "skipped", status=status)


def figures(year, *met):
    days = [Day(number, number + 0.25, number) for number in range(met[-1].day + 1)]
    return score(year, met, days, Alarms(), 1.0)


def test_an_update_that_is_called_unchanged_is_missed_and_one_that_is_delivered_is_not(year, edits):
    (small, a), (large, b) = edits
    told = figures(
        year,
        *(visit(0, A, small, a - 1, "new"), visit(1, A, small, a, "unchanged")),
        *(visit(0, B, large, b - 1, "new"), visit(1, B, large, b, "unchanged")),
    )
    assert (told.updates, told.updates_missed) == (1, 1)
    assert (told.small_updates, told.small_updates_missed) == (1, 1)
    assert (told.lost, told.unchanged) == (1, 0)
    edit = visit(0, A, small, a - 1, "new"), visit(1, A, small, a, "unchanged")
    assert figures(year, *edit).lost == 0
    before = visit(0, A, large, b - 1, "new")
    told = figures(year, before, visit(1, A, large, b, "updated"), gone(2, B))
    assert (told.updates, told.updates_missed, told.lost, told.fetches) == (1, 0, 0, 3)
    # Behind a 304 it is missed until it is fetched.
    lie = before, visit(1, A, large, b, "", status=304)
    assert figures(year, *lie).updates_missed == 1
    told = figures(year, *lie, visit(2, A, large, b, "updated"))
    assert (told.updates, told.updates_missed, told.not_modified) == (1, 0, 1)


def test_what_says_the_same_again_is_to_be_recognised(year):
    told = figures(
        year,
        *(visit(0, A, "a00000", 1, "new"), visit(0, B, "a00000", 1, "duplicate")),
        *(visit(1, A, "a00000", 1, "unchanged"), visit(1, B, "a00000", 1, "duplicate")),
        *(visit(2, A, "a00000", 1, "updated"), visit(2, B, "a00000", 1, "", status=304)),
    )
    assert (told.unchanged, told.unchanged_recognised) == (4, 0.75)
    assert (told.updates, told.articles) == (0, 1)
    # An article that was never delivered is lost.
    assert figures(year, visit(0, A, "a00000", 1, "duplicate")).lost == 1


def test_a_copy_is_lost_that_is_dropped_after_the_page_it_was_dropped_for(year):
    before = (
        *(visit(0, A, "a00000", 1, "new"), visit(0, B, "a00000", 1, "duplicate")),
        *(gone(1, A), visit(1, B, "a00000", 1, "duplicate")),
    )
    assert figures(year, *before).lost == 0
    dropped = visit(2, B, "a00000", 1, "duplicate")
    assert figures(year, *before, dropped).lost == 1
    assert figures(year, *before, dropped, visit(3, B, "a00000", 1, "new")).lost == 0
