"""What a request is for: which callbacks, visitors and values are told apart, and which are not."""

import functools
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import scrapy
from itemloaders import ItemLoader
from parsel import Selector
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from simhash_gate.gate.visit import Visit, names_apart, what_else
from simhash_gate.plugin.asked_for import AskedFor
from simhash_gate.plugin.requests import ASKED_KEY

URL = "https://example.com/a"


def read(response):
    """A callback that is no method."""


def decorated(callback):
    """A decorator that does not say what it wraps, as those of plugins do."""

    def called(*args, **kwargs):
        return callback(*args, **kwargs)

    return called


def around(word: str):
    return lambda response: word


class Reader:
    """A callback that is an object."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, response):
        """Read a page."""

    def read(self, response):
        """Read a page in another way."""


class Bees(scrapy.Spider):
    name = "bees"

    def parse(self, response, *more):
        pass

    def other(self, response, *more, kind=""):
        pass

    wrapped = decorated(parse)
    wrapped_other = decorated(other)


class Rules(CrawlSpider):
    name = "rules"
    rules = (
        Rule(LinkExtractor(), callback="one", cb_kwargs={"kind": 1}),
        Rule(LinkExtractor(), callback="one", cb_kwargs={"kind": 2}),
        Rule(LinkExtractor(), callback="two"),
        Rule(LinkExtractor()),
    )

    def one(self, response, kind):
        pass

    def two(self, response):
        pass


class Unsaid:
    def __repr__(self) -> str:
        raise ValueError("no")


class Located:
    """Says where it is, which tells nothing; what it holds does."""

    def __init__(self, holds: object) -> None:
        self.holds = holds

    def __repr__(self) -> str:
        return object.__repr__(self)


class Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "Named"


class More(Named):
    """Says what its base says, and has more."""


class Number(str):
    """A string with another name."""


@dataclass
class Found:
    title: str

    def __repr__(self) -> str:
        return "Found"


class Item(scrapy.Item):
    title = scrapy.Field()

    def __repr__(self) -> str:
        return "Item"


SPIDER = Bees()


def asked(spider=SPIDER, ignored=(), url: str = URL, **of_request: Any) -> Visit:
    """Return the visit of a request."""
    given = AskedFor(SimpleNamespace(spider=spider), ignored, {}, anybody=False)
    request = Request(url, **of_request)
    given.note(request)
    return visit(request)


def visit(request: Request) -> Visit:
    return Visit(URL, "s", "r", 0.0, *request.meta[ASKED_KEY])


def handed_on(value: object, url: str = URL) -> str:
    return asked(url=url, cb_kwargs={"it": value}).carries


CALLBACKS = [
    *(SPIDER.parse, SPIDER.other, read, SPIDER.wrapped, SPIDER.wrapped_other),
    *(functools.partial(SPIDER.other, 1), functools.partial(SPIDER.other, 2)),
    *(functools.partial(SPIDER.other, kind=2), Reader("a"), Reader("b")),
    *(Reader("a").read, Reader("b").read),
    *(lambda it: SPIDER.other(it, "a"), lambda it: SPIDER.other(it, "b")),
    *(lambda it: SPIDER.parse(it, "a"), *[lambda it, n=n: n for n in "xy"]),
    *(around("x"), around("y")),
]


def test_each_callback_is_told_from_all_others_and_is_like_itself() -> None:
    found = [asked(callback=each) for each in CALLBACKS]
    assert len(set(found)) == len(CALLBACKS)
    assert found == [asked(callback=each) for each in CALLBACKS]
    for kept, now in pairwise(found):
        assert names_apart(kept, now)


def test_no_callback_is_the_one_that_is_called_then() -> None:
    assert asked() == asked(callback=SPIDER.parse)
    assert asked(errback=SPIDER.other) == asked()
    assert asked(spider=None).asker == "builtins.NoneType"
    assert asked().asker.endswith(".Bees.parse")


def test_a_rule_is_its_callback_with_what_it_hands_on() -> None:
    rules = Rules()
    rules._compile_rules()
    found = [asked(rules, callback=rules._callback, meta={"rule": n}) for n in range(4)]
    assert len(set(found)) == 4
    assert names_apart(found[0], found[1]) == ["its kind"]
    assert names_apart(found[0], found[2]) == ["callback"]
    assert what_else(found[0], found[2]).startswith(
        "its request has another callback than tests.plugin.test_asked_for.Rules.one"
    )
    assert asked(rules, callback=rules._callback, meta={"rule": 9}).asker  # of another release
    assert asked(rules).asker.endswith("parse_start_url")


OF_OTHERS = {
    **{"depth": 3, "download_timeout": 1, "download_slot": "x", "retry_times": 1, "rule": 1},
    **{"redirect_urls": ["x"], "playwright": True, "link_text": "x", "dont_retry": True},
    **{"handle_httpstatus_list": [404], "_auth": 1, "splash": {}, "inject": [], "priority": 1},
    **{"depth_reset": True, "http_auth_domain": None, "priority_adjust": 1, "is_secure": False},
    **{"simhash_gate": {"threshold": 2}, "is_start_request": True},
}


def test_what_the_spider_hands_on_counts_and_what_scrapy_and_plugins_note_does_not() -> None:
    plain = asked()
    for name, value in OF_OTHERS.items():
        assert asked(meta={name: value}) == plain, name
    for given in ({"meta": {"item": {"a": 1}}}, {"cb_kwargs": {"item": {"a": 1}}}):
        assert names_apart(plain, asked(**given)) == [f"{next(iter(given))}['item']"]
        assert names_apart(asked(**given), plain) == []  # it hands nothing on
    assert names_apart(asked(cb_kwargs={"a": 1}), asked(cb_kwargs={"a": 2})) == ["cb_kwargs['a']"]
    assert asked(meta={7: 1, ("a", 1): 2}).carries.count("meta[") == 2


VISITORS = {
    "cookiejar": {"meta": {"cookiejar": 1}},
    "http_user": {"meta": {"http_user": "a"}},
    "proxy": {"meta": {"proxy": "http://p.example"}},
    "cookies": {"cookies": {"currency": "eur"}},
    "Accept-Language": {"headers": {"Accept-Language": "de"}},
    "Authorization": {"headers": {"Authorization": "Basic x"}},
    "X-Region": {"headers": {"X-Region": "de"}},
}
OF_TRANSFER = dict.fromkeys(["User-Agent", "Referer", "Accept", "If-None-Match", "Sec-Ch"], "x")


@pytest.mark.parametrize("name", VISITORS)
def test_who_asks_for_a_page_counts_unless_that_is_ignored(name: str) -> None:
    plain, visitor = asked(headers=OF_TRANSFER), asked(**VISITORS[name])
    assert plain == asked()
    assert names_apart(plain, visitor) == names_apart(visitor, plain) == [name]
    assert asked(ignored=[name.upper()], **VISITORS[name]) == plain
    assert names_apart(Visit(URL, "s", "r"), visitor) == []  # nobody knows


def test_what_is_ignored_does_not_count() -> None:
    plain = asked()
    assert asked(ignored=["Item"], cb_kwargs={"item": 1}) == plain
    assert asked(ignored=["item"], meta={"item": 1, "other": 2}).carries.startswith("meta['other']")
    ignoring = asked(ignored=["callback"], callback=SPIDER.other)
    assert names_apart(ignoring, asked(ignored=["callback"])) == []


def endless() -> list:
    value: list = [1]
    value.append(value)
    return value


def deep(value: object) -> object:
    for _ in range(12):
        value = {"in": [value]}
    return value


def loader(title: str) -> ItemLoader:
    made = ItemLoader(item={}, selector=Selector("<p>a"))
    made.add_value("title", title)
    return made


def response(text: str) -> HtmlResponse:
    return HtmlResponse(URL, body=text.encode(), request=Request(URL))


PAIRS = [
    *[(kind("a"), kind("b")) for kind in (Located, More, Number, ValueError, Found, loader)],
    *[(kind("a"), kind("b")) for kind in (deep, response, Reader)],
    (Item(title="a"), Item(title="b")),
    ({"a": 1, "b": 2}, {"a": 1, "b": 3}),
    ({1, "a"}, {2, "a"}),
    (functools.partial(read, 1), functools.partial(read, 2)),
    (Reader("a").read, Reader("b").read),
    (Selector("<p>a"), Selector("<p>b")),
    (Request(URL, body="a"), Request(URL, body="b")),
    (b"a", "a"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda value: type(value).__name__)
def test_values_are_told_apart_by_what_they_hold(one: object, other: object) -> None:
    assert handed_on(one) != handed_on(other)
    assert handed_on(one) == handed_on(one)


def test_the_same_contents_are_the_same_whatever_holds_them() -> None:
    assert handed_on((1, [2])) == handed_on([1, (2,)])  # as a queue in JSON gives them back
    assert handed_on({"a": 1, "b": 2}) == handed_on({"b": 2, "a": 1})
    for kind in (Located, Found, deep, response):
        assert handed_on(kind("a")) == handed_on(kind("a"))


@pytest.mark.parametrize(
    "make",
    [
        *(Unsaid, endless, object, threading.Lock, lambda: iter("a"), lambda: [Unsaid()]),
        *(lambda: {"a": {"b": Unsaid()}}, lambda: range, lambda: list(range(100_000))),
        lambda: [Located(threading.Lock()), "a"],
    ],
)
def test_what_can_not_be_told_stands_for_no_other_page_and_is_the_same_next_time(make) -> None:
    assert handed_on(make()) == handed_on(make())
    if make() is not range:
        assert handed_on(make()) != handed_on(make(), url=f"{URL}/other")


def test_of_what_can_not_be_told_to_its_end_the_beginning_counts() -> None:
    assert handed_on(["a", Unsaid()]) != handed_on(["b", Unsaid()])


def test_a_callback_that_can_not_be_read_stops_no_request() -> None:
    class Strange:
        def __call__(self, response):
            pass

        def __getattr__(self, name):
            raise ValueError(name)

    strange = [asked(callback=Strange(), url=f"{URL}/{n}") for n in range(2)]
    assert names_apart(*strange) == ["its callback"]

    class Local:
        def __init__(self, response):
            pass

    assert asked(callback=Local).asker.endswith("Local")  # a class is called too


def test_what_a_request_is_for_stays_with_it_and_goes_with_another_callback() -> None:
    given = AskedFor(SimpleNamespace(spider=SPIDER), (), {}, anybody=False)
    request = Request(URL, SPIDER.other, cb_kwargs={"a": 1})
    given.note(request)
    first = visit(request)
    request.cb_kwargs["a"], request.meta["proxy"] = 2, "http://p.example"  # on its way
    retried = request.replace(dont_filter=True)
    given.note(retried)
    assert visit(retried) == first
    restored = Request(URL, SPIDER.other, meta={ASKED_KEY: list(request.meta[ASKED_KEY])})
    given.note(restored)
    assert visit(restored) == first
    by_errback = request.replace(callback=SPIDER.parse)
    given.note(by_errback)
    assert visit(by_errback).asker.startswith("tests.plugin.test_asked_for.Bees.parse\n")


def test_nothing_of_a_process_is_in_what_it_says() -> None:
    code = "from tests.plugin import test_asked_for as t; print(t.everything())"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def everything() -> list[object]:
    """Return what is said of all that the tests have."""
    values = [each for pair in PAIRS for each in pair]
    values += [{"a", "b", "c", frozenset("xyz")}, Located(object()), object(), print, [].append]
    return [*map(handed_on, values), *(asked(callback=each) for each in CALLBACKS)]
