"""What a report gathers: exact where it can be, bounded always."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.report.bounded import PAGES, SECONDS, Clusters, Timeline, Top
from simhash_gate.report.counts import MOST_TALLIES, OTHERS
from simhash_gate.report.judged import LONGEST_TEXT, Judged
from simhash_gate.report.summary import MOST_DUPLICATES, MOST_NEAR, Summary
from tests.report.verdicts import NOON, copy, near, verdict


def summary_of(*lines: dict) -> Summary:
    summary = Summary()
    for line in lines:
        summary.add_line(line)
    return summary


def test_responses_are_counted_by_domain_and_in_all() -> None:
    summary = summary_of(
        verdict("a"),
        copy("b", "a", bytes=500),
        near("https://www.example.com/c", "a"),
        verdict("https://news.example.co.uk/", "skipped"),
        verdict("https://news.example.co.uk/x", "error"),
    )
    assert set(summary.domains) == {"example.com", "example.co.uk"}
    example = summary.domains["example.com"]
    assert example.outcomes == {"new": 1, "duplicate": 1, "near": 1}
    assert (example.checked, example.dropped, example.bytes_saved) == (3, 1, 500)
    assert summary.domains["example.co.uk"].checked == 1
    assert (summary.seen, summary.total.checked) == (5, 4)
    assert summary.distances == {(0, "duplicate"): 1, (5, "near"): 1}


def test_domains_beyond_the_bound_are_counted_together() -> None:
    summary = summary_of(*(verdict(f"https://site{n}.com/") for n in range(MOST_TALLIES + 7)))
    assert len(summary.domains) == MOST_TALLIES + 1
    assert summary.domains[OTHERS].checked == 7


def test_the_pages_worth_a_look_come_first_and_are_bounded() -> None:
    summary = summary_of(
        *(copy(f"copy-{n}", "a", n % 4, words=300 + n % 9) for n in range(MOST_DUPLICATES + 500)),
        *(near(f"near-{n}", "a", 4 + n % 5) for n in range(MOST_NEAR + 500)),
    )
    duplicates, nearest = summary.duplicates.ranked(), summary.near.ranked()
    assert len(duplicates) == MOST_DUPLICATES
    assert (duplicates[0].distance, duplicates[0].words) == (3, 308)
    assert [(page.words, page.distance) for page in duplicates] == sorted(
        ((page.words, page.distance) for page in duplicates), reverse=True
    )
    assert min(page.words or 0 for page in duplicates) == 304
    assert [page.distance for page in nearest] == sorted(page.distance or 0 for page in nearest)
    assert (len(nearest), nearest[0].distance, nearest[-1].distance) == (MOST_NEAR, 4, 6)
    assert summary.near.seen == MOST_NEAR + 500


def test_the_largest_clusters_keep_the_copies_that_differ_most() -> None:
    lines = [copy(f"a{n}", "a", n % 3) for n in range(30)] + [copy("b1", "b")]
    largest, other = summary_of(*lines).clusters.largest(50)
    assert (largest.kept.title, largest.copies.seen) == ("About a", 30)
    assert [page.distance for page in largest.copies.ranked()] == [2] * 10 + [1] * 10
    assert other.copies.seen == 1


def test_clusters_are_bounded_and_say_when_they_may_lack_copies() -> None:
    clusters = Clusters(capacity=10, copies=2)
    for n in range(1000):
        for path in ("large", f"small-{n}"):
            page = Judged.of(copy("x", path))
            assert page.kept
            clusters.add(page.kept, page, (0,))
    assert not clusters.exact
    (largest, *_) = found = clusters.largest(100)
    assert len(found) <= 20
    assert (largest.kept.url, largest.copies.seen) == ("https://example.com/large", 1000)
    assert len(largest.copies.ranked()) == 2


@given(st.lists(st.integers(0, 5)), st.integers(1, 5))
def test_the_top_items_are_those_that_sorting_finds(ranks: list[int], limit: int) -> None:
    top: Top[int] = Top(limit)
    for place, rank in enumerate(ranks):
        top.add((rank,), place)
    assert top.ranked() == sorted(range(len(ranks)), key=lambda place: -ranks[place])[:limit]


@pytest.mark.parametrize("widths", [SECONDS, PAGES])
@given(times=st.lists(st.floats(0, 250_000_000_000), min_size=1))
def test_a_timeline_has_few_buckets_and_loses_nothing(widths, times: list[float]) -> None:
    assert all(not wider % width for width, wider in itertools.pairwise(widths))
    timeline = Timeline(widths, most=100)
    for at in times:
        timeline.add(at, "new")
    buckets = timeline.buckets()
    assert (buckets[-1].end - buckets[0].start) // timeline.width <= 100
    held = Counter({b.start: b.outcomes["new"] for b in buckets})
    assert held == Counter(int(at // timeline.width) * timeline.width for at in times)


def test_pages_without_a_time_are_shown_in_their_order() -> None:
    lines = [verdict(str(n), time=None) for n in range(10)]
    assert [bucket.start for bucket in summary_of(*lines).timeline.buckets()] == [*range(10)]
    timed = summary_of(*(line | {"time": NOON} for line in lines)).timeline
    assert [bucket.start for bucket in timed.buckets()] == [NOON]


def test_lines_of_other_kinds_are_passed_over() -> None:
    summary = summary_of({}, {"path": "a.html"}, {"later": {"outcome": 1}}, verdict())
    assert summary.seen == 1


def test_old_lines_without_the_later_keys_are_read() -> None:
    keys = ("id", "url", "outcome", "distance", "matched_url", "fingerprint", "reason")
    line = copy("b", "a")
    summary = summary_of({key: line[key] for key in keys})
    assert summary.clusters.largest(1)[0].kept.url == "https://example.com/a"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("outcome", "lost"),
        ("outcome", None),
        ("url", ["x"]),
        ("title", 5),
        ("distance", 65),
        ("distance", "3"),
        ("differs", 5),
        ("words", -1),
        ("words", 1.5),
        ("bytes", True),
        ("time", float("nan")),
        ("time", 1e300),
        ("time", "noon"),
    ],
)
def test_a_value_that_no_verdict_has_is_named(key: str, value: object) -> None:
    summary = Summary()
    with pytest.raises(ValueError, match=f"'{key}' is "):
        summary.add_line(verdict() | {key: value})
    assert summary.seen == 0


def test_long_texts_are_cut() -> None:
    page = Judged.of(verdict(title="x" * 10_000, url="https://example.com/" + "y" * 10_000))
    assert len(page.title) == LONGEST_TEXT
    assert page.title.endswith("x…")
    assert len(page.url) < 2_100


def test_audited_duplicates_are_rows_of_their_own() -> None:
    audit = {
        "domain": "example.com",
        "audited": 50,
        "compared": 40,
        "wrong": 2,
        "fields": {"price": 2},
    }
    summary = summary_of({"audit": audit})
    assert summary.audits[0].fields == {"price": 2}
    with pytest.raises(ValueError, match="'wrong' is 41"):
        summary.add_line({"audit": audit | {"wrong": 41}})


def test_pages_of_other_names_are_counted_by_domain() -> None:
    other = {"title": "Red shirt", "matched_title": "Blue shirt"}
    summary = summary_of(
        *(near(f"n{n}", "a", 0, differs="names", **other) for n in range(5)),
        near("offer", "a", 1, differs="offers", title="About a"),
        near("far", "a", 5, **other),
        copy("wrong", "a", 2, **other),
        copy("right", "a", title="Print: About a"),
        copy("https://other.org/b", "a", title="About a"),
    )
    assert summary.total.differs == {"names": 5, "offers": 1}
    named = summary.domains["example.com"].named
    assert (named.near, named.others, named.dropped) == (8, 6, 1)
    assert summary.domains["other.org"].named.others == 0
    assert summary.of_other_names[0, "near"] == 5
    assert summary.of_other_names[5, "near"] == 1
    assert summary.of_many_names == [("example.com", named)]
    assert [*summary.remarks()][:3] == [
        "Within the threshold, but not dropped: 5 other names, 1 other offers.",
        "Dropped, although the title contradicts that of the kept page: 1 page.",
        "example.com: 6 of 8 pages within the threshold have another name.",
    ]
    assert summary.duplicates.ranked()[0].url == "https://example.com/wrong"


def test_pages_that_share_only_what_a_site_repeats_are_said_to() -> None:
    summary = summary_of(*(near(f"n{n}", "a", 0, differs="repeats") for n in range(2)))
    said = "Within the threshold, but not dropped: 2 alike only in what the site repeats."
    assert [*summary.remarks()] == [said]


def test_few_pages_of_other_names_are_no_warning() -> None:
    other = {"title": "Red shirt", "matched_title": "Blue shirt"}
    names = [near(f"n{n}", "a", 0, differs="names", **other) for n in range(5)]
    assert summary_of(*names[:4]).of_many_names == []
    copies = [copy(f"c{n}", "a", title="About a") for n in range(100)]
    assert summary_of(*names, *copies).of_many_names == []
    assert summary_of(*names).of_many_names
    assert list(summary_of(*copies).remarks()) == []
