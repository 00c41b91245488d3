"""A spider that makes a corpus of a site, and the crawl of `simhash-gate crawl` that runs it.

The spider follows the sitemap of a site and its links, and yields each page as Markdown. The crawl
writes pages to a file as they come. It can be continued later.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.parse import urljoin, urlsplit

import click
from scrapy import Request
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import BaseSettings, Settings
from scrapy.spiders import SitemapSpider
from scrapy.utils.asyncio import create_looping_call
from twisted.python.failure import Failure

from simhash_gate.common.files import private_folder, whole_file, write_new
from simhash_gate.common.urls import host_of, without_credentials
from simhash_gate.common.wording import why
from simhash_gate.fingerprints.hamming import to_hex
from simhash_gate.gate.verdict import encode, verdict_of
from simhash_gate.options import pipeline_version
from simhash_gate.page import METADATA
from simhash_gate.plugin.addon import Addon
from simhash_gate.plugin.requests import META_KEY
from simhash_gate.plugin.spider_middleware import settings_of
from simhash_gate.settings import own_version
from simhash_gate.stores import read_store

POLITE = {
    "DOWNLOAD_HANDLERS": dict.fromkeys(("data", "file", "ftp", "s3")),  # robots.txt may name any
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": f"simhash-gate/{own_version()}",
    "CONCURRENT_REQUESTS": 8,  # after Ctrl-C, the crawl ends when these are answered
    "DOWNLOAD_DELAY": 0.5,
    "AUTOTHROTTLE_ENABLED": True,
    "AUTOTHROTTLE_START_DELAY": 1.0,
    "SIMHASH_GATE_BLOCKED": "drop",
}
"""Settings of the crawl unless the project, the spider or the command line sets others."""


class SiteSpider(SitemapSpider):
    """Crawls the hosts of its start URLs, and yields each page once, as an item for a corpus.

    `url` holds one start URL or more, with blanks between them; a subclass may have `start_urls`.
    With `below`, only addresses below the start URLs are followed. To change what is followed,
    override `is_ours`; to change what is yielded, override `item`.
    """

    name = "site"
    below: bool | str = False
    link_extractor = LinkExtractor()

    def __init__(self, url: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = url.split() or list(self.start_urls)
        starts = self.start_urls
        self.sites = {(_host(url), _folder(url) if self.below else "") for url in starts}
        self.allowed_domains = sorted({host for host, _ in self.sites})  # for redirects

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Set the defaults of `POLITE`, and add the gate."""
        for name, value in POLITE.items():
            settings.set(name, value, priority="addon")
        super().update_settings(settings)
        settings.setdefault_in_component_priority_dict("ADDONS", Addon, 0)
        # Scrapy may set its own defaults again later: with this priority, the add-on stays.
        settings.set("ADDONS", settings.getdict("ADDONS"), priority="addon")

    async def start(self) -> AsyncIterator[Request]:
        """Yield requests for the start URLs and for the sitemaps of their hosts."""
        for url in self.start_urls:
            yield Request(url, meta={"allow_offsite": True})
        places = ("/robots.txt", "/sitemap.xml")
        sitemaps = [urljoin(url, place) for url in self.start_urls for place in places]
        self.sitemap_urls = [*self.sitemap_urls, *sitemaps]
        async for request in super().start():
            request.meta[META_KEY] = False  # a missing sitemap may be answered by a page
            yield request

    def sitemap_filter(self, entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the sitemaps of an index, and the pages of the site."""
        of_sitemaps = getattr(entries, "type", "") == "sitemapindex"
        for entry in super().sitemap_filter(entries):
            if of_sitemaps or self.is_ours(entry.get("loc") or ""):
                yield entry

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield the item of the page, and requests for its links."""
        if not self.is_ours(response.url):
            if response.meta.get("allow_offsite"):
                first = response.meta.get("redirect_urls", [response.url])[0]
                leads = "%s leads to %s, which is another site. To crawl that, start there"
                self.logger.warning(leads, first, response.url)
        elif isinstance(response, HtmlResponse):
            item = self.item(response)
            if item is not None:
                yield item
            for link in self.link_extractor.extract_links(response):
                if self.is_ours(link.url):
                    yield Request(link.url)

    def is_ours(self, url: str) -> bool:
        """Tell whether a URL belongs to the site: to one of its hosts, with `www.` or without."""
        host = _host(url)  # "" for what is no URL of the web
        places = [place for ours, place in self.sites if ours == host]
        return any(f"{urlsplit(url).path}/".startswith(f"{place}/") for place in places)

    def item(self, response: Response) -> dict[str, Any] | None:
        """Return the item of a page for a corpus, None for a page without text."""
        verdict = verdict_of(response)
        if verdict is None or verdict.page is None or verdict.outcome == "skipped":
            self.crawler.stats.inc_value("site/without_text")
            return None
        page, bits = verdict.page, verdict.fingerprint
        return {
            "url": without_credentials(response.url),
            "canonical_url": verdict.canonical_url,
            **{name: getattr(page, name) for name in ("title", *METADATA, "words")},
            "fingerprint": "" if bits is None else to_hex(bits),
            "pipeline": pipeline_version(settings_of(self.crawler).options),
            "markdown": page.markdown,
        }


def _host(url: str) -> str:
    is_web = url[:8].lower().startswith(("http://", "https://"))  # a page may link to files
    return host_of(url).removeprefix("www.") if is_web else ""


def _folder(url: str) -> str:
    """Return the folder of a file such as /docs/index.html, and of a folder itself: /docs."""
    folder, _, last = urlsplit(url).path.rpartition("/")
    return folder if "." in last else f"{folder}/{last}".rstrip("/")


FULL = "corpus_not_written"  # the reason why a crawl ends if the disk is full
_EVERY = 10.0  # seconds between two lines on the progress of the crawl


class CorpusSpider(SiteSpider):
    """Writes pages to a corpus, each before the gate counts it as delivered. Shows the progress."""

    def __init__(
        self,
        output: Path,
        waiting: int,
        say: Callable[[str], object],
        without: Collection[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.listings = "listings" not in without
        with output.open("rb") as file:
            self.urls = {json.loads(line)["url"] for line in file}
        self.file = output.open("r+b", buffering=0)
        self._waiting, self._say = waiting, say

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first requests."""
        create_looping_call(self.say_how_far).start(_EVERY, now=False)
        async for request in super().start():
            yield request

    def item(self, response: Response) -> dict[str, Any] | None:
        """Write the item of a page unless the corpus has its URL. Raises CloseSpider on failure."""
        verdict = verdict_of(response)
        if verdict and (verdict.rejected or verdict.outcome == "updated"):
            return None
        if verdict and verdict.listing and not self.listings:
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
        """Show the final numbers, and close the file."""
        self.say_how_far()
        self.file.close()

    def say_how_far(self) -> None:
        """Show the numbers of pages and of addresses that wait."""
        stats = self.crawler.stats.get_stats()
        copies, left = stats.get("simhash_gate/duplicate", 0), self._waiting + _left(stats)
        self._say(f"pages: {len(self.urls)}; copies left out: {copies}; addresses to go: {left}")


def crawl_to(
    output: Path,
    job: Path,
    settings: Mapping[str, Any],
    say: Callable[[str], object],
    **given: Any,
) -> Mapping[str, Any]:
    """Crawl until the site is done or the user ends the crawl. Return the stats of the crawl.

    Its `site/failed` names hosts, each with a reason why something could not be fetched. `job` is a
    folder with the state for continuing. After a kill, the requests that waited are lost: the site
    is fetched again. `given` are arguments of the spider. Raises the exception that keeps the crawl
    from beginning.
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
        say("The last part did not end cleanly. Its pages are kept; the site is fetched again.")
        (job / "requests.seen").unlink(missing_ok=True)
        rmtree(job / "requests.queue", ignore_errors=True)
        _cut(output, store)
    chosen = {**settings, "JOBDIR": str(job), "SIMHASH_GATE_STORE": store}
    process = CrawlerProcess(Settings(chosen, priority="cmdline"))
    failed = set[tuple[str, str]]()
    is_news = partial(_is_news, failed)
    for name in ("core.scraper", "downloadermiddlewares.robotstxt", "downloadermiddlewares.retry"):
        logging.getLogger(f"scrapy.{name}").addFilter(is_news)
    crawler = process.create_crawler(CorpusSpider)
    failures: list[Failure] = []
    done = process.crawl(crawler, output=output, waiting=waiting, say=say, **given)
    done.addErrback(failures.append)
    process.start()
    if failures:
        failures[0].raiseException()
    stats: Mapping[str, Any] = crawler.stats.get_stats()
    if stats.get("finish_reason") == "finished":
        rmtree(job, ignore_errors=True)
    elif stats.get("finish_reason", FULL) != FULL:
        write_new(ended, b"%d" % (waiting + _left(stats)))
    return {**stats, "site/failed": sorted(failed)}


def _is_news(told: set[tuple[str, str]], record: logging.LogRecord) -> bool:
    """Let one line pass for each host, and each reason why something can't be fetched from it."""
    message = record.getMessage()
    if record.levelno < logging.ERROR or not message.startswith(("Error down", "Gave up")):
        return True
    if record.exc_info and (reason := str(record.exc_info[1])) not in message:
        message = f"{message}: {reason}"
    record.msg, record.args, record.exc_info = message, (), None
    address, _, end = message.partition(">")
    known, what = len(told), (host_of(address.rpartition(" ")[2]), end.partition(": ")[2])
    told.add(what)
    return len(told) > known


def _left(stats: Mapping[str, Any]) -> int:
    return int(stats.get("scheduler/enqueued", 0) - stats.get("scheduler/dequeued", 0))


def _cut(output: Path, store: str) -> None:
    """Remove from a corpus a line that a kill cut off, and pages that the store does not have.

    These pages come again. Otherwise a copy that comes before one of them would stay, too.
    """
    with closing(read_store(store)) as kept:
        noted = {record.url for record in kept.records()}
    with output.open("rb") as file, whole_file(output, private=False) as whole:
        for line in file:
            if line.endswith(b"\n") and json.loads(line)["url"] in noted:
                whole.write(line)
