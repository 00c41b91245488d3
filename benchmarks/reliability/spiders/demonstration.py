"""The demonstration with feeds for machines, and everyday spiders of its news and of its shop."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from itemloaders.processors import Join, MapCompose, TakeFirst
from scrapy.loader import ItemLoader
from scrapy.spiders import CSVFeedSpider, SitemapSpider, XMLFeedSpider

from benchmarks.reliability.spiders.edits import OTHER
from crawler.site.answering import Reply
from crawler.site.news import Site
from crawler.site.server import Server
from tests.crawls.everyday_spiders import Everyday, Stored

STORY = r"/\d{4}/\d\d/[\w-]+$"
TITLE = "h1::text, .headline::text"
TEXT = ".article-body > p:not(.read-more)::text, .css-at9mc1::text, .storytext::text"
FIGURES = "figure img, .css-1xdhyk6 img, .storytext img"
Editing = Callable[[str, str, bytes], bytes]
"""Returns the body of a page with its changes; gets spider, path and body."""


class Demonstration(Site):
    """The site, with an edit of each page. `visit` counts crawls: what is live hangs on it."""

    def __init__(self, articles: int, seed: int, editing: Editing) -> None:
        super().__init__(articles, seed)
        self.visit, self.editing = 1, editing
        urls = "".join(f"<url><loc>http://HOST{it.path}</loc></url>" for it in self.articles)
        shelves = {shelf.offer.variant.sku: href for href, shelf in self.shop.shelves.items()}
        self.machines = {
            "/sitemap.xml": f"<urlset>{urls}</urlset>",
            "/products.csv": "\n".join(["sku,path", *map(",".join, shelves.items())]),
            "/api/stories": json.dumps([{"path": article.path} for article in self.articles]),
        }

    def reply(
        self, target: str, *, accepts_gzip: bool = False, asked: Mapping[str, str] | None = None
    ) -> Reply:
        """Return a page as it is for a spider, which tells its name as that of its browser."""
        asked = asked or {}
        if said := self.machines.get(target):
            body = said.replace("HOST", asked["Host"]).encode()
            return Reply(200, {"Content-Type": "text/plain; charset=utf-8"}, body)
        reply = super().reply(target.removesuffix(OTHER).rstrip("?&"), asked=asked)
        if not reply.html or reply.status != 200:
            return reply
        return reply._replace(body=self.editing(asked["User-Agent"], target, reply.body))

    def answer(self, url: str, hit: int) -> Reply:
        """Return a page as it is in this crawl, whoever has asked for it before."""
        return super().answer(url, self.visit)


@contextmanager
def demonstration(site: Demonstration) -> Iterator[str]:
    """Serve the site by its own server while the block lasts; yield its address."""
    with Server(site, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Taking(Everyday):
    """Gives an item of `each` element of a page, with what the selectors of its fields find."""

    each = "html"
    take: dict[str, str] = {"title": TITLE, "text": TEXT}

    def parse_page(self, response, **more):
        title = {"on": response.css(TITLE).get()}
        for element in response.css(self.each):
            yield title | more | {name: texts(element, css) for name, css in self.take.items()}


def texts(selector: Any, css: str) -> str:
    """Return the texts of what a selector finds, as one."""
    return " ".join(" ".join(selector.css(css).getall()).split())


class Stories(Taking):
    """Goes to each article by the JSON that the site has for its scripts."""

    first = "/api/stories"

    def parse(self, response):
        for entry in response.json():
            yield response.follow(entry["path"], self.parse_page)


class Goods(Taking):
    """Goes from list to list of the shop, and from there to its products."""

    first = "/store/"

    def parse(self, response):
        yield from response.follow_all(css=".card a[href$='/'], .list-menu a, .pagination a")
        products = ".card a[href*='/products/']:not([href*='='])"
        yield from response.follow_all(css=products, callback=self.parse_page)


class Cards(Goods):
    """Takes what the lists of the shop say, and goes to no product."""

    def parse(self, response):
        yield from self.parse_page(response)
        yield from response.follow_all(css=".card a[href$='/'], .list-menu a, .pagination a")


class Lists(Taking):
    """Takes entries of lists of the news, page by page."""

    async def start(self):
        for path in ("/", "/live", "/culture", "/science", "/newsletter", "/archive/2023/05"):
            yield self.ask(path, self.parse_list, cb_kwargs={"path": path})

    def parse_list(self, response, path):
        yield from self.parse_page(response, path=path)
        number = int(response.url.partition("page=")[2] or 1) + 1
        if response.css(f".pagination a[href$='page={number}']"):
            yield self.ask(f"{path}?page={number}", self.parse_list, cb_kwargs={"path": path})


ENTRIES = ".listing__item, .css-1l4spti, td.teaser"
ALL = {"said": "::text"}
SIMPLE: dict[str, tuple[type[Taking], str, dict[str, str]]] = {
    "bylines": (
        Stories,
        ".byline, .css-by1",
        {"by": "p::text", "day": "time::text, span:not(.css-lv)::text"},
    ),
    "captions": (Stories, "figcaption, .css-jevhma, .small", ALL),
    "comments": (Stories, ".comment p, #comments-panel p, #reader-comments td[bgcolor]", ALL),
    "tables": (Stories, ".data tr, .storytext table[border='1'] tr", ALL),
    "corpus": (
        Stories,
        "html",
        {**Taking.take, "parts": "h2 ::text, blockquote ::text, pre ::text"},
    ),
    "alternatives": (Stories, FIGURES, {"alt": "::attr(alt)"}),
    "price_watch": (
        Goods,
        "html",
        {"price": ".price--large ::text", "stars": ".rating-text::text"},
    ),
    "stock": (Goods, "html", {"button": ".product-form__submit::text", "facts": ".rte li::text"}),
    "open_graph": (Goods, "meta[property^=og]", {"is": "::attr(content)"}),
    "numbers": (Goods, "html", {"number": "input[name=id]::attr(value)"}),
    "cards": (Cards, ".card", {"name": "a::text", "price": ".price::text"}),
    "front_page": (Lists, ENTRIES, {"title": "a ::text", "teaser": "p::text, font::text"}),
    "addresses": (Lists, ENTRIES, {"title": "a ::text", "href": "a::attr(href)"}),
}
"""Spiders by name: how they go, which elements give an item each, and their fields."""


class NewsSitemapSpider(Taking, SitemapSpider):
    name = "news_sitemap"
    sitemap_rules = ((STORY, "parse_page"),)

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(site, **kwargs)
        self.sitemap_urls = [f"{site}/sitemap.xml"]


class RssSpider(Taking, XMLFeedSpider):
    name = "rss"
    first = "/feed.xml"
    iterator = "xml"
    custom_settings = {"FEEDS": {"stories.jsonl": {"format": "jsonlines", "overwrite": True}}}

    def parse_node(self, response, node):
        title = {"feed": node.xpath("title/text()").get()}
        yield response.follow(node.xpath("link/text()").get(), self.parse_page, cb_kwargs=title)


class PriceListSpider(Everyday, CSVFeedSpider):
    name = "price_list"
    first = "/products.csv"

    def parse_row(self, response, row):
        yield response.follow(row["path"], self.parse_product, meta={"item": {"sku": row["sku"]}})

    def parse_product(self, response):
        yield response.meta["item"] | {
            "price": texts(response, ".price--large ::text, h1 + p::text")
        }


class PicturesSpider(Stories):
    name = "pictures"
    custom_settings = {"ITEM_PIPELINES": {Stored: 1}, "FILES_STORE": "files"}

    def parse_page(self, response, **more):
        found = response.css(FIGURES).xpath("@data-src | self::*[not(@data-src)]/@src").getall()
        if pictures := [each for each in found if "/img/" in each]:
            yield {"file_urls": [*map(response.urljoin, dict.fromkeys(pictures))]}


class ProductLoader(ItemLoader):
    default_item_class = dict
    default_input_processor = MapCompose(str.strip)
    default_output_processor = TakeFirst()
    facts_out = Join("; ")


class ProductLoaderSpider(Goods):
    name = "product_loader"

    def parse_page(self, response, **more):
        loader = ProductLoader(response=response)
        loader.add_css("name", ".product__title h1::text")
        loader.add_xpath("sku", "//p[contains(@class, 'product__sku')]/text()")
        loader.add_css("price", ".price-item--sale::text, .price-item--regular::text", re=r"[\d.]+")
        loader.add_xpath("description", "//div[contains(@class, 'product__description')]/p/text()")
        loader.add_css("facts", ".product__description li::text")
        yield loader.load_item()


class StructuredDataSpider(Goods):
    name = "structured_data"

    def parse_page(self, response, **more):
        data = json.loads(response.css("script[type='application/ld+json']::text").get())
        yield {key: data[key] for key in ("name", "sku", "description")} | data["offers"][0]


DEMO: dict[str, Any] = {
    **{it.name: it for it in (NewsSitemapSpider, RssSpider, PriceListSpider, PicturesSpider)},
    **{it.name: it for it in (ProductLoaderSpider, StructuredDataSpider)},
    **{
        name: type(name, (how,), {"name": name, "each": each, "take": take})
        for name, (how, each, take) in SIMPLE.items()
    },
}
