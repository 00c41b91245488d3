"""Short spiders for everyday jobs: forms, sessions, visitors of several kinds, and second tries."""

import csv
import json
import re

import scrapy
from scrapy import FormRequest
from scrapy.downloadermiddlewares.retry import get_retry_request

from tests.crawls.everyday_spiders import Everyday, card_items, product_item

TABLE = """id,path
a1,/p/1
a2,/p/2
b7,/p/7
a1-again,/p/1
b3,/p/3
n2,/news/2
"""


SIGNING_IN = {"user": "a", "password": "secret"}


class SearchFormSpider(Everyday):
    """Searches for words by the form; some are found nowhere."""

    name = "search_form"
    first = "/search"

    def parse(self, response):
        for word in ("a", "er", "ir", "xyz", "qqq"):
            asked = {"formdata": {"q": word}, "cb_kwargs": {"word": word}}
            yield FormRequest.from_response(response, callback=self.parse_results, **asked)

    def parse_results(self, response, word):
        yield {"word": word, "found": len(response.css(".card"))}
        for item in card_items(response):
            yield {"word": word, **item}


class PostbackSpider(Everyday):
    """Goes from page to page of a table by the state that the page before had."""

    name = "postback"
    first = "/archive"

    def parse(self, response):
        for row in response.css("table tr"):
            number, name = row.css("td::text").getall()
            yield {"number": number, "name": name}
        page, last = map(int, re.findall(r"\d+", response.css(".pages::text").get()))
        if page < last:
            form = {"__EVENTTARGET": "pages", "__EVENTARGUMENT": str(page + 1)}
            yield FormRequest.from_response(response, formdata=form, dont_click=True)


class InfiniteScrollSpider(Everyday):
    """Reads a first page, then JSON as its script would, and goes to each product."""

    name = "infinite_scroll"
    first = "/feed"

    def parse(self, response):
        yield from response.follow_all(css=".card a", callback=self.parse_product)
        cursor = response.css("button").attrib["data-cursor"]
        yield self.ask(f"/api/feed?cursor={cursor}", self.more)

    def more(self, response):
        found = json.loads(response.text)
        for entry in found["entries"]:
            yield {"id": entry["id"], "name": entry["name"]}
            yield response.follow(entry["url"], self.parse_product)
        if found["next"]:
            yield self.ask(f"/api/feed?cursor={found['next']}", self.more)

    def parse_product(self, response):
        yield product_item(response)


class ScrolledHtmlSpider(Everyday):
    """Reads pieces of HTML until one is empty, and takes their entries."""

    name = "scrolled_html"
    first = "/feed/more?offset=0"

    def parse(self, response):
        items = list(card_items(response))
        yield from items
        if items:
            offset = int(response.url.partition("=")[2]) + len(items)
            yield self.ask(f"/feed/more?offset={offset}")


class SignedInSpider(Everyday):
    """Signs in, and again whenever the session has ended."""

    name = "signed_in"
    first = "/account"
    custom_settings = {"CONCURRENT_REQUESTS": 1}

    def parse(self, response):
        yield FormRequest.from_response(response, formdata=SIGNING_IN, callback=self.inside)

    def inside(self, response):
        yield response.follow(response.css("a.orders")[0], self.parse_orders)

    def parse_orders(self, response):
        yield from response.follow_all(css="a.order", callback=self.parse_order)

    def parse_order(self, response):
        if response.css("form[action*=login]"):
            then = {"callback": self.again, "cb_kwargs": {"asked": response.request}}
            yield FormRequest.from_response(response, formdata=SIGNING_IN, **then, dont_filter=True)
            return
        yield {"order": response.css("h1::text").get(), "state": response.css(".state::text").get()}

    def again(self, response, asked):
        yield asked.replace(dont_filter=True)


class BusySpider(Everyday):
    """Tries again when the page says that there are too many visitors."""

    name = "busy"
    custom_settings = {"RETRY_TIMES": 20}

    async def start(self):
        for n in range(13):
            yield self.ask(f"/busy/{n}")

    def parse(self, response):
        if response.css(".busy"):
            yield get_retry_request(response.request, spider=self, reason="busy")
        elif response.css("h1"):
            yield product_item(response)


class ErrbackSpider(Everyday):
    """Tries again from an errback what answered with an error."""

    name = "errback"
    custom_settings = {"RETRY_ENABLED": False}

    async def start(self):
        for n in range(13):
            yield self.ask(f"/broken/{n}", errback=self.failed, meta={"tries": 1})

    def parse(self, response):
        yield {**product_item(response), "tries": response.meta["tries"]}

    def failed(self, failure):
        request = failure.request
        if request.meta["tries"] < 3:
            meta = {"tries": request.meta["tries"] + 1}
            yield request.replace(dont_filter=True, meta={**request.meta, **meta})


class PollSpider(Everyday):
    """Asks for each export until it is ready."""

    name = "poll"
    first = "/export"

    def parse(self, response):
        yield from response.follow_all(css="a.job", callback=self.parse_job)

    def parse_job(self, response):
        if response.css(".wait"):
            yield scrapy.Request(response.url, self.parse_job, dont_filter=True)
        else:
            number = response.url.rpartition("/")[2]
            yield {"job": number, "lines": response.css(".lines::text").get()}


class LanguagesSpider(Everyday):
    """Asks for the same addresses in three languages."""

    name = "languages"

    async def start(self):
        for language in ("en", "de", "fr"):
            for path in ("/welcome", "/help/0", "/help/1", "/help/2"):
                yield self.ask(path, headers={"Accept-Language": language}, dont_filter=True)

    def parse(self, response):
        yield {
            "language": response.request.headers["Accept-Language"].decode(),
            "title": response.css("h1::text").get(),
            "paragraphs": len(response.css("main p")),
            "says": " ".join(response.css("main p::text").getall())[-40:],
        }


class CurrenciesSpider(Everyday):
    """Visits the shop as a customer of three currencies, each with a cookie jar."""

    name = "currencies"

    async def start(self):
        for currency in ("eur", "usd", "chf"):
            jar = {"cookiejar": currency}
            yield self.ask("/", cookies={"currency": currency}, meta=jar, dont_filter=True)

    def parse(self, response):
        yield from self.follow(response, "nav a[href*='/c/']", self.parse_list)

    def parse_list(self, response):
        yield from self.follow(response, ".card a", self.parse_product)
        yield from self.follow(response, "a.next", self.parse_list)

    def follow(self, response, css, callback):
        jar = {"cookiejar": response.meta["cookiejar"]}
        yield from response.follow_all(css=css, callback=callback, meta=jar, dont_filter=True)

    def parse_product(self, response):
        yield {"for": response.meta["cookiejar"], **product_item(response)}
        yield from self.follow(response, "a.shipping", self.parse_delivery)

    def parse_delivery(self, response):
        yield {"for": response.meta["cookiejar"], "days": response.css(".days::text").get()}


class CurrencyByCurrencySpider(Everyday):
    """Changes the currency by a form, takes the prices, and then changes it again."""

    name = "currency_by_currency"
    custom_settings = {"CONCURRENT_REQUESTS": 1}

    async def start(self):
        yield self.change(["eur", "usd", "chf"])

    def change(self, left):
        return FormRequest(
            f"{self.site}/currency",
            formdata={"currency": left[0]},
            callback=self.changed,
            cb_kwargs={"left": left},
            dont_filter=True,
        )

    def changed(self, response, left):
        yield self.ask("/c/lamps", self.prices, cb_kwargs={"left": left}, dont_filter=True)

    def prices(self, response, left):
        yield from card_items(response)
        if left[1:]:
            yield self.change(left[1:])


class StartTableSpider(Everyday):
    """Takes the pages of a table that names one twice; each row gets its item."""

    name = "start_table"

    async def start(self):
        for row in csv.DictReader(TABLE.splitlines()):
            yield self.ask(row["path"], cb_kwargs={"row": row["id"]}, dont_filter=True)

    def parse(self, response, row):
        yield {"row": row, "title": response.css("h1::text").get()} | {
            "says": " ".join(response.css("main p::text").getall())[-60:]
        }
