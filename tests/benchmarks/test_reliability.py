"""Fixed rounds of the chaos run balance; and its books can fail."""

from __future__ import annotations

import json
import signal
import sqlite3
from contextlib import closing

import pytest

from benchmarks.reliability.__main__ import main
from benchmarks.reliability.books import Books
from benchmarks.reliability.plan import STORES, Crawl, Plan, random_plan
from benchmarks.reliability.rounds import Round, run_round
from benchmarks.reliability.scenes import Site
from benchmarks.reliability.soundness import tracebacks
from benchmarks.reliability.stores import Memory, Servers
from simhash_gate.stores import open_store


def test_a_round_with_a_kill_balances(tmp_path) -> None:
    plan = random_plan(297, 0, ("sqlite",))
    assert "kill" in {fault.kind for fault in plan.faults}
    outcome = run_round(plan, Servers(tmp_path))
    assert (outcome.lost, outcome.kept_twice, outcome.unsound) == ([], [], [])
    assert outcome.counts["delivered"] > 0


def test_the_command_says_in_one_line_of_json_what_its_rounds_came_to(capsys) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["--rounds=1", "--seed=262", "--stores=memory"]) == 0
    finally:
        signal.signal(signal.SIGTERM, handler)
    printed = capsys.readouterr()
    line = json.loads(printed.out)
    figures = [line[name] for name in ("rounds", "lost", "kept_twice", "unsound")]
    assert figures == [1, 0, 0, 0]
    assert "round 0: balanced" in printed.err


def test_plans_have_every_store_scene_and_fault() -> None:
    plans = [random_plan(1, number) for number in range(100)]
    assert {plan.store for plan in plans} == set(STORES)
    scenes = {path.split("/")[1] for plan in plans for path in plan.site.pages}
    assert scenes == {"a", "chain", "crowd", "detour", "swap"}
    of_processes, of_stores = {"kill", "term", "stop"}, {"lock", "info", "list", "pairs"}
    faults = {fault.kind for plan in plans for fault in plan.faults}
    assert faults == {*of_processes, *of_stores, "twice", "slow", "cut", "hang"}
    crawls = [crawl for plan in plans for crawl in plan.crawls]
    for failure in ("commit_fails", "file_limit", "export_fails", "item_fails", "fails", "late"):
        assert any(getattr(crawl, failure) for crawl in crawls), failure


# The books of a round that went well, and what becomes of them when somebody tampers with it.

PAGES = {f"/a/{number}/{copy}": f"c{number}" for number in range(3) for copy in range(2)}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A round of one article after the other, without a fault, that is over."""
    site = Site("quiet", pages=PAGES, listings={"/list/0": list(PAGES)})
    crawls = [Crawl("crawl0", ["/list/0"], sink=True), Crawl("crawl1", ["/list/0"])]
    plan = Plan(0, 0, "memory", False, "drop", "pass", 4096, site, crawls, [])
    folder = tmp_path_factory.mktemp("round")
    over = Round(plan, folder, Servers(folder))
    assert over.run().balanced
    return over


@pytest.fixture
def books(quiet):
    """What balances the books of that round again; its files and diaries are put back."""
    files = {path: path.read_bytes() for path in quiet.folder.rglob("*.jsonl")}
    diaries = {name: crawl.diary() for name, crawl in quiet.crawls.items()}
    crawls = list(quiet.crawls.values())
    yield lambda: Books(quiet.plan, quiet.contents, quiet.server.served, crawls)
    for path, content in files.items():
        path.write_bytes(content)
    for name, diary in diaries.items():
        quiet.crawls[name]._diary[:] = diary


def without(quiet, key, *files):
    """Take an article out of files."""
    for name in files:
        path = quiet.folder / name
        lines = path.read_text().splitlines(keepends=True)
        kept = [line for line in lines if quiet.contents[key].digest not in line]
        assert len(kept) == len(lines) - 1
        path.write_text("".join(kept))


def keys(findings):
    return [finding.split(":")[0] for finding in findings]


EVERYWHERE = ["crawl0/feed0-1.jsonl", "crawl1/feed0-1.jsonl", "clean/feed0-1.jsonl"]


@pytest.mark.parametrize(
    ("missing_in", "lost", "stranded"),
    [
        (EVERYWHERE, ["c1"], ["c1", "c1"]),
        # What the crawl that comes last delivers is not lost, but the others left it behind.
        (EVERYWHERE[:2], [], ["c1", "c1"]),
        # What is in one of the two outputs of a crawl is not delivered by it.
        (["crawl0/sink.jsonl", *EVERYWHERE[1:]], ["c1"], ["c1", "c1"]),
    ],
)
def test_what_no_crawl_has_in_all_its_files_is_lost_and_what_one_left_behind_is_found(
    quiet, books, monkeypatch, missing_in, lost, stranded
) -> None:
    without(quiet, "c1", *missing_in)
    assert keys(books().lost()) == lost
    assert keys(books().stranded()) == stranded
    for crawl in quiet.plan.crawls:
        monkeypatch.setattr(crawl, "fails", {"/a/1/0": -1, "/a/1/1": -1})
    assert books().stranded() == []  # None could deliver it.


def met(quiet, name):
    """What the diary of a crawl says of the first article that it met."""
    return next(
        line
        for line in quiet.crawls[name].diary()
        if line.get("outcome") == "new" and line["digest"]
    )


def test_two_records_of_an_article_are_found_unless_its_page_failed(quiet, books) -> None:
    diary = quiet.crawls["crawl0"]._diary
    line = met(quiet, "crawl0")
    diary.append({**line, "outcome": "unchanged", "reason": "the same request, sent again"})
    (found,) = books().kept_twice()
    assert "crawl0 kept it twice" in found
    diary.append({**line, "event": "failed", "kind": "fails"})
    assert books().kept_twice() == []


def test_two_crawls_that_deliver_a_page_are_found_while_both_live(
    quiet, books, monkeypatch
) -> None:
    monkeypatch.setattr(quiet.plan, "store", "sqlite")
    line = met(quiet, "clean")
    for name, outcome in (("crawl0", "new"), ("crawl1", "unchanged")):
        crawl = quiet.crawls[name]
        monkeypatch.setattr(crawl, "began", 0.0)
        crawl._diary[:] = [entry for entry in crawl.diary() if entry["event"] != "parsed"]
        crawl._diary.append({**line, "outcome": outcome})
    assert books().kept_twice() == []  # Both had ended by then.
    for name in ("crawl0", "crawl1"):
        crawl = quiet.crawls[name]
        crawl._diary[:] = [entry for entry in crawl.diary() if entry["event"] != "closed"]
        monkeypatch.setattr(crawl, "ended_at", line["at"] + 60)
    (found,) = books().kept_twice()
    assert "passed in crawl0 (new" in found


# What is unsound.


def test_a_traceback_of_ours_is_found_and_one_of_the_plan_is_not() -> None:
    start = "2026-01-01 10:00:00 [{logger}] ERROR: broken\nTraceback (most recent call last):\n"
    frame = '  File "/x/{file}", line 1, in f\n    f()\nValueError: no\n'
    planned = start.format(logger="scrapy.core.scraper") + frame.format(file="spider.py")
    logged = start.format(logger="simhash_gate.plugin.store_run") + frame.format(file="redis.py")
    raised = start.format(logger="scrapy.core.engine") + frame.format(file="simhash_gate/gate/a.py")
    assert tracebacks(planned) == []
    assert len(tracebacks(planned + logged + raised + planned)) == 2


def test_lock_files_wrong_counts_and_a_run_that_lives_on_are_found(
    quiet, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(quiet.plan, "store", "sqlite")
    memory = Memory(quiet.plan, tmp_path, Servers(tmp_path))
    with closing(open_store(memory.url)) as store:
        store.begin("one")
        store.end("one")
    assert memory.faults() == []
    with closing(open_store(memory.url)) as store:
        store.begin("two")
        assert "runs that live on: ['two']" in memory.faults()[0]
        store.end("two")
    (tmp_path / "store.sqlite-run-1234.lock").touch()
    with closing(sqlite3.connect(memory.path)) as db, db:
        db.execute("INSERT INTO scope (name, kept) VALUES ('here.example', 5)")
    assert keys(memory.faults()) == ["scope here.example", "lock files"]
