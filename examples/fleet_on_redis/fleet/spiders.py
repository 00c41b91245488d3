"""Pages of sites: `scrapy crawl pages -a sites=https://a.example,https://b.example`."""

from scrapy import Spider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from simhash_gate import verdict_of


class PagesSpider(Spider):
    name = "pages"

    def __init__(self, sites, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = sites.split(",")
        domains = [site.split("/")[2] for site in self.start_urls]
        self.links = LinkExtractor(allow_domains=domains, deny=r"/(search|account|login)")

    def parse(self, response):
        if isinstance(response, HtmlResponse):
            verdict = verdict_of(response)  # None if the gate is off
            yield {
                "url": response.url,
                "canonical_url": verdict and verdict.canonical_url,
                "title": response.css("title::text").get(),
                "markdown": verdict and verdict.markdown,
            }
            yield from response.follow_all(self.links.extract_links(response))
