"""The demonstration's scenarios of URLs: one short crawl each, judged by what the site knows."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawler.site.process import running_site, truth
from crawler.site.scenes.catalogue import TRAPS, VARIANTS
from tests.crawls.loaded import LoadedProcess

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize("urls", VARIANTS)
def test_no_article_is_lost_where_urls_say_more_than_they_need(urls, tmp_path) -> None:
    feed = tmp_path / "items.jsonl"
    figures, told, _ = demo("-a", f"urls={urls}", "-a", "articles=24", "-O", str(feed))
    items = [json.loads(line) for line in feed.read_text("utf-8").splitlines()]
    assert len({item["article_id"] for item in items} - {None}) == 24
    assert figures["lost"] == 0
    assert (figures["articles"], figures["warmup"]) == (24, 12)
    # What is to be avoided hangs on the site alone, not on what was avoided of it.
    assert figures["avoidable"] >= 20
    assert figures["fetches_avoided"] <= figures["avoidable"] + figures["warmup"]
    assert re.search(rf"avoidable +{figures['avoidable']}   requests for what is known", told)


@pytest.mark.parametrize("urls", TRAPS)
def test_a_crawl_that_does_not_leave_a_trap_is_ended_and_says_so(urls) -> None:
    with running_site(12, urls=urls, trap_limit=60) as site:
        arguments = ("-a", f"site={site}", "-a", f"urls={urls}", "-s", "SIMHASH_GATE_TRAPS=off")
        figures, told, log = demo(*arguments, "-s", "SIMHASH_GATE_URLS=off")
    assert figures["trap_full"] is True
    assert figures["trap_fetches"] == 60
    assert re.search(r"in the trap\s+60   pages fetched; FAILED: the site had to end it", told)
    assert "The crawl did not leave the trap" in log
    assert "Spider closed (trap)" in log


def test_the_command_line_says_what_becomes_of_requests() -> None:
    off = ("-s", "SIMHASH_GATE_URLS=off", "-s", "SIMHASH_GATE_TRAPS=off")
    figures, _, _ = demo("-a", "urls=tracking", "-a", "articles=100", *off)
    assert figures["fetches_avoided"] == figures["probes"] == 0
    assert figures["avoidable"] > 250
    learned, _, log = demo("-a", "urls=tracking", "-a", "articles=100")
    assert learned["fetches_avoided"] > 0
    assert learned["fetched"] < figures["fetched"]
    assert learned["lost"] == 0
    assert re.search(r"'simhash_gate/url/avoided': (\d+)", log)[1] == str(
        learned["fetches_avoided"]
    )


def test_a_rule_goes_on_for_older_stories_when_it_fails_for_newer_ones() -> None:
    figures, _, log = demo("-a", "urls=turning", "-a", "articles=400")
    assert figures["lost"] == 0
    newer = r"stories/{number} after 1\d\d\d: \?edition=\* makes a difference"
    assert re.search(newer, log)
    assert "stories/{number}: ?edition=* makes a difference" not in log
    after = log[re.search(newer, log).end() :]
    older = [int(found) for found in re.findall(r"Not fetched http\S+/stories/(\d+)", after)]
    assert older
    assert max(older) < 1200
    assert figures["fetches_avoided"] >= 0.7 * figures["avoidable"]


def test_a_crawl_without_a_scenario_has_nothing_to_tell_of_urls() -> None:
    figures, told, _ = demo("-a", "articles=4")
    assert (figures["fetches_avoided"], figures["probes"], figures["trap_fetches"]) == (0, 0, 0)
    assert figures["avoidable"] > 0
    assert "avoidable" not in told


def test_the_names_of_a_site_are_found_without_a_name_server() -> None:
    with running_site(12, urls="aliases") as site:
        demo("-a", f"site={site}", "-a", "urls=aliases", "-s", "SIMHASH_GATE_URLS=off")
        homes = {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, served(site))}
    name = "daily-miniature.example.net"
    assert homes == {f"http://{name}", f"http://www.{name}", f"http://m.{name}", f"https://{name}"}


def served(site: str) -> list[str]:
    return [entry.path for entry in truth(site).log]
