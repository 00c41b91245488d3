"""`python -m tests.crawls.small_sites`: crawls small sites as lines of stdin say, with and without
the gate, and writes a line for each: which callback took which article.

A site has articles, each at some addresses in some template. A callback takes what it finds in one
template, follows the links that it finds there, or hands the article on to a page that completes
it, which is the same for all articles.
"""

import asyncio
import json
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

from tests.crawls.harness import html_answer, serving

WORDS = [
    f"{a}{b}{c}"
    for a in ("ba", "co", "du", "fi")
    for b in ("lan", "mer", "no", "s")
    for c in ("ta", "ri", "vo", "len", "dor", "kis")
]
QUIET = {
    "LOG_LEVEL": "CRITICAL",
    "TELNETCONSOLE_ENABLED": False,
    "RETRY_ENABLED": False,
    "SIMHASH_GATE_WORKERS": 0,
}
EXTRA = "<main><h1>Reviews</h1><p>Nobody has written a review of this so far. Be the first one to "
EXTRA += (
    "do so, and tell all others what you think of it and what they should know, please.</p></main>"
)


def page_of(site: dict, edition: int, path: str) -> str:
    """Return what stands at a path: `/`, `/extra/1`, or `/article/address`."""
    first, _, rest = path.strip("/").partition("/")
    if not first:
        return "<main><h1>Home</h1>" + links(site["start"]) + "</main>"
    if first == "extra":
        return f"<html><head><title>Reviews</title></head><body>{EXTRA}</body></html>"
    article = site["articles"][int(first)]
    version = edition if article["changes"] else 1
    chosen = random.Random(f"{first} {version}")
    name = " ".join(random.Random(first).choices(WORDS, k=3)).title()
    text = "".join(f"<p>{' '.join(chosen.choices(WORDS, k=14))}.</p>" for _ in range(6))
    template = article["addresses"][int(rest)]
    more = links(article["links"])
    body = {
        "page": f"<nav><a href='/'>Home</a></nav><article><h1>{name}</h1>{text}</article>"
        f"<div class='more'>{more}</div>",
        "print": f"<h1>{name}</h1><div id='text'>{text}</div><div class='also'>{more}</div>",
        "mobile": f"<header>News</header><div class='m'><h1>{name}</h1>{text}</div>{more}",
    }[template]
    return f"<html><head><title>{name}</title></head><body>{body}</body></html>"


def links(targets: list[list]) -> str:
    return "".join(f'<a class="go" href="/{a}/{b}" title="{c}">{a} {b}</a> ' for a, b, c in targets)


FINDS = {"page": "article h1", "print": "#text", "mobile": ".m h1"}


class SmallSpider(Spider):
    """Follows links to callbacks by the title of each link."""

    name = "small"
    custom_settings: ClassVar = {"CONCURRENT_REQUESTS": 1}
    site: str
    taken: list
    failed: set

    async def start(self):
        yield Request(self.site + "/", self.parse, dont_filter=True)

    def parse(self, response):
        yield from self.follow(response, ".go")

    def follow(self, response, css):
        for link in response.css(css):
            callback = getattr(self, link.attrib["title"])
            yield response.follow(link, callback)

    def took(self, response, how):
        article = response.url.split("/")[3]
        text = " ".join(response.css("p::text").getall())
        self.taken.append([article, how, text])
        return {"article": article}

    def takes_page(self, response):
        """Finds items in one template, and follows what stands there alone."""
        if response.css(FINDS["page"]):
            yield self.took(response, "page")
        yield from self.follow(response, ".more .go")

    def takes_print(self, response):
        """Finds items in the version for print, and follows links wherever they are."""
        if response.css(FINDS["print"]):
            yield self.took(response, "print")
        yield from self.follow(response, ".go")

    def takes_all(self, response):
        yield self.took(response, "all")

    def only_follows(self, response):
        yield from self.follow(response, ".go")

    def hands_on(self, response):
        """Completes its item on a page that is the same for all."""
        article = response.url.split("/")[3]
        text = " ".join(response.css("p::text").getall())
        item = {"article": article, "text": text}
        yield response.follow(f"/extra/{article}", self.completes, cb_kwargs={"item": item})

    def completes(self, response, item):
        self.taken.append([item["article"], "completed", item["text"]])
        yield item

    def fails_first(self, response):
        """Fails on the first page of each article that it gets."""
        article = response.url.split("/")[3]
        if article not in self.failed:
            self.failed.add(article)
            raise ValueError("broken")
        yield self.took(response, "failing")


async def crawl(url: str, site: dict, settings: dict) -> list:
    runner = AsyncCrawlerRunner({**QUIET, **site["settings"], **settings})
    taken: list = []
    crawler = runner.create_crawler(SmallSpider)
    await runner.crawl(crawler, site=url, taken=taken, failed=set())
    return taken


async def serve(lines) -> None:
    shown: dict = {}
    with serving(lambda asked: html_answer(page_of(**shown, path=asked.path))) as url:
        while line := await asyncio.get_running_loop().run_in_executor(None, lines.readline):
            site = json.loads(line)
            told = {}
            with TemporaryDirectory() as folder:
                store = f"sqlite:///{Path(folder)}/store.sqlite"
                gate = {"ADDONS": {"simhash_gate.Addon": 0}, "SIMHASH_GATE_STORE": store}
                for edition in (1, 2):
                    shown |= {"site": site, "edition": edition}
                    told[f"plain {edition}"] = await crawl(url, site, {})
                    told[f"gate {edition}"] = await crawl(url, site, gate)
            print(json.dumps(told), flush=True)


def main() -> None:
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    configure_logging(QUIET)
    from twisted.internet import task

    task.react(deferred_f_from_coro_f(lambda _: serve(sys.stdin)))


if __name__ == "__main__":
    main()
