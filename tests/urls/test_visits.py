"""The URLs that a crawl fetched: found by what is canonical now, whatever was before."""

from __future__ import annotations

import stat
from contextlib import closing

from simhash_gate.urls.visits import Visits, fetched

URL = "http://example.com/a"


def test_visits_are_found_by_new_rules_after_a_while() -> None:
    with closing(Visits()) as visits:
        for number in range(1_000):
            visits.add("example.com", "s", f"{URL}?x={number}", f"{URL}?x={number}")
        assert [*visits.latest(2)] == [f"{URL}?x=998", f"{URL}?x=999"]
        assert [*visits.find("example.com", URL)] == []
        visits.rules_changed("example.com", "s")
        for _ in range(10):
            visits.catch_up(lambda scope, url: ("s", url.partition("?")[0]))
        assert len([*visits.find("example.com", URL)]) == 1_000


def test_a_job_goes_on_with_the_visits_that_were_answered(tmp_path) -> None:
    path = str(tmp_path / "job" / "urls.sqlite")
    (tmp_path / "job").mkdir()
    with closing(Visits(path)) as visits:
        number = visits.add("example.com", "s", URL, URL)
        visits.tell(number, 5, None)
        assert fetched(visits.get(number)).content == 5
        assert fetched(visits.get(number + 1)) is None
        visits.add("example.com", "s", f"{URL}/b", f"{URL}/b")
    assert stat.S_IMODE((tmp_path / "job" / "urls.sqlite").stat().st_mode) == 0o600
    with closing(Visits(path)) as visits:
        assert [visit.content for visit in visits.find("example.com", URL)] == [5]
        assert [*visits.find("example.com", f"{URL}/b")] == []


def test_what_was_fetched_by_a_part_of_a_job_that_was_killed_does_not_count(tmp_path) -> None:
    path = str(tmp_path / "urls.sqlite")
    with closing(Visits(path)) as visits:
        visits.tell(visits.add("example.com", "s", URL, URL), 5, None)
        visits.remove(visits.add("example.com", "s", f"{URL}/x", f"{URL}/x"))
    killed = Visits(path)
    for number in range(1_500):  # more than are written at once
        visit = killed.add("example.com", "s", f"{URL}/{number}", f"{URL}/{number}")
        killed.tell(visit, number, None)
    killed._db.close()
    with closing(Visits(path)) as visits:
        assert [visit.content for visit in visits.find("example.com", URL)] == [5]
        assert all(not [*visits.find("example.com", f"{URL}/{n}")] for n in range(1_500))
