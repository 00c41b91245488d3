"""Items that never reached the disk don't count: the next crawl delivers their pages."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import pytest

from simhash_gate.stores import open_store
from tests.crawls.harness import Site, crawl, page

ARTICLES = {f"/{n}": page(n) for n in range(12)}
PATHS = " ".join(ARTICLES)

FEEDS = """
    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        settings.set("FEEDS", {feeds}, priority=100)
"""
BATCHES = '{"batch-%(batch_id)d.jsonl": {"format": "jsonlines", "batch_item_count": 5}}'


def feeds(said: str) -> str:
    return FEEDS.format(feeds=said)


@pytest.fixture
def twice(tmp_path):
    """Crawl, and crawl again without whatever was wrong; return both."""
    settings = {
        "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite",
        "SIMHASH_GATE_REVISIT": "drop",
    }

    def run(spider: str = "", **kwargs):
        with Site(dict(ARTICLES)).running() as site:
            kwargs.setdefault("settings", {}).update(settings)
            first = crawl(tmp_path / "first", site, PATHS, spider=spider, **kwargs)
            second = crawl(tmp_path / "second", site, PATHS, settings=settings)
        return first, second

    return run


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 16 kB; where none may be mounted, a limit on the files of a crawl."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    limit = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))\n"
    )
    yield folder, "" if mounted else limit
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full(twice, small_disk) -> None:
    folder, limit = small_disk
    first, second = twice(limit, feed=f"items.jsonl {folder}/items.jsonl")
    assert "later crawls won't take these pages as seen" in first.log
    assert "A feed could not be written: OSError" in first.log
    assert second.delivered() == sorted(ARTICLES)


def test_a_batch_whose_file_cannot_be_opened(twice, tmp_path) -> None:
    (tmp_path / "first" / "batch-2.jsonl").mkdir(parents=True)
    first, second = twice(feeds(BATCHES))
    assert "later crawls won't take these pages as seen" in first.log
    assert second.delivered() == sorted(ARTICLES)


def test_batches_that_are_all_stored(twice, tmp_path) -> None:
    first, second = twice(feeds(BATCHES))
    assert len([*(tmp_path / "first").glob("batch-*.jsonl")]) == 3
    assert "won't take these pages" not in first.log
    assert second.delivered() == []


@pytest.mark.parametrize("size", [1, 4, 12])
def test_batches_that_end_with_the_last_item(twice, size) -> None:
    first, second = twice(feeds(BATCHES.replace("5", f"{size}")))
    assert "won't take these pages" not in first.log
    assert second.delivered() == []


EXPORTER = """
    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        settings.set("FEED_EXPORTERS", {{"jsonl": Broken}}, priority=100)
from scrapy.exporters import JsonLinesItemExporter
class Broken(JsonLinesItemExporter):
    def export_item(self, item):
        if {when}:
            raise TypeError("can't be exported")
        super().export_item(item)
"""


def test_an_exporter_that_raises_on_each_item(twice) -> None:
    first, second = twice(EXPORTER.format(when="True"))
    assert first.items == []
    assert first.count("forgotten") == len(ARTICLES)
    assert second.delivered() == sorted(ARTICLES)


def test_an_exporter_that_raises_on_some_items_costs_these_alone(twice) -> None:
    first, second = twice(EXPORTER.format(when='item["path"] in ("/3", "/7")'))
    assert len(first.items) == len(ARTICLES) - 2
    assert "won't take these pages" not in first.log
    assert second.delivered() == ["/3", "/7"]


def test_a_copy_is_fetched_again_when_the_item_of_the_kept_page_is_not_exported(tmp_path) -> None:
    copies = {f"/{n}": page(1, noise=n) for n in range(4)}
    when = '"outcome" in item and not Broken.raised and not setattr(Broken, "raised", True)'
    spider = """
    async def parse(self, response):
        import asyncio
        while self.crawler.stats.get_value("simhash_gate/dropped", 0) < 3:
            await asyncio.sleep(0.02)
        for item in super().parse(response):
            yield item
    """ + EXPORTER.format(when=when)
    with Site(dict(copies)).running() as site:
        spider = spider.replace("def export_item", "raised = False\n    def export_item")
        result = crawl(tmp_path, site, " ".join(copies), spider=spider)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == result.count("rescheduled") == 1


def test_a_pipeline_that_cannot_commit(twice) -> None:
    spider = """
class Database:
    def process_item(self, item):
        return item
    def close_spider(self):
        raise RuntimeError("commit failed")
Spider.custom_settings = {"ITEM_PIPELINES": {Database: 100}}
"""
    first, second = twice(spider)
    assert "An item pipeline failed to close: RuntimeError: commit failed" in first.log
    assert second.delivered() == sorted(ARTICLES)


LISTENER = """
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.listen, signal=scrapy.signals.{signal})
        return spider
    def listen(self{parameters}):
        raise RuntimeError("no room")
"""


@pytest.mark.parametrize(
    ("signal", "parameters"),
    [("item_scraped", ", item"), ("spider_closed", ""), ("feed_slot_closed", ", slot")],
)
def test_a_handler_that_fails_where_items_may_be_stored(twice, signal, parameters) -> None:
    first, second = twice(LISTENER.format(signal=signal, parameters=parameters))
    assert "Spider.listen failed" in first.log
    assert "RuntimeError: no room: later crawls won't take these pages as seen" in first.log
    assert second.delivered() == sorted(ARTICLES)


def test_a_spider_that_cannot_write_what_it_collected(twice) -> None:
    _, second = twice("    def closed(self, reason):\n        raise OSError('no room')\n")
    assert second.delivered() == sorted(ARTICLES)


def test_handlers_that_fail_elsewhere_are_no_failure_of_items(twice) -> None:
    first, second = twice(LISTENER.format(signal="request_scheduled", parameters=""))
    assert "Error caught on signal handler" in first.log
    assert second.delivered() == []


def test_the_failure_of_one_of_two_crawls_in_one_process_is_its_own(tmp_path) -> None:
    """Each crawl hears of its own failures alone."""
    script = """
import sys, scrapy
from scrapy.crawler import AsyncCrawlerProcess
class Spider(scrapy.Spider):
    custom_settings = {"ADDONS": {"simhash_gate.Addon": 0}, "TELNETCONSOLE_ENABLED": False}
    async def start(self):
        for number in range(12):
            yield scrapy.Request(f"{self.site}/{number}")
    def parse(self, response):
        yield {"url": response.url}
    def closed(self, reason):
        if self.name == "failing":
            raise OSError("no room")
process = AsyncCrawlerProcess()
for name in ("failing", "fine"):
    spider = type(name, (Spider,), {"name": name, "site": sys.argv[1]})
    store = {"SIMHASH_GATE_STORE": f"sqlite:///{name}.sqlite"}
    spider.custom_settings = Spider.custom_settings | store
    process.crawl(spider)
process.start()
"""
    with Site(dict(ARTICLES)).running() as site:
        subprocess.run(
            [sys.executable, "-c", script, site.url], cwd=tmp_path, check=True, capture_output=True
        )
    kept = {}
    for name in ("failing", "fine"):
        with closing(open_store(f"sqlite:///{tmp_path}/{name}.sqlite")) as store:
            kept[name] = len([*store.records()])
    assert kept == {"failing": 0, "fine": 12}
