"""The crawl of `simhash-gate crawl`: pages go to a file as they come, and it can go on later."""

from __future__ import annotations

import json
import logging
import os
from contextlib import closing
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import click
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.settings import Settings
from scrapy.utils.asyncio import create_looping_call

from simhash_gate.common.files import private_folder, whole_file, write_new
from simhash_gate.common.wording import why
from simhash_gate.gate.verdict import VERDICT_KEY, encode
from simhash_gate.plugin.site_spider import SiteSpider
from simhash_gate.stores import read_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from scrapy import Request
    from scrapy.http import Response
    from twisted.python.failure import Failure

FULL = "corpus_not_written"  # why a crawl ends
_EVERY = 10.0  # seconds, between two lines about how far the crawl is


class CorpusSpider(SiteSpider):
    """Writes pages to a corpus, each before the gate counts it as delivered; says how far it is."""

    def __init__(self, output: Path, waiting: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with output.open("rb") as file:
            self.urls = {json.loads(line)["url"] for line in file}
        self.file = output.open("r+b", buffering=0)
        self.waiting = waiting

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first requests."""
        create_looping_call(self.say_how_far).start(_EVERY, now=False)
        async for request in super().start():
            yield request

    def item(self, response: Response) -> dict[str, Any] | None:
        """Write a page, unless the corpus has it, under any of its URLs. Raises CloseSpider."""
        verdict = response.meta.get(VERDICT_KEY)
        if verdict and (verdict.rejected or verdict.outcome == "updated"):
            return None
        item = super().item(response)
        if item and item["url"] not in self.urls:
            line, end = encode(item), self.file.seek(0, os.SEEK_END)
            try:
                while line:
                    line = line[self.file.write(line) :]
            except OSError as error:
                self.file.truncate(end)
                click.echo(f"{self.file.name}: {why(error)}", err=True)
                raise CloseSpider(FULL) from error
            self.urls.add(item["url"])
        return item

    def closed(self, reason: str) -> None:
        """Say what there is."""
        self.say_how_far()
        self.file.close()

    def say_how_far(self) -> None:
        """Say how many pages there are, and how many addresses wait."""
        stats = self.crawler.stats.get_stats()
        copies, left = stats.get("simhash_gate/duplicate", 0), self.waiting + _left(stats)
        click.echo(
            f"pages: {len(self.urls)}; copies left out: {copies}; addresses to go: {left}", err=True
        )


def crawl_to(
    output: Path, job: Path, settings: Mapping[str, Any], **given: Any
) -> Mapping[str, Any]:
    """Crawl until all is done or somebody ends it; return the stats of the crawl.

    `job` is a folder with what makes it go on. After a kill, that is not the requests that waited:
    all is fetched again. `given` is for the spider. Raises what keeps the crawl from beginning.
    """
    ended, store, waiting = job / "ended", f"sqlite:///{job}/simhash_gate.sqlite", 0
    if not output.exists():
        rmtree(job, ignore_errors=True)  # it knows pages that were removed with the file
        private_folder(job)
        write_new(output, b"")
    elif ended.exists():
        waiting = int(ended.read_text())
        ended.unlink()
    else:
        unclean = (
            "The last part did not end cleanly. Its pages are kept; the site is fetched again."
        )
        click.echo(unclean, err=True)
        (job / "requests.seen").unlink(missing_ok=True)
        rmtree(job / "requests.queue", ignore_errors=True)
        _cut(output, store)
    chosen = {**settings, "JOBDIR": str(job), "SIMHASH_GATE_STORE": store}
    process = CrawlerProcess(Settings(chosen, priority="cmdline"))
    for name in ("scrapy.core.scraper", "scrapy.downloadermiddlewares.robotstxt"):
        logging.getLogger(name).addFilter(_in_one_line)
    crawler = process.create_crawler(CorpusSpider)
    failures: list[Failure] = []
    done = process.crawl(crawler, output=output, waiting=waiting, **given)
    done.addErrback(failures.append)
    process.start()
    if failures:
        failures[0].raiseException()
    stats: Mapping[str, Any] = crawler.stats.get_stats()
    if stats.get("finish_reason") == "finished":
        rmtree(job, ignore_errors=True)
    elif stats.get("finish_reason", FULL) != FULL:
        write_new(ended, b"%d" % (waiting + _left(stats)))
    return stats


def _in_one_line(record: logging.LogRecord) -> bool:
    """Say in one line why a page could not be fetched, and not where in Scrapy."""
    if str(record.msg).startswith("Error downloading") and record.exc_info:
        message, reason = record.getMessage(), str(record.exc_info[1])
        record.msg = message if reason in message else f"{message}: {reason}"
        record.args, record.exc_info = (), None
    return True


def _left(stats: Mapping[str, Any]) -> int:
    left: int = stats.get("scheduler/enqueued", 0) - stats.get("scheduler/dequeued", 0)
    return left


def _cut(output: Path, store: str) -> None:
    """Take from a corpus what a kill cut off, and pages that the store had not noted yet.

    They come again, and a copy of such a page could come before it.
    """
    with closing(read_store(store)) as kept:
        noted = {record.url for record in kept.records()}
    with output.open("rb") as file, whole_file(output, private=False) as whole:
        for line in file:
            if line.endswith(b"\n") and json.loads(line)["url"] in noted:
                whole.write(line)
