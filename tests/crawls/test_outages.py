"""A store that is away, from the start or in mid-crawl: the crawl goes on, or closes, as asked.

The store is a SQLite file that the test locks: no crawl can write to it then.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from harness import Answer, Site, crawl, page

from simhash_gate.stores import open_store

COPIES = {f"/{n}": page(1, noise=n) for n in range(200)}
PLAIN_TEXT = {"Content-Type": "text/plain"}

# Pages one after the other; the site frees the store; and on until a page is judged, and one more.
SPIDER = """
    async def start(self):
        import asyncio
        self.outcomes, self.known = [], asyncio.Event()
        paths = iter(self.settings["TEST_PAGES"].split())
        for path in self.settings["TEST_BEFORE"].split():
            self.known.clear()
            yield self.request(path, priority=1)
            await self.known.wait()
        while not self.outcomes or self.outcomes[-1] == "error":
            self.known.clear()
            yield self.request(next(paths))
            await self.known.wait()
            await asyncio.sleep(0.2)
        yield self.request(next(paths))
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        self.outcomes.append(verdict.outcome)
        self.known.set()
        if verdict.outcome == "skipped":
            self.outcomes.append("error")
        else:
            yield from super().parse(response)
"""


@pytest.fixture
def url(tmp_path):
    url = f"sqlite:///{tmp_path}/store.sqlite"
    open_store(url).close()
    return url


@pytest.fixture
def lock(tmp_path, url):
    """A second user of the file, who can lock it for good."""
    with closing(sqlite3.connect(tmp_path / "store.sqlite", check_same_thread=False)) as database:
        database.isolation_level = None
        yield database


def doing(lock, statement):
    def answer(_hits):
        lock.execute(statement)
        return Answer(b"done", headers=PLAIN_TEXT)

    return answer


@pytest.mark.parametrize("before", ["/0 /1 /free", "/lock /0 /1 /free"], ids=["start", "middle"])
def test_an_outage_passes_every_page_is_told_once_and_ends(tmp_path, url, lock, before) -> None:
    routes = {
        **COPIES, "/lock": doing(lock, "BEGIN IMMEDIATE"), "/free": doing(lock, "ROLLBACK")
    }  # fmt: skip
    if "/lock" not in before:
        lock.execute("BEGIN IMMEDIATE")
    settings = {
        "SIMHASH_GATE_STORE": url,
        "CONCURRENT_REQUESTS": 1,
        "TEST_BEFORE": before,
        "TEST_PAGES": " ".join(list(COPIES)[2:]),
    }
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "", spider=SPIDER, settings=settings)
    outcomes = [item.get("outcome") for item in result.items]
    assert outcomes[:2] == ["error", "error"]
    assert outcomes[-2:] == ["new", None]  # the last one is dropped
    assert result.count("dropped") == result.count("new") == 1
    assert result.count("store_failed") == result.count("error") == len(outcomes) - 2
    assert result.count("store_outages") == 1
    assert result.log.count("Pages pass unjudged until the store is back") == 1
    assert result.log.count("The store is back after") == 1
    assert "Traceback" not in result.log


@pytest.mark.parametrize("kind", ["locked", "garbage"])
def test_a_spider_closes_for_a_failed_store_if_that_is_asked_for(tmp_path, url, lock, kind) -> None:
    if kind == "locked":
        lock.execute("BEGIN IMMEDIATE")
    else:
        url = f"sqlite:///{tmp_path}/garbage"
        (tmp_path / "garbage").write_bytes(b"this is no database, " * 500)
    routes = {path: Answer(b"", 404, delay=0.5) for path in list(COPIES)[:100]}
    settings = {
        "SIMHASH_GATE_STORE": url,
        "SIMHASH_GATE_STORE_FAILURE": "close",
        "CONCURRENT_REQUESTS": 1,
    }
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, " ".join(routes), settings=settings)
        assert site.hits.total() < len(routes)
    assert result.stats["finish_reason"] == "simhash_gate_store_failed"
    assert result.log.count("Closing the spider (SIMHASH_GATE_STORE_FAILURE = 'close')") == 1


def test_a_spider_closes_when_its_store_fails_in_mid_crawl_and_the_page_passes(
    tmp_path, url, lock
) -> None:
    routes = {**COPIES, "/lock": doing(lock, "BEGIN IMMEDIATE")}
    settings = {
        "SIMHASH_GATE_STORE": url,
        "SIMHASH_GATE_STORE_FAILURE": "close",
        "CONCURRENT_REQUESTS": 1,
        "TEST_BEFORE": "/lock",
        "TEST_PAGES": " ".join(COPIES),
    }
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "", spider=SPIDER, settings=settings)
    assert result.stats["finish_reason"] == "simhash_gate_store_failed"
    assert "/0" in result.delivered()


BEATS = """
    async def start(self):
        yield self.request("/lock")
    async def parse(self, response):
        import asyncio
        if response.url.endswith("/lock"):
            yield self.request("/0", priority=1)
            for number in range(30):
                yield self.request(f"/beat?{number}")
                await asyncio.sleep(0.05)
            yield self.request("/free")
        elif "/beat" not in response.url and "/free" not in response.url:
            for item in super().parse(response):
                yield item
"""


def test_the_crawl_goes_on_while_the_store_lets_it_wait(tmp_path, url, lock) -> None:
    """The site frees the store only when the crawl, waiting for a verdict, has sent all beats."""
    beats = {f"/beat?{n}": Answer(b"beat", headers=PLAIN_TEXT) for n in range(30)}
    routes = {
        **COPIES, **beats,
        "/lock": doing(lock, "BEGIN IMMEDIATE"), "/free": doing(lock, "ROLLBACK"),
    }  # fmt: skip
    with Site(routes).running() as site:
        settings = {"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_WORKERS": 0}
        result = crawl(tmp_path, site, "", spider=BEATS, settings=settings)
        assert all(site.hits[path] for path in beats)
    (item,) = result.items
    assert item["outcome"] == "new"
