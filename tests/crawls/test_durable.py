"""DURABLE = "page": what is delivered stays known after a kill, and nothing that is not."""

from __future__ import annotations

import random
import time
from contextlib import closing

import pytest

from simhash_gate.stores import open_store
from tests.crawls.harness import Site, crawl, page, start, until

PAGES = {f"/{n}": page(n) for n in range(40)}

# The sink writes each item at once; pages take their time, in the callback and in the pipeline.
SPIDER = """
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
def settings(tmp_path):
    return {
        "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite",
        "SIMHASH_GATE_DURABLE": "page",
        "SIMHASH_GATE_REVISIT": "drop",
        "CONCURRENT_REQUESTS": 4,
    }


def sunk(folder) -> list[str]:
    path = folder / "sink.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [line.strip('"') for line in lines]


def remembered(settings) -> set[str]:
    """The pages that count for a later crawl."""
    with closing(open_store(settings["SIMHASH_GATE_STORE"])) as store:
        return {"/" + record.url.rpartition("/")[2] for record in store.records()}


def test_after_kills_nothing_is_lost_and_what_was_remembered_not_delivered_again(
    tmp_path, settings
) -> None:
    moments = random.Random(4)
    paths = " ".join(PAGES)
    survived = 0
    with Site(dict(PAGES)).running() as site:
        for _ in range(3):
            known, before = remembered(settings), len(sunk(tmp_path))
            process, finish = start(tmp_path, site, paths, spider=SPIDER, settings=settings)
            until(lambda: len(sunk(tmp_path)) > before or process.poll() is not None)  # noqa: B023
            time.sleep(moments.uniform(0, 0.3))
            process.kill()
            finish()
            assert known.isdisjoint(sunk(tmp_path)[before:])
            assert remembered(settings) <= set(sunk(tmp_path))
            survived += len(remembered(settings) - known)
        last = crawl(tmp_path, site, paths, spider=SPIDER, settings=settings)
    assert last.status == 0
    assert survived > 0
    assert set(sunk(tmp_path)) == remembered(settings) == set(PAGES)


def test_a_page_that_is_being_worked_on_does_not_count_after_a_kill(tmp_path, settings) -> None:
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
        with closing(open_store(settings["SIMHASH_GATE_STORE"])) as store:
            until(lambda: [record.settled for record in store.records()].count(True) == 1)
            until(lambda: len([*store.records()]) == 2)
        process.kill()
        finish()
    assert remembered(settings) == {"/0"}
