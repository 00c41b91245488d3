"""Requests for pages that a crawl has: skipped by rules that it learned, and sent after all."""

from __future__ import annotations

import json
import random
import re
import shutil

import pytest

from tests.crawls.harness import Answer, Crawl, Site, crawl, html_answer, page, start, until

ARTICLES = 30
LEARNED = 18  # articles with three URLs each, after which a rule is made
SKIP = {"SIMHASH_GATE_URLS": "skip", "CONCURRENT_REQUESTS": 2}

# A page of links leads to each article under its own URL, then under others.
FOLLOWS = """
    def parse(self, response):
        if response.url.rpartition("/")[2].startswith("list"):
            for link in response.css("a::attr(href)").getall():
                yield self.request(link, **self.more(link))
            return
        yield from super().parse(response)
    def more(self, link):
        return {}
"""


def listing(paths) -> Answer:
    """Return a page that leads to some paths, in the order in which they are to be fetched."""
    last_first = reversed(list(paths))  # Scrapy sends the last request first
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in last_first)
    return html_answer(f"<html><head><title>All</title></head><body><ul>{links}</ul></body></html>")


def site_of(count: int = ARTICLES, *, matters_from: int = 10_000) -> dict:
    """Articles under /story/N and two other URLs; from a number on, these are other articles."""
    routes: dict = {}
    for number in range(count):
        routes[f"/story/{number}"] = page(number)
        for ref in ("mail", "feed"):
            other = number + 1_000 * (1 + (ref == "feed")) if number >= matters_from else number
            routes[f"/story/{number}?came={ref}{number}"] = page(other, noise=number)
    routes["/list"] = listing(routes)
    return routes


def number_of(path: str) -> int:
    return int(path.split("/")[2].partition("?")[0])


def visited(result: Crawl) -> set[str]:
    return set(result.delivered()) - {"/list"}


def articles(paths) -> set[int]:
    return {number_of(path) for path in paths if path != "/list"}


def follow(folder, site: Site, spider: str = FOLLOWS, **settings) -> Crawl:
    return crawl(folder, site, "/list", spider=spider, settings={**SKIP, **settings})


def test_a_crawl_learns_what_makes_no_difference_and_sends_no_more_of_it(tmp_path) -> None:
    spider = f"""{FOLLOWS}
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        from simhash_gate.plugin.signals import request_not_sent
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.told, request_not_sent)
        return spider
    def told(self, request, why):
        assert request.url == why.url != why.stand_in
        self.crawler.stats.inc_value("told/" + why.kind)
"""
    with Site(site_of()).running() as site:
        log = str(tmp_path / "verdicts.jsonl")
        result = follow(tmp_path, site, spider, SIMHASH_GATE_VERDICTS=log)
    avoided = result.count("url/avoided")
    assert avoided >= 15
    assert articles(visited(result)) == set(range(ARTICLES))
    assert sum(site.hits.values()) == 1 + 3 * ARTICLES - avoided
    assert 1 <= result.count("url/probed") <= 15
    assert result.log.count("makes no difference from now on") == 1
    skipped = [item["path"] for item in result.items if item.get("failure") == "NotSent"]
    assert len(set(skipped) - site.hits.keys()) == avoided  # the others were probes, at the end
    assert result.stats["told/rule"] == len(skipped)
    lines = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    told = [line for line in lines if "not_sent" in line]
    assert sorted(line["url"].removeprefix(site.url) for line in told) == sorted(skipped)
    for line in told:
        assert line["url"].startswith(line["matched_url"].partition("?")[0] + "?")
    assert "?came=* makes no difference from now on" in result.log
    assert result.log.count("Not fetched ") == len(skipped)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"SIMHASH_GATE_URLS": "observe"}, r"(\d+) requests need not have been sent"),
        ({**SKIP, "SIMHASH_GATE_VERIFY": False}, "Nothing is learned about URLs"),
    ],
)
def test_where_it_observes_and_where_distances_alone_teach_nothing_everything_is_sent(
    tmp_path, settings, said
) -> None:
    result = crawl(tmp_path, site_of(), "/list", spider=FOLLOWS, settings=settings)
    assert sum(result.site.hits.values()) == 1 + 3 * ARTICLES
    assert result.count("url/avoided") == 0
    found = re.search(said, result.log)
    assert found
    assert all(int(number) == result.count("url/avoidable") >= 15 for number in found.groups())


def test_what_a_rule_skipped_is_fetched_when_it_proves_wrong_but_no_older_pages(tmp_path) -> None:
    """From some number on, each URL is an article of its own."""
    routes = site_of(75, matters_from=50)
    del routes["/list"]
    newer = {path for path in routes if number_of(path) >= 50}
    order = [*random.Random(1).sample(range(50), 50), *range(50, 75)]
    routes["/list"] = listing(sorted(routes, key=lambda path: order.index(number_of(path))))
    with Site(routes).running() as site:
        result = follow(tmp_path, site)
    cut = re.search(r"/story/# after (\d+): \?came=\* may make a difference", result.log)
    assert cut
    assert int(cut[1]) < 50
    assert newer <= visited(result)
    after_all = re.findall(r"Fetching \S+/story/(\d+)\S* after all", result.log)
    assert result.count("url/released") == len(after_all) >= 1
    assert sum(int(number) < 50 for number in after_all) <= 10


def test_a_test_that_is_redirected_can_prove_a_rule_wrong(tmp_path) -> None:
    """Where a redirect leads is another URL than the one that the rule took for its page."""
    routes, targets = {}, {}
    for number in range(80):
        asked, target = (f"/story/{number}{slash}?came=mail{number}" for slash in ("", "/"))
        routes |= {f"/story/{number}": page(number), asked: page(number, noise=number)}
        if number >= 50:
            routes[asked] = Answer(b"", 302, {"Location": target})
            targets[target] = page(1_000 + number)
    routes |= {"/list": listing(routes), **targets}
    with Site(routes).running() as site:
        follow(tmp_path, site)
    assert targets.keys() <= site.hits.keys()


def test_what_was_skipped_is_fetched_when_the_page_that_stood_for_it_fails(tmp_path) -> None:
    breaks = """
import asyncio
class Breaks(Spider):
    name = "breaks"
    async def parse(self, response):
        if response.url.endswith("/story/20"):
            while self.crawler.stats.get_value("simhash_gate/url/avoided", 0) < 1:
                await asyncio.sleep(0.02)
            raise ValueError("broken")
        for each in super().parse(response):
            yield each
"""
    with Site(site_of(21)).running() as site:
        result = follow(tmp_path, site, FOLLOWS + breaks)
    assert any(path.startswith("/story/20?") for path in visited(result))


@pytest.mark.parametrize("empty", [html_answer("<div id=app></div>"), Answer(b"{}")])
def test_a_page_that_carries_nothing_stands_for_no_other(tmp_path, empty) -> None:
    """An app shell, or JSON: what comes under the next URL is fetched, before it and after it."""
    routes = site_of(LEARNED + 10)
    empty.headers.setdefault("Content-Type", "application/json")
    routes |= {f"/story/{number}": empty for number in range(LEARNED, LEARNED + 10)}
    with Site(routes).running() as site:
        result = follow(tmp_path, site)
    assert result.count("url/avoided") > 0
    told = {number_of(item["path"]) for item in result.items if item.get("markdown")}
    assert told >= set(range(LEARNED + 10))


def test_what_is_asked_for_on_purpose_is_sent(tmp_path) -> None:
    on_purpose = FOLLOWS.replace(
        "return {}",
        'return {"dont_filter": True} if "mail" in link else '
        '{"meta": {"simhash_gate": False}} if "feed" in link else {}',
    ).replace("yield from super().parse(response)", "return")
    with Site(site_of()).running() as site:
        follow(tmp_path, site, on_purpose)
        assert site.hits.keys() == site.routes.keys()


def test_the_next_crawl_confirms_what_the_last_one_learned(tmp_path) -> None:
    store = {"SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/pages.sqlite"}
    with Site(site_of()).running() as site:
        first = follow(tmp_path / "1", site, **store)
        site.hits.clear()
        second = follow(tmp_path / "2", site, **store)
        assert second.count("url/avoided") > first.count("url/avoided")
        assert sum(site.hits.values()) == 1 + 3 * ARTICLES - second.count("url/avoided")
        # Every URL has a page of its own from then on: the rule does not outlive that.
        site.routes = site_of(matters_from=0)
        third = follow(tmp_path / "3", site, **store)
    assert sum("?" in path for path in visited(third)) == 2 * ARTICLES


PAUSED = 60  # articles of the site of a job that is paused while a rule skips


@pytest.fixture(scope="module")
def paused(tmp_path_factory):
    """The site and the folder of a job whose first part skipped some requests, without a test."""
    folder = tmp_path_factory.mktemp("paused")
    job = {"JOBDIR": "job"}
    with Site(site_of(PAUSED)).running() as site:
        first = follow(folder, site, **job, CLOSESPIDER_ITEMCOUNT=80)
        assert first.count("url/avoided") >= 10
        assert first.count("url/released") == 0
        yield site, folder / "job", first


@pytest.fixture
def second_part(paused, tmp_path):
    """Crawl the second part of the job, in a copy."""
    site, job, _ = paused
    shutil.copytree(job, tmp_path / "job")
    hits, routes = site.hits.copy(), site.routes

    def run() -> Crawl:
        return follow(tmp_path, site, JOBDIR="job")

    yield run
    site.hits, site.routes = hits, routes


def test_a_job_skips_in_its_second_part_what_it_fetched_in_its_first(paused, second_part) -> None:
    site, _, first = paused
    second = second_part()
    assert second.count("url/avoided") >= 40
    avoided = first.count("url/avoided") + second.count("url/avoided")
    assert 0 <= sum(site.hits.values()) - (1 + 3 * PAUSED - avoided) <= second.count("url/probed")
    assert articles(site.hits) == set(range(PAUSED))


def test_what_a_rule_skipped_before_a_pause_is_fetched_when_it_proves_wrong_after(
    paused, second_part
) -> None:
    site, _, _ = paused
    site.routes = site_of(PAUSED, matters_from=0)
    missed = site.routes.keys() - site.hits.keys()
    second = second_part()
    assert missed <= visited(second)
    assert second.count("url/released") + second.count("url/probed") >= 1


def test_what_a_second_value_chooses_is_fetched_in_both_parts_of_a_job(tmp_path) -> None:
    """Each story came with a value that is no matter at first, and later with one that is."""
    routes: dict = {}
    for number in range(60):
        routes[f"/story/{number}"] = page(number)
        routes[f"/story/{number}?came={number}1"] = page(number, noise=1)
    old = {f"/story/{number}?came={number}2": page(1_000 + number) for number in range(60)}
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}",
    }
    with Site({**routes, **old, "/list": listing([*routes, *old])}).running() as site:
        for part, end in (("1", "90"), ("2", "0")):
            result = follow(tmp_path / part, site, **settings, CLOSESPIDER_ITEMCOUNT=end)
            assert result.count("url/avoided") >= (5 if part == "1" else 0)
    assert old.keys() <= site.hits.keys()


def test_skipped_requests_that_cannot_be_kept_are_told_of(tmp_path) -> None:
    """One half of them has a callback that is no method, the other what JSON can't say."""
    unsayable = FOLLOWS.replace(
        "return {}",
        'return {"callback": lambda response: None} if "mail" in link else '
        '{"meta": {"handle": lambda: 0}}',
    )
    with Site(site_of(90)).running() as site:
        job = {"JOBDIR": str(tmp_path / "job")}
        first = follow(tmp_path, site, unsayable, **job, CLOSESPIDER_PAGECOUNT=70)
    avoided = first.count("url/avoided")
    assert avoided >= 10
    assert f"{avoided} requests that wait are lost: they have a callback that is no" in first.log


def test_a_job_that_was_killed_fetches_again_what_nobody_knows_of(tmp_path) -> None:
    """A page of the part that was killed stands for no other: its item may be lost."""
    settings = {**SKIP, "JOBDIR": str(tmp_path / "job")}
    slow = FOLLOWS + "    custom_settings = {'DOWNLOAD_DELAY': 0.01}\n"
    with Site(site_of(50)).running() as site:
        process, finish = start(tmp_path, site, "/list", spider=slow, settings=settings)
        until(lambda: sum(site.hits.values()) > 3 * LEARNED)
        process.kill()
        finish()
        (tmp_path / "job" / "requests.seen").unlink(missing_ok=True)
        second = crawl(tmp_path, site, "/list", spider=FOLLOWS, settings=settings)
    assert articles(visited(second)) == set(range(50))
    assert second.count("url/avoided") >= 40
