"""Pages that come again: in the next crawl, in the same one, and as a retry."""

import re
import sqlite3
from contextlib import closing

import pytest

from tests.crawls.harness import (
    ROOT,
    WITHOUT_ADDON,
    Answer,
    Crawl,
    Route,
    Site,
    corrected,
    crawl,
    page,
)
from tests.crawls.test_deliveries import remote

REVISITS = (ROOT / "docs/revisits.md").read_text("utf-8")

FOLLOWS = """
    def parse(self, response):
        yield from super().parse(response)
        verdict = response.meta["simhash_gate_verdict"]
        if before := verdict.previous:
            yield {"path": "previous", "title": before.title, "at": before.last_seen,
                   "words": before.words}
        for href in response.css("footer a::attr(href)").getall():
            yield self.request(href)
"""


def outcomes(result: Crawl) -> dict[str, str]:
    return {item["path"]: item["outcome"] for item in result.items if "outcome" in item}


@pytest.fixture
def settings(tmp_path) -> dict:
    store = f"sqlite:///{tmp_path}/store.sqlite"
    return {"SIMHASH_GATE_STORE": store, "CONCURRENT_REQUESTS": 1}


def test_the_second_crawl_delivers_what_is_new_or_has_changed(settings, tmp_path) -> None:
    routes = {"/": page(1, links='<a href="/a">a</a> <a href="/b">b</a>')}
    routes |= {"/a": page(2), "/b": page(3), "/c": page(4)}
    with Site(routes).running() as site:
        first = crawl(tmp_path / "1", site, "/", spider=FOLLOWS, settings=settings)
        assert outcomes(first) == {"/": "new", "/a": "new", "/b": "new"}
        routes["/"] = page(1, noise=5, links='<a href="/a">a</a> <a href="/b">b</a> <a href="/c">')
        routes["/a"] = page(2, noise=6)
        routes["/b"] = corrected(page(3))
        second = crawl(tmp_path / "2", site, "/", spider=FOLLOWS, settings=settings)
    assert outcomes(second) == {"/b": "updated", "/c": "new"}
    assert second.count("unchanged") == 2
    assert second.count("updated") == 1
    assert second.count("items_held") == 4
    assert second.count("dropped") == 0
    previous = next(item for item in second.items if item["path"] == "previous")
    assert previous["title"] == "Story 3"
    assert "Unchanged since an earlier crawl: 2 pages." in second.log
    assert "Changed since an earlier crawl: 1 page and 0 listings" in second.log
    held = re.search(r"(?m)^.*items of \S+/a: unchanged since an earlier crawl \(.*$", second.log)
    assert held is not None
    assert "the same text, last seen" in held[0]


@pytest.mark.parametrize("revisit", ["links", "pass"])
def test_a_page_at_two_addresses_is_unchanged_once(settings, tmp_path, revisit) -> None:
    routes = {"/a": page(1), "/a?utm_source=b": page(1, noise=1)}
    settings = settings | {"SIMHASH_GATE_REVISIT": revisit}
    with Site(routes).running() as site:
        crawl(tmp_path / "1", site, settings=settings)
        second = crawl(tmp_path / "2", site, settings=settings)
    assert (second.count("unchanged"), second.count("duplicate")) == (1, 1)
    assert ("Unchanged since an earlier crawl: 1 page." in second.log) == (revisit == "links")
    assert re.search(r"\(the same text, last seen at http://\S+ in this crawl", second.log)


def test_unchanged_pages_pass_or_are_dropped_if_asked(settings, tmp_path) -> None:
    routes = {"/": page(1, links='<a href="/a">a</a>'), "/a": page(2), "/copy": page(2, noise=1)}
    with Site(routes).running() as site:
        crawl(tmp_path / "1", site, "/", spider=FOLLOWS, settings=settings)
        for asked, paths in (
            ({"SIMHASH_GATE_REVISIT": "pass"}, ["/", "/a"]),
            ({"SIMHASH_GATE_REVISIT": "drop"}, []),
            (WITHOUT_ADDON, ["/", "/a"]),  # without the spider middleware they pass
        ):
            result = crawl(tmp_path / "2", site, "/ /a /copy", settings=settings | asked)
            assert sorted(outcomes(result)) == paths
            assert result.count("unchanged") == 2
            assert result.count("dropped_for_earlier") == (1 if paths else 3)


def test_a_copy_stands_in_for_a_page_that_is_gone_and_one_that_moved_is_still_known(
    settings, tmp_path
) -> None:
    routes = {"/a": page(1), "/copy": page(1, noise=3), "/old": page(2)}
    with Site(routes).running() as site:
        first = crawl(tmp_path / "1", site, "/a /copy /old", settings=settings)
        assert first.delivered() == ["/a", "/old"]
        routes |= {"/a": Answer(b"gone", 410), "/new": page(2, noise=4)}
        routes["/old"] = Answer(b"", 301, {"Location": "/new"})
        second = crawl(tmp_path / "2", site, "/a /copy /old", settings=settings)
        assert second.delivered() == ["/copy"]
        assert second.count("unchanged") == 1
        routes["/new"] = corrected(page(2))
        third = crawl(tmp_path / "3", site, "/copy /old", settings=settings)
    assert third.count("unchanged") == 1
    assert outcomes(third) == {"/new": "updated"}


def test_a_crawl_that_never_ends_delivers_an_update_of_its_own_page(settings, tmp_path) -> None:
    """A time that is none is said, and costs no page."""
    spider = """
    def parse(self, response):
        yield from super().parse(response)
        day = response.meta["simhash_gate_time"]
        if day != "yesterday" and day + 86_400 < 1.7e9 + 4 * 86_400:
            meta = {"simhash_gate_time": day + 86_400}
            yield self.request("/", meta=meta, dont_filter=True)
    async def start(self):
        yield self.request("/", meta={"simhash_gate_time": 1.7e9})
        yield self.request("/other", meta={"simhash_gate_time": "yesterday"})
    """
    routes = {"/": lambda hit: page(1, noise=hit) if hit in (1, 2) else corrected(page(1))}
    settings |= {"SIMHASH_GATE_REVISIT_AFTER": "12h"}
    result = crawl(tmp_path, {**routes, "/other": page(2)}, "/", spider=spider, settings=settings)
    found = [(item["path"], item["outcome"]) for item in result.items]
    assert sorted(found) == [("/", "new"), ("/", "updated"), ("/other", "error")]
    assert result.count("unchanged") == 2
    assert "meta['simhash_gate_time'] = 'yesterday': expected a Unix time or ISO 8601" in result.log


def test_what_a_failed_callback_got_comes_again(settings, tmp_path) -> None:
    fails = """
    def parse(self, response):
        raise ValueError("broken")
    """
    routes = {"/": page(1)}
    with Site(routes).running() as site:
        crawl(tmp_path / "1", site, "/", settings=settings)
        routes["/"] = corrected(page(1))
        failed = crawl(tmp_path / "2", site, "/", spider=fails, settings=settings)
        assert failed.count("updated") == failed.count("forgotten") == 1
        third = crawl(tmp_path / "3", site, "/", settings=settings)
    assert outcomes(third) == {"/": "updated"}


IN_ORDER = """
    async def start(self):
        for place, path in enumerate(self.settings["TEST_PATHS"].split()):
            yield self.request(path, priority=-place, dont_filter=True)
"""


def test_after_a_server_was_busy_a_page_that_was_kept_is_a_duplicate(tmp_path) -> None:
    """Where the retry is redirected to it, and where it is the retry of a second request for it."""
    busy = Answer(b"busy", 503)
    routes = {
        "/kept": lambda hits: busy if hits == 3 else page(1),
        "/busy": lambda hits: busy if hits == 1 else Answer(b"", 302, {"Location": "/kept"}),
    }
    with Site(routes).running() as site:
        one_at_a_time = {"CONCURRENT_REQUESTS": 1}
        paths = "/kept /busy /kept"
        result = crawl(tmp_path, site, paths, spider=IN_ORDER, settings=one_at_a_time)
    assert site.hits == {"/kept": 4, "/busy": 2}
    assert result.delivered() == ["/kept"]
    assert result.count("fetched") == 3  # each is judged where it ends
    assert result.count("dropped") == result.count("duplicate") == 2


def test_a_page_that_the_spider_retries_passes_and_what_inherits_the_meta_of_a_retry_does_not(
    tmp_path,
) -> None:
    inherit = """
    inheriting = ["/kept"]
    def parse(self, response):
        from scrapy.downloadermiddlewares.retry import get_retry_request
        first = response.url.endswith("/first")
        if first and not response.meta.get("retry_times"):
            yield get_retry_request(response.request, spider=self, reason="incomplete")
            return
        while first and self.inheriting:
            yield self.request(self.inheriting.pop(), meta=response.meta, dont_filter=True)
        yield from super().parse(response)
"""
    settings = {"SIMHASH_GATE_REVISIT": "drop"}  # a retry passes even so
    with Site({"/kept": page(1), "/first": page(2)}).running() as site:
        result = crawl(tmp_path, site, "/kept /first", spider=IN_ORDER + inherit, settings=settings)
    assert site.hits == {"/kept": 2, "/first": 2}
    assert result.delivered() == ["/first", "/kept"]
    assert result.count("unchanged") == 1
    assert result.count("duplicate") == 1


NAMED = """
    def parse(self, response):
        yield {"url": response.url, "name": response.css("h1::text").get()}
        for href in response.css("footer a::attr(href)").getall():
            yield self.request(href)
"""


def test_rows_that_are_kept_are_those_of_the_site(settings, tmp_path) -> None:
    """The pipeline of the documentation, over crawls in which pages come, change and go."""
    (code,) = re.findall(r"```python\n(import sqlite3\n.*?)```", REVISITS, re.DOTALL)
    spider = f"{NAMED}\n    def failed(self, failure):\n        pass\n{code}"
    settings |= {"ITEM_PIPELINES": '{"spider.KeptItems": 300}'}
    known = "/a /b /d /e"

    def write(statement: str) -> None:
        with closing(sqlite3.connect(tmp_path / "items.sqlite", isolation_level=None)) as opened:
            opened.execute(statement)

    def rows() -> dict[str, str]:
        with closing(sqlite3.connect(tmp_path / "items.sqlite")) as opened:
            return {
                url.rpartition("/")[2]: name
                for url, name in opened.execute("SELECT url, name FROM items")
            }

    routes: dict[str, Route] = {"/a": page(1), "/b": page(2), "/c": page(3), "/d": page(4)}
    with Site(routes).running() as site:
        crawl(tmp_path, site, spider=spider, settings=settings)
        assert rows().keys() == {"a", "b", "c", "d"}
        routes |= {"/b": corrected(page(2)), "/c": Answer(b"gone", 410), "/e": page(5)}
        routes["/d"] = Answer(b"", 301, {"Location": "/moved"})
        routes["/moved"] = page(4)
        second = crawl(tmp_path, site, "/a /b /c /d /e", spider=spider, settings=settings)
        assert [item["url"][-1] for item in second.items] == ["b", "e"]
        assert second.count("items_held") == 2
        assert rows().keys() == {"a", "b", "d", "e"}
        write("DELETE FROM items WHERE url LIKE '%/a'")  # lost, however that was

        def another_crawl_writes(_hits: int) -> Answer:
            write("UPDATE items SET name = 'of another' WHERE url LIKE '%/e'")
            return page(5)

        routes["/e"] = another_crawl_writes
        crawl(tmp_path, site, "/b /a /d /e", spider=spider, settings=settings)
        assert rows().keys() == {"a", "b", "d", "e"}
        assert rows()["e"] == "of another"
        routes["/b"] = Answer(b"not for you", 403)
        crawl(tmp_path, site, known, spider=spider, settings=settings)
        assert rows().keys() == {"a", "b", "d", "e"}
    down = crawl(tmp_path, site, known, spider=spider, settings=settings)
    assert "Spider closed (finished)" in down.log
    assert rows().keys() == {"a", "b", "d", "e"}


REPLACED = " will be replaced, and items of pages that have not changed"


def test_a_feed_that_is_replaced_while_items_are_held_is_told(settings, tmp_path) -> None:
    routes = {f"/{number}": page(number) for number in range(5)}
    with Site(routes).running() as site:
        first = crawl(tmp_path, site, settings=settings)
        assert REPLACED not in first.log
        (tmp_path / "items.jsonl").rename(tmp_path / "first.jsonl")
        fresh = crawl(tmp_path, site, settings=settings)  # the feed was not there
        assert fresh.count("items_held") == 5
        assert REPLACED not in fresh.log
        routes["/new"] = page(9)
        told = crawl(tmp_path, site, settings=settings)
        assert f"WARNING: items.jsonl{REPLACED}" in told.log.partition("held back the")[0]
        passed = crawl(tmp_path, site, settings=settings | {"SIMHASH_GATE_REVISIT": "pass"})
        assert len(passed.items) == 6
        assert REPLACED not in passed.log
        for uri, options, warns in (
            ("items", "", True),
            ("items", "'overwrite': False", False),
            ("%(time)s", "", False),
        ):
            done = crawl(tmp_path, site, spider=remote(uri, options), settings=settings)
            assert (REPLACED in done.log) == warns


@pytest.mark.parametrize(
    "closes", [{"CLOSESPIDER_TIMEOUT_NO_ITEM": 1}, {"CLOSESPIDER_PAGECOUNT_NO_ITEM": 4}]
)
def test_held_items_keep_a_crawl_open_that_waits_for_items(settings, tmp_path, closes) -> None:
    routes = {f"/{number}": page(number) for number in range(9)}
    with Site(routes).running() as site:
        crawl(tmp_path / "1", site, settings=settings)
        routes["/last"] = page(50)
        settings |= {**closes, "DOWNLOAD_DELAY": 0.3}
        settings |= {"RANDOMIZE_DOWNLOAD_DELAY": False, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        second = crawl(tmp_path / "2", site, spider=IN_ORDER, settings=settings)
        assert outcomes(second) == {"/last": "new"}
        assert second.count("items_held") == 9
