"""The gate among Scrapy's own: caches, media, reactors, data folders, jobs, encodings."""

from __future__ import annotations

import signal
import time

import pytest
import scrapy
from packaging.version import Version

from tests.crawls.harness import Answer, Site, crawl, page, start, until

IN_ORDER = {"CONCURRENT_REQUESTS": 1}
SELECT = "twisted.internet.selectreactor.SelectReactor"


def test_a_replay_from_the_http_cache_is_judged_afresh(tmp_path) -> None:
    cache = {**IN_ORDER, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        first = crawl(tmp_path, site, "/a /b", settings=cache)
        second = crawl(tmp_path, site, "/a /b", settings=cache)
        assert site.hits.total() == 2
    assert second.stats["httpcache/hit"] == 2
    assert first.delivered() == second.delivered() == ["/a"]


def test_media_pass_untouched(tmp_path) -> None:
    spider = """
    custom_settings = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}}
    def parse(self, response):
        urls = [response.urljoin(path) for path in ("/page-as-file", "/x.png")]
        yield {"path": "/a", "file_urls": urls}
"""
    image = Answer(b"\x89PNG", headers={"Content-Type": "image/png"})
    routes = {"/a": page(1), "/page-as-file": page(1, noise=2), "/x.png": image}
    with Site(routes).running() as site:
        store = {"FILES_STORE": str(tmp_path / "files")}
        result = crawl(tmp_path, site, "/a", spider=spider, settings=store)
    assert len(result.items[0]["files"]) == 2
    assert result.count("skipped/no_callback") == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"TWISTED_REACTOR": SELECT, "SIMHASH_GATE_WORKERS": 1},
        pytest.param(
            {"TWISTED_REACTOR_ENABLED": False, "SIMHASH_GATE_WORKERS": 1},
            marks=pytest.mark.skipif(
                Version(scrapy.__version__) < Version("2.19"),
                reason="Scrapy's HTTP download handler needs a reactor before 2.19",
            ),
        ),
    ],
    ids=["select", "no-reactor"],
)
def test_other_reactors_and_none(tmp_path, settings) -> None:
    with Site({"/a": page(1), "/b": page(1, noise=2), "/c": page(3)}).running() as site:
        result = crawl(tmp_path, site, "/a /b /c", settings={**IN_ORDER, **settings})
    assert result.delivered() == ["/a", "/c"]
    assert result.count("dropped") == 1


@pytest.mark.parametrize(
    ("in_the_way", "failure"), [(False, "pass"), (True, "pass"), (True, "close")]
)
def test_sqlite_alone_lies_in_the_data_folder_and_where_it_can_not_memory_is_used_or_none(
    tmp_path, in_the_way: bool, failure: str
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    folder = tmp_path / ".scrapy/simhash_gate"
    if in_the_way:
        folder.parent.mkdir()
        folder.write_text("not a folder")
    settings = {"SIMHASH_GATE_STORE": "sqlite:", "SIMHASH_GATE_STORE_FAILURE": failure, **IN_ORDER}
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        result = crawl(tmp_path, site, "/a /b", spider='    name = "odd/name"\n', settings=settings)
    closed = failure == "close"
    assert (folder / "odd%2Fname.sqlite").exists() != in_the_way
    assert ("remembers this crawl in memory only" in result.log) == (in_the_way and not closed)
    assert ("Spider closed (simhash_gate_store_failed)" in result.log) == closed
    assert closed or result.delivered() == ["/a"]


@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupted_job_goes_on_and_loses_nothing(tmp_path, signals: int) -> None:
    """One signal lets it end, and the job goes on; two end it at once, and it begins anew."""
    routes = {f"/{n}": page(n % 10, noise=n) for n in range(30)}
    for route in routes.values():
        route.delay = 0.1
    job = {"JOBDIR": str(tmp_path / "job"), "CONCURRENT_REQUESTS_PER_DOMAIN": 4}
    spider = """
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        yield {"path": response.url[len(self.settings["TEST_SITE"]):], "title": verdict.page.title}
    """
    paths = " ".join(routes)
    with Site(routes).running() as site:
        process, finish = start(tmp_path / "1", site, paths, spider=spider, settings=job)
        until(lambda: site.hits.total() >= 12)
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        first = finish()
        assert site.hits.total() < 30
        settings = job if signals == 1 else {}
        second = crawl(tmp_path / "2", site, paths, spider=spider, settings=settings)
    titles = [item["title"] for item in first.items + second.items if "title" in item]
    assert len(set(titles)) == 10
    if signals == 1:
        assert (tmp_path / "job/simhash_gate.sqlite").exists()
        assert second.count("dropped_for_earlier") > 0
        assert len(titles) == 10, sorted(titles)


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
