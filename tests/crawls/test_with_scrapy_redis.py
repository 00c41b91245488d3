"""Real crawls with scrapy-redis: its scheduler, its filter of duplicate requests, its spiders."""

import threading
from collections import Counter
from functools import partial

import pytest

from tests.crawls import alike
from tests.crawls.harness import Answer, Site, html_answer, page, start, until

pytest.importorskip("scrapy_redis", reason="scrapy-redis is not installed")

# Reads its first requests from Redis, and goes on as long as there may be more.
SHARED = """
    def parse(self, response):
        # Copies do well: else the two crawlers may fail on both pages of one article.
        fails = self.settings.getbool("TEST_FAILS") and not Spider.broke
        if fails and response.css("article") and "/copy/" not in response.url:
            Spider.broke = True
            raise ValueError("broken")
        for href in response.css("main a::attr(href)").getall():
            yield self.request(href)
        if response.css("article"):
            yield from super().parse(response)
    broke = False
from scrapy.core.engine import ExecutionEngine
ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.2  # seconds between its looks at whether it is idle
from scrapy_redis.spiders import RedisMixin
class Shared(RedisMixin, Spider):
    name = "shared"
    redis_batch_size = 1
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.setup_redis(crawler)
        return spider
    def make_request_from_data(self, data):
        return self.request(data.decode())
"""
ARTICLES = 30
START = "shared:start_urls"
QUEUE = "shared:requests"


@pytest.fixture
def server(own_redis):
    with own_redis.client() as client:
        yield client


@pytest.fixture
def settings(own_redis) -> dict:
    return {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_URL": own_redis.url,
    }


def test_pages_are_dropped_and_fetched_again(settings, tmp_path) -> None:
    beside = alike.Beside(spider=alike.PLAIN, settings=settings)
    result = alike.drops(beside, tmp_path / "drops")
    assert result.stats["scheduler/dequeued/redis"] == len(alike.ROUTES)
    alike.fetches_again(beside, tmp_path / "again")


def listing(paths: list[str]) -> Answer:
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    return html_answer(f"<title>List {paths[0]}</title><main><ul>{links}</ul></main>")


@pytest.mark.parametrize("fails", [False, True], ids=["well", "a callback of each fails"])
def test_two_crawlers_of_one_queue_deliver_each_page_once(
    tmp_path, settings, own_redis, server, fails: bool
) -> None:
    settings |= {
        "SCHEDULER_PERSIST": "True",
        "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
        "CONCURRENT_REQUESTS": 4,
        "SIMHASH_GATE_STORE": own_redis.url,
        "TEST_FAILS": fails,
    }
    articles = {f"/{n}": page(n) for n in range(ARTICLES)}
    copies = {f"/copy/{n}": page(n, noise=n + 1) for n in range(ARTICLES)}
    paths = sorted(articles | copies)
    both_have_begun = threading.Event()

    def wait(list_: Answer, hits: int) -> Answer:
        assert both_have_begun.wait(60)
        return list_

    lists = {f"/list/{n}": partial(wait, listing(paths[n::6])) for n in range(6)}
    server.rpush(START, *lists)
    with Site({**articles, **copies, **lists}).running() as site:
        crawlers = [
            start(tmp_path / name, site, "", spider=SHARED, settings=settings) for name in "ab"
        ]
        until(lambda: site.hits.total() >= 2)  # each takes one at a time from Redis, and waits
        both_have_begun.set()
        results = [finish() for _, finish in crawlers]
    assert [result.status for result in results] == [0, 0]
    delivered = Counter(path.rpartition("/")[2] for each in results for path in each.delivered())
    assert delivered == {str(n): 1 for n in range(ARTICLES)}
    assert all(result.count("fetched") for result in results)
    assert (sum(result.count("forgotten") for result in results) > 0) == fails
    assert fails or set(site.hits.values()) == {1}
    assert server.llen(START) == server.zcard(QUEUE) == 0
