"""What changes the digest of a callback's code, and what does not: a small project, then edited."""

import functools
import importlib
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy import Request
from scrapy.spiders import CrawlSpider, Rule, XMLFeedSpider

from simhash_gate.plugin import callback_code
from simhash_gate.plugin.asked_for import callback_of

FILES = {
    "__init__": "",
    "texts": 'TITLE = "h1"\n',
    "tools": """
import re
AMOUNT = re.compile("[0-9]+")
WORDS = {"sale", "new"}
def clean(text):
    return AMOUNT.findall(text)
def unused(text):
    return text.strip(".")
""",
    "items": """
from dataclasses import dataclass
import scrapy
from itemloaders import ItemLoader
from itemloaders.processors import Join, MapCompose
from . import tools
def upper(text):
    return text.upper()
class Offer(scrapy.Item):
    price = scrapy.Field(serializer=upper)
@dataclass
class Part:
    number: str = "none"
    def label(self):
        return "part " + self.number
class Loader(ItemLoader):
    name_in = MapCompose(upper)
    name_out = Join("; ")
""",
    "pages": """
class Page:
    row = ".row"
    def to_item(self):
        return {"rows": self.row}
""",
    "base": """
import scrapy
class Base(scrapy.Spider):
    def helped(self, response):
        return response.css(".base")
""",
    "spider": """
import time
from functools import partial, wraps
from . import tools
from .base import Base
from .items import Loader, Offer, Part
from .pages import Page
from .texts import TITLE as HEAD
STARTED = time.strftime("%H:%M:%S") + str(time.time())
first = partial(lambda response, selector: response.css(selector), selector=".first")
def logged(function):
    @wraps(function)
    def call(self, *arguments, **named):
        return function(self, *arguments, **named)
    return call
class Extractor:
    def run(self, response):
        return response.css(".extracted")
class Shop(Base):
    name = "shop"
    start_urls = ["https://shop.example/"]
    custom_settings = {"DOWNLOAD_DELAY": 1}
    fields = {"name": ".name", "size": [".size"]}
    seen = 0
    urls = []
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.extractor = Extractor()
    @property
    def stock(self):
        return "in stock"
    def helped(self, response):
        return super().helped(response)
    @logged
    def parse(self, response, page: Page = None, *, limit=".limit"):
        self.seen += 1
        self.urls.append(response.url)
        rows = (lambda found: found.css(".lambda"))(response)
        try:
            yield Offer(price=tools.clean(HEAD + self.stock)), STARTED, first(response)
        except ValueError:
            pass
        yield Part(), Loader(), self.helped(response), self.fields, self.extractor.run(response)
        if "a" in {"x", "y", "z", "u", "v"} and tools.WORDS:
            yield rows
""",
}


@pytest.fixture
def spider_of(tmp_path, monkeypatch):
    """Return what writes the project after an edit, and loads its spider."""
    numbers = itertools.count()

    def load(module: str = "", old: str = "", new: str = "") -> scrapy.Spider:
        folder = written(tmp_path / str(next(numbers)), module, old, new)
        monkeypatch.syspath_prepend(folder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "shop_code"]:
            monkeypatch.delitem(sys.modules, name)
        return importlib.import_module("shop_code.spider").Shop()

    return load


def written(folder: Path, module: str = "", old: str = "", new: str = "") -> Path:
    package = folder / "shop_code"
    package.mkdir(parents=True)
    for name, source in FILES.items():
        assert name != module or source.count(old) == 1
        text = source.replace(old, new) if name == module else source
        (package / f"{name}.py").write_text(text)
    return folder


def code_of(spider: Any, callback: Any = None) -> str:
    callback_code._definitions.cache_clear()  # the module was written anew
    return callback_code.code_of(callback or spider.parse, spider)


MENDED = {
    "the callback": ("spider", ".lambda", ".mended"),
    "a default": ("spider", ".limit", ".mended"),
    "a partial": ("spider", ".first", ".mended"),
    "a decorator": ("spider", "return function(self, *a", "return 1, function(self, *a"),
    "a statement leaves its branch": ("spider", "    yield rows", "    pass\n        yield rows"),
    "a statement leaves its try": (
        "spider",
        "first(response)\n        except ValueError:\n            pass",
        "first(response)\n        except KeyError:\n            pass",
    ),
    "a property": ("spider", "in stock", "sold"),
    "a class attribute": ("spider", ".size", ".mended"),
    "an object of the spider": ("spider", ".extracted", ".mended"),
    "a method of the base": ("base", ".base", ".mended"),
    "a function of a module": ("tools", "AMOUNT.findall", "AMOUNT.search"),
    "a pattern": ("tools", "[0-9]+", "[0-9.]+"),
    "a set": ("tools", '"sale"', '"sold"'),
    "a constant of another module": ("texts", "h1", "h2"),
    "a field of an item": ("items", "price = ", "cost = "),
    "a serializer": ("items", "text.upper", "text.lower"),
    "a field of a dataclass": ("items", "    number", "    size: int = 1\n    number"),
    "a method of a dataclass": ("items", "part ", "no. "),
    "a processor": ("items", "; ", ", "),
    "a page object": ("pages", '".row"', '".mended"'),
}


@pytest.mark.parametrize(("module", "old", "new"), MENDED.values(), ids=MENDED)
def test_a_mended_spider_has_other_code(spider_of, module: str, old: str, new: str) -> None:
    assert code_of(spider_of()) != code_of(spider_of(module, old, new))


SAME = {
    "a comment": ("spider", "        rows =", "        # rows\n\n        rows ="),
    "a docstring": (
        "spider",
        "        self.seen += 1",
        '        """Do."""\n        self.seen += 1',
    ),
    "start URLs": ("spider", "https://shop", "https://www.shop"),
    "the name": ("spider", '"shop"', '"other"'),
    "settings": ("spider", '_DELAY": 1', '_DELAY": 2'),
    "a function that is not used": ("tools", '"."', '","'),
}


@pytest.mark.parametrize(("module", "old", "new"), SAME.values(), ids=SAME)
def test_what_changes_no_item_changes_no_digest(spider_of, module: str, old: str, new: str) -> None:
    assert code_of(spider_of()) == code_of(spider_of(module, old, new)) != ""


def test_what_grows_during_a_crawl_changes_nothing(spider_of) -> None:
    spider = spider_of()
    first = code_of(spider)
    spider.seen = type(spider).seen = 7
    spider.urls.append("https://shop.example/a")
    assert first == code_of(spider)


def test_a_partial_has_the_code_of_its_function(spider_of) -> None:
    spider = spider_of()
    assert "" != code_of(spider, functools.partial(spider.parse, 1)) == code_of(spider)


def test_two_processes_agree(tmp_path) -> None:
    script = (
        "from simhash_gate.plugin.callback_code import code_of\n"
        "from shop_code.spider import Shop\nspider = Shop()\nprint(code_of(spider.parse, spider))"
    )
    found = {
        subprocess.check_output(
            [sys.executable, "-c", script],
            env={"PYTHONPATH": f"{written(tmp_path / seed)}:{Path.cwd()}", "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert len(found.pop().strip()) == 8


class Feed(XMLFeedSpider):
    name = "feed"

    def parse_node(self, response, selector):
        return {"a": selector.get()}


class OtherFeed(Feed):
    def parse_node(self, response, selector):
        return {"b": selector.get()}


class Rules(CrawlSpider):
    name = "rules"
    rules = (Rule(callback="one"), Rule(callback="two"))

    def one(self, response):
        return {"one": response.url}

    def two(self, response):
        return {"two": response.url}


def test_callbacks_of_scrapy_are_what_they_call_of_the_spider() -> None:
    feed, other = Feed(), OtherFeed()
    assert "" != code_of(feed, feed._parse) != code_of(other, other._parse) != ""
    rules = Rules()
    rules._compile_rules()
    asked = [Request("http://a.example", rules._callback, meta={"rule": n}) for n in (0, 1)]
    found = {code_of(rules, callback_of(request, rules)[0]) for request in asked}
    assert len(found - {""}) == 2


class Unsaid:
    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)


class Endless:
    def __getattr__(self, name: str) -> Any:
        return Endless()

    def __call__(self) -> None:
        pass


def test_an_object_without_code_has_no_digest() -> None:
    for callback in (None, 1, "parse", Unsaid(), Endless(), print, object()):
        assert callback_code.code_of(callback, Feed()) == ""
