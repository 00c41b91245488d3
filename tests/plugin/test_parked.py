"""What waits: the requests that may be sent after all."""

from scrapy import Request
from scrapy.utils.test import get_crawler

from simhash_gate.plugin.parked import Parked, ParkedRequests
from simhash_gate.plugin.requests import INLINE_KEY


def test_a_page_that_a_callback_awaits_itself_is_not_sent_again() -> None:
    parked = ParkedRequests(get_crawler())
    for meta in ({}, {INLINE_KEY: True}):
        parked.add(Parked(("copy", 1), Request("https://example.com/", meta=meta)))
    (waiting,) = parked.take(("copy", 1))
    assert INLINE_KEY not in waiting.request.meta
