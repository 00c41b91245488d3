"""What a report says of itself."""

from __future__ import annotations

from simhash_gate.report.bounded import Clusters
from simhash_gate.report.html import render
from simhash_gate.report.summary import Summary
from tests.report.verdicts import copy, verdict


def shown(summary: Summary) -> str:
    return render(summary, name="news").decode()


def test_it_says_what_its_figures_lack_and_what_does_not_fit_in_its_tables() -> None:
    summary = Summary()
    summary.add_line(copy("a", "x", threshold=5))
    whole = shown(summary)
    assert "figures lack" not in whole
    assert "may lack" not in whole

    summary.clusters = Clusters(capacity=1)
    for n in range(1_100):
        summary.add_line(copy(f"https://site{n}.com/", f"kept-{n}"))
    summary.missed = 1_234
    page = shown(summary)
    assert "These figures lack 1,234 verdicts: the disk was too slow" in page
    assert "the counts may lack some copies" in page
    assert "threshold, 3 bits (3 for 1,100, 5 for 1 of them)" in page
    assert "(101 more)" in page
    assert page.count("<tr><td><bdi>site") == 999


def test_it_fetches_nothing_and_forbids_what_is_not_its_own() -> None:
    summary = Summary()
    summary.add_line(verdict())
    page = shown(summary)
    assert "default-src 'none'; style-src 'sha256-" in page.replace("&#39;", "'")
    assert "unsafe" not in page
    for reference in (" src=", "<link", "@import", "url("):
        assert reference not in page
