"""The closing table of real crawls: its rows, their sum, and the stats."""

from __future__ import annotations

import asyncio
import logging
import re

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin import stats
from simhash_gate.plugin.listeners import Closing, Crawl, Judged
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.settings import read_settings
from tests.crawls.harness import Answer, Site, crawl, html_answer, page

ROUTES = {
    "/a": page(1),
    "/b": page(1, noise=2),
    "/c": page(3),
    "/d": page(3, noise=4),
    "/empty": html_answer("<html></html>"),
    "/gone": html_answer("gone", status=410),
    "/image": Answer(b"\x89PNG", headers={"Content-Type": "image/png"}),
}
COUNTED = (
    *("fetched", "skipped", "checked", "new", "near", "duplicate", "unchanged", "error"),
    *("passed", "dropped"),
)
SPIDER = """
    async def start(self):
        for path in self.settings["TEST_PATHS"].split():
            for host in ("127.0.0.1", "localhost"):
                site = self.settings["TEST_SITE"].replace("127.0.0.1", host)
                yield scrapy.Request(site + path, errback=self.failed)
"""


def table(log: str) -> tuple[list[str], list[dict[str, str]]]:
    """Return the lines of the legend, and the rows by the names of their columns."""
    _, _, after = log.partition("Near-duplicates by domain:\n")
    lines = after.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("domain  "))
    end = next(n for n, line in enumerate(lines) if line.startswith("all domains"))
    head, *rows = (re.split(r" {2,}", line) for line in lines[start : end + 1])
    return lines[:start], [dict(zip(head, row, strict=False)) for row in rows]


def test_the_sum_is_that_of_the_rows_and_of_the_stats(tmp_path) -> None:
    settings = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_AUDIT": 1, "SIMHASH_GATE_LOG": "summary"}
    with Site(ROUTES).running() as site:
        result = crawl(tmp_path, site, " ".join(ROUTES), spider=SPIDER, settings=settings)
    assert "Dropped" not in result.log
    assert "To have them, set SIMHASH_GATE_VERDICTS" in result.log
    legend, rows = table(result.log)
    assert len(legend) == 2
    assert legend[0].startswith("fetched = skipped")
    *domains, total = rows
    assert {row["domain"] for row in domains} == {"127.0.0.1", "localhost"}
    for name in COUNTED:
        assert sum(int(row[name]) for row in domains) == int(total[name]) == result.count(name)
    assert total["fetched"] == "14"
    assert total["dropped"] == "4"
    assert total["% dropped"] == "50.0"
    assert int(total["bytes saved"].replace(",", "")) == result.count("bytes_saved")
    for row in rows:
        counts = {name: int(row[name]) for name in COUNTED}
        assert counts["fetched"] == counts["skipped"] + counts["checked"]
        assert counts["checked"] == counts["passed"] + counts["dropped"]
    assert total["audited"] == "4"
    assert total["compared"] == str(sum(int(row["compared"]) for row in domains)) == "4"


def test_domains_that_have_no_row_are_in_the_sum(caplog) -> None:
    crawl = Crawl(get_crawler(), read_settings({}), StoreThread("9c1f"))
    counted = stats.GateStats(crawl)
    verdict = Verdict("skipped", "status")
    for number in range(stats.MOST_DOMAINS + 3):
        url = f"https://{number}.org/"
        judged = Judged(Request(url), Response(url), verdict, f"{number}.org", skipped="status")
        counted.judged(judged, None)
    with caplog.at_level(logging.INFO):
        asyncio.run(counted.closed(Closing()))
    lines = caplog.messages[-1].splitlines()
    assert lines[-2] == "and 3 more domains"
    assert lines[-1].split()[:4] == ["all", "domains", "53", "53"]
