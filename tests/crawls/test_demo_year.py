"""A short year of daily crawls of the demonstration's newspapers, judged by what they published."""

import re
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.crawls.harness import alive, demonstration, json_lines, told_by, until


def test_a_year_misses_no_update_knows_what_has_not_changed_and_reports_the_redesign_once(
    tmp_path,
) -> None:
    store = f"sqlite:///{tmp_path}/year.sqlite"
    year = demonstration(
        "demo-year",
        *("-a", "days=10", "-a", "articles=96", "-a", f"visits={tmp_path}/visits.jsonl"),
        *("-O", f"{tmp_path}/items.jsonl", "-s", f"SIMHASH_GATE_STORE={store}"),
    )
    figures, printed, log = told_by(year)
    assert (figures["days"], figures["articles"]) == (10, 96)
    assert figures["updates"] > 15
    assert figures["small_updates"] > 5
    assert (figures["updates_missed"], figures["lost"]) == (0, 0)
    assert figures["unchanged"] > 600
    # A redesign that puts the byline under the headline makes another page of each story, once.
    assert figures["unchanged_recognised"] >= 0.95
    assert (figures["redesigns"], figures["redesigns_reported"]) == (1, 1)
    assert figures["false_alarms"] == 0
    assert re.findall(r"(\S+) was redesigned", log) == ["morning.example"]

    # Each day is a crawl of its own, on one store.
    visits, items = json_lines(tmp_path / "visits.jsonl"), json_lines(tmp_path / "items.jsonl")
    assert {visit["day"] for visit in visits} == {item["day"] for item in items} == set(range(10))
    assert len(visits) == figures["fetches"]
    assert len(items) == sum(visit["delivered"] for visit in visits)
    held_back = {visit["outcome"] for visit in visits if not visit["delivered"]}
    assert held_back == {"", "duplicate", "soft_404", "unchanged"}
    weeks = re.findall(r"^Days (\d+) to (\d+): ", printed, re.MULTILINE)
    assert weeks == [("1", "7"), ("8", "10")]


def test_a_year_that_is_stopped_tells_what_it_has_found(tmp_path) -> None:
    feed, visits = tmp_path / "items.jsonl", tmp_path / "visits.jsonl"
    process = demonstration(
        *("demo-year", "-a", "articles=8", "-a", "days=300"),
        *("-a", f"visits={visits}", "-O", str(feed)),
    )
    until(lambda: feed.exists() and '"day": 2' in feed.read_text("utf-8"))
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(signal.SIGINT)
    figures, _, _ = told_by(process)
    assert 3 <= figures["days"] < 300
    assert len(children) == 1
    assert not alive(int(children[0]))
    each_day = Counter(visit["day"] for visit in json_lines(visits))
    assert each_day.total() == figures["fetches"]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (("-a", "days=0"), "days='0' is not a number of at least 1"),
        (("-s", "SIMHASH_GATE_STORE=memory:"), "a year needs a store that outlives a crawl"),
    ],
)
def test_a_wrong_argument_is_named(argument, message) -> None:
    process = demonstration("demo-year", *argument)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 1
    assert message in log
    assert "Traceback" not in log
