"""Short spiders for everyday jobs: rules, lists, and items that are put together from pages."""

from itertools import cycle
from typing import Any

import scrapy
from itemloaders.processors import Join, TakeFirst
from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.pipelines.files import FilesPipeline
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider


class Everyday(scrapy.Spider):
    """A spider of the site below an address; it begins at `first`."""

    first = "/"
    key: tuple[str, ...] = ()
    """The fields by which its items are told apart; all of them where it names none."""
    beside = ""
    """Another spider, with which it shares the site and the store, at the same time."""
    custom_settings: dict[str, Any] = {}

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site
        self.start_urls = [site + self.first]

    def ask(self, path: str, callback: Any = None, **kwargs: Any) -> scrapy.Request:
        return scrapy.Request(self.site + path, callback, **kwargs)


def product_item(response) -> dict:
    return {
        "name": response.css("h1::text").get(),
        "price": response.css("main > .price::text").get(),
        "description": " ".join(response.css(".description p::text").getall())[-60:],
    }


def article_item(response, headline="h1::text", paragraphs="article p") -> dict:
    title = response.css(headline).get()
    return {"title": title, "paragraphs": len(response.css(paragraphs))}


def card_items(response, css=".card"):
    for card in response.css(css):
        yield {"name": card.css("a::text").get(), "price": card.css(".price::text").get()}


class Products(Everyday):
    """Goes through all products by their numbers."""

    async def start(self):
        for n in range(13):
            yield self.ask(f"/p/{n}")


class ListsOnlySpider(Everyday):
    name = "lists_only"

    def parse(self, response):
        for link in response.css("nav a[href*='/c/']"):
            yield response.follow(link, self.parse_list)
            yield response.follow(link.attrib["href"] + "?sort=price", self.parse_list)

    def parse_list(self, response):
        yield from card_items(response)
        yield from response.follow_all(css="a.next", callback=self.parse_list)


class SitemapWithRulesSpider(Everyday, SitemapSpider):
    name = "sitemap_with_rules"
    sitemap_rules = [("/p/", "parse_product"), (r"/news/\d", "parse_article")]

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(site, **kwargs)
        self.sitemap_urls = [f"{site}/robots.txt"]

    async def start(self):
        async for request in SitemapSpider.start(self):
            yield request.replace(url=self.site + "/sitemap.xml")

    def parse_product(self, response):
        yield product_item(response)

    def parse_article(self, response):
        yield article_item(response)


class SeveralRulesSpider(Everyday, CrawlSpider):
    name = "several_rules"
    rules = (
        Rule(LinkExtractor(allow=r"/c/\w+", deny="sort="), follow=True),
        Rule(LinkExtractor(allow=r"/news$|/news\?page|/tag/")),
        Rule(LinkExtractor(allow=r"/p/\d+$"), callback="parse_product", follow=True),
        Rule(LinkExtractor(allow=r"/news/\d+$"), callback="parse_article", cb_kwargs={"kind": "n"}),
    )

    def parse_product(self, response):
        yield product_item(response)

    def parse_article(self, response, kind):
        yield {"kind": kind, **article_item(response)}


class FrontPageTooSpider(Everyday, CrawlSpider):
    """Takes what the front page offers when it starts, and when rules come back to it."""

    name = "front_page_too"
    rules = (
        Rule(LinkExtractor(restrict_css="nav"), callback="parse_offers", follow=True),
        Rule(LinkExtractor(allow=r"/p/\d+$"), callback="parse_offers"),
    )

    def parse_start_url(self, response, **kwargs):
        return []

    def parse_offers(self, response):
        for item in card_items(response, "main > .card"):
            yield {**item, "on": response.css("h1::text").get()}


class OthersBoughtSpider(Products):
    """Takes what stands beside a product: others, with their prices.

    An `aside` is left out of what a page says, so the spider names what it takes from there.
    """

    name = "others_bought"
    custom_settings = {"SIMHASH_GATE_COMPARE": ["aside .card"]}

    def parse(self, response):
        for item in card_items(response, "aside .card"):
            yield {**item, "on": response.css("h1::text").get()}


class AttributeItemSpider(Products):
    """Puts an item together from three pages, in an attribute."""

    name = "attribute_item"
    meta: dict[str, Any] = {}

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(site, **kwargs)
        self.found: dict[str, dict] = {}

    def parse(self, response):
        yield from self.add(response.url.rpartition("/")[2], product_item(response))
        yield response.follow(f"{response.url}/reviews", self.parse_reviews, meta=self.meta)
        yield response.follow(f"{response.url}/shipping", self.parse_shipping, meta=self.meta)

    def parse_reviews(self, response):
        number = response.url.split("/")[-2]
        yield from self.add(number, {"reviews": len(response.css(".review"))})

    def parse_shipping(self, response):
        number = response.url.split("/")[-2]
        yield from self.add(number, {"days": response.css(".days::text").get()})

    def add(self, number, fields):
        item = self.found.setdefault(number, {"number": number})
        item |= fields
        if {"name", "reviews", "days"} <= item.keys():
            yield item


class AttributeItemUnjudgedSpider(AttributeItemSpider):
    """Does the same, and tells the gate to leave alone what completes an item."""

    name = "attribute_item_unjudged"
    meta = {"simhash_gate": False}


class ProductLoader(ItemLoader):
    default_output_processor = TakeFirst()
    reviews_out = Join()


class LoaderOverThreePagesSpider(Products):
    name = "loader_over_three_pages"

    def parse(self, response):
        loader = ProductLoader(item={}, response=response)
        loader.add_css("name", "h1::text")
        loader.add_css("price", "main > .price::text")
        yield response.follow(
            response.css("a.reviews")[0], self.parse_reviews, cb_kwargs={"item": loader.load_item()}
        )

    def parse_reviews(self, response, item):
        loader = ProductLoader(item=item, response=response)
        loader.add_css("reviews", ".review p::text")
        shipping, handed_on = response.url.replace("reviews", "shipping"), loader.load_item()
        yield response.follow(shipping, self.parse_shipping, cb_kwargs={"item": handed_on})

    def parse_shipping(self, response, item):
        loader = ProductLoader(item=item, response=response)
        loader.add_css("days", ".days::text")
        yield loader.load_item()


class ItemInMetaSpider(Everyday):
    """Branches have an opening time each, and all have the same holidays."""

    name = "item_in_meta"
    first = "/branches"

    def parse(self, response):
        yield from response.follow_all(css="a.branch", callback=self.parse_branch)

    def parse_branch(self, response):
        city, opens = response.css("main p::text").getall()
        item = {"city": city, "opens": opens}
        yield response.follow(response.css("a.hours")[0], self.parse_hours, meta={"item": item})

    def parse_hours(self, response):
        yield {**response.meta["item"], "closed": response.css(".closed::text").get()}


class InlineSpider(Products):
    """Awaits the reviews and the stock of a product in its callback."""

    name = "inline"

    async def parse(self, response):
        item = product_item(response)
        for more in ("reviews", "stock"):
            request = scrapy.Request(f"{response.url}/{more}")
            answer = await self.crawler.engine.download_async(request)
            item[more] = " ".join(answer.css("main p::text").getall())[-40:]
        yield item


class Stored(FilesPipeline):
    """Keeps files where the crawl has its own."""

    def file_path(self, request, response=None, info=None, *, item=None):
        return request.url.rpartition("/")[2]


class FilesSpider(Everyday):
    """Downloads reports whose pages say all the same."""

    name = "files"
    first = "/reports"
    custom_settings = {"ITEM_PIPELINES": {Stored: 1}, "FILES_STORE": "files"}
    key = ("files",)

    def parse(self, response):
        yield from response.follow_all(css="a.report", callback=self.parse_report)

    def parse_report(self, response):
        yield {"file_urls": [response.urljoin(response.css("a.file").attrib["href"])]}


class NamesSpider(Products):
    """Takes one thing of the pages of which another spider takes another, both in one store."""

    name = "names"

    def parse(self, response):
        yield {"name": response.css("h1::text").get(), "price": product_item(response)["price"]}


class RelatedSpider(Products):
    name = "related"
    beside = "names"

    def parse(self, response):
        price = product_item(response)["price"]
        for related in response.css("aside .card a::text").getall():
            yield {"price": price, "related": related}


class FedWhenIdleSpider(Everyday):
    """Takes its pages from a queue, some whenever nothing is left to do."""

    name = "fed_when_idle"

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(site, **kwargs)
        self.queue = [f"/p/{n}/stock" for n in range(8)] + [f"/p/{n}" for n in range(8)]

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self):
        for path in self.queue[:4]:
            request = self.ask(path, self.parse_product, cb_kwargs={"path": path})
            self.crawler.engine.crawl(request)
        if self.queue:
            del self.queue[:4]
            raise DontCloseSpider

    def parse(self, response):
        yield {"path": "/", "title": response.css("h1::text").get()}
        yield from card_items(response)

    def parse_product(self, response, path):
        yield {"path": path, "says": " ".join(response.css("main p::text").getall())[-50:]}
        yield {"path": path, "price": response.css("main > .price::text").get()}


class PrintViewsSpider(Everyday):
    """Goes from each article to its print view, and takes the item there."""

    name = "print_views"
    first = "/news"

    def parse(self, response):
        yield from response.follow_all(css="a.story", callback=self.parse_article)
        yield from response.follow_all(css="a.next")

    def parse_article(self, response):
        yield response.follow(response.css("a.print")[0], self.parse_print)

    def parse_print(self, response):
        yield article_item(response, "h2::text", ".printed p")


class BothViewsSpider(Everyday):
    """Follows all links, and takes an article from whichever of its pages comes.

    One page of an article is enough, so its text is the key, and not its address.
    """

    name = "both_views"
    first = "/news"
    key = ("title", "paragraphs")

    def parse(self, response):
        yield from response.follow_all(css="a.story, a.next, a.tag, a.print")
        item = article_item(response, "h1::text, h2::text", "article p, .printed p")
        if item["paragraphs"]:
            yield {**item, "url": response.url}


class TwoCallbacksSpider(Everyday):
    """Two parts of a spider ask for the same pages, for different things."""

    name = "two_callbacks"
    first = "/news"

    def parse(self, response):
        yield from response.follow_all(css="a.story", callback=self.parse_title)
        for story in response.css("a.story"):
            url = response.urljoin(story.attrib["href"]) + "?from=list"
            yield scrapy.Request(url, self.parse_tags)
        yield from response.follow_all(css="a.next")

    def parse_title(self, response):
        yield article_item(response)

    def parse_tags(self, response):
        for tag in response.css("a.tag::text").getall():
            yield {"article": response.css("h1::text").get(), "tag": tag}
        yield from response.follow_all(css="a.tag", callback=self.parse_tag)

    def parse_tag(self, response):
        yield {"tag": response.css("h1::text").get(), "articles": len(response.css("a.story"))}


class LeagueSpider(Everyday):
    """Takes the rows of tables that have the same clubs."""

    name = "league"

    async def start(self):
        for season in range(1, 5):
            yield self.ask(f"/league?season={season}", cb_kwargs={"season": season})

    def parse(self, response, season):
        for row in response.css("table tr")[1:]:
            club, points = row.css("td::text").getall()
            yield {"season": season, "club": club, "points": points}


class StationsSpider(Everyday):
    """Takes pages of few words, of which two often say the same."""

    name = "stations"
    first = "/weather"

    def parse(self, response):
        for link in response.css("a.station"):
            at = {"at": link.css("::text").get()}
            yield response.follow(link, self.parse_station, cb_kwargs=at)

    def parse_station(self, response, at):
        yield {"at": at, "degrees": response.css(".degrees::text").get()}


class EventsSpider(Everyday):
    """Counts events by month; most months have none, and their pages say so alike."""

    name = "events"

    async def start(self):
        for month in range(1, 9):
            yield self.ask(f"/events?month={month}", cb_kwargs={"month": month})

    def parse(self, response, month):
        yield {"month": month, "events": response.css(".event::text").getall()}


class ForumSpider(Everyday):
    """Takes the posts of threads over their pages, each with its place."""

    name = "forum"
    first = "/forum"

    def parse(self, response):
        yield from response.follow_all(css="a.thread", callback=self.parse_thread)

    def parse_thread(self, response, before=0):
        posts = response.css(".post::text").getall()
        for number, post in enumerate(posts, before + 1):
            yield {"thread": response.css("h1::text").get(), "number": number, "post": post[-30:]}
        yield from response.follow_all(
            css="a.next", callback=self.parse_thread, cb_kwargs={"before": before + len(posts)}
        )


class ProxiesSpider(Everyday):
    """Sends each request through the next proxy; the shop has the prices of its country."""

    name = "proxies"

    async def start(self):
        for proxy in ("north", "south"):
            way = {
                "meta": {"proxy": proxy_at(self.site, proxy)},
                "headers": {"Proxy-Country": proxy},
            }
            for n in range(5):
                yield self.ask(f"/p/{n}", **way, dont_filter=True)

    def parse(self, response):
        yield product_item(response)
        turn = cycle(("south", "north"))
        for link in response.css("a.reviews, a.shipping"):
            meta = {"proxy": proxy_at(self.site, next(turn))}
            name = {"name": response.css("h1::text").get()}
            yield response.follow(link, self.parse_more, meta=meta, cb_kwargs=name)

    def parse_more(self, response, name):
        yield {"name": name, "what": response.css("h1::text").get()} | {
            "says": " ".join(response.css("main p::text").getall())[:40]
        }


def proxy_at(site: str, name: str) -> str:
    host = site.split("/")[2]
    return f"http://{name}:x@{host}"
