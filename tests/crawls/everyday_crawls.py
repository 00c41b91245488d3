"""`python -m tests.crawls.everyday_crawls URL`: all everyday spiders crawl a site, in one process.

Each crawls both editions of the site, with the gate and without it. What came out is written to
`crawls.json`, by spider: for each crawl its items, each as a line of JSON, and the gate's stats.
"""

import asyncio
import json
import sys
from pathlib import Path
from urllib.request import urlopen

from itemadapter import ItemAdapter
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor
from scrapy.utils.spider import iter_spider_classes

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


class Taken:
    """Takes the items of a crawl."""

    def __init__(self, key: tuple[str, ...], items: list[str]) -> None:
        self.key, self.items = key, items

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.spidercls.key, crawler.settings["TEST_TAKEN"])

    def process_item(self, item):
        fields = ItemAdapter(item).asdict()
        fields = {name: fields[name] for name in self.key or fields}
        for each in fields.get("files", ()):
            del each["status"]  # a second crawl has them already
        self.items.append(json.dumps(fields, sort_keys=True))
        return item


async def crawl(url: str, name: str, how: str) -> dict:
    spider = SPIDERS[name]
    place = spider.beside or name
    gate = {
        "ADDONS": {"simhash_gate.Addon": 0},
        "SIMHASH_GATE_STORE": f"sqlite:///{Path.cwd()}/{place}.sqlite",
    }
    items: list[str] = []
    runner = AsyncCrawlerRunner({**SETTINGS, **(gate if how == "gate" else {})})
    crawler = runner.create_crawler(spider)
    crawler.settings.setdict({"TEST_TAKEN": items}, priority="cmdline")
    pipelines = {**crawler.settings.getdict("ITEM_PIPELINES"), Taken: 900}
    crawler.settings.set("ITEM_PIPELINES", pipelines, priority="cmdline")
    crawler.settings.set("FILES_STORE", f"files/{name}-{how}", priority="cmdline")
    await runner.crawl(crawler, site=f"{url}/{place}")
    stats = {k: v for k, v in crawler.stats.get_stats().items() if isinstance(v, int | str)}
    return {"items": items, "stats": stats}


async def crawl_all(url: str, names: list[str]) -> dict[str, dict[str, dict]]:
    told: dict[str, dict[str, dict]] = {name: {} for name in names}
    places = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, how: str, edition: int) -> None:
        async with places:
            told[name][f"{how} {edition}"] = await crawl(url, name, how)

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
