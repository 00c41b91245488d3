"""Real crawls with scrapy-poet: page objects, and what the gate provides for them."""

import json
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simhash_gate import Gate, Policy, Verdict, Visit, open_store, pipeline_version, read_page
from simhash_gate.page import METADATA
from tests.crawls import alike
from tests.crawls.harness import Answer, Site, crawl, page

pytest.importorskip("scrapy_poet", reason="scrapy-poet is not installed")

from web_poet.serialization import deserialize_leaf, serialize_leaf

from simhash_gate.plugin.poet import MarkdownPage

USUAL, INSIDE = 543, 15  # the orders of scrapy-poet's middleware: its own, and nearer than the gate
# Page objects that know nothing of the gate, that depend on it, and a callback that does.
PAGE_OBJECT = """
    async def parse(self, response, page: "ArticlePage"):
        await self.trouble(response)
        yield self.item(response, response.meta["simhash_gate_verdict"], **page.to_item())
import web_poet
class ArticlePage(web_poet.WebPage):
    def __init__(self, response: web_poet.HttpResponse):
        super().__init__(response)
        with open("made.txt", "a") as file:
            print(response.url, file=file)
    def to_item(self):
        return {"title": self.css("title::text").get()}
"""
DEPENDING = (
    PAGE_OBJECT.replace('page: "ArticlePage"', 'page: "Depending"')
    + """
from simhash_gate import Verdict
from simhash_gate.plugin.poet import MarkdownPage
class Depending(ArticlePage):
    def __init__(self, response: web_poet.HttpResponse, article: MarkdownPage, verdict: Verdict):
        super().__init__(response)
        assert article.markdown == verdict.markdown
        self.title = article.title
    def to_item(self):
        return {"title": self.title}
"""
)
# No response is named: what the gate provides makes scrapy-poet fetch the page all the same.
NO_RESPONSE = """
    async def parse(self, response: "DummyResponse", article: "MarkdownPage", verdict: "Verdict"):
        assert verdict is response.meta["simhash_gate_verdict"]
        await self.trouble(response)
        yield self.item(response, verdict, title=article.title, url=article.url)
from scrapy_poet import DummyResponse
from simhash_gate import Verdict
from simhash_gate.plugin.poet import MarkdownPage
"""


def settings_of(order: int) -> dict:
    return {
        "ADDONS": json.dumps({"scrapy_poet.Addon": 300, "simhash_gate.Addon": 0}),
        "DOWNLOADER_MIDDLEWARES": json.dumps({"scrapy_poet.InjectionMiddleware": order}),
        "SCRAPY_POET_PROVIDERS": json.dumps({"simhash_gate.plugin.poet.VerdictProvider": 500}),
    }


@pytest.mark.parametrize(
    ("spider", "order", "objects"),
    [
        pytest.param(PAGE_OBJECT, USUAL, 6, id="page object"),
        pytest.param(PAGE_OBJECT, INSIDE, 4, id="page object, inside"),
        pytest.param(DEPENDING, USUAL, 4, id="depending on the gate"),
        pytest.param(DEPENDING, INSIDE, 4, id="depending on the gate, inside"),
        pytest.param(NO_RESPONSE, USUAL, 0, id="no response"),
    ],
)
def test_no_page_object_is_made_of_a_dropped_page(tmp_path, spider, order, objects) -> None:
    """But one that does not depend on the gate, where scrapy-poet sees the page first."""
    beside = alike.Beside(spider=spider, settings=settings_of(order))
    result = alike.drops(beside, tmp_path)
    titles = sorted(item["title"] for item in result.items if "failure" not in item)
    assert titles == ["Story 1", "Story 2", "Story 3", "Story 4"]
    assert not objects or len((tmp_path / "made.txt").read_text().split()) == objects


@pytest.mark.parametrize(("spider", "order"), [(PAGE_OBJECT, USUAL), (DEPENDING, INSIDE)])
def test_pages_are_fetched_again(tmp_path, spider, order) -> None:
    beside = alike.Beside(spider=spider, settings=settings_of(order))
    alike.fetches_again(beside, tmp_path / "again")


# /gone does not exist, /mine is not to be judged.
UNJUDGED = """
    handle_httpstatus_list = [404]
    def request(self, path, **kwargs):
        return super().request(path, meta={"simhash_gate": path != "/mine"}, **kwargs)
    def parse(self, response, article: "MarkdownPage", verdict: "Verdict"):
        from dataclasses import asdict
        yield {"path": response.url[len(self.settings["TEST_SITE"]):], "outcome": verdict.outcome,
            "reason": verdict.reason, "read": verdict.page is not None, **asdict(article)}
from simhash_gate import Verdict
from simhash_gate.plugin.poet import MarkdownPage
"""
ROUTES = {"/mine": page(1), "/gone": Answer(b"", 404), "/a": page(2), "/copy": page(2)}
NOTHING = {
    **{"outcome": "skipped", "read": False, "title": "", "markdown": "", "words": 0},
    **dict.fromkeys(["fingerprint", "kind", "price", *METADATA]),
}
NOT_INSTALLED = "the gate is not installed"


@pytest.mark.parametrize(
    ("settings", "reasons"),
    [
        (settings_of(USUAL), {"/mine": "meta", "/gone": "status: 404"}),
        (settings_of(INSIDE), {"/mine": "meta", "/gone": "status: 404"}),
        (
            settings_of(USUAL) | {"SIMHASH_GATE_ENABLED": False},
            dict.fromkeys(ROUTES, "SIMHASH_GATE_ENABLED is False"),
        ),
        (
            settings_of(USUAL) | {"ADDONS": '{"scrapy_poet.Addon": 300}'},
            dict.fromkeys(ROUTES, NOT_INSTALLED),
        ),
    ],
    ids=["usual", "inside", "off", "not installed"],
)
def test_a_page_that_is_not_judged_has_a_verdict_that_says_why(tmp_path, settings, reasons) -> None:
    settings = {**settings, "CONCURRENT_REQUESTS": 1}
    result = crawl(tmp_path, ROUTES, spider=UNJUDGED, settings=settings)
    found = {item.pop("path"): item for item in result.items if "failure" not in item}
    if "/a" not in reasons:
        judged = found.pop("/a")
        assert (judged["outcome"], judged["title"]) == ("new", "Story 2")
    assert found == {
        path: NOTHING | {"reason": reason, "url": result.site.url + path}
        for path, reason in reasons.items()
    }
    warnings = result.log.count("Verdicts are asked for, but the gate is not installed")
    assert warnings == (NOT_INSTALLED in reasons.values())


@pytest.mark.parametrize(("order", "cache"), [(USUAL, ""), (USUAL, "cache"), (INSIDE, "cache")])
def test_a_page_object_that_fails_loses_no_page(tmp_path, order, cache) -> None:
    """What fails before the callback: the copies are fetched again, and the next one is made."""
    spider = """
    def parse(self, response, page: "ArticlePage"):
        yield self.item(response, response.meta["simhash_gate_verdict"])
import pathlib, web_poet
from simhash_gate.plugin.poet import MarkdownPage
class ArticlePage(web_poet.WebPage):
    def __init__(self, response: web_poet.HttpResponse, article: MarkdownPage):
        super().__init__(response)
        if not pathlib.Path("failed").exists():
            pathlib.Path("failed").touch()
            raise ValueError("broken")
"""
    beside = alike.Beside(spider=spider, settings=settings_of(order))
    result = beside.crawl(tmp_path, alike.COPIES, SCRAPY_POET_CACHE=cache)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == 1
    assert result.count("rescheduled") >= 1


def test_without_scrapy_poet_the_message_says_how_to_install_it() -> None:
    code = "import sys; sys.modules['scrapy_poet'] = None; import simhash_gate.plugin.poet"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'simhash-gate[poet]'" in run.stderr


def test_a_crawl_with_other_dependencies_knows_its_pages_as_unchanged(tmp_path) -> None:
    settings = {
        **settings_of(USUAL),
        "SIMHASH_GATE_STORE": "sqlite:///store.sqlite",
        "SIMHASH_GATE_REVISIT": "pass",
    }
    asks = alike.TROUBLE + NO_RESPONSE
    with Site({"/a": page(1)}).running() as site:
        for spider, outcomes in (("", ["new"]), ("", ["unchanged"]), (asks, ["unchanged"])):
            result = crawl(tmp_path, site, "/a", spider=spider, settings=settings)
            assert [item["outcome"] for item in result.items if "outcome" in item] == outcomes


def test_what_fixtures_keep_is_what_was_provided() -> None:
    read = replace(read_page(page(1).body, url="https://a/"), price="19.99 EUR")
    with closing(open_store("memory:")) as store:
        store.begin("run")
        gate, policy = Gate(store, run="run", pipeline=pipeline_version()), Policy(compare=("h1",))
        judged = [gate.judge(read, policy, Visit(url, "a", url)) for url in ("a", "b")]
    assert [verdict.outcome for verdict in judged] == ["new", "duplicate"]
    pages = MarkdownPage.of("https://a/", read), MarkdownPage("https://b/")
    provided: list[Any] = [*judged, Verdict("skipped", "meta"), *pages]
    for kept in provided:
        again = deserialize_leaf(type(kept), serialize_leaf(kept))
        assert again == kept
        assert again.markdown == kept.markdown
