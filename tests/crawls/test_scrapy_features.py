"""The gate among Scrapy's own: retries, redirects, caches, media, reactors, revisits, JOBDIR."""

from __future__ import annotations

import json
import signal
import time

import pytest
import scrapy
from packaging.version import Version

from tests.crawls.harness import Answer, Site, crawl, html_answer, page, start, until

IN_ORDER = {"CONCURRENT_REQUESTS": 1}
SELECT = "twisted.internet.selectreactor.SelectReactor"


def test_a_page_that_is_retried_by_scrapy_is_judged_once(tmp_path) -> None:
    routes = {"/a": lambda hit: page(1) if hit > 1 else html_answer("busy", status=503)}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/a")
        assert site.hits["/a"] == 2
    assert result.delivered() == ["/a"]
    assert result.count("fetched") == 1


RETRYING = """
    def parse(self, response):
        from scrapy.downloadermiddlewares.retry import get_retry_request
        yield from super().parse(response)
        if not response.meta.get("retry_times"):
            yield get_retry_request(response.request, spider=self, reason="incomplete")
"""


def test_a_page_that_the_spider_retries_is_no_duplicate_of_itself(tmp_path) -> None:
    with Site({"/a": page(1)}).running() as site:
        result = crawl(tmp_path, site, "/a", spider=RETRYING)
    assert [item.get("outcome") for item in result.items] == ["new", "unchanged"]


def test_a_retry_passes_even_where_revisits_are_dropped(tmp_path) -> None:
    spider = """
    def parse(self, response):
        from scrapy.downloadermiddlewares.retry import get_retry_request
        if response.meta.get("retry_times"):
            yield from super().parse(response)
        else:
            yield get_retry_request(response.request, spider=self, reason="incomplete")
    """
    with Site({"/a": page(1)}).running() as site:
        settings = {"SIMHASH_GATE_REVISIT": "drop"}
        result = crawl(tmp_path, site, "/a", spider=spider, settings=settings)
    assert result.delivered() == ["/a"]


def test_redirects_end_at_the_gate(tmp_path) -> None:
    routes = {"/a": page(1), "/old": Answer(b"", 302, {"Location": "/b"}), "/b": page(1, noise=2)}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/a /old", settings=IN_ORDER)
    assert result.delivered() == ["/a"]
    assert f"Dropped {site.url}/b" in result.log


def test_a_replay_from_the_http_cache_is_judged_afresh(tmp_path) -> None:
    cache = {**IN_ORDER, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        first = crawl(tmp_path, site, "/a /b", settings=cache)
        second = crawl(tmp_path, site, "/a /b", settings=cache)
        assert site.hits.total() == 2
    assert second.stats["httpcache/hit"] == 2
    assert first.delivered() == second.delivered() == ["/a"]


MEDIA = """
import scrapy.pipelines.files
class Files(scrapy.pipelines.files.FilesPipeline):
    pass
Spider.custom_settings = {"ITEM_PIPELINES": {Files: 1}}
def parse(self, response):
    yield {"path": "/a", "file_urls": [response.urljoin(p) for p in ("/page-as-file", "/x.png")]}
Spider.parse = parse
"""


def test_media_pass_untouched(tmp_path) -> None:
    image = Answer(b"\x89PNG", headers={"Content-Type": "image/png"})
    routes = {"/a": page(1), "/page-as-file": page(1, noise=2), "/x.png": image}
    with Site(routes).running() as site:
        store = {"FILES_STORE": str(tmp_path / "files")}
        result = crawl(tmp_path, site, "/a", spider=MEDIA, settings=store)
    assert len(result.items[0]["files"]) == 2
    assert result.count("skipped/no_callback") == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"TWISTED_REACTOR": SELECT, "SIMHASH_GATE_WORKERS": 1},
        {"TWISTED_REACTOR": SELECT, "SIMHASH_GATE_WORKERS": 0},
        pytest.param(
            {"TWISTED_REACTOR_ENABLED": False, "SIMHASH_GATE_WORKERS": 1},
            marks=pytest.mark.skipif(
                Version(scrapy.__version__) < Version("2.19"),
                reason="Scrapy's HTTP download handler needs a reactor before 2.19",
            ),
        ),
    ],
    ids=["select", "select-inline", "no-reactor"],
)
def test_other_reactors_and_none(tmp_path, settings) -> None:
    with Site({"/a": page(1), "/b": page(1, noise=2), "/c": page(3)}).running() as site:
        result = crawl(tmp_path, site, "/a /b /c", settings={**IN_ORDER, **settings})
    assert result.delivered() == ["/a", "/c"]
    assert result.count("dropped") == 1


def test_what_an_earlier_crawl_kept_is_remembered_and_revisits_pass_if_asked(tmp_path) -> None:
    store = {
        "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite",
        "SIMHASH_GATE_REVISIT": "pass",
    }
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        crawl(tmp_path, site, "/a", settings=store)
        second = crawl(tmp_path, site, "/a /b", settings=store)
        strict = {**store, "SIMHASH_GATE_REVISIT": "drop"}
        third = crawl(tmp_path, site, "/a", settings=strict)
    assert [item["outcome"] for item in second.items if "outcome" in item] == ["unchanged"]
    assert second.delivered() == ["/a"]
    assert second.count("dropped_for_earlier") == 1
    assert third.delivered() == []
    assert third.count("unchanged") == third.count("dropped") == 1


def test_sqlite_alone_lies_in_the_data_folder_under_the_spiders_name(tmp_path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    with Site({"/a": page(1)}).running() as site:
        spider = "Spider.name = 'odd/name'"
        result = crawl(
            tmp_path, site, "/a", spider=f"\n{spider}\n", settings={"SIMHASH_GATE_STORE": "sqlite:"}
        )
    assert result.delivered() == ["/a"]
    assert (tmp_path / ".scrapy/simhash_gate/odd%2Fname.sqlite").exists()


@pytest.mark.parametrize("failure", ["pass", "close"])
def test_a_default_store_that_cannot_be_made_is_said_and_memory_used_or_the_spider_closed(
    tmp_path, failure: str
) -> None:
    (tmp_path / ".scrapy").mkdir()
    (tmp_path / ".scrapy/simhash_gate").write_text("in the way")
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        store = {"SIMHASH_GATE_STORE": "sqlite:", "SIMHASH_GATE_STORE_FAILURE": failure}
        result = crawl(tmp_path, site, "/a /b", settings={**IN_ORDER, **store})
    falls_back = failure == "pass"
    assert ("The gate remembers this crawl in memory only" in result.log) == falls_back
    assert ("Spider closed (simhash_gate_store_failed)" in result.log) != falls_back
    if falls_back:
        assert result.delivered() == ["/a"]


@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupted_job_goes_on_and_loses_nothing(tmp_path, signals: int) -> None:
    routes = {f"/{n}": page(n % 20, noise=n) for n in range(60)}
    for route in routes.values():
        route.delay = 0.1
    job = {"JOBDIR": str(tmp_path / "job"), "CONCURRENT_REQUESTS_PER_DOMAIN": 4}
    spider = """
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        yield {"path": response.url[len(self.settings["TEST_SITE"]):], "title": verdict.page.title}
    """
    with Site(routes).running() as site:
        process, finish = start(tmp_path / "1", site, " ".join(routes), spider=spider, settings=job)
        until(lambda: site.hits.total() >= 15)
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        first = finish()
        assert site.hits.total() < 60
        settings = job if signals == 1 else {}
        second = crawl(tmp_path / "2", site, " ".join(routes), spider=spider, settings=settings)
    titles = {item["title"] for item in first.items + second.items if "title" in item}
    assert len(titles) == 20
    if signals == 1:
        assert (tmp_path / "job/simhash_gate.sqlite").exists()
        assert second.count("dropped_for_earlier") > 0
        twice = [item["title"] for item in first.items + second.items if "title" in item]
        assert len(twice) == 20, json.dumps(sorted(twice))


def test_a_page_whose_encoding_only_its_response_knows_is_read_in_it(tmp_path) -> None:
    """As that of a middleware which fetches pages in another way."""
    (tmp_path / "fetching.py").write_text(
        """
from scrapy.http import HtmlResponse
class Fetching:
    def process_request(self, request):
        html = "<title>北京天气</title><main><h1>北京天气</h1><p>" + "今天北京晴，气温下降。" * 20
        return HtmlResponse(request.url, body=html.encode("gbk"), encoding="gbk", request=request)
"""
    )
    spider = """
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {"fetching.Fetching": 500}}
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        yield {"title": verdict.title, "markdown": verdict.markdown, "path": "/"}
    """
    with Site({}).running() as site:
        result = crawl(tmp_path, site, "/", spider=spider)
    assert result.items[0]["title"] == "北京天气"
    assert "今天北京晴，气温下降。" in result.items[0]["markdown"]
