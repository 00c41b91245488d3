"""The spiders as they are started: with the gate and without, and with what they can not take."""

import re
import signal

import pytest

from crawler.site.process import SiteError, serve_number
from tests.crawls.harness import (
    Site,
    demonstration,
    html_answer,
    json_lines,
    page,
    told_by,
    until,
)

NO_GATE = ("-s", "ADDONS={}")


def test_without_the_gate_everything_is_delivered(tmp_path):
    feed = tmp_path / "out.jsonl"
    crawl = demonstration("demo", "-a", "articles=12", "-a", "seed=2", "-O", str(feed), *NO_GATE)
    figures, _, _ = told_by(crawl)
    assert figures["articles"] == 12
    assert figures["lost"] == figures["products_lost"] == figures["offers_lost"] == 0
    assert figures["updates_dropped"] == 0
    assert figures["duplicates"] == figures["duplicates_delivered"] >= 0.3 * figures["fetched"]
    assert figures["caught"] == 0
    pages = json_lines(feed)
    assert {page["article_id"] for page in pages} - {None} == {f"a{n:05}" for n in range(12)}
    assert {"canonical_url", "title", "markdown", "fingerprint", "fetched_at"} < set(pages[0])


def test_the_articles_of_a_site_come_once_without_lists_and_fields_that_are_not_known(tmp_path):
    links = "".join(
        f'<h2><a href="/{n}?utm_source=top">Story {n}</a></h2><p>So it began.</p>' for n in (1, 2)
    )
    routes = {
        "/": html_answer(f"<h1>News</h1>{links}"),
        "/1?utm_source=top": page(1),
        "/2?utm_source=top": page(2),
    }
    routes["/2?utm_source=top"] = page(2, links='<a href="/1?print=1">print</a>')
    routes["/1?print=1"], feed = page(1, noise=2), tmp_path / "out.jsonl"
    with Site(routes).running() as site:
        crawl = demonstration("articles", "-a", f"url={site.url}/", "-O", str(feed))
        _, log = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, log
    found = {item.pop("url"): set(item) for item in json_lines(feed)}
    assert found == {f"{site.url}/{n}": {"title", "markdown"} for n in (1, 2)}
    assert "Dropped" in log


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "-a", "articles=0"], "articles='0' is not a number of at least 1"),
        (["demo", "-a", "site=http://127.0.0.1:9"], "no demonstration site answers at http://127"),
        (["demo", "-a", "site=x", "-a", "part=3/2"], "part='3/2' is not like 1/4, the first of"),
        (["articles"], "url='' is no URL; write one such as https://example.com"),
        (["demo", "-a", "urls=nothing"], "urls='nothing' is none of tracking, sessions, print, fa"),
    ],
)
def test_a_bad_argument_ends_with_one_message(arguments, message):
    crawl = demonstration(*arguments, *NO_GATE)
    _, log = crawl.communicate()
    assert crawl.returncode == 1
    assert message in log.splitlines()[-1]
    assert "Traceback" not in log


def test_an_interrupted_demo_ends_with_its_figures_and_stops_its_site(tmp_path):
    log = tmp_path / "log"
    logged = ("-s", f"LOG_FILE={log}", "-s", "LOGSTATS_INTERVAL=0.1")
    crawl = demonstration("demo", "-a", "articles=300", *logged, *NO_GATE)
    until(lambda: log.exists() and re.search(r"Crawled [1-9]\d* pages", log.read_text("utf-8")))
    crawl.send_signal(signal.SIGINT)
    figures, _, _ = told_by(crawl)
    assert figures["articles"] == 300
    assert 0 < figures["fetched"] < 1000
    (site,) = re.findall(r"demonstration site at (http://\S+)", log.read_text("utf-8"))
    with pytest.raises(SiteError, match="no demonstration site answers"):
        serve_number(site)
