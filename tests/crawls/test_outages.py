"""A store that is away, from the start or in mid-crawl: the crawl goes on, or closes, as asked.

The store is a SQLite file that the test locks, so that no crawl can write to it, or a Redis server
that the test kills.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from benchmarks.proxy import Proxy
from simhash_gate.stores import open_store
from tests.crawls.harness import PLAIN_TEXT, Answer, Site, crawl, doing, page
from tests.stores.redis_server import RedisServer

COPIES = {f"/{n}": page(1, noise=n) for n in range(200)}

# Pages one after the other; the site brings the store back; and on until a page is judged, and
# one more.
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
# A crawl that gives up a locked file after one second, and not after ten; and a run at once.
IMPATIENT = """
from simhash_gate.plugin import store_run
store_run.LONGEST_ENDING = 0.0
from simhash_gate.stores.sqlite import SQLiteDriver
SQLiteDriver.__init__.__kwdefaults__["timeout"] = 1.0
"""


class LockedFile:
    """A SQLite file with a second user, who can lock it for good."""

    def __init__(self, folder):
        self.url = f"sqlite:///{folder}/store.sqlite"
        open_store(self.url).close()
        self._other = sqlite3.connect(folder / "store.sqlite", check_same_thread=False)
        self._other.isolation_level = None

    def go(self):
        self._other.execute("BEGIN IMMEDIATE")

    def come_back(self):
        self._other.execute("ROLLBACK")

    hang, go_on = go, come_back

    def empty(self):
        for table in ("page", "blob", "scope"):
            self._other.execute(f"DELETE FROM {table}")

    def close(self):
        self._other.close()


class RemovedFile(LockedFile):
    """A SQLite file that somebody removes, with all that lies beside it."""

    def empty(self):
        for path in Path(self.url.removeprefix("sqlite:///")).parent.glob("store.sqlite*"):
            path.unlink()


class KilledServer:
    """A Redis server that is killed, comes back with nothing, or hangs."""

    def __init__(self, folder):
        self._server = RedisServer(folder / "redis")
        self.url = f"{self._server.url}?timeout=60"  # for one that hangs
        self.port = self._server.port
        self.go, self.come_back = self._server.kill, self._server.start
        self.hang, self.go_on = self._server.pause, self._server.resume
        self.close = self._server.kill

    def empty(self):
        with self._server.client() as client:
            client.flushall()

    def require_password(self, password):
        with self._server.client() as client:
            client.config_set("requirepass", password)


@pytest.fixture(params=[LockedFile, KilledServer], ids=["sqlite", "redis"])
def store(request, tmp_path):
    with closing(request.param(tmp_path)) as store:
        yield store


@pytest.fixture
def redis(tmp_path):
    with closing(KilledServer(tmp_path)) as store:
        yield store


@pytest.mark.parametrize("before", ["/0 /1 /back", "/away /0 /1 /back"], ids=["start", "middle"])
def test_an_outage_passes_every_page_is_told_once_and_ends(tmp_path, store, before) -> None:
    routes = {**COPIES, "/away": doing(store.go), "/back": doing(store.come_back)}
    if "/away" not in before:
        store.go()
    settings = {
        "SIMHASH_GATE_STORE": store.url,
        "CONCURRENT_REQUESTS": 1,
        "TEST_BEFORE": before,
        "TEST_PAGES": " ".join(list(COPIES)[2:]),
    }
    result = crawl(tmp_path, routes, "", spider=SPIDER + IMPATIENT, settings=settings)
    outcomes = [item.get("outcome") for item in result.items]
    assert outcomes[:2] == ["error", "error"]
    assert outcomes[-2:] == ["new", None]  # the last one is dropped
    assert result.count("dropped") == result.count("new") == 1
    assert result.count("store_failed") == result.count("error") == len(outcomes) - 2
    assert (result.status, result.count("store_outages")) == (0, 1)
    assert result.log.count("Pages can't be judged until the store works again") == 1
    assert result.log.count("The store works again, after") == 1
    closing = f"WARNING: Passed without having been compared: {len(outcomes) - 2} pages: the store"
    assert closing in result.log
    assert "Traceback" not in result.log


@pytest.mark.parametrize("kind", ["away", "garbage"])
def test_a_crawl_does_not_start_without_its_store_if_so_asked_for(tmp_path, store, kind) -> None:
    url = store.url
    if kind == "away":
        store.go()
    else:
        url = f"sqlite:///{tmp_path}/garbage"
        (tmp_path / "garbage").write_bytes(b"this is no database, " * 500)
    routes = {path: Answer(b"", 404, delay=0.5) for path in list(COPIES)[:100]}
    settings = {
        "SIMHASH_GATE_STORE": url,
        "SIMHASH_GATE_STORE_FAILURE": "close",
        "CONCURRENT_REQUESTS": 1,
    }
    result = crawl(tmp_path, routes, spider=IMPATIENT, settings=settings)
    assert (result.status, result.site.hits.total()) == (1, 0)
    assert result.log.count("ERROR: The crawl does not start. SIMHASH_GATE_STORE: ") == 1
    assert result.log.count("ERROR") == 1
    assert "Traceback" not in result.log


def test_a_spider_closes_when_its_store_fails_in_mid_crawl_and_pages_pass(tmp_path, store) -> None:
    # A page that is judged first: until then, the store may still be opening.
    routes = {**COPIES, "/other": page(1000), "/away": doing(store.go)}
    settings = {
        "SIMHASH_GATE_STORE": store.url,
        "SIMHASH_GATE_STORE_FAILURE": "close",
        "CONCURRENT_REQUESTS": 1,
        "TEST_BEFORE": "/other /away",
        "TEST_PAGES": " ".join(COPIES),
    }
    result = crawl(tmp_path, routes, "", spider=SPIDER + IMPATIENT, settings=settings)
    assert (result.status, result.stats["finish_reason"]) == (1, "simhash_gate_store_failed")
    assert "/0" in result.delivered()


BEATS = """
    async def start(self):
        yield self.request("/away")
    async def parse(self, response):
        import asyncio
        if response.url.endswith("/away"):
            yield self.request("/0", priority=1)
            for number in range(10):
                yield self.request(f"/beat?{number}")
                await asyncio.sleep(0.05)
            yield self.request("/back")
        elif "/beat" not in response.url and "/back" not in response.url:
            for item in super().parse(response):
                yield item
"""


def test_the_crawl_goes_on_while_the_store_lets_it_wait(tmp_path, store) -> None:
    """The store goes on only when the crawl, waiting for a verdict, has sent all beats."""
    beats = {f"/beat?{n}": Answer(b"beat", headers=PLAIN_TEXT) for n in range(10)}
    routes = {**COPIES, **beats, "/away": doing(store.hang), "/back": doing(store.go_on)}
    settings = {"SIMHASH_GATE_STORE": store.url, "SIMHASH_GATE_WORKERS": 0}
    result = crawl(tmp_path, routes, "", spider=BEATS, settings=settings)
    assert all(result.site.hits[path] for path in beats)
    (item,) = result.items
    assert item["outcome"] == "new"


# The store hangs while the page is in its callback, and its run can't be ended any more.
HANGING = """
    def parse(self, response):
        urlopen(self.settings["TEST_SITE"] + "/away").close()
        yield from super().parse(response)

from urllib.request import urlopen
from simhash_gate.plugin import threads
threads.LONGEST_CLOSING = 2.0
"""


def test_a_store_that_hangs_holds_no_crawl_that_has_ended_and_its_pages_are_not_seen(
    tmp_path, store
) -> None:
    routes = {"/0": page(1), "/away": doing(store.hang)}
    settings = {"SIMHASH_GATE_STORE": store.url.replace("?", "?lease=0.5&")}
    told = "its pages may not count as seen"
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/0", spider=HANGING, settings=settings)
        store.go_on()
        again = crawl(tmp_path, site, "/0", settings=settings)
    assert (result.status, result.log.count(told), again.status) == (1, 1, 0)
    assert [item["outcome"] for item in result.items + again.items] == ["new", "new"]
    assert "Traceback" not in result.log
    assert told not in again.log


def test_a_store_that_is_back_soon_after_the_end_of_a_crawl_has_its_pages(tmp_path, redis) -> None:
    def hang():
        redis.hang()
        Timer(4, redis.go_on).start()

    routes = {"/0": page(1), "/away": doing(hang)}
    settings = {"SIMHASH_GATE_STORE": redis.url.replace("timeout=60", "timeout=1")}
    with Site(routes).running() as site:
        hanging = HANGING.replace("2.0", "30.0")
        result = crawl(tmp_path, site, "/0", spider=hanging, settings=settings)
        again = crawl(tmp_path / "again", site, "/0", settings=settings)
    assert (result.count("new"), again.count("unchanged")) == (1, 1)
    assert "could not end its run" not in result.log


def test_a_slow_store_judges_every_page(tmp_path, redis) -> None:
    """At 100 ms a call: of two articles in eight copies each, one page each is kept."""
    routes = {f"/{seed}/{n}": page(seed, noise=n) for seed in (1, 2) for n in range(8)}
    with closing(Proxy(redis.port)) as proxy:
        proxy.delay = 0.1
        settings = {"SIMHASH_GATE_STORE": f"redis://127.0.0.1:{proxy.port}/0"}
        result = crawl(tmp_path, routes, settings=settings)
    assert (result.count("checked"), result.count("new"), result.count("dropped")) == (16, 2, 14)
    assert result.count("store_failed") == result.count("store_outages") == 0
    assert sorted(path[:2] for path in result.delivered()) == ["/1", "/2"]


@pytest.mark.parametrize("failure", ["pass", "close"])
def test_a_wrong_password_stops_the_crawl_and_is_not_shown(tmp_path, redis, failure) -> None:
    redis.require_password("right")
    settings = {
        "SIMHASH_GATE_STORE": f"redis://:mistaken@127.0.0.1:{redis.port}/0",
        "SIMHASH_GATE_STORE_FAILURE": failure,
    }
    result = crawl(tmp_path, COPIES, "/0 /1 /2", settings=settings)
    (told,) = [line for line in result.log.splitlines() if "the password" in line]
    assert "ERROR: The crawl does not start. SIMHASH_GATE_STORE: " in told
    assert "mistaken" not in result.log
    assert "Traceback" not in result.log
    assert (result.status, result.site.hits.total()) == (1, 0)


@pytest.mark.parametrize("kind", [LockedFile, RemovedFile, KilledServer])
def test_a_store_that_is_emptied_under_a_crawl_is_told_of_once_and_what_follows_counts(
    tmp_path, kind
) -> None:
    with closing(kind(tmp_path)) as store:
        routes = {**COPIES, "/empty": doing(store.empty)}
        routes["/1"] = Answer(**{**vars(COPIES["/1"]), "delay": 1.0})  # until it is noticed
        settings = {"SIMHASH_GATE_STORE": store.url, "CONCURRENT_REQUESTS": 1}
        with Site(routes).running() as site:
            often = "from simhash_gate.plugin import store_thread as thread\n"
            often += "thread.RENEW_INTERVAL = 0.2\n"
            first = crawl(tmp_path, site, "/0 /2 /empty /1 /3", spider=often, settings=settings)
            second = crawl(tmp_path / "second", site, "/4", settings=settings)
    assert first.delivered() == ["/0", "/1", "/empty"]
    assert first.log.count("The store has lost what this crawl kept") == 1
    assert "Traceback" not in first.log
    assert second.count("duplicate") == 1
