"""`python -m tests.crawls.small_sites`: crawls small sites as lines of stdin say, with and without
the gate, and writes a line for each: the items that were delivered, and the paths fetched.

A site has articles, each at some addresses, each of these in a view and with links. A callback
takes what it finds in one view, follows the links that it finds there, or hands the article on to a
page that completes it, which is the same for all articles. What is `late` is not there at first.
"""

import asyncio
import json
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

from tests.crawls.harness import Answer, html_answer, serving

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


def answer_of(site: dict, edition: int, path: str) -> Answer:
    """Return what stands at a path: `/`, `/extra/1`, `/json/1/...`, `/article/address/callback`."""
    first, *rest = path.strip("/").split("/")
    delay = random.Random(f"{path} {site['order']}").choice([0, 0, 0.004, 0.01])
    delay *= bool(site["order"])
    if first in UNJUDGED:
        status, kind = UNJUDGED[first]
        return Answer(f'{{"of": "{path}"}}'.encode(), status, {"Content-Type": kind}, delay)
    if not first:
        body = "<main><h1>Home</h1>" + links(site["start"]) + "</main>"
        return html_answer(f"<html><body>{body}</body></html>")
    if first == "extra":
        return html_answer(f"<html><head><title>Reviews</title></head><body>{EXTRA}</body></html>")
    article = site["articles"][int(first)]
    version = edition if article["changes"] else 1
    chosen = random.Random(f"{first} {version}")
    name = " ".join(random.Random(first).choices(WORDS, k=3)).title()
    text = "".join(f"<p>{' '.join(chosen.choices(WORDS, k=14))}.</p>" for _ in range(6))
    template, targets = article["addresses"][int(rest[0])]
    late = article["late"] * (edition == 1)
    shown = edition == 2 if article["late"] == "code" else template in site["coded"]
    code = f"code='c{first}'" * shown
    heading = f"<h1 view='{'' if late == 'items' else template}' {code}>{name}</h1>"
    more = links(targets)
    body = {
        "page": f"<nav><a href='/'>Home</a></nav><article>{heading}{text}</article>"
        f"<div class='more'>{more}</div>",
        "print": f"{heading}<div id='text'>{text}</div><div class='also'>{more}</div>",
        "mobile": f"<header>News</header><div class='m'>{heading}{text}</div>{more}",
    }[template]
    html = f"<html><head><title>{name}</title></head><body>{body}</body></html>"
    return html_answer(html, delay=delay)


UNJUDGED = {
    "json": (200, "application/json"),
    "file": (200, "application/pdf"),
    "gone": (404, "text/html"),
}


def links(targets: list[list]) -> str:
    return "".join(f'<a class="go" href="/{a}/{b}/{c}">more</a> ' for a, b, c in targets)


class SmallSpider(Spider):
    """Follows each link to the callback that its address names, so orders make no difference."""

    name = "small"
    site: str
    order: int
    failed: set
    print_view = "[view=print]"

    async def start(self):
        yield Request(self.site + "/", self.parse, dont_filter=True)

    def parse(self, response):
        yield from self.follow(response, ".go")

    def follow(self, response, css):
        for link in response.css(css):
            href = link.attrib["href"]
            priority = random.Random(f"{href} {self.order}").choice([0, 0, 1, -1])
            callback = getattr(self, href.rpartition("/")[2])
            yield response.follow(link, callback, priority=priority * bool(self.order))

    def item(self, response, how, code=None):
        text = " ".join(response.css("p::text").getall())
        path = response.url.split("/", 3)[3]
        return {"path": path, "how": how, "text": text, "code": code}

    def read_code(self, response):
        return response.css("h1::attr(code)").get()

    def takes_page(self, response):
        """Finds items in one view, and follows links wherever they are."""
        if response.css("[view=page]"):
            yield self.item(response, "page", self.read_code(response))
        yield from self.follow(response, ".go")

    def takes_print(self, response):
        """Finds items in the version for print, and follows links wherever they are."""
        if response.css(self.print_view):
            yield self.item(response, "print", self.read_code(response))
        yield from self.follow(response, ".go")

    def takes_all(self, response):
        yield self.item(response, "all", self.read_code(response))
        yield from self.follow(response, ".go")

    def takes_data(self, response):
        yield {"path": response.url.split("/", 3)[3], "how": "data", "text": response.text}

    def only_follows(self, response):
        """Follows what stands in one view, though others show it, too."""
        yield from self.follow(response, ".more .go")

    def hands_on(self, response):
        """Completes its item on a page that is the same for all."""
        item = self.item(response, "completed")
        url, item["path"] = f"/extra/{item['path'].split('/')[0]}", item["path"].split("/")[0]
        yield response.follow(url, self.completes, cb_kwargs={"item": item})

    def completes(self, response, item):
        yield item

    def fails_first(self, response):
        """Fails on the first page of each article that it gets."""
        article = response.url.split("/")[3]
        if article not in self.failed:
            self.failed.add(article)
            raise ValueError("broken")
        yield self.item(response, "failing")


class WrongSelector(SmallSpider):
    """Its callback for the version for print finds nothing. The whole spider mends that."""

    print_view = "[view=paper]"


class WrongMethod(SmallSpider):
    """It leaves a field empty."""

    def read_code(self, response):
        return None


BROKEN = {"": SmallSpider, "selector": WrongSelector, "method": WrongMethod}


async def crawl(url: str, site: dict, settings: dict, spider: type[Spider]) -> tuple[list, int]:
    """Return the items that were delivered, and how many pages were taken for block pages."""
    runner = AsyncCrawlerRunner({**QUIET, **site["settings"], **settings})
    delivered: list = []

    def take(item: dict) -> None:
        delivered.append(item)

    crawler = runner.create_crawler(spider)
    crawler.signals.connect(take, signals.item_scraped)
    await runner.crawl(crawler, site=url, order=site["order"], failed=set())
    return delivered, crawler.stats.get_value("simhash_gate/blocked", 0)


async def serve(lines) -> None:
    shown: dict = {}
    fetched: list = []

    def answer(asked) -> Answer:
        fetched.append(asked.path)
        return answer_of(**shown, path=asked.path)

    with serving(answer) as url:
        while line := await asyncio.get_running_loop().run_in_executor(None, lines.readline):
            site = json.loads(line)
            told = {}
            with TemporaryDirectory() as folder:
                store = f"sqlite:///{Path(folder)}/store.sqlite"
                gate = {"ADDONS": {"simhash_gate.Addon": 0}, "SIMHASH_GATE_STORE": store}
                for edition, spider in (1, BROKEN[site["mended"]]), (2, SmallSpider):
                    shown |= {"site": site, "edition": edition}
                    for way, settings in ("plain", {}), ("gate", gate):
                        fetched.clear()
                        delivered, blocked = await crawl(url, site, settings, spider)
                        told[f"{way} {edition}"] = delivered, fetched.copy(), blocked
            print(json.dumps(told), flush=True)


def main() -> None:
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    configure_logging(QUIET)
    from twisted.internet import task

    task.react(deferred_f_from_coro_f(lambda _: serve(sys.stdin)))


if __name__ == "__main__":
    main()
