"""Which requests are a retry of the page that they come from, and which may be sent again."""

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simhash_gate.plugin.parked import Parked, ParkedRequests
from simhash_gate.plugin.requests import ASKED_KEY, INLINE_KEY, forget_page, is_retry

URL = "https://hive.example/?a=%C4%85"


def test_a_callback_that_sends_its_own_request_again_retries_it() -> None:
    page = Request(URL, meta={"redirect_urls": ["https://hive.example/old"], ASKED_KEY: ["a", ""]})
    response = HtmlResponse("https://hive.example/new", request=page)
    again = {URL, "https://hive.example/old", "https://hive.example/new"}
    for url in (*again, "https://hive.example/other"):
        for on_purpose in (False, True):
            request = Request(url, meta=dict(page.meta), dont_filter=on_purpose)
            forget_page(request, response)
            assert is_retry(request, "any") == (on_purpose and url in again)
            assert ASKED_KEY not in request.meta
            forget_page(other := Request(f"{URL}&b=2", meta=dict(request.meta)), response)
            assert not is_retry(other, "any")


def test_a_page_that_a_callback_awaits_itself_is_not_sent_again() -> None:
    parked = ParkedRequests(get_crawler())
    for meta in ({}, {INLINE_KEY: True}):
        parked.add(Parked(("copy", 1), Request("https://example.com/", meta=meta)))
    (waiting,) = parked.take(("copy", 1))
    assert INLINE_KEY not in waiting.request.meta
