"""`simhash-gate report` over the verdict logs of several crawlers."""

import gzip
import json
from pathlib import Path

import pytest
from lxml import html

from tests.report.verdicts import copy, crawl, verdict


def log_of(run: str, *lines: dict) -> str:
    first = lines[0] | crawl("news", run=run)
    return "".join(json.dumps(line) + "\n" for line in (first, *lines[1:]))


ONE = log_of("r1", verdict("a"), verdict("b"))
TWO = log_of("r2", verdict("c"), copy("d", "a", title="About a", matched_run="r1"))


@pytest.fixture
def logs(tmp_path) -> Path:
    folder = tmp_path / "logs"
    (folder / "deeper").mkdir(parents=True)
    (folder / "1.jsonl").write_text(ONE)
    (folder / "deeper/2.jsonl.gz").write_bytes(gzip.compress(TWO.encode()))
    return folder


def figures(page: str) -> list[list[str]]:
    """The names and figures of each crawler in a report, and of all."""
    root = html.fromstring(page)
    rows = root.xpath("//section[@id='fleet']//tr[td]")
    return [[cell.text_content() for cell in row][:7] for row in rows]


TWO_CRAWLERS = [
    ["news #1", "2", "0", "2", "2", "0", "0"],
    ["news #2", "2", "0", "2", "1", "1", "0"],
    ["all crawlers", "4", "0", "4", "3", "1", "0"],
]


def test_several_logs_have_a_table_of_crawlers_and_one_has_none(run, logs) -> None:
    (logs / "report.html").write_text("<p>An older report.")
    result = run("report", "logs", "-o", "report.html")
    assert result.status == 0
    assert result.err == "logs: 2 verdict logs, 1 other file not read\nverdicts in the report: 4\n"
    assert figures((logs.parent / "report.html").read_text()) == TWO_CRAWLERS
    both = run("report", logs / "1.jsonl", logs / "deeper/2.jsonl.gz")
    assert (both.status, figures(both.out)) == (0, TWO_CRAWLERS)
    one = run("report", logs / "deeper/2.jsonl.gz")
    assert (one.status, one.err) == (0, "verdicts in the report: 2\n")
    assert figures(one.out) == []


def test_a_log_that_is_broken_or_empty_does_not_hide_the_others(run, logs) -> None:
    (logs / "3.jsonl.gz").write_bytes(gzip.compress(TWO.encode() * 50)[:-9])
    (logs / "4.jsonl").write_text(ONE + '{"later": 1}\n{"outcome": "lost"}\n{"url')
    (logs / "5.jsonl").write_text("")
    result = run("report", logs, "-o", "report.html")
    assert result.status == 1
    assert f"{logs}/3.jsonl.gz: gzip can't unpack the rest: " in result.err
    assert f"{logs}/4.jsonl:4: 'outcome' is 'lost'" in result.err
    assert f"{logs}/4.jsonl:5: not JSON" in result.err
    assert f"{logs}: 4 verdict logs, 1 other file not read" in result.err
    names = [row[0] for row in figures((logs.parent / "report.html").read_text())]
    assert {"news #1", "news #2"} < set(names)
    nothing = run("report", logs / "5.jsonl", logs / "1.jsonl")
    assert nothing.status == 1
    assert f"{logs}/5.jsonl: no verdict in it" in nothing.err


def test_a_report_is_not_shown_on_a_terminal(at_terminal, logs) -> None:
    alone = at_terminal("report", "logs/1.jsonl", stdout=True, stderr=True, status=2)
    assert "A report is not shown on a terminal" in alone
