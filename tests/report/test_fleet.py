"""What several crawlers did together: figures that add up, and a section for each."""

from __future__ import annotations

from lxml import html

from simhash_gate.report import fleet as fleet_module
from simhash_gate.report.fleet import Fleet, Row, total_of
from simhash_gate.report.html import render
from simhash_gate.report.summary import MOST_CRAWLS
from tests.report.verdicts import NOON, audit, copy, crawl, verdict


def fleet_of(*logs: list[dict]) -> Fleet:
    fleet = Fleet()
    for number, lines in enumerate(logs, 1):
        fleet.begin(f"{number}.jsonl")
        for line in lines:
            fleet.add_line(line)
    return fleet


def of_run(run: str, *lines: dict, name: str = "news", **given) -> list[dict]:
    return [lines[0] | crawl(name, run=run, **given), *lines[1:]]


TWO = (
    of_run(
        "r1",
        verdict("a"),
        verdict("b"),
        copy("c", "a", title="About a", matched_run="r1"),
        verdict("robots.txt", "skipped", reason="no callback"),
    ),
    of_run(
        "r2",
        verdict("d"),
        copy("e", "a", title="About a", matched_run="r1"),
        copy("f", "b", title="About b", matched_run="r1", dropped=False, held=True),
        copy("g", "x", matched_run="r0", title="Wasps", matched_title="Bees"),
        verdict("b", "unchanged", kept="b", matched_run="r1"),
        verdict("slow", "error", reason="reading took longer than 10 s"),
        audit("example.com", 40, 2, price=2),
        name="shop",
    ),
)


def test_each_crawler_has_its_figures() -> None:
    fleet = fleet_of(*TWO)
    (first, one), (second, two) = fleet.rows()
    assert (first.name, first.place, first.run) == ("news #1", "1.jsonl", "r1")
    assert (second.name, second.said.started) == ("shop #2", NOON)
    assert one == Row(4, 1, 3, 2, 1, 0, own=1, others=0, earlier=0, against=2, errors=0)
    assert two == Row(6, 0, 6, 3, 2, 1, own=0, others=2, earlier=1, against=0, errors=1)
    assert fleet.sources_of(second) == [
        ("pages of news #1", 2),
        ("pages that no crawler here has kept", 1),
    ]
    assert [len(crawler.counts.audits) for crawler in fleet.crawlers] == [0, 1]
    total = total_of((one, two))
    assert total.responses == fleet.total.seen == 10
    assert (total.against, total.dropped) == (total.others, fleet.total.total.dropped)


def test_what_they_did_together_is_said_in_words() -> None:
    assert list(fleet_of(*TWO).sentences()) == [
        "2 crawlers got 10 responses, judged 9 pages, and delivered 5 of them.",
        "Delivered: 3 pages by 1 crawler, 1 page by 2 crawlers.",
        "Passed as unchanged, because an ended crawl had kept them: 1. With "
        "SIMHASH_GATE_REVISIT = 'drop' such pages are not delivered again.",
        "Not delivered: 4 pages. Like a page of the same crawler: 1; of another crawler: 2; of no "
        "crawler here: 1.",
        "The others found most copies of pages of news #1: 2.",
        "Pages that passed unjudged: 1.",
    ]


def test_pages_delivered_twice_and_too_many_to_compare_are_told(monkeypatch) -> None:
    fleet = fleet_of(of_run("r1", verdict("a"), verdict("a")), of_run("r2", verdict("b")))
    assert "2 pages by 1 crawler; 1 once more by the same crawler." in list(fleet.sentences())[1]
    pages = [verdict(path, canonical_url="https://example.com/a") for path in ("a", "a?ref=x")]
    fleet = fleet_of(of_run("r1", pages[0]), of_run("r2", pages[1]))
    assert "1 page by 2 crawlers." in list(fleet.sentences())[1]
    monkeypatch.setattr(fleet_module, "MOST_DELIVERIES", 4)
    assert "too many pages to tell" in list(fleet_of(*TWO).sentences())[1]


def test_runs_in_one_log_and_logs_that_do_not_tell_of_their_crawl_are_crawlers_each() -> None:
    both = fleet_of([*TWO[0], *TWO[1]])
    unnamed = fleet_of([verdict("a"), copy("b", "a")], [verdict("a")])
    assert [[(it.name, it.place) for it in fleet.crawlers] for fleet in (both, unnamed)] == [
        [("news #1", "1.jsonl"), ("shop #2", "1.jsonl")],
        [("1.jsonl #1", "1.jsonl"), ("2.jsonl #2", "2.jsonl")],
    ]
    assert unnamed.rows()[0][1].own == 1
    assert not both.is_one
    assert fleet_of(TWO[0]).is_one
    assert fleet_of([verdict("a")]).is_one


def test_more_crawlers_than_are_shown_are_counted_as_one() -> None:
    fleet = fleet_of(*(of_run(f"r{n}", verdict(f"p{n}")) for n in range(MOST_CRAWLS + 5)))
    assert len(fleet.crawlers) == MOST_CRAWLS + 1
    assert fleet.rows()[-1][1].responses == 5
    assert total_of(row for _, row in fleet.rows()).responses == MOST_CRAWLS + 5


def test_the_page_has_a_section_for_each_crawler() -> None:
    fleet = fleet_of(*TWO)
    root = html.fromstring(render(fleet.total, name="2 crawlers", fleet=fleet))
    first, second = root.xpath("//section[@id='crawlers']//details")
    assert "nothing looks wrong" in first.findtext("summary/span")
    text = second.text_content()
    assert "3 things look wrong" in text
    assert "run r2, simhash_gate 0.1.0" in text
    assert "pages of news #1 (2), pages that no crawler here has kept (1)" in text
    assert root.xpath("boolean(//section[@id='duplicates'][contains(., 'Dropped by shop #2.')])")
