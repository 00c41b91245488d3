"""Requests in JSON: what comes back, and what can't be said."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.http import HtmlResponse, JsonRequest

from simhash_gate.gate.verdict import VERDICT_KEY
from simhash_gate.plugin.requests import (
    ASKED_KEY,
    RequestWriter,
    forget_page,
    is_retry,
    request_of,
)


class Bees(Spider):
    name = "bees"

    def read(self, response):
        pass

    def failed(self, failure):
        pass

    def __hidden(self, response):
        pass

    @property
    def hidden(self):
        return self.__hidden


SPIDER = Bees()
URL = "https://hive.example/?a=%C4%85"
REQUESTS = [
    Request(URL),
    Request(URL, SPIDER.read, "POST", {"X": ["a", b"\xff"]}, b"\x00\xff", errback=SPIDER.failed),
    Request(URL, SPIDER.hidden, cookies=[{"name": "a", "value": "b"}], priority=-3, flags=["f"]),
    Request(URL, cookies={"a": "b"}, cb_kwargs={"n": [1, {"x": None}]}, meta={"depth": 2.5}),
    FormRequest(URL, formdata={"a": "ą"}),
    JsonRequest(URL, data={"a": 1}, dumps_kwargs={"sort_keys": True}),
]


def said(request: Request) -> tuple[dict, list[str]]:
    found, omitted = RequestWriter(SPIDER).json_of(request)
    return json.loads(json.dumps(found, allow_nan=False)), omitted


def test_a_request_comes_back_as_it_was() -> None:
    for request in REQUESTS:
        found, omitted = said(request)
        again = request_of(found, SPIDER)
        assert not omitted
        assert type(again) is type(request)
        assert again.to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)


def test_what_json_can_not_say_is_left_out_and_named() -> None:
    endless: list = []
    endless.append(endless)
    request = Request(
        URL,
        meta={"when": datetime.now(), "deep": [{"x": {1}}], "endless": endless, 7: 1, "ok": (1, 2)},
        cb_kwargs={"bytes": b"x", "nan": float("nan")},
    )
    request.meta[VERDICT_KEY] = object()
    found, omitted = said(request)
    assert omitted == [
        *("meta['when']", "meta['deep']", "meta['endless']", "meta[7]"),
        *("cb_kwargs['bytes']", "cb_kwargs['nan']"),
    ]
    assert request_of(found, SPIDER).meta == {"ok": [1, 2]}
    for callback in (lambda response: None, Bees.read):  # never taken for `parse`
        found, omitted = said(Request(URL, callback))
        assert omitted == ["callback"]
        with pytest.raises(ValueError, match="its callback was no method of the spider"):
            request_of(found, SPIDER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"callback": "gone"}, "Method 'gone' not found in"),
        ({"url": "no address"}, "Missing scheme"),
        ({"body": "é"}, "only ASCII"),
        ({"headers": 7}, "AttributeError"),
        ({"_class": "subprocess.Popen"}, "subprocess.Popen is no request"),
        ({"_class": "no.such.Module"}, "No module named 'no'"),
        ({"url": None}, "TypeError"),
    ],
)
def test_a_request_that_makes_no_sense_says_why(change: dict, message: str) -> None:
    found, _ = said(Request(URL, SPIDER.read))
    with pytest.raises(ValueError, match=message):
        request_of({**found, **change}, SPIDER)


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
