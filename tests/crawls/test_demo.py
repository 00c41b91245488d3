"""The demonstration crawl, judged by what its site knows, undisturbed and killed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crawler.site.news import Site
from crawler.site.process import running_site, truth
from simhash_gate.settings import TABLE
from tests.crawls.harness import demonstration, told_by, until
from tests.crawls.loaded import LoadedProcess


def start_demo(feed: Path, *arguments: str) -> LoadedProcess:
    return demonstration("demo", "-O", str(feed), *arguments)


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


def unclear(line: str) -> bool:
    """Whether a message of the log begins with no subject, counts without a number, names a setting
    that is not there, or shows an object of Python."""
    message = line.partition("] ")[2].partition(": ")[2]
    no_subject = re.match(r"(?:It|They|These|This|Such|[a-z]+)\b(?!://)", message)
    no_number = re.search(r"(?:: | of | and )(?!\d)\S+ (?:pages|items|listings|URLs)\b", message)
    settings = re.findall(r"SIMHASH_GATE_\w+", message)
    of_python = re.search(r"builtins|NoneType|Errno|\bNone\b|%[sd]|<class", message)
    return bool(no_subject or no_number or of_python or not set(settings) <= TABLE.keys())


def test_the_demo_loses_no_article_or_offer_and_catches_most_duplicates(tmp_path) -> None:
    feed = tmp_path / "items.jsonl"
    figures, told, log = told_by(start_demo(feed, "-a", "articles=48", "-a", "seed=2"))
    assert [line for line in log.splitlines() if "[simhash_gate." in line and unclear(line)] == []
    site = Site(48, 2)
    assert (figures["articles"], figures["lost"]) == (48, 0)
    assert len(article_ids(feed)) == 48
    # What the gate has read is in its items.
    assert any(len(item["markdown"]) > 500 for item in items(feed))
    assert any(int(item["fingerprint"] or "0", 16) for item in items(feed))
    assert figures["duplicates"] >= 0.3 * figures["fetched"]
    assert figures["updates"] >= 0.05 * figures["fetched"]
    assert figures["caught"] >= 0.8
    assert figures["updates_dropped"] <= 0.05 * figures["updates"]
    assert (figures["offers"], figures["offers_lost"]) == (len(site.shop.offers), 0)
    assert offers(feed) == site.shop.offers
    assert "avoidable" not in told  # without a scenario of URLs there is nothing to tell of them


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
        figures, _, _ = told_by(start_demo(feeds[-1], "-a", f"site={site}", "-s", store))
        everything = set(truth(site).articles)
    assert set().union(*map(article_ids, feeds)) == everything
    assert set().union(*map(offers, feeds)) == Site(24, 3).shop.offers
    assert (figures["articles"], figures["offers_lost"]) == (len(everything), 0) == (24, 0)


def test_crawlers_with_a_part_of_the_site_each_lose_no_article(redis_server, tmp_path) -> None:
    store = f"SIMHASH_GATE_STORE={redis_server.url}?prefix=parts:"
    feeds = [tmp_path / f"{part}.jsonl" for part in (1, 2, 3)]
    with running_site(articles=16, seed=5) as site:
        crawls = [
            start_demo(feed, "-a", f"site={site}", "-a", f"part={feed.stem}/3", "-s", store)
            for feed in feeds
        ]
        figures = [told_by(crawl)[0] for crawl in crawls]
        everything = set(truth(site).articles)
    assert [told["articles"] for told in figures] == [len(everything)] * 3
    assert set().union(*map(article_ids, feeds)) == everything


def demo_of_urls(scenario: str, *arguments: str) -> tuple[dict, str, str]:
    settings = ("-s", "SIMHASH_GATE_REPORT=", "-s", "SIMHASH_GATE_WORKERS=0")
    return told_by(demonstration("demo", "-a", f"urls={scenario}", *arguments, *settings))


def test_no_article_is_lost_where_a_parameter_matters_on_some_pages_only(tmp_path) -> None:
    feed = tmp_path / "items.jsonl"
    figures, told, _ = demo_of_urls("partial", "-a", "articles=24", "-O", str(feed))
    assert len(article_ids(feed)) == 24
    assert (figures["articles"], figures["lost"]) == (24, 0)
    assert re.search(rf"avoidable +{figures['avoidable']}   requests for what is known", told)


def test_a_site_of_many_names_is_crawled_and_no_name_server_is_asked() -> None:
    with running_site(16, urls="aliases") as site:
        figures, _, _ = demo_of_urls("aliases", "-a", f"site={site}")
        served = [urlsplit(entry.path) for entry in truth(site).log]
    name = "daily-miniature.example.net"
    homes = {f"http://{name}", f"http://www.{name}", f"http://m.{name}", f"https://{name}"}
    assert {f"{url.scheme}://{url.netloc}" for url in served} == homes
    assert figures["avoidable"] > 50
    assert figures["lost"] == 0
