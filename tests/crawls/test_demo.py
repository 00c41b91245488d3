"""The demonstration crawl, judged by what its site knows, undisturbed and killed."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawler.site.process import running_site, truth
from crawler.site.site import Site
from tests.crawls.loaded import LoadedProcess
from tests.crawls.test_table import table

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


def start_demo(feed: Path, *arguments: str) -> LoadedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["scrapy", "crawl", "demo", "-O", str(feed), *arguments]
    return LoadedProcess(*command, cwd=ROOT, env=environment)


def items(feed: Path) -> Iterator[dict[str, Any]]:
    """The items in a feed; a killed crawl may leave its last line unfinished."""
    for line in feed.read_text("utf-8").splitlines() if feed.exists() else []:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def article_ids(feed: Path) -> set[str]:
    return {item["article_id"] for item in items(feed)} - {None}


def offers(feed: Path) -> set[str]:
    sold = (item for item in items(feed) if item["sku"])
    return {f"{item['sku']};{item['variant'] or ''};{item['price']}" for item in sold}


def offers_of(site: Site) -> set[str]:
    return site.shop.plan.offers | set(site.offers.values())


@pytest.mark.parametrize("seed", [1, 2])
def test_the_demo_loses_no_article_or_offer_and_catches_most_duplicates(
    tmp_path, seed: int
) -> None:
    process = start_demo(tmp_path / "items.jsonl", "-a", "articles=100", "-a", f"seed={seed}")
    output, log = process.communicate(timeout=300)
    figures = json.loads(output.splitlines()[-1])
    assert process.returncode == 0
    assert figures["articles"] == 100
    assert figures["lost"] == 0
    assert figures["duplicates"] >= 0.3 * figures["fetched"]
    assert figures["updates"] >= 0.05 * figures["fetched"]
    assert figures["caught"] >= 0.8
    assert figures["updates_dropped"] <= 0.05 * figures["updates"]
    assert len(article_ids(tmp_path / "items.jsonl")) == 100
    assert figures["offers"] == len(offers_of(Site(100, seed)))
    assert figures["offers_lost"] == 0
    assert offers(tmp_path / "items.jsonl") == offers_of(Site(100, seed))
    assert "Traceback" not in log
    _, rows = table(log)
    sums = {name: int(rows[-1][name]) for name in ("fetched", "skipped", "checked", "dropped")}
    assert sums["fetched"] == sums["skipped"] + sums["checked"]
    # A page that sends the browser elsewhere at once is served, and is no page for the gate.
    assert figures["fetched"] == sums["checked"] + len(Site(100, seed).pages.refreshes)
    assert sums["dropped"] >= figures["duplicates"] - figures["duplicates_delivered"]


def test_no_article_or_offer_is_lost_to_ten_kills(tmp_path) -> None:
    moments = random.Random(7)
    store = f"SIMHASH_GATE_STORE=sqlite:///{tmp_path}/store.sqlite"
    delivered: set[str] = set()
    sold: set[str] = set()
    with running_site(articles=40, seed=3) as site:
        for attempt in range(10):
            feed = tmp_path / f"{attempt}.jsonl"
            crawl = start_demo(feed, "-a", f"site={site}", "-s", store)
            time.sleep(moments.uniform(0.2, 2.4))
            crawl.send_signal(signal.SIGKILL)
            crawl.communicate()
            delivered |= article_ids(feed)
            sold |= offers(feed)
        last = start_demo(tmp_path / "last.jsonl", "-a", f"site={site}", "-s", store)
        output, _ = last.communicate(timeout=300)
        everything = set(truth(site).articles)
    assert delivered | article_ids(tmp_path / "last.jsonl") == everything
    assert sold | offers(tmp_path / "last.jsonl") == offers_of(Site(40, 3))
    figures = json.loads(output.splitlines()[-1])
    assert figures["articles"] == len(everything) == 40
    assert figures["offers_lost"] == 0
