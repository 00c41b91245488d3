"""What the closing figures of a year say of crawls that are made up, one visit at a time."""

from __future__ import annotations

import pytest

from crawler.site.year.plan import Year, unix
from crawler.truth import Served, changed_fraction
from crawler.year.alarms import Alarms, Notes, alarms
from crawler.year.score import LARGE, score
from crawler.year.visits import Day, Visit, visits_of

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


def test_a_page_is_fresh_from_its_delivery_to_its_next_edit_and_found_soon_within_three_days(year):
    life = next(
        life
        for life in year.lives
        if life.since == 0 and len(life.moments) == 2 and 4 < life.moments[1] < 30
    )
    alone = Year(0, 3, 40)
    alone.lives, alone.by_id = [life], {life.article.id: life}
    days = [Day(number, number + 0.25, number) for number in range(40)]
    first = visit(1, A, life.article.id, 1, "new")
    told = score(alone, [first], days[:4], Alarms(), 1.0)
    assert told.freshness == 0.75  # from day 1 of days 0 to 3
    for late, found_soon in ((1, 1.0), (5, 0.0)):
        day = int(life.moments[1]) + late
        met = [first, visit(day, A, life.article.id, 2, "updated")]
        told = score(alone, met, days, Alarms(), 1.0)
        assert (told.changes, told.found_soon) == (1, found_soon)


def noted(found):
    """Forty days; from the day of each entry on, the store has these notes of a host."""
    days = []
    for number in range(40):
        notes = {host: note for day, host, note in found if day <= number}
        days.append(Day(number, number + 0.25, number, notes=notes))
    return days


def test_each_redesign_is_to_be_reported_once_and_of_its_host(year):
    morning, evening = year.papers["morning"], year.papers["evening"]
    at = morning.redesign.at
    for told, expected in (
        ([], (1, 0, 0)),
        ([(morning, at + 1)], (1, 1, 0)),
        ([(morning, at + 1), (morning, at + 2)], (1, 1, 1)),
        ([(morning, at - 3)], (1, 0, 1)),
        ([(evening, at + 1)], (1, 0, 1)),
        ([(morning, at + 12)], (1, 0, 1)),
    ):
        days = noted([(moment, paper.host, Notes(unix(moment))) for paper, moment in told])
        found = alarms(year, days, revalidated=False)
        assert (found.redesigns, found.redesigns_reported, found.false_alarms) == expected


def test_wrong_validators_are_to_be_reported_of_the_servers_that_send_them(year):
    wrong, useless, honest = (year.papers[name].host for name in ("evening", "weekly", "morning"))
    days = noted([(3, wrong, Notes(validators="wrong")), (5, useless, Notes(validators="useless"))])
    found = alarms(year, days, revalidated=True)
    assert (found.wrong_validators, found.wrong_validators_reported) == (2, 2)
    assert found.false_alarms == 0
    for host, state in ((honest, "wrong"), (honest, "useless"), (wrong, "useless")):
        found = alarms(year, noted([(3, host, Notes(validators=state))]), revalidated=True)
        assert (found.wrong_validators_reported, found.false_alarms) == (0, 1)
    assert alarms(year, noted([]), revalidated=False).wrong_validators == 0


def test_visits_are_those_of_pages_on_the_day_of_their_response():
    days = [Day(0, 0.25, 0, outcomes={2: "new"}, delivered={2}), Day(1, 1.25, 2)]
    log = [
        Served(1, "http://morning.example/robots.txt", 200, False, "", 0, ""),
        Served(2, A, 200, True, "a00000", 1, "", content="a00000;1"),
        Served(3, A, 304, False, "a00000", 1, "", content="a00000;1"),
    ]
    first, second = visits_of(log, days)
    assert (first.day, first.outcome, first.delivered) == (0, "new", True)
    assert (second.day, second.moment, second.status, second.outcome) == (1, 1.25, 304, "")
    assert not second.delivered
