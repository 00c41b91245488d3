"""A fixed round of the chaos run balances; and its books can fail."""

import json
import signal
from random import Random

import pytest

from benchmarks.reliability import soak
from benchmarks.reliability.__main__ import main
from benchmarks.reliability.books import Books
from benchmarks.reliability.demo import DemoPlan, DemoRound
from benchmarks.reliability.faults import Fault
from benchmarks.reliability.plan import Crawl, Plan, random_plan
from benchmarks.reliability.rounds import Round
from benchmarks.reliability.scenes import Site
from benchmarks.reliability.spiders.__main__ import main as compare_spiders
from benchmarks.reliability.spiders.edits import KINDS, edited


def test_a_round_with_a_kill_balances_and_the_command_says_so_in_one_line_of_json(capsys) -> None:
    assert "kill" in {fault.kind for fault in random_plan(297, 0, ("sqlite",)).faults}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["--rounds=1", "--seed=297", "--stores=sqlite"]) == 0
    finally:
        signal.signal(signal.SIGTERM, handler)
    printed = capsys.readouterr()
    line = json.loads(printed.out)
    figures = [line[name] for name in ("rounds", "lost", "kept_twice", "unsound")]
    assert figures == [1, 0, 0, 0]
    assert line["delivered"] > 0
    assert "round 0: balanced" in printed.err


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A round of the demonstration with all features on: killed, paused, and crawled to its end.

    Before each of these, its clock jumps.
    """
    faults = [Fault("clock", "", 20, 0.0, 86400), Fault("kill", "", 20, 0.0)]
    faults += [Fault("clock", "", 30, 0.0, -7200), Fault("pause", "", 30, 0.0)]
    plan = DemoPlan(0, 3, "sqlite", "", 12, "page", 0, 0, faults)
    over = DemoRound(plan, tmp_path_factory.mktemp("demo"))
    assert over.run().balanced
    return over


def test_the_demonstration_loses_nothing_to_a_kill_and_a_pause_and_repeats_what_was_in_flight(
    demo,
) -> None:
    assert [part.end for part in demo.parts] == ["kill", "pause", ""]
    assert all(part.items for part in demo.parts)
    assert demo.outcome.counts["killed, durable by page"] == 1
    assert demo.outcome.counts["killed, durable by page: repeated"] <= 16


def test_what_no_part_of_the_demonstration_delivered_is_lost_and_what_two_did_is_found(
    demo, monkeypatch
) -> None:
    killed, paused, last = demo.parts
    (item,) = [each for each in paused.items if each["article_id"]][:1]
    without = [
        part._replace(items=[e for e in part.items if e["article_id"] != item["article_id"]])
        for part in demo.parts
    ]
    monkeypatch.setattr(demo, "parts", without)
    assert demo.lost() == {f"article {item['article_id']}"}
    twice = last._replace(items=[*last.items, item], anew=set())
    monkeypatch.setattr(demo, "parts", [killed, paused, twice])
    (found,) = demo.repeated()
    assert item["url"] in found


def test_a_long_crawl_is_measured_and_what_it_did_not_deliver_is_missing(tmp_path, capsys) -> None:
    shape = [str(tmp_path), "--domains=2", "--pages=10", "--every=10"]
    assert soak.main(shape) == 0
    table, figures = capsys.readouterr().out.rsplit("\n", 2)[:2]
    assert json.loads(figures) == {"articles": 16, "delivered": 16, "delivered_twice": 0}
    assert len(table.splitlines()) >= 3
    items = tmp_path / "items.jsonl"
    items.write_text("".join(items.read_text().splitlines(keepends=True)[1:]))
    assert soak.figures(soak.parsed(shape))["delivered"] == 15


# The books of a round that went well, and what becomes of them when somebody tampers with it.

PAGES = {f"/a/{number}/{copy}": f"c{number}" for number in range(3) for copy in range(2)}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A round of one article after the other, without a fault, that is over."""
    site = Site("quiet", pages=PAGES, listings={"/list/0": list(PAGES)})
    crawls = [Crawl("crawl0", ["/list/0"], sink=True), Crawl("crawl1", ["/list/0"])]
    plan = Plan(0, 0, "memory", False, "drop", "pass", 4096, site, crawls, [])
    folder = tmp_path_factory.mktemp("round")
    over = Round(plan, folder)
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


def test_two_records_of_an_article_are_found_unless_its_page_failed(quiet, books) -> None:
    diary = quiet.crawls["crawl0"]._diary
    line = next(line for line in diary if line.get("outcome") == "new" and line["digest"])
    diary.append({**line, "outcome": "unchanged", "reason": "the same request, sent again"})
    (found,) = books().kept_twice()
    assert "crawl0 kept it twice" in found
    diary.append({**line, "event": "failed", "kind": "fails"})
    assert books().kept_twice() == []


def test_spiders_lose_nothing_and_what_one_misses_is_printed_with_the_reason(capsys) -> None:
    some = ["--spiders=cards,alternatives", "--kinds=price,attribute", "--articles=9"]
    assert compare_spiders([*some, "--workers=1"]) == 0
    *shown, last = capsys.readouterr().out.splitlines()
    figures = json.loads(last)
    assert (figures["lost"], figures["doubled"]) == (0, 0)
    assert figures["changes"] > figures["missed"] > 0  # an attribute, of too few pages to learn of
    assert any(line.startswith("alternatives, attribute, /") for line in shown)
    assert any(line.startswith("    unchanged: the same text") for line in shown)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_each_kind_stands_where_the_words_of_items_do(kind: str) -> None:
    html = """<head><script type="application/ld+json">{"name": "drill"}</script></head><main>
    <h1>A drill</h1><img src="/drill.png" alt="drill"><a href="/p/1">Drill</a><b>19 EUR</b>
    <i>1.2.2026</i><p>A drill that weighs less than the old drill 7</p><table><td>drill</td></table>
    <li class="post">12 drills</li></main>"""
    after, about = edited(html, kind, {"drill"}, Random(1))
    assert after != html
    assert about
