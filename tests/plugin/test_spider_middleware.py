"""The spider middlewares where there is no crawl, as in tests that users write of theirs."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simhash_gate import SimhashGateInnerSpiderMiddleware, SimhashGateSpiderMiddleware

URL = "http://site.example/1"


@pytest.mark.parametrize(
    "middleware", [SimhashGateSpiderMiddleware, SimhashGateInnerSpiderMiddleware]
)
def test_without_an_engine_all_goes_on(middleware: type[Any]) -> None:
    async def found() -> AsyncIterator[Any]:
        for output in outputs:
            yield output

    async def gone_on() -> list[Any]:
        return [each async for each in made.process_spider_output_async(response, found())]

    made = middleware.from_crawler(get_crawler(Spider, {"ADDONS": {"simhash_gate.Addon": 0}}))
    response = HtmlResponse(URL, request=Request(URL))
    outputs = [{"title": "A title"}, Request("http://site.example/2")]
    assert made.process_spider_input(response) is None
    assert list(made.process_spider_output(response, iter(outputs))) == outputs
    assert asyncio.run(gone_on()) == outputs
    assert made.process_spider_exception(response, ValueError()) is None
