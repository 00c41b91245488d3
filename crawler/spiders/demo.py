"""`scrapy crawl demo`: what the gate does to the demonstration site, against the site's truth."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from typing_extensions import Self

from crawler.pages import (
    Links,
    SiteHosts,
    article_of,
    demo_header,
    page_item,
    positive,
    serve_of,
    site_of,
)
from crawler.site.process import SiteError, SiteProcess, serve_number, shop_url, truth
from crawler.site.scenes.variants import SCENES
from crawler.truth import report, score
from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin.requests import META_KEY
from simhash_gate.plugin.signals import item_held, near_duplicate_dropped

STORE = "SIMHASH_GATE_STORE"
SHOWN = 3
"""Drops that are printed; `-s LOG_LEVEL=INFO` logs them all."""


class DemoSpider(Spider):
    """Starts the demonstration site, crawls it, stops it, and prints the closing figures.

    `articles` and `seed` make the site; with `site`, the URL of a running one, that one is crawled
    and left running. `part`, like 1/4, makes this one of several crawls that share such a site: by
    its URL each page belongs to one of them, and the others read it for its links alone.

    `urls` names a scenario: another site, whose URLs are the matter. The figures count what could
    have been avoided.

    With `carry`, each request has the section that led to it under this name in its `meta`.
    """

    name = "demo"
    custom_settings = {  # noqa: RUF012 - Scrapy's own way
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    }

    def __init__(
        self,
        articles: str = "100",
        seed: str = "1",
        site: str = "",
        part: str = "",
        urls: str = "",
        carry: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.carry = carry
        made_of = positive("articles", articles), positive("seed", seed)
        if part and not site:
            raise SystemExit("part is for -a site=..., the URL of a running demonstration site")
        if urls and urls not in SCENES:
            raise SystemExit(f"urls={urls!r} is none of {', '.join(SCENES)}")
        self.part, self.parts = _share(part) if part else (1, 1)
        self.scene = SCENES.get(urls)
        try:
            self.process = None if site else SiteProcess(*made_of, urls=urls)
            self.site = (self.process.url if self.process else site).rstrip("/")
            self.served_before = serve_number(self.site)
        except SiteError as error:
            raise SystemExit(str(error)) from error
        self.host = self.scene.host if self.scene else ""
        self.homes = [f"http://{self.host}/" if self.host else f"{self.site}/"]
        self.homes += [] if self.scene else [shop_url(self.site)]
        self.links = Links({site_of(home) for home in self.homes})
        self.delivered: set[int] = set()
        self.judged: set[int] = set()
        self.shown: list[str] = []
        self.started = self.ended = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider; a site of its own is one that no store has seen."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        settings = crawler.settings
        spider.logger.info("Crawling the demonstration site at %s", spider.site)
        if spider.process:
            asked = settings.get(STORE)
            if asked not in (None, "memory:"):
                spider.logger.warning("%s=%s is for -a site=...; not used here", STORE, asked)
            settings.set(STORE, "memory:", priority="cmdline")
        if spider.host:
            SiteHosts.install(settings, spider.host, spider.site)
        # After the feeds, which may be written to stdout too: the figures are its last line.
        crawler.signals.connect(spider.engine_stopped, signals.engine_stopped)
        crawler.signals.connect(spider.dropped, near_duplicate_dropped)
        crawler.signals.connect(spider.held, item_held)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the site's home page, and that of its shop if it has one."""
        self.started = time.monotonic()
        for home in self.homes:
            yield self.request(home, dont_filter=True)

    def request(self, url: str, **kwargs: Any) -> Request:
        """Return a request; the gate leaves pages alone that belong to another crawl."""
        mine = zlib.crc32(url.encode()) % self.parts == self.part - 1
        return Request(url, meta={} if mine else {META_KEY: False}, **kwargs)

    def parse(self, response: Response) -> Iterator[dict[str, Any] | Request]:
        """Note that the page came; yield it with what the site says it is, and its links."""
        mine = response.meta.get(META_KEY) is not False
        if mine:
            self.delivered.add(serve_of(response))
        if not isinstance(response, HtmlResponse):
            return
        if mine:
            sku, variant, price = (demo_header(response, "Offer") or ";;").split(";")
            offer = {"sku": sku or None, "variant": variant or None, "price": price or None}
            yield {**page_item(response), **article_of(response), **offer}
        section = {self.carry: response.url.split("/")[3:7]} if self.carry else {}
        for url in self.links.of(response):
            request = self.request(url)
            request.meta.update(section)
            yield request

    def held(self, response: Response) -> None:
        """Note that the gate held the item of the page back."""
        self.delivered.discard(serve_of(response))
        self.judged.add(serve_of(response))

    def dropped(self, response: Response, verdict: Verdict) -> None:
        """Note that the gate dropped the page; print the first ones."""
        self.judged.add(serve_of(response))
        kept = verdict.match.record.url if verdict.match else response.url
        if len(self.shown) < SHOWN and kept != response.url:
            self.shown.append(kept)
            print(f"Dropped {response.url}: a copy of {kept}")

    def closed(self, reason: str) -> None:
        """Stop the clock."""
        self.ended = time.monotonic()

    def engine_stopped(self) -> None:
        """Print the figures, and stop the site."""
        try:
            known = truth(self.site)
        except SiteError as error:
            self.logger.error("no figures: %s", error)
            return
        finally:
            if self.process:
                self.process.stop()
        alone, mine = self.parts == 1, self.judged | self.delivered
        log = [e for e in known.log if e.serve > self.served_before and (alone or e.serve in mine)]
        figures = score(
            known._replace(log=log),
            self.delivered - self.judged,
            dropped=self.judged,
            seconds=self.ended - self.started,
            alone=alone,
        )
        print(report(figures, urls=bool(self.scene)))
        print(json.dumps(figures), flush=True)


def _share(part: str) -> tuple[int, int]:
    """Return the numbers in "1/4": which part, of how many."""
    match = re.fullmatch(r"(\d+)/(\d+)", part, re.ASCII)
    which, count = map(int, match.groups()) if match else (0, 0)
    if not 1 <= which <= count:
        raise SystemExit(f"part={part!r} is not like 1/4, the first of four")
    return which, count
