"""Prices of a shop: `scrapy crawl prices -a shop=https://shop.example.com/`."""

from scrapy import Spider

from simhash_gate import verdict_of


class PricesSpider(Spider):
    name = "prices"

    def __init__(self, shop, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [shop]

    def parse(self, response):
        verdict = verdict_of(response)  # None if the gate is off
        if price := response.css(".price::text").get():
            yield {
                "sku": response.css("[data-sku]::attr(data-sku)").get(),
                "name": response.css("h1::text").get(),
                "price": price,
                "stock": response.css(".stock::text").get(),
                "url": response.url,
                "why": verdict and verdict.reason,
            }
        yield from response.follow_all(css="main a")
