"""Requests for pages that a crawl has: skipped by rules that it learned, and sent after all."""

from __future__ import annotations

import json

from tests.crawls.harness import Answer, Site, crawl, documented, html_answer, page

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
    assert result.count("url/released") >= 1


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
    assert sum(site.hits.values()) == 1 + 3 * 120 - avoided
    assert {path.partition("?")[0] for path in site.hits} == {
        "/list",
        *(f"/story/{number}" for number in range(120)),
    }
