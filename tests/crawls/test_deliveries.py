"""Items that never reached the disk don't count: the next crawl delivers their pages.

With DURABLE = "page", what is delivered stays known after a kill, and nothing that is not.
"""

import json
import random
import time
from contextlib import closing
from pathlib import Path

import pytest

from simhash_gate.stores import open_store
from tests.crawls.harness import Crawl, Site, crawl, page, start, until
from tests.crawls.loaded import LoadedProcess

ARTICLES = {f"/{n}": page(n) for n in range(8)}
PATHS = " ".join(ARTICLES)
NOT_SEEN = "later crawls won't take these pages as seen"

BATCHES = """
    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        batches = {"format": "jsonlines", "batch_item_count": SIZE}
        settings.set("FEEDS", {"batch-%(batch_id)d.jsonl": batches}, priority=100)
"""


def remembered(store: str) -> set[str]:
    """The paths of the pages that a later crawl takes as seen."""
    with closing(open_store(store)) as opened:
        return {f"/{record.url.rpartition('/')[2]}" for record in opened.records()}


@pytest.fixture
def store(tmp_path):
    return f"sqlite:///{tmp_path}/store.sqlite"


@pytest.fixture
def crawled(tmp_path, store):
    """Crawl; return the crawl and the pages that a later one takes as seen."""

    def run(spider: str = "", **kwargs):
        kwargs["settings"] = {"SIMHASH_GATE_STORE": store}
        result = crawl(tmp_path / "first", ARTICLES, spider=spider, **kwargs)
        return result, remembered(store)

    return run


@pytest.mark.parametrize("size", [5, 4])
def test_batches_that_are_all_stored_also_where_one_ends_with_the_last_item(
    crawled, tmp_path, size
) -> None:
    result, seen = crawled(BATCHES.replace("SIZE", f"{size}"))
    lines = [path.read_text() for path in (tmp_path / "first").glob("batch-*.jsonl")]
    assert "".join(lines).count("\n") == len(ARTICLES)
    assert NOT_SEEN not in result.log
    assert seen == set(ARTICLES)


REMOTE = """
    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        settings.set("FEED_STORAGES", {"remote": Remote}, priority=100)
        feed = {"format": "jsonlines", OPTIONS}
        settings.set("FEEDS", {"remote://me:word@host/URI": feed}, priority=100)
from scrapy.extensions.feedexport import BlockingFeedStorage
class Remote(BlockingFeedStorage):
    def __init__(self, uri, *, feed_options=None):
        pass
    def _store_in_thread(self, file):
        if "FAILS":
            raise OSError("no room")
"""


def remote(address: str = "items", options: str = "", *, fails: bool = False) -> str:
    """Return a spider with a feed that is stored elsewhere."""
    spider = REMOTE.replace("URI", address).replace("OPTIONS", options)
    return spider.replace("FAILS", "yes" * fails)


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


def crawl_twice(folder: Path, spider: str) -> list[Crawl]:
    """Crawl with a spider, and with one that does well."""
    store = f"sqlite:///{folder}/store.sqlite"
    settings = {"SIMHASH_GATE_STORE": store, "SIMHASH_GATE_REVISIT": "drop"}
    with Site(dict(ARTICLES)).running() as site:
        return [crawl(folder, site, PATHS, spider=each, settings=settings) for each in (spider, "")]


def test_an_exporter_that_raises_on_some_items_costs_these_alone(tmp_path) -> None:
    first, second = crawl_twice(tmp_path, EXPORTER.format(when='item["path"] in ("/3", "/5")'))
    assert len(first.items) == len(ARTICLES) - 2
    assert first.count("forgotten") == 2
    assert NOT_SEEN not in first.log
    assert second.delivered() == ["/3", "/5"]


def test_an_item_that_is_written_behind_half_of_another_is_not_there(tmp_path) -> None:
    """So a full disk leaves a feed: the rest of that line is no JSON, whatever it has.

    (Here the line ends, for the feed is read in this test.)
    """
    half = 'self.file.write(b"{}\\n") and setattr(Broken, "at", None)'
    spider = EXPORTER.format(when='item["path"] == Broken.at').replace(
        'raise TypeError("can\'t be exported")', f'raise OSError(28, "full", {half})'
    )
    spider = spider.replace("def export_item", 'at = "/3"\n    def export_item')
    first, second = crawl_twice(tmp_path, spider)
    assert first.count("forgotten") == 2
    assert "/3" in second.delivered()
    assert len(second.delivered()) == 2


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
    spider = spider.replace("def export_item", "raised = False\n    def export_item")
    result = crawl(tmp_path, copies, spider=spider)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == result.count("rescheduled") == 1


PIPELINE = """
class Database:
    def process_item(self, item):
        return item
    def close_spider(self):
        raise RuntimeError("no room")
Spider.custom_settings = {"ITEM_PIPELINES": {Database: 100}}
"""
LISTENER = """
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.listen, signal=scrapy.signals.{signal})
        return spider
    def listen(self{parameters}):
        raise RuntimeError("no room")
"""


CLOSED = """
    def closed(self, reason):
        raise RuntimeError("no room")
"""


@pytest.mark.parametrize(
    ("spider", "feed", "said"),
    [
        (LISTENER.format(signal="item_scraped", parameters=", item"), "", "Spider.listen failed"),
        (LISTENER.format(signal="spider_closed", parameters=""), "", "Spider.listen failed"),
        (LISTENER.format(signal="feed_slot_closed", parameters=", slot"), "", ".listen failed"),
        (PIPELINE, "", "An item pipeline failed to close"),
        (CLOSED, "", "Spider.close failed"),
        ("", "/dev/full:jsonlines", "A feed was not stored"),
        (remote(fails=True), "", "A feed was not stored"),
    ],
    ids=["item", "closing", "slot", "pipeline", "closed", "full disk", "remote"],
)
def test_what_fails_where_items_are_stored_leaves_no_page_remembered(
    crawled, spider, feed, said
) -> None:
    result, seen = crawled(spider, feed=f"items.jsonl {feed}")
    assert any(said in line and NOT_SEEN in line for line in result.log.splitlines())
    assert seen == set()


def test_a_batch_that_can_not_be_written_costs_the_pages_of_its_items(crawled, tmp_path) -> None:
    (tmp_path / "first" / "batch-2.jsonl").mkdir(parents=True)
    result, seen = crawled(BATCHES.replace("SIZE", "5"))
    lines = (tmp_path / "first" / "batch-1.jsonl").read_text().splitlines()
    assert seen == {json.loads(line)["path"] for line in lines}
    assert len(seen) == 5
    assert result.count("forgotten") == len(ARTICLES) - 5


def test_handlers_that_fail_elsewhere_are_no_failure_of_items(crawled) -> None:
    result, seen = crawled(LISTENER.format(signal="request_scheduled", parameters=""))
    assert "Error caught on signal handler" in result.log
    assert seen == set(ARTICLES)


def test_the_failure_of_one_of_two_crawls_in_one_process_is_its_own(tmp_path) -> None:
    """Each crawl hears of its own failures alone."""
    script = """
import sys, scrapy
from scrapy.crawler import AsyncCrawlerProcess
class Spider(scrapy.Spider):
    custom_settings = {"ADDONS": {"simhash_gate.Addon": 0}, "TELNETCONSOLE_ENABLED": False}
    async def start(self):
        for number in range(3):
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
    (tmp_path / "two_crawls.py").write_text(script)
    with Site(dict(ARTICLES)).running() as site:
        process = LoadedProcess("two_crawls", site.url, cwd=tmp_path)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert remembered(f"sqlite:///{tmp_path}/failing.sqlite") == set()
    assert remembered(f"sqlite:///{tmp_path}/fine.sqlite") == {"/0", "/1", "/2"}


PAGES = {f"/{n}": page(n) for n in range(40)}

# The sink writes each item at once; pages take their time, in the callback and in the pipeline.
SINKING = """
import asyncio, json, os, random
class Sink:
    def __init__(self):
        self.file = open("sink.jsonl", "a")
    async def process_item(self, item):
        if "path" in item:
            await asyncio.sleep(random.random() / 20)
            self.file.write(json.dumps(item["path"]) + "\\n")
            self.file.flush()
        return item
    def close_spider(self):
        self.file.close()
Spider.custom_settings = {"ITEM_PIPELINES": {Sink: 100}}
async def parse(self, response):
    await asyncio.sleep(random.random() / 20)
    for item in Base.parse(self, response):
        yield item
    await asyncio.sleep(random.random() / 20)
Spider.parse = parse
Spider.failed = lambda self, failure: None
"""


@pytest.fixture
def settings(store):
    return {
        "SIMHASH_GATE_STORE": store,
        "SIMHASH_GATE_DURABLE": "page",
        "SIMHASH_GATE_REVISIT": "drop",
        "CONCURRENT_REQUESTS": 4,
    }


def sunk(folder) -> list[str]:
    path = folder / "sink.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [line.strip('"') for line in lines]


def settled(store: str) -> int:
    with closing(open_store(store)) as opened:
        return sum(record.settled for record in opened.records())


def test_after_kills_nothing_is_lost_and_what_was_remembered_not_delivered_again(
    tmp_path, store, settings
) -> None:
    moments = random.Random(4)
    paths = " ".join(PAGES)
    survived = 0
    with Site(dict(PAGES)).running() as site:
        for attempt in range(3):
            known, before = remembered(store), len(sunk(tmp_path))
            process, finish = start(tmp_path, site, paths, spider=SINKING, settings=settings)
            until(lambda: len(sunk(tmp_path)) > before or process.poll() is not None)  # noqa: B023
            if attempt < 2:
                time.sleep(moments.uniform(0, 0.3))
            else:  # something has been settled by then, however slow the machine
                until(lambda: settled(store) > len(known) or process.poll() is not None)  # noqa: B023
            process.kill()
            finish()
            assert known.isdisjoint(sunk(tmp_path)[before:])
            assert remembered(store) <= set(sunk(tmp_path))
            survived += len(remembered(store) - known)
        last = crawl(tmp_path, site, paths, spider=SINKING, settings=settings)
    assert last.status == 0
    assert survived > 0
    assert set(sunk(tmp_path)) == remembered(store) == set(PAGES)


def test_a_page_that_is_worked_on_does_not_count_after_a_kill(tmp_path, store, settings) -> None:
    stuck = """
    async def parse(self, response):
        for item in super().parse(response):
            yield item
        if response.url.endswith("/1"):
            import asyncio
            await asyncio.sleep(600)
    """
    with Site({"/0": PAGES["/0"], "/1": PAGES["/1"]}).running() as site:
        process, finish = start(tmp_path, site, "/0 /1", spider=stuck, settings=settings)
        with closing(open_store(store)) as opened:
            until(lambda: sorted(record.settled for record in opened.records()) == [False, True])
        process.kill()
        finish()
    assert remembered(store) == {"/0"}


def test_without_it_a_kill_leaves_nothing(tmp_path, store, settings) -> None:
    del settings["SIMHASH_GATE_DURABLE"]
    with Site(dict(PAGES)).running() as site:
        paths = " ".join(PAGES)
        process, finish = start(tmp_path, site, paths, spider=SINKING, settings=settings)
        until(lambda: len(sunk(tmp_path)) >= 4)
        process.kill()
        finish()
    assert remembered(store) == set()
