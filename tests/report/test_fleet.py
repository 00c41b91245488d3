"""What several crawlers did together: figures that add up, and a section for each."""

from lxml import html

from simhash_gate.report.html import render
from simhash_gate.report.summary import MOST_CRAWLS, Summary
from tests.report.verdicts import NOON, copy, crawl, verdict


def summary_of(*logs: list[dict]) -> Summary:
    summary = Summary()
    for number, lines in enumerate(logs, 1):
        summary.begin(f"{number}.jsonl")
        for line in lines:
            summary.add_line(line)
    return summary


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
        name="shop",
    ),
)


def test_each_crawler_has_its_figures() -> None:
    summary = summary_of(*TWO)
    (first, one), (second, two) = summary.rows()
    assert (first.name, first.place, first.run) == ("news #1", "1.jsonl", "r1")
    assert (second.name, second.crawl.started) == ("shop #2", NOON)
    assert one == (4, 1, 3, 2, 1, 0, 1, 0, 0, 0)
    assert two == (6, 0, 6, 3, 2, 1, 0, 2, 1, 1)
    assert summary.sums() == [10, 1, 9, 5, 3, 1, 1, 2, 1, 1]
    assert (summary.seen, summary.total.dropped, summary.total.held) == (10, 3, 1)


def test_runs_in_one_log_and_logs_that_do_not_tell_of_their_crawl_are_crawlers_each() -> None:
    both = summary_of([*TWO[0], *TWO[1]])
    unnamed = summary_of([verdict("a"), copy("b", "a")], [verdict("a")])
    assert [[(it.name, it.place) for it in summary.crawlers] for summary in (both, unnamed)] == [
        [("news #1", "1.jsonl"), ("shop #2", "1.jsonl")],
        [("1.jsonl #1", "1.jsonl"), ("2.jsonl #2", "2.jsonl")],
    ]
    assert unnamed.rows()[0][1][6] == 1
    assert both.are_several
    assert not summary_of(TWO[0]).are_several
    assert not summary_of([verdict("a")]).are_several


def test_more_crawlers_than_are_shown_are_counted_as_one() -> None:
    summary = summary_of(*(of_run(f"r{n}", verdict(f"p{n}")) for n in range(MOST_CRAWLS + 5)))
    assert len(summary.crawlers) == MOST_CRAWLS + 1
    assert summary.rows()[-1][1][0] == 5
    assert summary.sums()[0] == MOST_CRAWLS + 5


def test_the_page_has_one_table_and_says_who_dropped_what() -> None:
    root = html.fromstring(render(summary_of(*TWO), name="2 crawlers"))
    first, second, total = root.xpath("//section[@id='fleet']//tr[td]")
    assert [cell.text_content() for cell in second][:3] == ["shop #2", "6", "0"]
    assert [cell.text_content() for cell in total][:3] == ["all crawlers", "10", "1"]
    assert first[-1].text_content() == "1.jsonl"
    assert root.xpath("boolean(//section[@id='duplicates'][contains(., 'Dropped by shop #2.')])")
    settings = root.xpath("//details[@class='settings']")[0].text_content()
    assert "shop, run r2" in settings
