"""The spider of a round, its pipelines and its exporter: they fail where the plan says so.

Run by `scrapy runspider`. It writes a diary of what it saw, one line of JSON each, at once: what a
crawl that is killed saw is known all the same.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from pathlib import Path

import scrapy
from scrapy import signals
from scrapy.exporters import JsonLinesItemExporter

from benchmarks.reliability.scenes import digest_of, is_refused

BOOT = time.time() - time.monotonic()
"""What the clock said when the machine started, before anybody set it wrong."""
PLAN = json.loads(Path(os.environ["CHAOS_PLAN"]).read_text())


class PlannedError(Exception):
    """A failure that the plan asks for."""


class Diary:
    """Lines that are with the reader as soon as they are said."""

    def __init__(self) -> None:
        self._file = PLAN["diary"]
        self._tries: Counter[tuple[str, str]] = Counter()

    def say(self, event: str, **what: object) -> None:
        line = {"event": event, "at": BOOT + time.monotonic(), **what}
        os.write(self._file, json.dumps(line).encode() + b"\n")

    def fail(self, kind: str, path: str, digest: str) -> None:
        """Raise where the plan says that this path fails, the first so many times; -1 is always."""
        self._tries[kind, path] += 1
        times = PLAN[kind].get(path, 0)
        if times < 0 or self._tries[kind, path] <= times:
            self.say("failed", kind=kind, path=path, digest=digest)
            raise PlannedError(f"{kind}: {path}")


diary = Diary()


class Refuse:
    """A pipeline that refuses some items."""

    async def process_item(self, item):
        await asyncio.sleep(PLAN["item_delay"])
        diary.fail("item_fails", item["path"], item["digest"])
        return item


class Unlucky:
    """A pipeline that refuses the items of some URLs, whenever they come."""

    def process_item(self, item):
        if is_refused(item["url"]):
            raise PlannedError(item["url"])
        return item


class Sink:
    """A pipeline whose items are on the disk before the next one does anything."""

    def open_spider(self):
        self.file = open(PLAN["sink"], "a", encoding="utf-8")  # noqa: SIM115, PTH123

    def process_item(self, item):
        self.file.write(json.dumps(dict(item)) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        return item

    def close_spider(self):
        self.file.close()


class Commit:
    """A pipeline that stores all of its items in the end, if it can."""

    def __init__(self):
        self.items = []

    def process_item(self, item):
        self.items.append(json.dumps(dict(item)) + "\n")
        return item

    def close_spider(self):
        if PLAN["commit_fails"]:
            diary.say("commit failed")
            raise PlannedError("commit failed")
        Path(PLAN["commit"]).write_text("".join(self.items), "utf-8")


class Exporter(JsonLinesItemExporter):
    """An exporter that can't say some items."""

    def export_item(self, item):
        diary.fail("export_fails", item["path"], item["digest"])
        super().export_item(item)


class Witness:
    """An extension that notes how the crawl ended, and its stats."""

    def __init__(self, crawler):
        self.crawler = crawler
        crawler.signals.connect(self.closed, signals.spider_closed)
        crawler.signals.connect(self.stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def closed(self, reason):
        diary.say("closed", reason=reason)

    def stopped(self):
        stats = self.crawler.stats.get_stats()
        diary.say("stopped", stats=json.loads(json.dumps(stats, default=str)))


class Spider(scrapy.Spider):
    """Follows listings to articles, and delivers what these say."""

    name = "chaos"

    async def start(self):
        for path in PLAN["starts"]:
            yield self.request(path)

    def request(self, path):
        """Return a request; one for a page that leads on asks to pass, as the docs advise."""
        meta = {"simhash_gate": {"revisit": "pass"}} if path.startswith("/list") else {}
        priority = PLAN["order"].get(path, -10)
        url = PLAN["site"] + path
        return scrapy.Request(url, meta=meta, priority=priority, errback=self.failed)

    async def parse(self, response):
        path = response.url[len(PLAN["site"]) :]
        verdict = response.meta["simhash_gate_verdict"]
        text = " ".join(response.css("article h1::text, article p::text").getall())
        digest = digest_of(text) if text else ""
        diary.say(
            "parsed",
            path=path,
            asked=response.request.meta.get("redirect_urls", [response.url])[0],
            digest=digest,
            outcome=verdict.outcome,
            reason=verdict.reason,
            match=verdict.match.record.url if verdict.match else None,
            match_run=verdict.match.record.run if verdict.match else None,
        )
        await asyncio.sleep(PLAN["holds"].get(path, PLAN["hold"]))
        if path not in PLAN["late"]:
            diary.fail("fails", path, digest)
        for link in response.css("ul.listing a::attr(href)").getall():
            yield self.request(link)
        if text:
            yield {"path": path, "digest": digest, "text": text}
        if path in PLAN["late"]:
            diary.fail("fails", path, digest)

    def failed(self, failure):
        path = failure.request.url[len(PLAN["site"]) :]
        diary.say("missed", path=path, why=type(failure.value).__name__)
