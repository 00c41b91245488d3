"""A Scrapy extension that sends the stats of a crawl to StatsD."""

import socket

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call


class StatsToStatsd:
    """Sends the numbers of the gate, and of Scrapy's responses and items, as gauges."""

    def __init__(self, crawler):
        self.crawler = crawler
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        host, _, port = crawler.settings.get("STATSD", "127.0.0.1:8125").partition(":")
        self.server = host, int(port)
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.send, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def opened(self):
        create_looping_call(self.send).start(10, now=False)

    def send(self):
        for name, value in self.crawler.stats.get_stats().items():
            if name.startswith(("simhash_gate/", "response", "item_")) and isinstance(value, int):
                line = f"{self.crawler.spider.name}.{name.replace('/', '.')}:{value}|g"
                self.socket.sendto(line.encode(), self.server)
