"""What a report gathers: exact where it can be, bounded always."""

from collections import Counter

import pytest
from lxml import html

from simhash_gate.report.bounded import Clusters, Timeline
from simhash_gate.report.html import render
from simhash_gate.report.judged import LONGEST_TEXT, LoggedVerdict
from simhash_gate.report.summary import MOST_DUPLICATES, MOST_NEAR, MOST_TALLIES, OTHERS, Summary
from tests.report.verdicts import copy, near, summary_of, verdict


def test_responses_are_counted_by_domain_and_in_all_those_beyond_a_bound_together() -> None:
    summary = summary_of(
        verdict("a"),
        copy("b", "a", bytes=500),
        near("https://www.example.com/c", "a"),
        verdict("https://news.example.co.uk/", "skipped"),
        verdict("https://news.example.co.uk/x", "error"),
    )
    example = summary.domains["example.com"]
    assert example.outcomes == {"new": 1, "duplicate": 1, "near": 1}
    assert (example.checked, example.dropped, example.bytes_saved) == (3, 1, 500)
    assert summary.domains["example.co.uk"].checked == 1
    assert (summary.seen, summary.total.checked) == (5, 4)
    assert summary.distances == {0: {"duplicate": 1}, 5: {"near": 1}}
    for number in range(MOST_TALLIES):
        summary.add_line(verdict(f"https://site{number}.com/"))
    assert len(summary.domains) == MOST_TALLIES + 1
    assert summary.domains[OTHERS].checked == 2


def test_the_pages_worth_a_look_come_first_and_are_bounded() -> None:
    summary = summary_of(
        *(copy(f"copy-{n}", "a", n % 4, words=300 + n % 9) for n in range(MOST_DUPLICATES + 500)),
        *(near(f"near-{n}", "a", 4 + n % 5) for n in range(MOST_NEAR + 500)),
    )
    duplicates, nearest = summary.duplicates.ranked(), summary.near.ranked()
    assert len(duplicates) == MOST_DUPLICATES
    assert (duplicates[0].distance, duplicates[0].words) == (3, 308)
    assert min(page.words or 0 for page in duplicates) == 304
    assert [page.distance for page in nearest] == sorted(page.distance or 0 for page in nearest)
    assert (len(nearest), nearest[0].distance, nearest[-1].distance) == (MOST_NEAR, 4, 6)
    assert summary.near.seen == MOST_NEAR + 500


def test_large_clusters_keep_the_copies_that_differ_most_and_say_when_they_may_lack_some() -> None:
    lines = [copy(f"a{n}", "a", n % 3) for n in range(30)] + [copy("b1", "b")]
    largest, other = summary_of(*lines).clusters.largest(50)
    assert (largest.kept.title, largest.copies.seen) == ("About a", 30)
    assert [page.distance for page in largest.copies.ranked()] == [2] * 10 + [1] * 10
    assert other.copies.seen == 1

    keyed = [copy("c", kept, matched_key="one") for kept in ("a", "a?ref=x")]
    (cluster,) = summary_of(*keyed).clusters.largest(50)
    assert (cluster.kept.url, cluster.copies.seen) == ("https://example.com/a", 2)

    bounded = Clusters(capacity=10, copies=2)
    for n in range(100):
        for path in ("large", f"small-{n}"):
            page = LoggedVerdict.of(copy("x", path))
            assert page.kept
            bounded.add(page.kept, page, (0,))
    assert not bounded.exact
    (largest, *_) = found = bounded.largest(100)
    assert len(found) <= 20
    assert (largest.kept.url, largest.copies.seen) == ("https://example.com/large", 100)
    assert len(largest.copies.ranked()) == 2


def test_a_timeline_has_few_buckets_and_loses_nothing() -> None:
    timeline = Timeline(most=100)
    times = [7.5 * n**2 for n in range(1_000)]
    for at in times:
        timeline.add(at, "new")
    held = {bucket.start: bucket.outcomes["new"] for bucket in timeline.buckets()}
    assert len(held) <= 100
    assert held == Counter(int(at // timeline.width) * timeline.width for at in times)


def test_lines_of_other_kinds_are_passed_over_and_old_ones_lack_later_keys() -> None:
    keys = ("id", "url", "outcome", "distance", "matched_url", "fingerprint", "reason")
    line = copy("b", "a")
    old = {key: line[key] for key in keys}
    summary = summary_of({}, {"path": "a.html"}, {"later": {"outcome": 1}}, old)
    assert summary.seen == 1
    assert summary.clusters.largest(1)[0].kept.url == "https://example.com/a"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("outcome", "lost"), ("url", ["x"]), ("title", 5), ("distance", 65), ("distance", "3")),
        *(("words", -1), ("bytes", True), ("time", float("nan")), ("time", 1e300)),
        ("time", 10**400),
    ],
)
def test_a_value_that_no_verdict_has_is_named(key: str, value: object) -> None:
    summary = Summary()
    with pytest.raises(ValueError, match=f"'{key}' is "):
        summary.add_line(verdict() | {key: value})
    assert summary.seen == 0


def test_long_texts_are_cut() -> None:
    page = LoggedVerdict.of(verdict(title="x" * 10_000, url="https://example.com/" + "y" * 10_000))
    assert (len(page.title), page.title[-2:]) == (LONGEST_TEXT, "x…")
    assert len(page.url) < 2_100


@pytest.mark.slow
def test_it_says_what_its_figures_lack_and_what_does_not_fit_in_its_tables() -> None:
    summary = summary_of(copy("a", "x", threshold=5))
    whole = render(summary, name="news").decode()
    assert "figures lack" not in whole
    assert "may lack" not in whole

    summary.clusters = Clusters(capacity=1)
    for n in range(1_100):
        summary.add_line(copy(f"https://site{n}.com/", f"kept-{n}"))
    summary.missed = 1_234
    page = render(summary, name="news").decode()
    assert "These figures lack 1,234 verdicts: the disk was too slow" in page
    assert "the counts may lack some copies" in page
    assert "threshold, 3 bits (3 for 1,100, 5 for 1 of them)" in page
    assert "101 domains with fewer pages are not shown." in page
    assert page.count("<tr><td><bdi>site") == 999


def test_pages_of_other_names_are_counted_by_domain_and_a_few_are_no_warning() -> None:
    other = {"title": "Red shirt", "matched_title": "Blue shirt"}
    summary = summary_of(
        *(near(f"n{n}", "a", 0, differs="names", **other) for n in range(5)),
        near("offer", "a", 1, differs="offers", title="About a"),
        near("far", "a", 5, **other),
        copy("wrong", "a", 2, **other),
        copy("right", "a", title="Print: About a"),
        copy("https://other.org/b", "a", title="About a"),
    )
    named = summary.domains["example.com"].named
    assert (named.near, named.others, named.dropped) == (8, 6, 1)
    assert +summary.of_other_names == {0: 5, 2: 1, 5: 1}
    assert [*summary.remarks()][:3] == [
        "Within the threshold, but not dropped: 5 other names, 1 other offers.",
        "Dropped, although the title contradicts that of the kept page: 1 page.",
        "example.com: 6 of 8 pages within the threshold have another name.",
    ]
    assert summary.duplicates.ranked()[0].url == "https://example.com/wrong"

    names = [near(f"n{n}", "a", 0, differs="names", **other) for n in range(5)]
    copies = [copy(f"c{n}", "a", title="About a") for n in range(100)]
    for lines, warned in ((names[:4], 0), ([*names, *copies], 0), (names, 1)):
        assert len(summary_of(*lines).of_many_names) == warned
    assert list(summary_of(*copies).remarks()) == []
    (said,) = summary_of(near("n", "a", 0, differs="repeats")).remarks()
    assert said.endswith("1 alike only in what the site repeats.")


@pytest.mark.parametrize(
    "line",
    [
        verdict("a", "skipped"),
        verdict("a", "error", time=None),
        copy("b", "a", threshold=None, action="tag", dropped=False),
        copy("", "a", 64, title="", words=None, matched_words=None),
    ],
)
def test_a_crawl_of_one_page_has_a_report_too(line: dict) -> None:
    root = html.fromstring(render(summary_of(line), name="news"))
    assert root.xpath("//dl/div[dt = 'Responses']/dd/text()") == ["1"]
