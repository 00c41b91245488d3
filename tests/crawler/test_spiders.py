from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from subprocess import CompletedProcess

import pytest

from crawler.site.process import PROJECT, SiteError, running_site, serve_number
from crawler.site.site import Site
from tests.crawls.loaded import LoadedProcess

pytestmark = pytest.mark.slow

NO_GATE = ("-s", "ADDONS={}")


def scrapy(*arguments, timeout=300, **environment):
    crawl = LoadedProcess(
        "scrapy", "crawl", *arguments, cwd=PROJECT, env={**os.environ, **environment}
    )
    stdout, stderr = crawl.communicate(timeout)
    return CompletedProcess(arguments, crawl.returncode, stdout, stderr)


def items(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def site_of(log):
    return re.search(r"demonstration site at (http://\S+)", log)[1]


def test_without_the_gate_everything_is_delivered(tmp_path):
    feed = tmp_path / "out.jsonl"
    done = scrapy("demo", "-a", "articles=12", "-a", "seed=2", "-O", str(feed), *NO_GATE)
    figures = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0
    assert figures["articles"] == 12
    assert figures["lost"] == figures["products_lost"] == figures["updates_dropped"] == 0
    site = Site(12, 2)
    assert figures["offers"] == len(site.shop.plan.offers) + len(site.offers)
    assert figures["offers_lost"] == 0
    assert figures["duplicates"] == figures["duplicates_delivered"] >= 0.3 * figures["fetched"]
    assert figures["caught"] == 0
    assert figures["updates"] > 0
    assert figures["pages_per_second"] > 0
    pages = items(feed)
    assert {page["article_id"] for page in pages} - {None} == {f"a{n:05}" for n in range(12)}
    assert {"url", "title", "markdown", "fingerprint", "fetched_at"} < set(pages[0])
    offers = {f"{p['sku']};{p['variant'] or ''};{p['price']}" for p in pages if p["sku"]}
    assert offers == site.shop.plan.offers | set(site.offers.values())
    assert all((p["article_id"] is None) == (p["article_version"] is None) for p in pages)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "-a", "articles=0"], "articles='0' is not a number of at least 1"),
        (["demo", "-a", "site=http://127.0.0.1:9"], "no demonstration site answers at http://127"),
        (["demo", "-a", "site=x", "-a", "part=3/2"], "part='3/2' is not like 1/4, the first of"),
        (["demo", "-a", "urls=nothing"], "urls='nothing' is none of tracking, sessions, print, fa"),
        (["articles", "-a", "url=example.com"], "url='example.com' is not an http or https URL"),
    ],
)
def test_a_bad_argument_ends_with_one_message(arguments, message):
    done = scrapy(*arguments, *NO_GATE)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_an_interrupted_demo_ends_with_its_figures_and_stops_its_site():
    command = [sys.executable, "-m", "scrapy", "crawl", "demo", "-a", "articles=300", *NO_GATE]
    with subprocess.Popen(
        [*command, "-s", "LOGSTATS_INTERVAL=0.1"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as crawl:
        log = ""
        for line in crawl.stderr:
            log += line
            if re.search(r"Crawled [1-9]\d* pages", line):
                break
        crawl.send_signal(signal.SIGINT)
        stdout, _ = crawl.communicate(timeout=120)
    figures = json.loads(stdout.splitlines()[-1])
    assert figures["articles"] == 300
    assert 0 < figures["fetched"] < 1000
    with pytest.raises(SiteError, match="no demonstration site answers"):
        serve_number(site_of(log))


def test_articles_crawls_the_sites_it_is_given_and_stops_at_max_pages(tmp_path):
    feed = tmp_path / "out.jsonl"
    with running_site(5) as one, running_site(5, 2) as two:
        done = scrapy(
            *("articles", "-a", f"url={one}/, {two}/about", "-a", "max_pages=20"),
            *("-O", str(feed), "-s", "DOWNLOAD_DELAY=0"),
        )
    pages = items(feed)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert 10 < len(pages) <= 20
    assert set(pages[0]) == {"url", "title", "markdown", "fingerprint", "fetched_at"}
    assert all(page["title"] for page in pages)
    # What the gate has read is in its items.
    assert any(len(page["markdown"]) > 500 for page in pages)
    assert any(int(page["fingerprint"] or "0", 16) for page in pages)


def test_the_demo_says_where_its_report_is_and_leaves_a_store_alone(tmp_path):
    written, store = tmp_path / "report of demo.html", tmp_path / "store.sqlite"
    setting = f"SIMHASH_GATE_REPORT={tmp_path}/report of %(name)s.html"
    store_setting = f"SIMHASH_GATE_STORE=sqlite:///{store}"
    done = scrapy("demo", "-a", "articles=2", "-s", setting, "-s", store_setting)
    assert done.stdout.splitlines()[-2] == f"The report of what was dropped, and why: {written}"
    assert written.stat().st_size > 1000
    assert "is for -a site=" in done.stderr
    assert not store.exists()
    assert json.loads(done.stdout.splitlines()[-1])["lost"] == 0


def test_the_demo_says_how_to_get_a_report(tmp_path):
    (tmp_path / "vl_convert.py").write_text("raise ImportError('none here')")
    with running_site(2) as url:
        for environment, how in (
            ({}, "-s SIMHASH_GATE_REPORT=report.html"),
            ({"PYTHONPATH": str(tmp_path)}, "pip install -e '.[report]'"),
        ):
            done = scrapy("demo", "-a", f"site={url}", **environment)
            assert how in done.stdout.splitlines()[-2]
            assert json.loads(done.stdout.splitlines()[-1])["articles"] == 2
