"""A Scrapy extension that writes the final stats where a test can read them."""

import json
from pathlib import Path

from scrapy import signals


class StatsToFile:
    def __init__(self, crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.write, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def write(self) -> None:
        stats = json.dumps(self.crawler.stats.get_stats(), default=str)
        Path(self.crawler.settings["TEST_STATS"]).write_text(stats)
