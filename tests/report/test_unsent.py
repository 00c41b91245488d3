"""Requests that were not sent, in a report."""

from __future__ import annotations

import pytest

from simhash_gate.report.html import render
from simhash_gate.report.summary import Summary
from simhash_gate.report.unsent import MOST_KINDS, UnsentRequests
from tests.report.verdicts import verdict


def line(number: int, what: str = "?ref=*", kind: str = "rule", host: str = "example.com") -> dict:
    url = f"https://{host}/a/{number}"
    return {"not_sent": kind, "what": what, "url": f"{url}?ref=x", "matched_url": url}


def test_requests_are_counted_by_domain_and_by_what_they_were_not_sent_for_within_a_bound() -> None:
    found = UnsentRequests()
    for number in range(5):
        found.add(line(number))
        found.add(line(number, host="www.example.org"))
    found.add({**line(9, "example.com/calendar/*", "trap"), "matched_url": None})
    first, second, trap = found.ranked(10)
    assert (first.domain, first.what, first.why, first.requests) == (
        *("example.com", "?ref=*", "makes no difference", 5),
    )
    assert first.examples[0] == ("https://example.com/a/0?ref=x", "https://example.com/a/0")
    assert second.domain == "example.org"
    assert (trap.why, trap.examples) == ("is a trap", (("https://example.com/a/9?ref=x", ""),))
    for number in range(MOST_KINDS + 50):
        found.add(line(number, what=f"?p{number}=*"))
    assert found.seen == 11 + MOST_KINDS + 50
    assert len(found.ranked(10_000)) == MOST_KINDS


def test_the_report_has_a_section_only_if_requests_were_not_sent_and_a_wrong_line_is_named() -> (
    None
):
    summary = Summary()
    summary.add_line(verdict("a"))
    assert b'id="unsent"' not in render(summary, name="test")
    summary.add_line(line(1, what="?<script>=*"))
    report = render(summary, name="test").decode()
    section = report.partition('<section id="unsent">')[2].partition("</section>")[0]
    assert "?&lt;script&gt;=*" in section
    assert "https://example.com/a/1?ref=x" in section
    assert "1 request." in section
    with pytest.raises(ValueError, match="'url'"):
        summary.add_line({**line(1), "url": 5})
