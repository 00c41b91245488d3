"""Requests for pages that a crawl has: skipped by rules that it learned, and sent after all."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from contextlib import closing

import pytest

from simhash_gate.plugin.url_rules import JOB_FILE
from simhash_gate.stores import open_store
from simhash_gate.urls.saved import from_json
from tests.crawls.harness import Answer, Site, crawl, documented, html_answer, page, start, until

ARTICLES = 60
SKIP = {"SIMHASH_GATE_URLS": "skip", "CONCURRENT_REQUESTS": 2, "SIMHASH_GATE_URL_PROBES": 0.05}

# A page of links leads to each article under its own URL, then under others.
FOLLOWS = """
    def parse(self, response):
        if response.url.rpartition("/")[2].startswith("list"):
            for link in response.css("a::attr(href)").getall():
                yield self.request(link, **self.more(link))
            return
        for item in super().parse(response):
            yield item
    def more(self, link):
        return {}
"""


def listing(paths) -> Answer:
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    return html_answer(f"<html><head><title>All</title></head><body><ul>{links}</ul></body></html>")


def site_of(count: int = ARTICLES, *, matters_from: int = 10_000, status: int = 200) -> dict:
    """Articles under /story/N and two other URLs; from a number on, these are other articles."""
    routes: dict = {}
    for number in range(count):
        routes[f"/story/{number}"] = page(number)
        for ref in ("mail", "feed"):
            other = number + 1_000 * (1 + (ref == "feed")) if number >= matters_from else number
            routes[f"/story/{number}?came={ref}{number}"] = page(other, noise=number)
    # Scrapy sends the last request first.
    routes["/list"] = listing(reversed(routes))
    return routes


def visited(result) -> set[str]:
    return set(result.delivered()) - {"/list"}


def test_a_crawl_learns_what_makes_no_difference_and_sends_no_more_of_it(tmp_path) -> None:
    routes = site_of()
    settings = {**SKIP, "SIMHASH_GATE_VERDICTS": str(tmp_path / "verdicts.jsonl")}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    avoided = result.count("url/avoided")
    assert avoided >= 40
    assert {path.partition("?")[0] for path in visited(result)} == {
        f"/story/{number}" for number in range(ARTICLES)
    }
    assert sum(site.hits.values()) == 1 + 3 * ARTICLES - avoided
    assert 1 <= result.count("url/probed") <= 20
    assert result.count("url/rules") == 1
    skipped = [item["path"] for item in result.items if item.get("failure") == "UrlSkipped"]
    assert len(set(skipped) - site.hits.keys()) == avoided  # the others were probes, at the end
    lines = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    told = [line for line in lines if "not_sent" in line]
    assert sorted(line["url"].removeprefix(site.url) for line in told) == sorted(skipped)
    assert all(
        line["matched_url"].partition("?")[0] == line["url"].partition("?")[0] for line in told
    )
    assert "?came=* makes no difference from now on" in result.log
    assert result.log.count("Not fetched ") == len(skipped)
    assert all(documented(name) for name in result.stats if "/url/" in name)


def test_by_default_everything_is_sent_and_the_log_says_what_need_not_be(tmp_path) -> None:
    with Site(site_of()).running() as site:
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS)
    assert sum(site.hits.values()) == 1 + 3 * ARTICLES
    assert result.count("url/avoided") == 0
    avoidable = result.count("url/avoidable")
    assert avoidable >= 40
    assert f"{avoidable} requests need not have been sent" in result.log


def test_what_a_rule_skipped_is_fetched_when_it_proves_wrong(tmp_path) -> None:
    with Site(site_of(120, matters_from=60)).running() as site:
        settings = {**SKIP, "SIMHASH_GATE_URL_PROBES": 0.2}
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    # Each URL from the 60th story on is an article of its own: all of them come.
    wanted = {path for path in site_of(120, matters_from=60) if path != "/list"}
    of_its_own = {path for path in wanted if int(path.split("/")[2].split("?")[0]) >= 60}
    assert of_its_own <= visited(result)
    assert result.count("url/wrong_probes") >= 1
    assert "the rule rests" in result.log
    # None, if the first request that the rule would have skipped was the test.
    assert result.count("url/released") == result.log.count(" after all: ")


def test_a_probe_of_a_newer_page_does_not_bring_back_the_older_ones(tmp_path) -> None:
    routes = site_of(140, matters_from=100)
    older = random.Random(1).sample(range(100), 100)
    numbers = [*older, *range(100, 140)]
    paths = sorted(
        (path for path in routes if path != "/list"),
        key=lambda path: (numbers.index(int(path.split("/")[2].split("?")[0])), "?" in path),
    )
    routes["/list"] = listing(reversed(paths))
    with Site(routes).running() as site:
        settings = {**SKIP, "SIMHASH_GATE_URL_PROBES": 0.2}
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    assert result.count("url/wrong_probes") >= 1
    rests = r"{number} after (\d+): \?came=\* makes a difference: the rule rests"
    cut = re.search(rests, result.log)
    assert cut
    assert int(cut[1]) < 100  # the highest that was tested
    newer = {path for path in paths if int(path.split("/")[2].split("?")[0]) >= 100}
    assert newer <= visited(result)
    after_all = re.findall(r"Fetching \S+/story/(\d+)\S* after all", result.log)
    assert all(int(number) > int(cut[1]) for number in after_all)


def test_a_test_that_is_redirected_can_prove_a_rule_wrong(tmp_path) -> None:
    """Where a redirect leads is another URL than the one that the rule took for its page."""
    routes = {f"/story/{number}": page(number) for number in range(120)}
    for number in range(120):
        asked = f"/story/{number}?came=mail{number}"
        if number < 60:
            routes[asked] = page(number, noise=number)
        else:
            routes[asked] = Answer(b"", 302, {"Location": asked.replace("?", "/?")})
    order = sorted(routes, key=lambda path: int(path.split("/")[2].split("?")[0]))
    newer = [path for path in routes if routes[path].status == 302]
    routes |= {path.replace("?", "/?"): page(1_000 + n) for n, path in enumerate(newer)}
    routes["/list"] = listing(reversed(order))
    with Site(routes).running() as site:
        settings = {**SKIP, "SIMHASH_GATE_URL_PROBES": 0.2}
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    assert result.count("url/wrong_probes") >= 1
    assert {path.replace("?", "/?") for path in newer} <= site.hits.keys()


def test_the_log_says_that_a_rule_may_be_wrong_where_nobody_can_tell(tmp_path) -> None:
    """From some number on, the other URL shows half as much again under the same name."""
    routes = site_of(80)
    for number in range(50, 80):
        for ref in ("mail", "feed"):
            routes[f"/story/{number}?came={ref}{number}"] = page(number, words=450)
    with Site(routes).running() as site:
        settings = {**SKIP, "SIMHASH_GATE_URLS": "observe", "CONCURRENT_REQUESTS": 1}
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    said = r"\?came=\* may make a difference: the rule rests"
    cases = r" \(\d+ cases for it, 0 against, (\d+) unsure"
    rests = re.search(said + cases + r".*Examples: \S+/story/(\d+)", result.log)
    assert rests
    assert int(rests[1]) >= 5
    assert int(rests[2]) >= 50  # a page of which nobody can tell


def test_what_another_rule_still_skips_is_not_fetched(tmp_path) -> None:
    """Each form is the same for the numbers of all parts, and not for a new part."""
    routes = {
        f"/form/about-the-{number}?part={part}": page(number, noise=part)
        for number in range(60)
        for part in (1, 2, 3)
    }
    new = {f"/form/about-the-{number}?part=new": page(1_000 + number) for number in range(60)}
    with Site({**routes, **new, "/list": listing(reversed([*routes, *new]))}).running() as site:
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=SKIP)
    assert new.keys() <= visited(result)
    assert "?part=* makes a difference" in result.log
    assert result.count("url/rules") == 1
    after_all = re.findall(r"Fetching \S+/form/(\S+) after all", result.log)
    assert after_all
    assert all(path.endswith("?part=new") for path in after_all)
    assert len(site.hits.keys() & routes.keys()) < 120


def test_what_was_skipped_is_fetched_when_the_page_that_stood_for_it_fails(tmp_path) -> None:
    breaks = (
        FOLLOWS
        + """
    async def parse(self, response):
        if response.url.endswith("/story/50"):
            while self.crawler.stats.get_value("simhash_gate/url/avoided", 0) < 1:
                await asyncio.sleep(0.02)
            raise ValueError("broken")
        for each in self.told(response):
            yield each
import asyncio
""".replace("    async def", "    told = parse\n    async def", 1)
    )
    routes = site_of(51)
    settings = {**SKIP, "SIMHASH_GATE_URL_PROBES": 0}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/list", spider=breaks, settings=settings)
    assert any(path.startswith("/story/50?") for path in visited(result))


def test_what_is_asked_for_on_purpose_is_sent(tmp_path) -> None:
    on_purpose = FOLLOWS.replace(
        "return {}",
        'return {"dont_filter": True} if "mail" in link else '
        '{"meta": {"simhash_gate": False}} if "feed" in link else {}',
    ).replace("for item in super().parse(response):", "for item in ():")
    with Site(site_of()).running() as site:
        crawl(tmp_path, site, "/list", spider=on_purpose, settings=SKIP)
    assert {path for path in site.hits if "?" in path} == {
        f"/story/{number}?came={ref}{number}"
        for number in range(ARTICLES)
        for ref in ("mail", "feed")
    }


def test_the_next_crawl_confirms_what_the_last_one_learned(tmp_path) -> None:
    settings = {**SKIP, "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/pages.sqlite"}
    with Site(site_of()).running() as site:
        first = crawl(tmp_path / "1", site, "/list", spider=FOLLOWS, settings=settings)
        site.hits.clear()
        second = crawl(tmp_path / "2", site, "/list", spider=FOLLOWS, settings=settings)
        assert second.count("url/avoided") > first.count("url/avoided")
        assert sum(site.hits.values()) == 1 + 3 * ARTICLES - second.count("url/avoided")
        # Every URL has a page of its own from then on: the rule does not outlive that.
        site.routes = site_of(matters_from=0)
        third = crawl(tmp_path / "3", site, "/list", spider=FOLLOWS, settings=settings)
    assert sum("?" in path for path in visited(third)) == 2 * ARTICLES


def test_distances_alone_teach_nothing_and_the_log_says_so(tmp_path) -> None:
    settings = {**SKIP, "SIMHASH_GATE_VERIFY": "distance"}
    with Site(site_of()).running() as site:
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    assert sum(site.hits.values()) == 1 + 3 * ARTICLES
    assert "Nothing is learned about URLs" in result.log


def test_a_job_skips_in_its_second_part_what_it_fetched_in_its_first(tmp_path) -> None:
    settings = {**SKIP, "JOBDIR": str(tmp_path / "job")}
    with Site(site_of(120)).running() as site:
        first = crawl(
            *(tmp_path, site, "/list"),
            spider=FOLLOWS,
            settings={**settings, "CLOSESPIDER_ITEMCOUNT": 70},
        )
        fetched = sum(site.hits.values())
        assert 50 < fetched < 180
        second = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    avoided = first.count("url/avoided") + second.count("url/avoided")
    assert second.count("url/avoided") > 100
    # What the first part skipped, and the second one tested, was avoided by the first.
    late = sum(site.hits.values()) - (1 + 3 * 120 - avoided)
    assert 0 <= late <= second.count("url/probed")
    assert {path.partition("?")[0] for path in site.hits} == {
        "/list",
        *(f"/story/{number}" for number in range(120)),
    }


def paused(tmp_path, site, *, spider: str = FOLLOWS) -> dict:
    """Crawl the first part of a job, in which a rule skips without a test; return its settings."""
    settings = {**SKIP, "JOBDIR": str(tmp_path / "job"), "SIMHASH_GATE_URL_PROBES": 0}
    first = crawl(
        *(tmp_path / "1", site, "/list"),
        spider=spider,
        settings={**settings, "CLOSESPIDER_ITEMCOUNT": 130},
    )
    assert first.count("url/avoided") >= 10
    assert first.count("url/released") == 0
    return settings


def test_what_a_rule_skipped_before_a_pause_is_fetched_when_it_proves_wrong_after(tmp_path) -> None:
    """From the 40th story on each URL has an article of its own."""
    routes = site_of(100, matters_from=40)
    with Site(routes).running() as site:
        settings = paused(tmp_path, site)
        stories = [path for path in routes if path != "/list"]
        of_its_own = {path for path in stories if int(path.split("/")[2].split("?")[0]) >= 40}
        missed = of_its_own - site.hits.keys()
        assert sum("?" in path for path in missed) >= 10
        second = crawl(
            *(tmp_path / "2", site, "/list"),
            spider=FOLLOWS,
            settings={**settings, "SIMHASH_GATE_URL_PROBES": 0.05},
        )
    assert missed <= visited(second)
    assert second.count("url/wrong_probes") >= 1


def test_a_second_value_of_a_page_is_known_as_such_after_a_pause(tmp_path) -> None:
    """Each story came with a value that is no matter at first, and later with one that is."""
    routes: dict = {}
    for number in range(80):
        routes[f"/story/{number}"] = page(number)
        routes[f"/story/{number}?came={number}1"] = page(number, noise=1)
    old = {f"/story/{number}?came={number}2": page(1_000 + number) for number in range(80)}
    jobs = {
        "JOBDIR": str(tmp_path / "job"),
        "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}",
    }
    settings = {**SKIP, **jobs, "SIMHASH_GATE_URL_PROBES": 0}
    with Site({**routes, **old, "/list": listing(reversed([*routes, *old]))}).running() as site:
        for part, end in (("1", "100"), ("2", "0")):
            ends = {"CLOSESPIDER_ITEMCOUNT": end}
            result = crawl(
                *(tmp_path / part, site, "/list"), spider=FOLLOWS, settings={**settings, **ends}
            )
            skipped = {item["path"] for item in result.items if "failure" in item}
            assert len(skipped) >= 10
            assert skipped.isdisjoint(old)
    assert old.keys() <= site.hits.keys()


def test_what_stood_for_a_request_is_gone_after_a_pause(tmp_path) -> None:
    with Site(site_of(100)).running() as site:
        settings = paused(tmp_path, site)
        with closing(sqlite3.connect(tmp_path / "job" / JOB_FILE)) as db:
            ((visit, count),) = db.execute(
                "SELECT visit, count(*) FROM skipped GROUP BY visit ORDER BY 2 DESC LIMIT 1"
            )
            ((url,),) = db.execute("SELECT url FROM visit WHERE id = ?", (visit,))
            with db:
                db.execute("DELETE FROM visit WHERE id = ?", (visit,))
        second = crawl(tmp_path / "2", site, "/list", spider=FOLLOWS, settings=settings)
    story = url.removeprefix(site.url).partition("?")[0]
    assert second.log.count("the page that stood for it failed") >= count
    assert f"Fetching {site.url}{story}?" in second.log


@pytest.mark.parametrize(
    "broken",
    ['more["callback"] = lambda response: None', 'more["meta"] = {"handle": object()}'],
)
def test_skipped_requests_that_cannot_be_kept_are_told_of(tmp_path, broken) -> None:
    spider = FOLLOWS.replace("return {}", f"more = {{}}\n        {broken}\n        return more")
    with Site(site_of(100)).running() as site:
        settings = {**SKIP, "JOBDIR": str(tmp_path / "job"), "SIMHASH_GATE_URL_PROBES": 0}
        first = crawl(
            *(tmp_path, site, "/list"),
            spider=spider,
            settings={**settings, "CLOSESPIDER_PAGECOUNT": 45},
        )
    assert first.count("url/avoided") >= 10
    assert "that were skipped can't be kept for the next part of the job" in first.log


def test_a_job_that_was_killed_fetches_again_what_nobody_knows_of(tmp_path) -> None:
    """A page of the part that was killed stands for no other: its item may be lost."""
    settings = {**SKIP, "JOBDIR": str(tmp_path / "job")}
    slow = FOLLOWS + "    custom_settings = {'DOWNLOAD_DELAY': 0.01}\n"
    with Site(site_of(120)).running() as site:
        process, finish = start(tmp_path, site, "/list", spider=slow, settings=settings)
        until(lambda: sum(site.hits.values()) > 100)
        process.kill()
        finish()
        site.hits.clear()
        (tmp_path / "job" / "requests.seen").unlink(missing_ok=True)
        second = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    assert "No more requests are skipped" not in second.log
    assert "No request is skipped" not in second.log
    assert {path.partition("?")[0] for path in visited(second)} == {
        f"/story/{number}" for number in range(120)
    }
    assert second.count("url/avoided") >= 100


def test_a_disk_that_is_full_under_the_file_of_visits_stops_the_skipping(tmp_path) -> None:
    settings = {**SKIP, "JOBDIR": str(tmp_path / "job")}
    full = """
import simhash_gate.urls.visits as visits
class Small(visits.Visits):
    def __init__(self, path=""):
        super().__init__(path)
        self._db.execute("PRAGMA max_page_count = 12")
import simhash_gate.plugin.url_rules as rules
rules.Visits = Small
"""
    routes = site_of(120)
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/list", spider=FOLLOWS + full, settings=settings)
    assert (
        "No more requests are skipped (SIMHASH_GATE_URLS): database or disk is full" in result.log
    )
    assert {path.partition("?")[0] for path in visited(result)} == {
        f"/story/{number}" for number in range(120)
    }


def test_two_crawls_that_keep_rules_in_one_store_at_once(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/pages.sqlite"
    with Site(site_of()).running() as site, Site(site_of()).running() as other:
        other.url = other.url.replace("127.0.0.1", "localhost")
        settings = {**SKIP, "SIMHASH_GATE_STORE": url}
        running = [
            start(tmp_path / str(number), each, "/list", spider=FOLLOWS, settings=settings)
            for number, each in enumerate((site, other, site))
        ]
        results = [finish() for _, finish in running]
    assert [result.status for result in results] == [0, 0, 0]
    assert all("was replaced" not in result.log for result in results)
    with closing(open_store(url)) as store:
        for scope in ("127.0.0.1", "localhost"):
            (rule,) = (
                entry
                for entry in from_json(store.url_rules(scope), scope)
                if entry["state"] == "active"
            )
            assert (rule["kind"], rule["name"], rule["value"]) == ("parameter", "came", "*")
