"""Nothing is lost to a failure: not to callbacks, pipelines, other middlewares, workers, stores."""

import pytest

from tests.crawls.harness import WITHOUT_ADDON, Site, crawl, html_answer, page

COPIES = {f"/{n}": page(1, noise=n) for n in range(5)}

COPIES_DROPPED = """
import asyncio
async def copies_dropped(crawler):
    async def wait():
        while crawler.stats.get_value("simhash_gate/dropped", 0) < 4:
            await asyncio.sleep(0.02)
    await asyncio.wait_for(wait(), 60)
"""
# The first page to arrive fails when all its copies are dropped.
FAILS_ONCE = (
    """
    tries = 0
    async def parse(self, response):
        Spider.tries += 1
        if Spider.tries == 1:
            await copies_dropped(self.crawler)
        {before}
        for item in super().parse(response):
            yield item
        {after}
"""
    + COPIES_DROPPED
)
RAISES = "if Spider.tries <= {times}: raise ValueError('broken')"


def fails(times: int, *, late: bool = False) -> str:
    broken = RAISES.format(times=times)
    return FAILS_ONCE.format(before="" if late else broken, after=broken if late else "")


@pytest.mark.parametrize("addon", [{}, WITHOUT_ADDON], ids=["add-on", "plain"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_copy_is_fetched_again_when_the_callback_of_the_kept_page_fails(
    tmp_path, addon, times: int
) -> None:
    result = crawl(tmp_path, COPIES, spider=fails(times), settings=addon)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == result.count("rescheduled") == times


def test_a_callback_that_raises_half_way_has_its_copy_fetched_again(tmp_path) -> None:
    result = crawl(tmp_path, COPIES, spider=fails(1, late=True))
    assert len(result.delivered()) == 2  # the item before the failure, and the copy's


PIPELINE = (
    """
class Failing:
    calls = 0
    def __init__(self, crawler):
        self.crawler = crawler
    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)
    async def process_item(self, item):
        if "failure" in item:
            return item
        Failing.calls += 1
        if Failing.calls == 1:
            await copies_dropped(self.crawler)
            raise {error}
        return item
Spider.custom_settings = {{"ITEM_PIPELINES": {{Failing: 100}}}}
"""
    + COPIES_DROPPED
)


def test_a_copy_is_fetched_again_when_an_item_of_the_kept_page_fails(tmp_path) -> None:
    result = crawl(tmp_path, COPIES, spider=PIPELINE.format(error="ValueError('broken')"))
    assert len(result.delivered()) == 1
    assert result.count("rescheduled") == 1


def test_a_page_whose_item_is_dropped_did_not_fail_but_its_copy_is_fetched_again(tmp_path) -> None:
    error = "__import__('scrapy').exceptions.DropItem('unwanted')"
    result = crawl(tmp_path, COPIES, spider=PIPELINE.format(error=error))
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == 0
    assert result.count("room/fetched") == result.count("room/brought") == 1


def test_a_failed_page_that_is_fetched_again_under_its_own_request_ends_well(tmp_path) -> None:
    spider = """
    async def start(self):
        yield self.request("/0", priority=9)
        yield self.request("/0", priority=8, dont_filter=True)
        yield self.request("/1", priority=7)
    def parse(self, response):
        Spider.tries = getattr(Spider, "tries", 0) + 1
        if Spider.tries == 1:
            raise ValueError("broken")
        yield from super().parse(response)
    """
    result = crawl(tmp_path, COPIES, "", spider=spider, settings={"CONCURRENT_REQUESTS": 1})
    assert result.delivered() == ["/0"]
    assert result.count("forgotten") == 1


CUT_SHORT = """
class Raising:
    calls = 0
    async def process_spider_output_async(self, response, result):
        Raising.calls += 1
        async for output in result:
            if Raising.calls == 1:
                raise ValueError("raised by one")
            yield output
    def process_spider_output(self, response, result):
        yield from result
class Hushing:
    def process_spider_exception(self, response, exception):
        return []
"""


def test_no_article_is_lost_to_an_error_that_another_middleware_hushes_up(tmp_path) -> None:
    (tmp_path / "middlewares.py").write_text(CUT_SHORT)
    spider = """
    custom_settings = {
        "SPIDER_MIDDLEWARES": {"middlewares.Raising": 500, "middlewares.Hushing": 300}
    }
    async def parse(self, response):
        for item in super().parse(response):
            yield item
    """
    result = crawl(tmp_path, COPIES, spider=spider, settings={"CONCURRENT_REQUESTS": 1})
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == 1


SWALLOWING = """
import scrapy
class Swallowing:
    calls = 0
    def process_response(self, request, response):
        Swallowing.calls += 1
        if Swallowing.calls == 1:
            raise scrapy.exceptions.IgnoreRequest("swallowed after the gate")
        return response
class Rejecting:
    calls = 0
    def process_spider_input(self, response):
        Rejecting.calls += 1
        if Rejecting.calls == 1:
            raise ValueError("rejected before the callback")
class Smothering:
    calls = 0
    def fail_once(self):
        Smothering.calls += 1
        if Smothering.calls == 1:
            raise ValueError("raised after the callback")
    def process_spider_output(self, response, result):
        self.fail_once()
        yield from result
    async def process_spider_output_async(self, response, result):
        self.fail_once()
        async for output in result:
            yield output
    def process_spider_exception(self, response, exception):
        return []
"""


@pytest.mark.parametrize(
    ("kind", "name", "order"),
    [
        ("DOWNLOADER_MIDDLEWARES", "Swallowing", 5),
        ("SPIDER_MIDDLEWARES", "Rejecting", 500),
        ("SPIDER_MIDDLEWARES", "Smothering", 500),
    ],
)
@pytest.mark.parametrize("store", ["memory:", "sqlite:///store.sqlite"])
def test_no_article_is_lost_to_another_middleware(tmp_path, kind, name, order, store) -> None:
    (tmp_path / "middlewares.py").write_text(SWALLOWING)
    spider = f"""
import middlewares
Spider.custom_settings = {{"{kind}": {{middlewares.{name}: {order}}}}}
"""
    settings = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_STORE": store}
    result = crawl(tmp_path, COPIES, spider=spider, settings=settings)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == 1


ODD = """
import time
from simhash_gate.page import Article
class Odd:
    def __call__(self, page):
        text = page.root.text_content()
        if "slow" in text:
            time.sleep(60)
        if "hungry" in text:
            self.eaten = bytearray(1 << 30)
        if "broken" in text:
            raise RuntimeError("\\x1b[2J\\nnothing")
        return Article(page.root, False)
"""


def test_a_page_that_can_not_be_read_passes_and_only_that_page(tmp_path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    odd = {f"/{word}": html_answer(f"<p>{word}</p>") for word in ("slow", "hungry", "broken")}
    routes = {"/a": page(1), **odd, "/b": page(2)}
    settings = {
        "SIMHASH_GATE_EXTRACTOR": "odd.Odd",
        "SIMHASH_GATE_MAX_BYTES": 1_000_000,
        "SIMHASH_GATE_WORKERS": 1,
    }
    result = crawl(tmp_path, routes, settings=settings)
    assert result.delivered() == sorted(routes)
    assert (result.count("error"), result.count("new")) == (3, 2)
    for path, why in (
        ("/slow", "reading took longer than 10 s"),
        ("/hungry", "unreadable: MemoryError"),
        ("/broken", "unreadable: RuntimeError:  [2J nothing"),
    ):
        assert f"Passed {result.site.url}{path} unjudged: {why}" in result.log


def test_a_request_that_has_no_fingerprint_costs_no_page(tmp_path) -> None:
    (tmp_path / "picky.py").write_text(
        "class Picky:\n    def fingerprint(self, request):\n        raise KeyError('article')\n"
    )
    spider = """
    async def start(self):
        yield self.request("/0", dont_filter=True)
    """
    settings = {"REQUEST_FINGERPRINTER_CLASS": "picky.Picky"}
    result = crawl(tmp_path, COPIES, "", spider=spider, settings=settings)
    assert result.delivered() == ["/0"]
    assert result.count("error") == 1
    assert f"Passed {result.site.url}/0 unjudged" in result.log


def test_a_store_that_cannot_be_used_is_named_and_left_alone(tmp_path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"this is no database, " * 500)
    before = path.read_bytes()
    result = crawl(tmp_path, COPIES, settings={"SIMHASH_GATE_STORE": f"sqlite:///{path}"})
    assert (result.status, result.delivered()) == (1, [])
    (error,) = [line for line in result.log.splitlines() if "ERROR" in line]
    assert str(path) in error
    assert path.read_bytes() == before


@pytest.mark.parametrize("stored", [0, 1])
def test_a_feed_that_is_not_stored_leaves_nothing_remembered(tmp_path, stored: int) -> None:
    store = {"SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    feeds = "items.jsonl " * stored + "/proc/nowhere/items.jsonl"
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        first = crawl(tmp_path, site, "/a", settings=store, feed=feeds)
        second = crawl(tmp_path, site, "/b", settings=store)
    assert first.stats.get("feedexport/success_count/FileFeedStorage", 0) == stored
    assert "A feed was not stored" in first.log
    assert second.delivered() == ["/b"]


def test_a_feed_of_some_items_that_had_none_and_is_not_stored_is_no_failure(tmp_path) -> None:
    odd = """
    @classmethod
    def update_settings(cls, settings):
        odd = {"format": "jsonlines", "item_classes": [Odd], "store_empty": False}
        settings.set("FEEDS", {**settings.getdict("FEEDS"), "odd.jsonl": odd}, priority=100)
class Odd(scrapy.Item):
    pass
    """
    store = {"SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        first = crawl(tmp_path, site, "/a", spider=odd, settings=store)
        second = crawl(tmp_path, site, "/b", settings=store)
    assert first.delivered() == ["/a"]
    assert not (tmp_path / "odd.jsonl").exists()
    assert "A feed was not stored" not in first.log
    assert second.delivered() == []
