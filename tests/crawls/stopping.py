"""An extension that has Ctrl-C pressed while the crawl of a day starts."""

from __future__ import annotations

import asyncio
import os
import signal

from scrapy import signals


class StopsAtStart:
    """Sends SIGINT to its own process, and lets the crawl start only after that was seen."""

    def __init__(self, crawler) -> None:
        crawler.signals.connect(self.opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler) -> StopsAtStart:
        return cls(crawler)

    async def opened(self, spider) -> None:
        if spider.name == "demo-year-day":
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.5)
