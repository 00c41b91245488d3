"""The closing table of real crawls: its rows, their sum, and the stats."""

import json
import re

from tests.crawls.harness import Site, crawl, page
from tests.crawls.test_report import ROUTES

COUNTED = ("fetched", "skipped", "checked", "new", "duplicate", "passed", "dropped")
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


def test_many_drops_are_worth_a_word_on_sparing_them(tmp_path) -> None:
    routes = {f"/{number}": page(number // 3, noise=number, words=60) for number in range(156)}
    log = crawl(tmp_path, routes, settings={"CONCURRENT_REQUESTS": 1}).log
    assert "104 pages were fetched, and dropped as copies. `simhash-gate urls` suggests" in log
    del routes["/155"], routes["/154"], routes["/152"], routes["/151"], routes["/149"]
    log = crawl(tmp_path, routes, settings={"CONCURRENT_REQUESTS": 1}).log
    assert "dropped as copies. " not in log


def test_the_sum_is_that_of_the_rows_and_of_the_stats(tmp_path) -> None:
    result = crawl(tmp_path, ROUTES, spider=SPIDER, settings={"CONCURRENT_REQUESTS": 1})
    legend, rows = table(result.log)
    assert len(legend) == 2
    assert legend[0].startswith("fetched = skipped")
    *domains, total = rows
    assert {row["domain"] for row in domains} == {"127.0.0.1", "localhost"}
    for name in COUNTED:
        assert sum(int(row[name]) for row in domains) == int(total[name]) == result.count(name)
    assert total["fetched"] == "16"
    assert total["dropped"] == "6"
    assert total["% dropped"] == "60.0"
    assert int(total["bytes saved"].replace(",", "")) == result.count("bytes_saved")
    for row in rows:
        counts = {name: int(row[name]) for name in COUNTED}
        assert counts["fetched"] == counts["skipped"] + counts["checked"]
        assert counts["checked"] == counts["passed"] + counts["dropped"]
        # Columns that have 0 in all rows are left out.
        assert row.keys().isdisjoint({"near", "updated", "unchanged", "error", "held back"})


def test_domains_that_have_no_row_are_in_the_sum(tmp_path) -> None:
    few = """
from simhash_gate.plugin.features import stats
stats.MOST_DOMAINS = 1
"""
    result = crawl(tmp_path, ROUTES, "/a /b", spider=SPIDER + few)
    _, (first, more, total) = table(result.log)
    assert more["domain"] == "and 1 more domain"
    assert (first["fetched"], total["fetched"]) == ("2", "4")


def test_a_page_whose_items_are_held_back_is_none_that_passed(tmp_path) -> None:
    settings = {"SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/pages.sqlite"}
    with Site(ROUTES).running() as site:
        first = crawl(tmp_path, site, " ".join(ROUTES), settings=settings)
        result = crawl(tmp_path, site, " ".join(ROUTES), settings=settings)
    _, (*_, total) = table(result.log)
    counts = {name: int(value) for name, value in total.items() if value.isdecimal()}
    assert counts["held back"] == counts["unchanged"] == result.count("held") > 0
    assert counts["checked"] == counts["passed"] + counts["held back"] + counts["dropped"]
    assert counts["passed"] < first.count("passed")


def test_settings_of_domains_that_were_not_met_are_named(tmp_path) -> None:
    told = "SIMHASH_GATE_DOMAINS names no domain of this crawl, but exmaple.com, b.example."
    with Site({"/1": page(1)}).running() as site:
        for others, expected in (({}, 1), ({"127.0.0.1": {"threshold": 2}}, 0)):
            named = {"www.exmaple.com": {"threshold": 1}, "b.example": {}, **others}
            settings = {"SIMHASH_GATE_DOMAINS": json.dumps(named)}
            log = crawl(tmp_path / str(expected), site, "/1", settings=settings).log
            assert log.count(told) == expected
