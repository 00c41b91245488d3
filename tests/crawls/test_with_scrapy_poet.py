"""Real crawls with scrapy-poet: page objects, and what the gate provides for them."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simhash_gate import Gate, Policy, Verdict, open_store, pipeline_version, read_page
from tests.crawls import alike
from tests.crawls.harness import Answer, Site, crawl, page

pytest.importorskip("scrapy_poet", reason="scrapy-poet is not installed")

from web_poet.serialization import deserialize_leaf, serialize_leaf

from simhash_gate.poet import MarkdownPage

USUAL, INSIDE = 543, 15  # the orders of scrapy-poet's middleware: its own, and nearer than the gate
# Page objects that know nothing of the gate, that depend on it, and a callback that does.
PAGE_OBJECT = """
    async def parse(self, response, page: "ArticlePage"):
        await self.trouble(response)
        yield self.item(response, response.meta["simhash_gate_verdict"], **page.to_item())
import web_poet
class ArticlePage(web_poet.WebPage):
    def to_item(self):
        with open("made.txt", "a") as file:
            print(self.url, file=file)
        return {"title": self.css("title::text").get()}
"""
DEPENDING = """
    async def parse(self, response, page: "ArticlePage", verdict: "Verdict"):
        assert verdict is response.meta["simhash_gate_verdict"]
        await self.trouble(response)
        yield self.item(response, verdict, **page.to_item())
import web_poet
from simhash_gate import Verdict
from simhash_gate.poet import MarkdownPage
class ArticlePage(web_poet.WebPage):
    def __init__(self, response: web_poet.HttpResponse, article: MarkdownPage, verdict: Verdict):
        super().__init__(response)
        self.article, self.verdict = article, verdict
        with open("made.txt", "a") as file:
            print(response.url, file=file)
    def to_item(self):
        return {"title": self.article.title, "words": self.article.words,
            "judged": self.verdict.outcome, "same": self.article.markdown == self.verdict.markdown}
"""
# No response is named: what the gate provides makes scrapy-poet fetch the page all the same.
NO_RESPONSE = """
    async def parse(self, response: "DummyResponse", article: "MarkdownPage", verdict: "Verdict"):
        await self.trouble(response)
        yield self.item(response, verdict, title=article.title, url=article.url)
from scrapy_poet import DummyResponse
from simhash_gate import Verdict
from simhash_gate.poet import MarkdownPage
"""


def settings_of(order: int) -> dict:
    return {
        "ADDONS": json.dumps({"scrapy_poet.Addon": 300, "simhash_gate.Addon": 0}),
        "DOWNLOADER_MIDDLEWARES": json.dumps({"scrapy_poet.InjectionMiddleware": order}),
        "SCRAPY_POET_PROVIDERS": json.dumps({"simhash_gate.poet.VerdictProvider": 500}),
    }


@pytest.fixture(params=[USUAL, INSIDE])
def order(request):
    return request.param


@pytest.fixture(
    params=[
        pytest.param((PAGE_OBJECT, USUAL), id="page object"),
        pytest.param((PAGE_OBJECT, INSIDE), id="page object, inside"),
        pytest.param((DEPENDING, USUAL), id="depending on the gate"),
        pytest.param((DEPENDING, INSIDE), id="depending on the gate, inside"),
        pytest.param((NO_RESPONSE, USUAL), id="no response"),
    ]
)
def beside(request):
    spider, order = request.param
    return alike.Beside(spider=spider, settings=settings_of(order))


def test_the_same_pages_are_dropped(beside, tmp_path) -> None:
    result = alike.drops_alike(beside, tmp_path)
    titles = sorted(item["title"] for item in result.items if "failure" not in item)
    assert titles == ["Story 1", "Story 2", "Story 3", "Story 4"]


def test_the_same_items_are_audited(beside, tmp_path) -> None:
    alike.audits_alike(beside, tmp_path)


def test_the_same_pages_are_fetched_again(beside, tmp_path) -> None:
    alike.fetches_again_alike(beside, tmp_path)


def test_the_same_pages_are_recovered(beside, tmp_path) -> None:
    result = alike.recovers_alike(beside, tmp_path)
    assert {item["title"] for item in result.items} == {"Story 1"}
    assert result.count("recovered_incomplete") == 0


def made(folder) -> list[str]:
    return (folder / "made.txt").read_text().split()


@pytest.mark.parametrize(
    ("spider", "order", "objects"),
    [(PAGE_OBJECT, INSIDE, 4), (DEPENDING, INSIDE, 4), (DEPENDING, USUAL, 4)],
)
def test_no_page_object_is_made_of_a_dropped_page(tmp_path, spider, order, objects) -> None:
    beside = alike.Beside(spider=spider, settings=settings_of(order))
    _, result = beside.both(tmp_path, alike.ROUTES)
    assert result.count("dropped") == 2
    assert len(made(tmp_path / "beside")) == objects


# /gone does not exist, /mine is not to be judged, /empty has nothing to read.
UNJUDGED = """
    handle_httpstatus_list = [404]
    def request(self, path, **kwargs):
        return super().request(path, meta={"simhash_gate": path != "/mine"}, **kwargs)
    def parse(self, response, article: "MarkdownPage", verdict: "Verdict"):
        from dataclasses import asdict
        yield {"path": response.url[len(self.settings["TEST_SITE"]):], "outcome": verdict.outcome,
            "reason": verdict.reason, "read": verdict.page is not None, **asdict(article)}
from simhash_gate import Verdict
from simhash_gate.poet import MarkdownPage
"""
OTHERS = {"kind": None, "author": None, "date": None, "price": None}
NOTHING = {"title": "", "markdown": "", "words": 0, "fingerprint": None, **OTHERS}


@pytest.mark.parametrize("enabled", [True, False])
def test_a_page_that_is_not_judged_has_a_verdict_that_says_so(tmp_path, order, enabled) -> None:
    routes = {"/mine": page(1), "/gone": Answer(b"", 404), "/a": page(2), "/copy": page(2)}
    settings = {**settings_of(order), "SIMHASH_GATE_ENABLED": enabled, "CONCURRENT_REQUESTS": 1}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, " ".join(routes), spider=UNJUDGED, settings=settings)
    found = {item["path"]: item for item in result.items if "failure" not in item}
    reasons = {path: (item["outcome"], item["reason"]) for path, item in found.items()}
    unread = [item for item in found.values() if not item["read"]]
    assert all(item.items() >= NOTHING.items() for item in unread)
    assert {item["path"]: item["url"] for item in unread} == {
        item["path"]: site.url + item["path"] for item in unread
    }
    if enabled:
        assert reasons["/mine"] == ("skipped", "meta")
        assert reasons["/gone"] == ("skipped", "status")
        assert (reasons["/a"][0], found["/a"]["title"]) == ("new", "Story 2")
        assert "/copy" not in reasons
        assert len(unread) == 2
    else:
        assert set(reasons.values()) == {("skipped", "SIMHASH_GATE_ENABLED is False")}
        assert len(unread) == len(routes)


def test_without_the_gate_the_log_says_once_that_there_is_none(tmp_path) -> None:
    routes = {"/a": page(1), "/copy": page(1)}
    settings = {**settings_of(USUAL), "ADDONS": '{"scrapy_poet.Addon": 300}'}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/a /copy", spider=UNJUDGED, settings=settings)
    assert {item["reason"] for item in result.items} == {"the gate is not installed"}
    assert result.log.count("Verdicts are asked for, but the gate is not installed") == 1


@pytest.mark.parametrize("cache", [False, True])
def test_a_page_object_that_fails_loses_no_page(tmp_path, order, cache) -> None:
    """What fails before the callback: the copies are fetched again, and the next one is made."""
    spider = """
    def parse(self, response, page: "ArticlePage"):
        yield self.item(response, response.meta["simhash_gate_verdict"])
import pathlib, web_poet
from simhash_gate.poet import MarkdownPage
class ArticlePage(web_poet.WebPage):
    def __init__(self, response: web_poet.HttpResponse, article: MarkdownPage):
        super().__init__(response)
        if not pathlib.Path("failed").exists():
            pathlib.Path("failed").touch()
            raise ValueError("broken")
"""
    settings = {**settings_of(order), "CONCURRENT_REQUESTS": 1}
    if cache:
        settings["SCRAPY_POET_CACHE"] = "cache"
    with Site(alike.COPIES).running() as site:
        paths = " ".join(alike.COPIES)
        result = crawl(tmp_path, site, paths, spider=alike.TROUBLE + spider, settings=settings)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == 1
    assert result.count("rescheduled") >= 1


# The same page for two callbacks: other dependencies make another request of it.
TWICE = """
    async def start(self):
        yield self.request("/a", priority=1, callback=self.plainly)
        yield self.request("/a", callback=self.parse, meta=self.settings.getdict("TEST_META"))
    def plainly(self, response):
        yield {"path": "plainly"}
    def parse(self, response, article: "MarkdownPage"):
        yield {"path": "parse"}
from simhash_gate.poet import MarkdownPage
"""


@pytest.mark.parametrize(
    ("meta", "delivered"), [({}, ["plainly"]), ({"simhash_gate": False}, ["parse", "plainly"])]
)
def test_a_page_for_a_second_callback_is_a_duplicate_unless_its_request_says_otherwise(
    tmp_path, order, meta, delivered
) -> None:
    settings = {**settings_of(order), "CONCURRENT_REQUESTS": 1, "TEST_META": json.dumps(meta)}
    with Site({"/a": page(1)}).running() as site:
        result = crawl(tmp_path, site, "", spider=TWICE, settings=settings)
    assert site.hits["/a"] == 2
    assert result.delivered() == delivered


def test_a_crawl_with_other_dependencies_does_not_know_its_pages_as_unchanged(tmp_path) -> None:
    settings = {
        **settings_of(USUAL),
        "SIMHASH_GATE_STORE": "sqlite:///store.sqlite",
        "SIMHASH_GATE_REVISIT": "pass",
    }
    asks = alike.TROUBLE + NO_RESPONSE
    with Site({"/a": page(1)}).running() as site:
        for spider, outcomes in (("", ["new"]), ("", ["unchanged"]), (asks, [])):
            result = crawl(tmp_path, site, "/a", spider=spider, settings=settings)
            assert [item["outcome"] for item in result.items if "outcome" in item] == outcomes


def test_what_fixtures_keep_is_what_was_provided() -> None:
    pages = [
        replace(read_page(page(1).body, url=f"https://example.com/{path}"), price="19.99 EUR")
        for path in ("a", "b")
    ]
    with closing(open_store("memory:")) as store:
        store.begin("run")
        gate = Gate(store, run="run", pipeline=pipeline_version())
        verdicts = [
            gate.judge(each, Policy(compare=("h1",)), url=each.url, scope="example.com")
            for each in pages
        ]
    assert [verdict.outcome for verdict in verdicts] == ["new", "duplicate"]
    provided: list[Any] = [*verdicts, Verdict("skipped", "meta")]
    for kept in (*provided, MarkdownPage.of("https://a/", pages[0]), MarkdownPage("https://b/")):
        again = deserialize_leaf(type(kept), serialize_leaf(kept))
        assert again == kept
        assert again.markdown == kept.markdown
