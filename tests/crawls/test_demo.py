"""The demonstration crawl, judged by what its site knows, undisturbed and killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crawler.site.process import running_site, truth

ROOT = Path(__file__).parents[2]


def start_demo(feed: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrapy", "crawl", "demo", "-O", str(feed), *arguments]
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env=environment)


def article_ids(feed: Path) -> set[str]:
    """The articles in a feed; a killed crawl may leave its last line unfinished."""
    found = set()
    for line in feed.read_text("utf-8").splitlines() if feed.exists() else []:
        try:
            found.add(json.loads(line)["article_id"])
        except ValueError:
            continue
    return found - {None}


@pytest.mark.parametrize("seed", [1, 2])
def test_the_demo_loses_no_article_and_catches_most_duplicates(tmp_path, seed: int) -> None:
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
    assert "Traceback" not in log


def test_no_article_is_lost_to_ten_kills(tmp_path) -> None:
    moments = random.Random(7)
    store = f"SIMHASH_GATE_STORE=sqlite:///{tmp_path}/store.sqlite"
    delivered: set[str] = set()
    with running_site(articles=40, seed=3) as site:
        for attempt in range(10):
            feed = tmp_path / f"{attempt}.jsonl"
            crawl = start_demo(feed, "-a", f"site={site}", "-s", store)
            time.sleep(moments.uniform(0.6, 3.0))
            crawl.send_signal(signal.SIGKILL)
            crawl.communicate()
            delivered |= article_ids(feed)
        last = start_demo(tmp_path / "last.jsonl", "-a", f"site={site}", "-s", store)
        output, _ = last.communicate(timeout=300)
        everything = set(truth(site).articles)
    assert delivered | article_ids(tmp_path / "last.jsonl") == everything
    assert json.loads(output.splitlines()[-1])["articles"] == len(everything) == 40
