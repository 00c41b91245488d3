"""Real crawls with scrapy-playwright: a browser makes the pages, and the gate judges them."""

import json
from base64 import b64encode
from collections.abc import Mapping

import pytest

from tests.crawls import alike
from tests.crawls.harness import Answer, html_answer

pytest.importorskip("scrapy_playwright", reason="scrapy-playwright is not installed")

SPIDER = (
    alike.PLAIN
    + """
    def request(self, path, **kwargs):
        return super().request(path, meta={"playwright": True}, **kwargs)
"""
)
# The callback gets the page of the browser, and closes it, as the errback of some requests does.
WITH_PAGE = """
    async def parse(self, response):
        page = response.meta["playwright_page"]
        try:
            await self.trouble(response)
            heading = await page.locator("h1").inner_text()
        finally:
            await page.close()
        yield self.item(response, response.meta["simhash_gate_verdict"], heading=heading)
    def request(self, path, **kwargs):
        meta = {"playwright": True, "playwright_include_page": True}
        errback = self.close if path in ("/3", "/4") else None
        return super().request(path, meta=meta, errback=errback)
    async def close(self, failure):
        page = failure.request.meta["playwright_page"]
        assert not page.is_closed()
        await page.close()
        yield {"path": failure.request.url, "failure": type(failure.value).__name__}
"""


def scripted(routes: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return pages without a text: a script writes it into them in the browser."""
    return {
        path: html_answer(
            "<!doctype html><meta charset=utf-8><title></title><script>document.write(new "
            f"TextDecoder().decode(Uint8Array.from(atob('{b64encode(answer.body).decode()}'), "
            "c => c.charCodeAt(0))));document.close()</script>"
        )
        for path, answer in routes.items()
    }


@pytest.fixture
def settings(chromium) -> dict:
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    launch = {"executable_path": chromium, "args": ["--no-sandbox"]}
    return {
        "DOWNLOAD_HANDLERS": json.dumps({"http": handler, "https": handler}),
        "PLAYWRIGHT_LAUNCH_OPTIONS": json.dumps(launch),
    }


def test_pages_are_dropped_and_kept_as_the_browser_made_them(settings, tmp_path) -> None:
    beside = alike.Beside(spider=SPIDER, settings=settings, serve=scripted)
    result = alike.drops(beside, tmp_path / "drops")
    assert result.stats["playwright/page_count"] == len(alike.ROUTES)


def test_the_browser_pages_of_dropped_pages_are_closed(settings, tmp_path) -> None:
    """A page that stays open takes the place of others: here there is place for one."""
    settings |= {"PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 1, "SIMHASH_GATE_JOURNAL": "journal"}
    beside = alike.Beside(spider=WITH_PAGE, settings=settings, serve=scripted)
    result = beside.crawl(tmp_path, alike.COPIES)
    assert len(result.delivered()) == 1
    assert result.count("dropped") == result.count("journaled") == 4
    assert result.stats["playwright/page_count"] == len(alike.COPIES)
    assert {item["path"][-2:] for item in result.items if "failure" in item} == {"/3", "/4"}


def test_browser_pages_are_made_anew_for_what_is_fetched_again(settings, tmp_path) -> None:
    beside = alike.Beside(spider=WITH_PAGE, settings=settings, serve=scripted)
    alike.fetches_again(beside, tmp_path)
