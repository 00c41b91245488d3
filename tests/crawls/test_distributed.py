"""Four crawls share one demonstration site and one store: what they deliver together."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

from crawler.site.process import running_site, truth
from tests.crawls.loaded import LoadedProcess

ROOT = Path(__file__).parents[2]
PARTS = 4


def start(site: str, store: str, feed: Path, part: int) -> LoadedProcess:
    command = [
        "scrapy", "crawl", "demo", "-a", f"site={site}",
        "-a", f"part={part}/{PARTS}", "-O", str(feed), "-s", f"SIMHASH_GATE_STORE={store}",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return LoadedProcess(*command, cwd=ROOT, env=environment)


def test_no_article_is_lost_and_copies_are_dropped_across_processes(tmp_path, lasting_url) -> None:
    feeds = [tmp_path / f"{part}.jsonl" for part in range(1, PARTS + 1)]
    with running_site(articles=40, seed=5) as site:
        crawls = [start(site, lasting_url, feed, part) for part, feed in enumerate(feeds, 1)]
        ends = [crawl.communicate(timeout=400) for crawl in crawls]
        known = truth(site)
    assert [crawl.returncode for crawl in crawls] == [0] * PARTS
    figures = [json.loads(output.splitlines()[-1]) for output, _ in ends]
    logs = [log for _, log in ends]
    assert not any("Traceback" in log for log in logs)

    items = [[json.loads(line) for line in feed.read_text("utf-8").splitlines()] for feed in feeds]
    delivered = Counter(
        (item["article_id"], item["article_version"])
        for part in items
        for item in part
        if item["article_id"]
    )
    everything = set(known.articles)
    assert {article for article, _ in delivered} == everything
    for part in items:  # each has a share, and none has it all
        assert 0 < len({item["article_id"] for item in part} - {None}) < len(everything)
    assert [figure["articles"] for figure in figures] == [len(everything)] * PARTS

    versions = {(page.article, page.version) for page in known.log if page.article}
    urls = {page.path for page in known.log if page.article and page.status == 200}
    assert delivered.total() - len(delivered) <= 0.2 * (len(urls) - len(versions))
    assert any(stat(log, "dropped_for_earlier") > 0 for log in logs)  # one is last


def stat(log: str, name: str) -> int:
    """Read one of the stats that Scrapy dumps in the end."""
    found = re.search(rf"'simhash_gate/{name}': (\d+)", log)
    return int(found[1]) if found else 0
