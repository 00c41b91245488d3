"""What the gate knows of Scrapy beyond its documentation: a release that changes it fails here."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator

import pytest
from scrapy import Request, Spider, signals
from scrapy.core import engine, scraper
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.extensions import feedexport
from scrapy.extensions.closespider import CloseSpider
from scrapy.extensions.feedexport import BlockingFeedStorage, FeedExporter, FileFeedStorage
from scrapy.http import HtmlResponse
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.test import get_crawler

from simhash_gate.plugin import deliveries, lifecycle


@pytest.fixture
def exporter(tmp_path) -> Iterator[FeedExporter]:
    """The exporter of a crawl with one feed, a file, that has begun."""
    crawler = get_crawler(Spider, {"FEEDS": {str(tmp_path / "a.jsonl"): {"format": "jsonl"}}})
    crawler.spider = Spider("a")
    exporter = FeedExporter.from_crawler(crawler)
    exporter.open_spider(crawler.spider)
    yield exporter
    for slot in exporter.slots:
        slot.file.close()


def test_a_feed_has_slots_that_count_its_items(exporter) -> None:
    (slot,) = exporter.slots
    assert {slot.uri_template} == set(exporter.feeds)
    assert (slot.itemcount, slot.batch_id, slot.store_empty) == (0, 1, True)
    assert slot.uri
    exporter.item_scraped({"a": 1}, exporter.crawler.spider)
    assert slot.itemcount == 1
    assert isinstance(slot.storage, FileFeedStorage)
    assert not isinstance(slot.storage, BlockingFeedStorage)
    assert slot.storage.path
    assert slot.feed_options.get("overwrite") is None
    assert "feedexport/failed_count" in inspect.getsource(feedexport)


def test_the_log_tells_of_handlers_and_pipelines_that_fail(caplog) -> None:
    def fails() -> None:
        raise OSError("full")

    crawler = get_crawler(Spider)
    crawler.signals.connect(fails, signals.item_scraped)
    with caplog.at_level(logging.ERROR):
        about = {"item": {}, "response": None, "spider": Spider("a")}
        crawler.signals.send_catch_log(signals.item_scraped, **about)
    (record,) = caplog.records
    assert record.name == "scrapy.utils.signal"
    assert record.args["receiver"] is fails
    assert record.exc_info[0] is OSError
    assert f'"{deliveries._PIPELINES_FAILED}"' in inspect.getsource(engine)


def test_a_crawl_stops_fetching_by_the_sizes_of_its_responses() -> None:
    assert scraper.Slot.MIN_RESPONSE_SIZE == lifecycle.MIN_RESPONSE_SIZE
    assert scraper.Slot(max_active_size=2048).max_active_size == 2048


def test_a_crawl_that_closes_without_items_counts_them_in_a_method() -> None:
    closer = CloseSpider(get_crawler(Spider, {"CLOSESPIDER_TIMEOUT_NO_ITEM": 5}))
    assert closer.close_on["timeout_no_item"] == 5
    closer.item_scraped_no_item(item={}, spider=Spider("a"))
    assert closer.items_in_period == 1


def test_a_crawl_spider_has_its_rule_in_meta() -> None:
    class Ruled(CrawlSpider):
        name = "ruled"
        rules = (Rule(callback="parse_item"),)

        def parse_item(self, response):
            """Do nothing."""

    spider = Ruled.from_crawler(get_crawler(Ruled))
    page = HtmlResponse("https://example.com/", body=b"<a href=/a>a</a>")
    (request,) = spider._requests_to_follow(page)
    assert request.callback == spider._callback
    assert spider._rules[request.meta["rule"]].callback == spider.parse_item


def test_a_response_knows_with_which_encoding_it_was_made() -> None:
    assert HtmlResponse("https://example.com/", encoding="cp1252")._encoding == "cp1252"
    assert HtmlResponse("https://example.com/")._encoding is None


def test_callbacks_await_pages_through_one_method_of_the_engine() -> None:
    assert inspect.iscoroutinefunction(ExecutionEngine.download_async)
    assert [*inspect.signature(ExecutionEngine.download_async).parameters] == ["self", "request"]
    assert callable(Crawler.get_downloader_middleware)
    assert callable(Crawler.get_extension)
    assert get_crawler(Spider).addons.addons == []
    assert Request("https://example.com/").meta == {}
