"""Several crawlers at once, one Redis, one site: each page once, none lost, a report of all."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from crawler.site.process import running_site, truth
from simhash_gate.plugin.unsettled import UNKNOWN
from simhash_gate.report.fleet import Fleet, total_of
from tests.crawls.harness import demonstration, told_by

CRAWLERS = 3
OWN_PAGES: tuple[str, ...] = ()
ALL_PAGES = ("SIMHASH_GATE_ACTION=links", "SIMHASH_GATE_REVISIT=drop")


def stat(log: str, name: str) -> int:
    """Read one of the stats that Scrapy dumps in the end."""
    found = re.search(rf"'simhash_gate/{name}': (\d+)", log)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("settings", [OWN_PAGES, ALL_PAGES], ids=["own pages", "all pages"])
def test_several_crawlers_deliver_each_page_once(redis_server, tmp_path, settings) -> None:
    store = f"{redis_server.url}?prefix=fleet-{len(settings)}:"
    with running_site(articles=16, seed=5) as site:
        crawls = [
            demonstration(
                *("demo", "-a", f"site={site}"),
                *(() if settings else ("-a", f"part={number}/{CRAWLERS}")),
                *("-O", str(tmp_path / f"{number}.items.jsonl")),
                *("-s", f"SIMHASH_GATE_STORE={store}", "-s", "SIMHASH_GATE_WORKERS=0"),
                *("-s", f"SIMHASH_GATE_VERDICTS={tmp_path}/logs/{number}.jsonl"),
                *(word for setting in settings for word in ("-s", setting)),
            )
            for number in range(1, CRAWLERS + 1)
        ]
        ended = [told_by(crawl) for crawl in crawls]
        articles = set(truth(site).articles)
    assert [figures["articles"] for figures, _, _ in ended] == [len(articles)] * CRAWLERS

    items = [
        json.loads(line)
        for number in range(1, CRAWLERS + 1)
        for line in (tmp_path / f"{number}.items.jsonl").read_text("utf-8").splitlines()
    ]
    assert {item["article_id"] for item in items} - {None} == articles
    logs = sorted((tmp_path / "logs").iterdir())
    fleet, lines = Fleet(), []
    for log in logs:
        fleet.begin(log.name)
        for line in map(json.loads, log.read_text("utf-8").splitlines()):
            fleet.add_line(line)
            lines.append(line)
    # What has too few words is compared with nothing; what is not settled in time passes, too.
    passes = ("compared with nothing", UNKNOWN)
    excused = {line["url"] for line in lines if any(why in line["reason"] for why in passes)}
    delivered = Counter(item["url"] for item in items)
    assert {url for url, times in delivered.items() if times > 1} <= excused
    assert len(delivered) > len(articles)

    rows = [row for _, row in fleet.rows()]
    for row, (_, _, log) in zip(rows, ended, strict=True):
        figures = (row.responses, row.skipped, row.judged, row.dropped, row.delivered + row.held)
        stats = ("fetched", "skipped", "checked", "dropped", "passed")
        assert figures == tuple(stat(log, name) for name in stats)
        assert row.errors == stat(log, "error") == 0
        assert (row.held > 0) == bool(settings)
        assert row.own + row.others == row.dropped + row.held
        assert row.earlier == 0
    total = total_of(rows)
    assert total.responses == fleet.total.seen == len(lines)
    assert total.delivered == len(items)
    assert total.others == total.against > 0
    found = fleet.deliveries()
    assert found.pages[1] >= len(delivered) - len(excused)
    assert sum(by * pages for by, pages in found.pages.items()) + found.again == len(items)
