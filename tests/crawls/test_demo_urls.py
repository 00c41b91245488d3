"""The demonstration's scenarios of URLs: one short crawl each, judged by what the site knows."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from crawler.site.process import running_site, truth
from tests.crawls.loaded import LoadedProcess

ROOT = Path(__file__).parents[2]
OFF = ("-s", "SIMHASH_GATE_URLS=off", "-s", "SIMHASH_GATE_TRAPS=off")


def demo(*arguments: str) -> tuple[dict, str, str]:
    """Crawl; return the figures, what was printed before them, and the log."""
    settings = ("-s", "SIMHASH_GATE_REPORT=", "-s", "SIMHASH_GATE_WORKERS=0")
    command = ("scrapy", "crawl", "demo", *arguments, *settings)
    process = LoadedProcess(*command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    output, log = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Traceback" not in log
    *before, figures = output.splitlines()
    return json.loads(figures), "\n".join(before), log


def test_no_article_is_lost_where_a_parameter_matters_on_some_pages_only(tmp_path) -> None:
    feed = tmp_path / "items.jsonl"
    figures, told, _ = demo("-a", "urls=partial", "-a", "articles=24", "-O", str(feed))
    items = [json.loads(line) for line in feed.read_text("utf-8").splitlines()]
    assert len({item["article_id"] for item in items} - {None}) == 24
    assert (figures["articles"], figures["lost"], figures["warmup"]) == (24, 0, 12)
    assert figures["fetches_avoided"] <= figures["avoidable"] + figures["warmup"]
    assert re.search(rf"avoidable +{figures['avoidable']}   requests for what is known", told)


def test_the_command_line_says_what_becomes_of_requests_and_no_name_server_is_asked() -> None:
    with running_site(16, urls="aliases") as site:
        figures, _, _ = demo("-a", f"site={site}", "-a", "urls=aliases", *OFF)
        served = [urlsplit(entry.path) for entry in truth(site).log]
    name = "daily-miniature.example.net"
    homes = {f"http://{name}", f"http://www.{name}", f"http://m.{name}", f"https://{name}"}
    assert {f"{url.scheme}://{url.netloc}" for url in served} == homes
    assert figures["fetches_avoided"] == figures["probes"] == 0
    assert figures["avoidable"] > 50
    learned, _, log = demo("-a", "urls=aliases", "-a", "articles=16")
    assert learned["fetches_avoided"] > 0
    assert learned["fetched"] < figures["fetched"]
    assert learned["lost"] == figures["lost"] == 0
    assert f"'simhash_gate/url/avoided': {learned['fetches_avoided']}" in log


def test_a_crawl_that_does_not_leave_a_trap_is_ended_and_says_so() -> None:
    with running_site(4, urls="calendar", trap_limit=30) as site:
        figures, told, log = demo("-a", f"site={site}", "-a", "urls=calendar", *OFF)
    assert (figures["trap_full"], figures["trap_fetches"]) == (True, 30)
    assert re.search(r"in the trap\s+30   pages fetched; FAILED: the site had to end it", told)
    assert "The crawl did not leave the trap" in log
    assert "Spider closed (trap)" in log
