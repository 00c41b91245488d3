"""Real crawls with scrapy-playwright: a browser makes the pages, and the gate judges them."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from tests.crawls import alike
from tests.crawls.harness import html_answer

pytest.importorskip("scrapy_playwright", reason="scrapy-playwright is not installed")

SPIDER = (
    alike.PLAIN
    + """
    def request(self, path, **kwargs):
        return super().request(path, meta={"playwright": True}, **kwargs)
"""
)


def scripted(routes):
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
def beside(chromium):
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    settings = {
        "DOWNLOAD_HANDLERS": json.dumps({"http": handler, "https": handler}),
        "PLAYWRIGHT_LAUNCH_OPTIONS": json.dumps(
            {"executable_path": chromium, "args": ["--no-sandbox"]}
        ),
    }
    return alike.Beside(spider=SPIDER, settings=settings, serve=scripted)


@pytest.mark.parametrize(
    "check",
    [alike.drops_alike, alike.audits_alike, alike.fetches_again_alike, alike.recovers_alike],
)
def test_alike(beside, tmp_path, check) -> None:
    check(beside, tmp_path)
