"""Crawls that visit listings again, with LISTINGS = "stop"."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.crawls.harness import CLOCK, Answer, Site, crawl, html_answer, page, text
from tests.stores.store_urls import LASTING, url_maker

DAY = 86_400
ON_A_PAGE = 6
FOLLOWS = """
class Follows(Base):
    name = "follows"
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        yield {"path": response.url[len(self.settings["TEST_SITE"]):], "outcome": verdict.outcome}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, errback=self.failed)
    def failed(self, failure):
        yield {"path": failure.request.url[len(self.settings["TEST_SITE"]):],
               "failure": type(failure.value).__name__, "kind": getattr(failure.value, "kind", "")}
"""
SPIDER = CLOCK + FOLLOWS


@dataclass
class Paper(dict):
    """A newspaper: a listing of six stories a page, whose pager names all pages."""

    stories: list[int] = field(default_factory=lambda: list(range(24)))

    def get(self, path, default=None):
        if path.startswith("/story/"):
            return page(int(path.rpartition("/")[2]), words=80)
        if path.partition("?")[0] != "/news":
            return default or Answer(b"not here", 404)
        number = int(path.partition("page=")[2] or 1) - 1
        shown = self.stories[ON_A_PAGE * number : ON_A_PAGE * (number + 1)]
        entries = [f'<li><a href="/story/{n}">{text(n, 5)}</a><p>{text(n, 25)}</p>' for n in shown]
        count = -(-len(self.stories) // ON_A_PAGE)
        pager = [f'<a href="/news?page={n}">{n}</a>' for n in range(2, count + 1)]
        return html_answer(
            f"<title>All news</title><h1>All news</h1><ul>{''.join(entries)}</ul>"
            f"<nav>{' '.join(pager)}</nav>"
        )


@pytest.fixture(params=LASTING[:2])
def store(request, tmp_path):
    return url_maker(request, request.param)(tmp_path)


class Revisiting:
    """Crawls a newspaper day by day; `fetched` are the numbers of the pages of its listing."""

    def __init__(self, folder, site: Site, store: str, **settings: object) -> None:
        self.folder, self.site = folder, site
        self.settings = {"SIMHASH_GATE_STORE": store, **settings}

    def on(self, day: int, spider: str = SPIDER):
        self.site.hits.clear()
        settings = {**self.settings, "TEST_NOW": 1_700_000_000 + day * DAY}
        done = crawl(self.folder, self.site, "/news", spider=spider, settings=settings)
        self.fetched = [n for n in range(2, 9) if self.site.hits[f"/news?page={n}"]]
        self.new = {
            int(item["path"].rpartition("/")[2])
            for item in done.items
            if "/story/" in item["path"] and item.get("outcome") == "new"
        }
        return done


def test_a_listing_ends_where_nothing_is_new(tmp_path, store) -> None:
    paper = Paper()
    with Site(paper).running() as site:
        visits = Revisiting(tmp_path, site, store, SIMHASH_GATE_LISTINGS="stop")
        visits.on(0)
        assert (visits.fetched, len(visits.new)) == ([2, 3, 4], 24)
        same = visits.on(1)
        assert (visits.fetched, visits.new) == ([], set())
        held = [item["kind"] for item in same.items if item.get("failure") == "NotSent"]
        assert same.count("listing/held") == len(held) == 3
        assert set(held) == {"listing"}
        assert "3 held back: listings lead to nothing new before them" in same.log
        paper.stories[:0] = range(24, 34)
        visits.on(2)  # nobody knew the fifth page, nor the sixth
        assert (visits.fetched, visits.new) == ([2, 3, 5, 6], set(range(24, 34)))


def test_what_is_new_behind_known_pages_is_found_within_a_week(tmp_path) -> None:
    paper = Paper()
    with Site(paper).running() as site:
        visits = Revisiting(tmp_path, site, "sqlite:///s.sqlite", SIMHASH_GATE_LISTINGS="stop")
        visits.on(0)
        paper.stories[15] = 24
        visits.on(1)
        assert visits.fetched == []
        walked = visits.on(8)
        assert visits.fetched == [2, 3, 4]
        assert visits.new == {24}
        assert walked.count("listing/missed") == 1
        paper.stories[16] = 25
        visits.on(9)
        assert visits.new == {25}


KILLED = """
import os, signal, time
def killed(self, failure):
    time.sleep(0.5)  # the store goes on
    os.kill(os.getpid(), signal.SIGKILL)
Follows.failed = killed
"""


def test_killed_crawls_do_not_put_off_the_week(tmp_path) -> None:
    paper = Paper()
    with Site(paper).running() as site:
        visits = Revisiting(tmp_path, site, "sqlite:///s.sqlite", SIMHASH_GATE_LISTINGS="stop")
        visits.on(0)
        paper.stories[15] = 24
        for day in (1, 5):
            assert visits.on(day, SPIDER + KILLED).status < 0
            assert visits.fetched == []
        visits.on(9)
        assert (visits.fetched, visits.new) == ([2, 3, 4], {24})
