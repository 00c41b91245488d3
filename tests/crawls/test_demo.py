"""The demonstration crawl, judged by what its site knows, undisturbed and killed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.site.process import running_site, truth
from crawler.site.site import Site
from tests.crawls.harness import until
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


def test_the_demo_loses_no_article_or_offer_and_catches_most_duplicates(tmp_path) -> None:
    feed = tmp_path / "items.jsonl"
    process = start_demo(feed, "-a", "articles=48", "-a", "seed=2")
    output, log = process.communicate(timeout=300)
    *told, last = output.splitlines()
    figures = json.loads(last)
    site = Site(48, 2)
    assert process.returncode == 0
    assert "Traceback" not in log
    assert (figures["articles"], figures["lost"]) == (48, 0)
    assert len(article_ids(feed)) == 48
    assert figures["duplicates"] >= 0.3 * figures["fetched"]
    assert figures["updates"] >= 0.05 * figures["fetched"]
    assert figures["caught"] >= 0.8
    assert figures["updates_dropped"] <= 0.05 * figures["updates"]
    assert (figures["offers"], figures["offers_lost"]) == (len(offers_of(site)), 0)
    assert offers(feed) == offers_of(site)
    # Without a scenario of URLs there is nothing to tell of them.
    assert (figures["fetches_avoided"], figures["probes"], figures["trap_fetches"]) == (0, 0, 0)
    assert figures["avoidable"] > 0
    assert "avoidable" not in "\n".join(told)
    _, rows = table(log)
    sums = {name: int(rows[-1][name]) for name in ("fetched", "skipped", "checked", "dropped")}
    assert sums["fetched"] == sums["skipped"] + sums["checked"]
    # A page that sends the browser elsewhere at once is served, and is no page for the gate.
    assert figures["fetched"] == sums["checked"] + len(site.pages.refreshes)
    assert sums["dropped"] >= figures["duplicates"] - figures["duplicates_delivered"]


def test_no_article_or_offer_is_lost_to_four_kills(tmp_path) -> None:
    store = f"SIMHASH_GATE_STORE=sqlite:///{tmp_path}/store.sqlite"
    feeds = [tmp_path / f"{attempt}.jsonl" for attempt in range(5)]
    with running_site(articles=24, seed=3) as site:
        for attempt, feed in enumerate(feeds[:-1]):
            crawl = start_demo(feed, "-a", f"site={site}", "-s", store)
            before, pages = len(truth(site).log), 20 * attempt  # farther each time
            until(lambda: len(truth(site).log) > before + pages)  # noqa: B023
            crawl.kill()
            crawl.communicate()
        last = start_demo(feeds[-1], "-a", f"site={site}", "-s", store)
        output, _ = last.communicate(timeout=300)
        everything = set(truth(site).articles)
    figures = json.loads(output.splitlines()[-1])
    assert set().union(*map(article_ids, feeds)) == everything
    assert set().union(*map(offers, feeds)) == offers_of(Site(24, 3))
    assert (figures["articles"], figures["offers_lost"]) == (len(everything), 0) == (24, 0)
