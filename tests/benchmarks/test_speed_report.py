"""The report benchmark: it runs, and its table is made of what was measured."""

from __future__ import annotations

import json
import re
import sys

from benchmarks.speed.report import crawl, main


def test_the_crawl_is_the_same_each_time_and_has_all_outcomes() -> None:
    first, second = (list(crawl(1_000)) for _ in range(2))
    assert [url for _, url, _ in first] == [url for _, url, _ in second]
    outcomes = {verdict.outcome for verdict, _, _ in first}
    assert outcomes == {"new", "near", "duplicate", "unchanged", "skipped", "error"}


def test_without_a_browser_it_says_so(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert main(["--pages", "500", "--rounds", "1", "--out", str(tmp_path)]) == 1
    assert "no Chromium" in capsys.readouterr().err
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_without_playwright_it_says_what_to_install(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("CHROMIUM", "/usr/bin/env")
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    assert main(["--pages", "500", "--rounds", "1", "--out", str(tmp_path)]) == 1
    assert "pip install playwright" in capsys.readouterr().err


def test_it_measures_a_report_in_a_browser(tmp_path, capsys, chromium: str) -> None:
    assert main(["--pages", "500", "--rounds", "1", "--out", str(tmp_path)]) == 0
    assert re.search(r"^\| load event, s \| \d+\.\d+ \|", capsys.readouterr().out, re.MULTILINE)
    figures = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert figures["pages"] == 500
    assert figures["load event, s"] <= figures["a table sorted, s"]
