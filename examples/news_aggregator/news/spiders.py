"""Stories of news sites: `scrapy crawl news -a sites=https://a.example,https://b.example`."""

from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from simhash_gate import verdict_of


class NewsSpider(Spider):
    name = "news"

    def __init__(self, sites, **kwargs):
        super().__init__(**kwargs)
        self.sites = sites.split(",")
        domains = [site.split("/")[2] for site in self.sites]
        self.links = LinkExtractor(allow_domains=domains, deny=r"/(search|account|login)")

    async def start(self):
        for site in self.sites:  # front pages pass even if they are those of yesterday
            yield Request(site, meta={"simhash_gate": {"revisit": "pass"}})

    def parse(self, response):
        if not isinstance(response, HtmlResponse):
            return
        verdict = verdict_of(response)  # None if the gate is off
        if verdict and verdict.page and verdict.page.words >= 80:  # the others are lists of links
            yield {
                "url": response.url,
                "canonical_url": verdict.canonical_url,
                "title": verdict.title,
                "date": verdict.page.date,
                "outcome": verdict.outcome,
                "markdown": verdict.markdown,
            }
        yield from response.follow_all(self.links.extract_links(response))
