"""What a crawl dropped goes to its callbacks from the journal, and nothing is fetched."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.site.process import running_site, truth
from simhash_gate.journal.contents import drops
from simhash_gate.journal.segments import segments
from tests.crawls.harness import WITHOUT_ADDON, Answer, Crawl, Site, crawl, page
from tests.crawls.test_demo import start_demo

if TYPE_CHECKING:
    from pathlib import Path


COPIES = {f"/{n}": page(1, noise=n) for n in range(5)}
PATHS = " ".join(COPIES)
KEEP = {"SIMHASH_GATE_JOURNAL": "journal"}
RECOVER = {"SIMHASH_GATE_RECOVER": "journal"}


def recover(folder: Path, site: Site, **kwargs) -> Crawl:
    """Run a recovery that must not fetch anything."""
    kwargs["settings"] = {**RECOVER, **kwargs.get("settings", {})}
    before = site.hits.copy()
    result = crawl(folder, site, "/never", feed="recovered.jsonl", **kwargs)
    assert site.hits == before
    return result


def test_a_dropped_page_goes_through_its_callback_as_it_was_fetched(tmp_path) -> None:
    body = page(1, noise=7).body
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip", "X-Of-The-Site": "bees"}
    routes = {"/0": page(1), "/7": Answer(gzip.compress(body), headers=headers)}
    spider = """
    async def start(self):
        yield self.request("/0", priority=1)
        await self.first.wait()
        yield self.request("/7", callback=self.read, cb_kwargs={"place": [7, "x"]},
            meta={"known": {"a": None}, "unsayable": {1, 2}}, flags=["f"], headers={"X-Asked": "y"})
    def __init__(self):
        import asyncio
        self.first = asyncio.Event()
    def parse(self, response):
        self.first.set()
        yield from super().parse(response)
    def read(self, response, place):
        verdict = response.meta["simhash_gate_verdict"]
        drop = response.meta["simhash_gate_recovered"].drop
        yield {"path": "/7", "place": place, "known": response.meta["known"], "markdown":
            verdict.markdown, "outcome": verdict.outcome, "text": response.text,
            "flags": response.flags, "status": response.status, "asked":
            response.request.headers.to_unicode_dict()["X-Asked"], "matched": drop.matched_url,
            "headers": dict(response.headers.to_unicode_dict())}
    """
    names = "callback,place,known,unsayable,X-Asked"
    alike = {"SIMHASH_GATE_IGNORE": names}  # whatever the second request hands on
    with Site(routes).running() as site:
        first = crawl(tmp_path, site, "", spider=spider, settings=KEEP | alike)
        again = recover(tmp_path, site, spider=spider)
    assert first.delivered() == ["/0"]
    assert first.count("journaled") == 1
    (item,) = again.items
    assert item["text"].encode() == body
    assert item["headers"]["X-Of-The-Site"] == "bees"
    assert item["headers"]["Content-Length"] == str(len(gzip.compress(body)))
    assert (item["status"], item["flags"]) == (200, ["recovered"])
    assert (item["place"], item["known"], item["asked"]) == ([7, "x"], {"a": None}, "y")
    assert item["matched"] == f"{site.url}/0"
    assert (item["outcome"], "#" in item["markdown"]) == ("skipped", True)
    assert "Recovered without meta['unsayable'], which JSON can't say" in again.log
    assert again.count("recovered") == again.count("recovered_incomplete") == 1

    (path,) = segments(tmp_path / "journal")
    with path.open("rb") as file:
        bodies = [
            record.content_stream().read()
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        ]
    assert bodies == [body]


def test_a_recovery_fetches_nothing_and_counts_what_it_did_not_fetch(tmp_path) -> None:
    spider = """
    def parse(self, response):
        yield from super().parse(response)
        yield response.follow("/beyond")
    """
    settings = {"ROBOTSTXT_OBEY": "True"}
    with Site(dict(COPIES)).running() as site:
        first = crawl(tmp_path, site, PATHS, spider=spider, settings={**KEEP, **settings})
        again = recover(tmp_path, site, spider=spider, settings={**KEEP, **settings})
    assert len(first.delivered()) == 1
    assert sorted([*first.delivered(), *again.delivered()]) == sorted(COPIES)
    assert again.count("not_fetched") == again.count("recovered") == 4
    assert "4 pages; 0 could not be recovered; requests that were not fetched" in again.log
    assert again.count("journaled") == 0
    assert len([*drops(f"{tmp_path}/journal", pytest.fail)]) == 4


def test_a_download_from_within_a_callback_is_refused_in_a_recovery(tmp_path) -> None:
    spider = """
    async def parse(self, response):
        from scrapy.exceptions import IgnoreRequest
        try:
            await self.crawler.engine.download_async(response.request.replace(
                url=response.urljoin("/beyond")))
        except IgnoreRequest as error:
            yield {"path": "refused", "reason": str(error)}
    """
    with Site(dict(COPIES)).running() as site:
        crawl(tmp_path, site, PATHS, settings=KEEP)
        again = recover(tmp_path, site, spider=spider)
    assert again.delivered() == ["refused"] * 4
    assert again.count("not_fetched") == 4


def test_a_recovery_leaves_a_waiting_queue_a_cache_and_what_the_crawl_wrote_down_alone(
    tmp_path,
) -> None:
    written = {
        **KEEP,
        "SIMHASH_GATE_VERDICTS": "log.jsonl",
        "SIMHASH_GATE_REPORT": "report.html",
    }
    with Site(dict(COPIES)).running() as site:
        assert crawl(tmp_path, site, PATHS, settings=written).count("journaled") == 4
        before = {path: (tmp_path / path).read_bytes() for path in ("log.jsonl", "report.html")}
        of_requests = {"JOBDIR": str(tmp_path / "job"), "HTTPCACHE_ENABLED": "True"}
        result = recover(tmp_path, site, settings=written | of_requests)
    assert result.count("recovered") == len(result.delivered()) == 4
    assert not (tmp_path / "job").exists()
    assert not any(name.startswith("httpcache") for name in result.stats)
    assert {path: (tmp_path / path).read_bytes() for path in before} == before


def test_what_a_spider_has_no_callback_for_is_named(tmp_path) -> None:
    spider = """
    async def start(self):
        for path in self.settings["TEST_PATHS"].split():
            yield self.request(path, callback=self.gone)
    gone = Base.parse
    """
    renamed = spider.replace("gone", "renamed")
    with Site(dict(COPIES)).running() as site:
        crawl(tmp_path, site, PATHS, spider=spider, settings=KEEP)
        again = recover(tmp_path, site, spider=renamed)
        other = recover(tmp_path, site, spider='    name = "other"\n')
    assert again.delivered() == other.delivered() == []
    assert again.count("recover_failed") == 4
    assert again.log.count("Method 'gone' not found in") == 1
    assert "Not recovered: 4 pages that the spider 'test' dropped" in other.log


def test_a_callback_that_is_no_method_of_the_spider_is_never_replaced(tmp_path) -> None:
    spider = """
    async def start(self):
        for path in self.settings["TEST_PATHS"].split():
            yield self.request(path, callback=lambda response: [{}])
    """
    with Site(dict(COPIES)).running() as site:
        crawl(tmp_path, site, PATHS, spider=spider, settings=KEEP)
        again = recover(tmp_path, site)
    assert again.delivered() == []
    assert again.count("recover_failed") == 4
    assert again.log.count("its callback was no method of the spider") == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"SIMHASH_GATE_RECOVER": "nowhere"}, "'nowhere': no such file or folder"),
        ({"SIMHASH_GATE_RECOVER": "."}, "'.': no journal of dropped pages is in this folder"),
        ({"SIMHASH_GATE_RECOVER": "empty"}, "'empty': no dropped page is in it: an empty file"),
        (
            {"SIMHASH_GATE_RECOVER": ".", **WITHOUT_ADDON},
            "SIMHASH_GATE_RECOVER needs the add-on",
        ),
        (
            {"SIMHASH_GATE_RECOVER": ".", "SIMHASH_GATE_ENABLED": "False"},
            "SIMHASH_GATE_RECOVER needs the gate",
        ),
    ],
)
def test_a_recovery_that_can_not_be_does_not_become_a_crawl(tmp_path, settings, message) -> None:
    (tmp_path / "empty").touch()
    result = crawl(tmp_path, COPIES, settings=settings)
    assert result.status == 1
    assert message in result.log
    assert result.items == []
    assert not result.site.hits


def test_a_truncated_journal_gives_its_other_pages_and_is_named(tmp_path) -> None:
    with Site(dict(COPIES)).running() as site:
        crawl(tmp_path, site, PATHS, settings=KEEP)
        (path,) = segments(tmp_path / "journal")
        path.write_bytes(path.read_bytes()[:-50])
        again = recover(tmp_path, site)
    assert len(again.delivered()) == 3
    assert again.count("recover_failed") == 1
    assert f"Not recovered: journal/{path.name}: cut off in the record at byte" in again.log
    assert "3 pages; 1 could not be recovered" in again.log


def articles(feed: Path) -> set[tuple[str, int]]:
    items = map(json.loads, feed.read_text("utf-8").splitlines())
    return {(item["article_id"], item["article_version"]) for item in items} - {(None, None)}


def test_a_recovery_brings_back_every_article_that_a_wrong_threshold_dropped(tmp_path) -> None:
    journal = f"{tmp_path}/journal"
    with running_site(articles=44, seed=1) as site:
        for feed, setting in (
            ("kept", f"SIMHASH_GATE_JOURNAL={journal}"),
            ("recovered", f"SIMHASH_GATE_RECOVER={journal}"),
        ):
            by_distance = ("-s", "SIMHASH_GATE_THRESHOLD=12", "-s", "SIMHASH_GATE_VERIFY=0")
            settings = (*by_distance, "-s", setting)
            demo = start_demo(tmp_path / f"{feed}.jsonl", "-a", f"site={site}", *settings)
            demo.communicate(timeout=300)
            served = truth(site).log
            if feed == "kept":
                log = served
    assert served == log
    expected = {(entry.article, entry.version) for entry in log if entry.article}
    kept, recovered = articles(tmp_path / "kept.jsonl"), articles(tmp_path / "recovered.jsonl")
    assert len(expected - kept) >= 10
    assert kept | recovered == expected
