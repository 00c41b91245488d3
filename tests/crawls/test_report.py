"""The verdict log and the report of real crawls."""

import json
import os
import time

import pytest
from lxml import html

from tests.crawls.harness import Answer, Site, crawl, html_answer, page, start, until

ROUTES = {
    "/a": page(1),
    "/b": page(1, noise=2),
    "/c": page(3),
    "/d": page(3, noise=4),
    "/e": page(1, noise=7),
    "/empty": html_answer("<html></html>"),
    "/gone": html_answer("gone", status=410),
    "/image": Answer(b"\x89PNG", headers={"Content-Type": "image/png"}),
}
PATHS = " ".join(ROUTES)
IMPATIENT = """
from simhash_gate.plugin import threads
threads.LONGEST_CLOSING, threads.MOST_WAITING = 1.0, 2
"""
OUTCOMES = ("new", "near", "duplicate", "unchanged", "skipped", "error")


QUIET = """
import logging
logging.getLogger("simhash_gate.drops").setLevel(logging.WARNING)
"""


def test_the_log_and_the_report_say_what_the_stats_say(tmp_path) -> None:
    settings = {
        "SIMHASH_GATE_VERDICTS": "logs/%(name)s.jsonl",
        "SIMHASH_GATE_REPORT": "reports/%(name)s %(time)s.html",
        "SIMHASH_GATE_DOMAINS": json.dumps({"127.0.0.1": {"window": 99}}),
        "CONCURRENT_REQUESTS": 1,
    }
    result = crawl(tmp_path, ROUTES, spider=QUIET, settings=settings)
    lines = [json.loads(line) for line in (tmp_path / "logs/test.jsonl").read_text().splitlines()]
    said = lines[0]["crawl"]
    assert time.time() - said["started"] < 300
    assert {line["matched_run"] for line in lines if line["matched_url"]} == {said["run"]}
    assert said["versions"].keys() == {"simhash_gate", "scrapy", "pipeline"}
    assert (said["by"], said["name"]) == ("crawl", "test")
    assert said["domains"] == {"127.0.0.1": {"window": 99}}
    of_the_gate = settings | {"SIMHASH_GATE_WORKERS": 0}
    del of_the_gate["SIMHASH_GATE_DOMAINS"], of_the_gate["CONCURRENT_REQUESTS"]
    assert said["settings"] == of_the_gate
    for outcome in OUTCOMES:
        assert sum(line["outcome"] == outcome for line in lines) == result.count(outcome)
    dropped = [line for line in lines if line["dropped"]]
    assert len(lines) == result.count("fetched") == 8
    assert len(dropped) == result.count("dropped") == 3
    assert sum(line["bytes"] for line in dropped) == result.count("bytes_saved")
    assert all(line["time"] for line in lines)
    assert dropped[0]["url"] == f"{result.site.url}/b"
    assert dropped[0]["matched_url"] == f"{result.site.url}/a"
    assert dropped[0]["matched_key"] == f"{result.site.url}/a".replace("http:", "https:")
    assert dropped[0]["canonical_url"] == f"{result.site.url}/b"
    assert dropped[0]["matched_title"] == "Story 1"

    assert "Dropped" not in result.log

    (path,) = (tmp_path / "reports").iterdir()
    assert path.name.startswith("test 20")
    assert f"The gate's report: {path}" in result.log
    root = html.fromstring(path.read_text("utf-8"))
    names = [head.text_content().lower() for head in root.xpath("//section[@id='domains']//th")]
    (row,) = root.xpath("//section[@id='domains']//tbody/tr")
    figures = dict(zip(names, (cell.text_content() for cell in row), strict=True))
    assert figures["domain"] == "127.0.0.1"
    assert figures["judged"] == str(result.count("checked"))
    for name in ("new", "duplicate", "skipped", "dropped"):
        assert figures[name] == str(result.count(name))
    assert "Spider test, started 20" in str(root.xpath("string(//header/p)"))
    assert root.xpath("string(//header//tbody/tr[2]/td[2]/code)") == "window = 99"
    links = root.xpath("//section[@id='clusters']/div/details[1]//a/@href")
    assert links[0] == f"{result.site.url}/a"
    assert set(links[1:]) == {f"{result.site.url}/b", f"{result.site.url}/e"}


def test_the_report_of_a_crawl_has_the_texts_of_what_differs(tmp_path) -> None:
    story, other = (
        html_answer(page(1).body.replace(b"</article>", b"<p>Now %d EUR.</p></article>" % price))
        for price in (12, 13)
    )
    routes = {"/a": story, "/b": other, "/c": story}
    settings = {
        "SIMHASH_GATE_REPORT": "report.html",
        "SIMHASH_GATE_THRESHOLD": 8,
        "SIMHASH_GATE_VERIFY": False,
        "CONCURRENT_REQUESTS": 1,
    }
    result = crawl(tmp_path, routes, "/a /b /c", settings=settings)
    assert result.count("dropped") == 2
    root = html.fromstring((tmp_path / "report.html").read_text("utf-8"))
    first, second = root.xpath("//section[@id='duplicates']//details")
    assert first.xpath(".//a/@href") == [f"{result.site.url}/a", f"{result.site.url}/b"]
    (place,) = first.xpath("p[@class='place']")
    assert [mark.text for mark in place.iter("ins", "del")] == ["12", "13"]
    kept, own = first.xpath(".//div[@class='text']")
    assert own.text_content().startswith(kept.text_content()[:40])
    assert second.xpath(".//div[@class='text']") == []
    (finding,) = root.xpath("//section[@id='answer']//li/b")
    assert finding.text_content().startswith("1 page dropped although the text says another price")


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        ("/dev/full", "SIMHASH_GATE_VERDICTS: no more verdicts are written to /dev/full: No space"),
        ("spider.py/log", "SIMHASH_GATE_VERDICTS: verdicts are not written to spider.py/log: "),
    ],
)
def test_a_log_or_a_report_that_can_not_be_written_costs_no_page(
    tmp_path, verdicts: str, message: str
) -> None:
    settings = {
        "SIMHASH_GATE_VERDICTS": verdicts,
        "SIMHASH_GATE_REPORT": "spider.py/report.html",
        "CONCURRENT_REQUESTS": 1,
    }
    result = crawl(tmp_path, ROUTES, settings=settings)
    assert result.status == 0
    assert result.delivered() == ["/a", "/c", "/empty", "/image"]
    assert result.log.count(message) == 1
    at_start, at_end = (line for line in result.log.splitlines() if "SIMHASH_GATE_REPORT: " in line)
    assert "spider.py/report.html can't be written: " in at_start
    assert "spider.py/report.html could not be written: " in at_end
    assert (
        result.log.index(at_start) < result.log.index("Closing spider") < result.log.index(at_end)
    )
    assert "Traceback" not in result.log


def test_a_disk_that_hangs_holds_no_crawl(tmp_path) -> None:
    os.mkfifo(tmp_path / "log.jsonl")  # nobody reads it: it can't even be opened
    settings = {"SIMHASH_GATE_VERDICTS": "log.jsonl", "CONCURRENT_REQUESTS": 1}
    result = crawl(tmp_path, ROUTES, spider=IMPATIENT, settings=settings)
    assert result.status == 0
    assert result.delivered() == ["/a", "/c", "/empty", "/image"]
    assert result.log.count("The crawl ends without all of its verdicts written") == 1
    assert f"Not written down: {len(ROUTES) - 2} verdicts;" in result.log


def test_a_crawl_that_fails_to_open_its_spider_waits_for_no_log(tmp_path) -> None:
    never_opened = """
class Broken:
    def open_spider(self):
        raise RuntimeError("no database")
"""
    settings = {"SIMHASH_GATE_VERDICTS": "log.jsonl", "ITEM_PIPELINES": '{"spider.Broken": 1}'}
    result = crawl(tmp_path, ROUTES, spider=IMPATIENT + never_opened, settings=settings)
    assert "no database" in result.log
    assert "verdicts" not in result.log
    assert not (tmp_path / "log.jsonl").exists()


def test_a_killed_crawl_leaves_the_log_of_what_it_did(tmp_path) -> None:
    routes = ROUTES | {"/slow": Answer(b"", delay=30)}
    log = tmp_path / "log.jsonl"
    settings = {"SIMHASH_GATE_VERDICTS": log}
    with Site(routes).running() as site:
        process, finish = start(tmp_path, site, f"{PATHS} /slow", settings=settings)
        until(lambda: log.exists() and len(log.read_bytes().splitlines()) == len(ROUTES))
        process.kill()
        finish()
    assert {json.loads(line)["url"] for line in log.read_text().splitlines()} == {
        site.url + path for path in ROUTES
    }
