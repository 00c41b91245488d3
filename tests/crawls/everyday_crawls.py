"""`python -m tests.crawls.everyday_crawls URL`: all everyday spiders crawl a site, in one process.

Each crawls both editions of the site, with the gate and without it. What came out is written to
`crawls.json`, by spider: for each crawl its items, each as a line of JSON, and the gate's stats.
"""

import asyncio
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor
from scrapy.utils.spider import iter_spider_classes

from simhash_gate.plugin.signals import item_held, near_duplicate_dropped
from tests.crawls import everyday_spiders, everyday_visitors
from tests.crawls.everyday_spiders import Everyday

SPIDERS: dict[str, type[Everyday]] = {
    spider.name: spider
    for module in (everyday_spiders, everyday_visitors)
    for spider in iter_spider_classes(module)
}
AT_ONCE = 8
SETTINGS = {
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
    "RETRY_BACKOFF_BASE": 0,
    "SIMHASH_GATE_WORKERS": 0,
}


class Crawled:
    """What a crawl gave: items as lines of JSON, by the path of their page; the gate's reasons."""

    def __init__(self, key: tuple[str, ...]) -> None:
        self.key = key
        self.items: dict[str, list[str]] = defaultdict(list)
        self.reasons: dict[str, str] = {}
        self.stats: dict[str, Any] = {}

    def scraped(self, item, response) -> None:
        fields = ItemAdapter(item).asdict()
        for each in fields.get("files", ()):
            del each["status"]  # a second crawl has them already
        known = {name: fields[name] for name in self.key or fields}
        self.items[path_of(response.url)].append(json.dumps(known, sort_keys=True))

    def held(self, response, verdict) -> None:
        self.reasons[path_of(response.url)] = f"{verdict.outcome}: {verdict.reason}"


def path_of(url: str) -> str:
    return urlsplit(url)._replace(scheme="", netloc="", fragment="").geturl()


async def crawl(spider: Any, site: str, store: str = "", **settings: Any) -> Crawled:
    """Return what a spider finds on a site, with the gate if it has a `store`."""
    crawled = Crawled(spider.key)
    gate = {"ADDONS": {"simhash_gate.Addon": 0}, "SIMHASH_GATE_STORE": store} if store else {}
    runner = AsyncCrawlerRunner({**SETTINGS, **gate, **settings})
    crawler = runner.create_crawler(spider)
    crawler.settings.setdict(settings, priority="cmdline")
    crawler.signals.connect(crawled.scraped, signals.item_scraped)
    for signal in (item_held, near_duplicate_dropped):
        crawler.signals.connect(crawled.held, signal)
    await runner.crawl(crawler, site=site)
    crawled.stats = {k: v for k, v in crawler.stats.get_stats().items() if isinstance(v, int | str)}
    return crawled


async def crawl_all(url: str, names: list[str]) -> dict[str, dict[str, dict]]:
    told: dict[str, dict[str, dict]] = {name: {} for name in names}
    places = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, how: str, edition: int) -> None:
        async with places:
            place = SPIDERS[name].beside or name
            store = f"sqlite:///{Path.cwd()}/{place}.sqlite" if how == "gate" else ""
            files = f"files/{name}-{how}"
            its = await crawl(SPIDERS[name], f"{url}/{place}", store, FILES_STORE=files)
            items = [item for of_page in its.items.values() for item in of_page]
            told[name][f"{how} {edition}"] = {"items": items, "stats": its.stats}

    for edition in (1, 2):
        # A crawl with the gate and one without ask for the same addresses, one after the other.
        for how in ("plain", "gate"):
            urlopen(f"{url}/edition/{edition}").close()
            await asyncio.gather(*(one(name, how, edition) for name in names))
    return told


def main(url: str, *names: str) -> None:
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    configure_logging(SETTINGS)
    from twisted.internet import task

    async def run(_reactor) -> None:
        told = await crawl_all(url, list(names) or list(SPIDERS))
        Path("crawls.json").write_text(json.dumps(told), "utf-8")

    task.react(deferred_f_from_coro_f(run))


if __name__ == "__main__":
    main(*sys.argv[1:])
