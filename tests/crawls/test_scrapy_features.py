"""The gate among Scrapy's own: caches, media, reactors, data folders, jobs, encodings."""

import os
import signal
import sqlite3
import time
from contextlib import closing

import pytest
import scrapy
from packaging.version import Version

from tests.crawls.harness import ROOT, Answer, Site, crawl, page, start, until
from tests.crawls.loaded import LoadedProcess

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
    store = {"FILES_STORE": str(tmp_path / "files")}
    result = crawl(tmp_path, routes, "/a", spider=spider, settings=store)
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
    pages = {"/a": page(1), "/b": page(1, noise=2), "/c": page(3)}
    result = crawl(tmp_path, pages, settings={**IN_ORDER, **settings})
    assert result.delivered() == ["/a", "/c"]
    assert result.count("dropped") == 1


@pytest.mark.parametrize("in_the_way", [False, True])
def test_sqlite_alone_lies_in_the_data_folder_and_where_it_can_not_no_crawl_starts(
    tmp_path, in_the_way: bool
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    folder = tmp_path / ".scrapy/simhash_gate"
    if in_the_way:
        folder.parent.mkdir()
        folder.write_text("not a folder")
    settings = {"SIMHASH_GATE_STORE": "sqlite:", **IN_ORDER}
    pages = {"/a": page(1), "/b": page(1, noise=2)}
    result = crawl(tmp_path, pages, spider='    name = "odd/name"\n', settings=settings)
    assert (folder / "odd%2Fname.sqlite").exists() != in_the_way
    assert ("The crawl does not start" in result.log) == in_the_way
    assert result.delivered() == ([] if in_the_way else ["/a"])


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
    result = crawl(tmp_path, {}, "/", spider=spider)
    assert result.items[0]["title"] == "北京天气"
    assert "今天北京晴，气温下降。" in result.items[0]["markdown"]


PROJECT = {
    "scrapy.cfg": "[settings]\ndefault = project\n",
    "project.py": """
ADDONS = {{"simhash_gate.Addon": 0}}
SPIDER_MODULES = ["spiders"]
TELNETCONSOLE_ENABLED = False
CONCURRENT_REQUESTS = 1
SIMHASH_GATE_WORKERS = 0
SIMHASH_GATE_STORE = "sqlite:///kept/store.sqlite"
SIMHASH_GATE_KEEP_MARKDOWN = 1 << 20
SIMHASH_GATE_VERDICTS, SIMHASH_GATE_REPORT = "kept/verdicts.jsonl", "kept/report.html"
SIMHASH_GATE_JOURNAL = "kept/journal"
""",
    "spiders.py": '''
import scrapy
class News(scrapy.Spider):
    name = "news"
    paths = "/a /copy"
    async def start(self):
        for path in self.paths.split():
            yield scrapy.Request("{url}" + path)
    def parse(self, response):
        """Say where it is.

        @url {url}/a
        @returns items 1 1
        """
        yield {{"path": response.url[len("{url}"):]}}
''',
}
LOOKING = (
    "fetch -s JOBDIR=job {url}/a",
    "shell -c response.status {url}/a",
    "view {url}/a",
    "parse --spider=news {url}/a",
    "check",
    "bench -s CLOSESPIDER_PAGECOUNT=5",
)


@pytest.mark.timeout(300)
def test_who_only_looks_leaves_nothing_behind_and_the_next_crawl_sees_every_page(tmp_path) -> None:
    def kept():
        """Return all that the gate has written."""
        files = [file for name in ("kept", "job") for file in (tmp_path / name).rglob("*")]
        return {
            file: dump(file) if file.suffix == ".sqlite" else file.read_bytes()
            for file in files
            if file.is_file() and ("kept" in file.parts or "simhash_gate" in file.name)
        }

    def changed(before, after):
        """Return what files were and are, of those that are not as they were."""
        names = before.keys() | after.keys()
        pairs = {name: (before.get(name), after.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def dump(path):
        with closing(sqlite3.connect(path)) as db:
            return [*db.iterdump()]

    def run(command):
        arguments = command.format(url=site.url).split()
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}",
            "BROWSER": "true",
        }
        process = LoadedProcess("scrapy", *arguments, cwd=tmp_path, env=environment)
        output, log = process.communicate(timeout=300)
        assert "Traceback" not in log, log
        assert process.returncode == 0, log
        return output, log

    with Site({"/a": page(1), "/copy": page(1, noise=2), "/new": page(3)}).running() as site:
        for name, text in PROJECT.items():
            (tmp_path / name).write_text(text.format(url=site.url))
        for command in LOOKING:
            run(command)
            assert kept() == {}, command
        trial = "crawl news -O {}.jsonl -s SIMHASH_GATE_DURABLE=never "
        for number in range(2):  # its pages are compared with each other, and not remembered
            _, log = run(trial.format(number))
            assert (tmp_path / f"{number}.jsonl").read_text() == '{"path": "/a"}\n'
            assert "was only read" in log
            assert not [*tmp_path.glob("kept/store*")]
        run("crawl news -O first.jsonl")
        assert (tmp_path / "first.jsonl").read_text().count("path") == 1
        before = kept()
        assert tmp_path / "kept/store.sqlite" in before
        for command in LOOKING:
            run(command.replace("/a", "/new"))
            assert changed(before, kept()) == {}, command
        shown, log = run("shell -c __import__('simhash_gate').why(response) {url}/copy")
        assert shown.startswith(f"{site.url}/copy\nwould be dropped (duplicate)\n")
        assert f"kept page  {site.url}/a\n" in shown
        assert "compare" in shown.partition("what would change this")[2]
        assert f"Tagged {site.url}/copy" in log
        # What the store has is known to who reads it: both pages are copies of one there.
        run(trial.format("known"))
        assert (tmp_path / "known.jsonl").read_text() == ""
        assert dump(tmp_path / "kept/store.sqlite") == before[tmp_path / "kept/store.sqlite"]
        run("crawl news -O new.jsonl ")
