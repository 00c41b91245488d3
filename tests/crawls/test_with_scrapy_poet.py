"""Real crawls with scrapy-poet."""

from __future__ import annotations

import json

import pytest

from tests.crawls import alike

pytest.importorskip("scrapy_poet", reason="scrapy-poet is not installed")

SPIDER = """
    async def parse(self, response, page: "ArticlePage"):
        await self.trouble(response)
        yield self.item(response, response.meta["simhash_gate_verdict"], title=page.title)
import web_poet
class ArticlePage(web_poet.WebPage):
    @property
    def title(self):
        return self.css("title::text").get()
"""


@pytest.fixture(params=[543, 15])
def beside(request):
    settings = {
        "ADDONS": json.dumps({"scrapy_poet.Addon": 300, "simhash_gate.Addon": 0}),
        "DOWNLOADER_MIDDLEWARES": json.dumps({"scrapy_poet.InjectionMiddleware": request.param}),
    }
    return alike.Beside(spider=SPIDER, settings=settings)


@pytest.mark.parametrize(
    "check",
    [alike.drops_alike, alike.audits_alike, alike.fetches_again_alike, alike.recovers_alike],
)
def test_alike(beside, tmp_path, check) -> None:
    check(beside, tmp_path)
