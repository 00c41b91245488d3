"""Real crawls that audit: duplicates go to the spider, and their items are compared."""

from __future__ import annotations

import json
import re

import pytest

from simhash_gate.offline.thresholds import read_labels
from tests.crawls.alike import COPIES, PLAIN, TROUBLE
from tests.crawls.harness import Site, crawl, page

FIELDS = "markdown, visitors"
ALL = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_AUDIT": 1, "SIMHASH_GATE_AUDIT_FIELDS": FIELDS}

# /copy is a copy of /a, /other has its article and another number of visitors.
ROUTES = {"/a": page(1), "/copy": page(1), "/other": page(1, noise=7), "/b": page(2)}
VISITORS = """
    def parse(self, response):
        self.logger.info("parsing %s", response.url)
        for item in super().parse(response):
            yield {**item, "visitors": response.css("footer::text").re_first(r"\\d+")}
"""


def test_items_are_compared_and_held_back_and_the_logs_tell_how_sure_a_wrong_drop_is(
    tmp_path,
) -> None:
    settings = {**ALL, "SIMHASH_GATE_VERDICTS": "%(name)s.jsonl"}
    settings["SIMHASH_GATE_REPORT"] = "%(name)s.html"
    with Site(ROUTES).running() as site:
        result = crawl(tmp_path, site, spider=VISITORS, settings=settings)
    log = result.log
    assert result.delivered() == ["/a", "/b"]
    assert log.count("parsing") == 4
    assert result.count("dropped") == result.count("items_held") == 2
    assert result.count("fetched") == result.count("passed") + 2 == 4
    found = {key.partition("audit/")[2]: n for key, n in result.stats.items() if "/audit/" in key}
    counted = {"audited": 2, "compared": 2, "wrong": 1}
    low, high = (found[f"wrong_{bound}"] for bound in ("low", "high"))
    assert (low, high) == pytest.approx((0.0945, 0.9055), abs=1e-4)
    assert found == {**counted, "wrong_low": low, "wrong_high": high}
    lines = [json.loads(line) for line in (tmp_path / "test.jsonl").read_text().splitlines()]
    assert [line for line in lines if "a" in line] == [
        {
            "audit": "pair",
            "a": f"{site.url}/a",
            "b": f"{site.url}{b}",
            "duplicate": not fields,
            "distance": 0,
        }
        | {"fields": fields}
        for b, fields in (("/copy", []), ("/other", ["visitors"]))
    ]
    labels = read_labels(str(tmp_path / "test.jsonl"), lambda *told: pytest.fail(str(told)))
    assert [label.duplicate for label in labels] == [True, False]
    assert re.search(rf"Dropped {site.url}/copy: .*; audited$", log, re.MULTILINE)
    (wrong,) = re.findall(r"WARNING: (Wrong drop\? .*)", log)
    assert wrong.startswith(f"Wrong drop? {site.url}/other says what {site.url}/a does not (")
    assert wrong.endswith("): visitors")
    said = "1 of 2 compared duplicates differed: 50.0% wrong drops (95 % interval 9.5% to 90.5%)."
    assert f"WARNING: Audit: {said} The log names them." in log
    assert said in (tmp_path / "test.html").read_text("utf-8")


EVERY = {"SIMHASH_GATE_AUDIT_FIELDS": ""}
TAG = {"SIMHASH_GATE_ACTION": "tag"}


@pytest.mark.parametrize(
    ("settings", "delivered", "wrong"),
    [
        (TAG, sorted(ROUTES), 1),
        ({"SIMHASH_GATE_ACTION": "links"}, ["/a", "/b"], 1),
        ({**TAG, "SIMHASH_GATE_AUDIT_FIELDS": "markdown, title"}, sorted(ROUTES), 0),
        ({**TAG, **EVERY}, sorted(ROUTES), 2),  # the outcome differs, too
    ],
)
def test_duplicates_that_reach_the_spider_anyway_are_compared_by_all_or_by_named_fields(
    tmp_path, settings, delivered, wrong
) -> None:
    settings = {**ALL, **settings}
    result = crawl(tmp_path, ROUTES, spider=VISITORS, settings=settings)
    assert result.delivered() == delivered
    assert result.count("audit/compared") == 2
    assert result.count("audit/wrong") == wrong
    assert result.count("dropped") == 0
    assert result.count("passed") == len(delivered)
    assert result.count("held") == 4 - len(delivered)


def test_a_domain_and_a_request_have_shares_of_their_own_and_links_of_the_audited_go_on(
    tmp_path,
) -> None:
    spider = """
    async def start(self):
        yield self.request("/a")
        yield self.request("/copy", meta={"simhash_gate": {"audit": 1.0}})
        yield self.request("/other", meta={"simhash_gate": {"audit": 0.0}})
    def parse(self, response):
        yield from super().parse(response)
        for path in response.css("footer a::attr(href)").getall():
            yield self.request(path)
    """
    domains = json.dumps({"127.0.0.1": {"audit": 1.0}, "example.com": {"audit": 0.5}})
    linking = page(1, links='<a href="/b">b</a>')
    settings = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_DOMAINS": domains}
    result = crawl(tmp_path, {**ROUTES, "/copy": linking}, "", spider=spider, settings=settings)
    assert result.count("audit/audited") == result.count("audit/compared") == 1
    assert result.delivered() == ["/a", "/b"]


def test_nothing_is_lost_when_the_kept_page_of_audited_ones_fails(tmp_path) -> None:
    settings = {"SIMHASH_GATE_AUDIT": 1, "TEST_FAILS_AFTER": 4}
    result = crawl(tmp_path, COPIES, spider=TROUBLE + PLAIN, settings=settings)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == result.count("rescheduled") == 1
    assert result.count("audit/not_comparable/kept_page_failed") >= 4
    counted = [result.count(f"audit/{name}") for name in ("compared", "not_comparable")]
    assert sum(counted) == result.count("audit/audited") == result.count("dropped")


def test_what_can_not_be_compared_harms_nothing(tmp_path) -> None:
    spider = """
    def parse(self, response):
        match response.url[-1]:
            case "1":
                raise ValueError("broken")
            case "2":
                yield {"path": "/2"}
                raise ValueError("broken half way")
            case "3":
                return
            case "4":
                yield from ({"path": number} for number in range(101))
            case "5":
                yield Unreadable()
            case _:
                yield from super().parse(response)
class Unreadable:
    pass
    """
    routes = {f"/{n}": page(1, noise=n) for n in range(6)}
    result = crawl(tmp_path, routes, spider=spider, settings=ALL)
    assert result.delivered() == ["/0"]
    reasons = {"failed": 2, "no_items": 1, "too_many_items": 1, "unreadable_item": 1}
    assert {name: result.count(f"audit/not_comparable/{name}") for name in reasons} == reasons
    assert result.count("audit/compared") == result.count("forgotten") == 0
    assert "none of 5 audited duplicates could be compared" in result.log


def test_pages_that_an_earlier_crawl_kept_have_no_items_to_compare_with(tmp_path) -> None:
    settings = {**ALL, "SIMHASH_GATE_STORE": "sqlite:///store.sqlite"}
    with Site(COPIES).running() as site:
        crawl(tmp_path, site, "/0", settings=settings)
        result = crawl(tmp_path, site, "/1", spider=VISITORS, settings=settings)
    assert result.delivered() == []
    assert "parsing" not in result.log
    assert result.count("audit/not_comparable/other_crawl") == 1


def test_one_line_says_what_can_be_known_when_no_wrong_drop_was_found(tmp_path) -> None:
    settings = {**ALL, "SIMHASH_GATE_AUDIT_FIELDS": "markdown"}
    result = crawl(tmp_path, COPIES, spider=VISITORS, settings=settings)
    said = "0 of 4 compared duplicates differed: 0.0% wrong drops (95 % interval 0.0% to 49.0%)."
    assert f"INFO: Audit: {said}" in result.log
    assert "Wrong drop?" not in result.log


BEATING = """
    async def start(self):
        import asyncio
        self.beating = asyncio.ensure_future(self.beat())
        async for request in super().start():
            yield request
    async def beat(self):
        import asyncio, time
        while True:
            began = time.thread_time()  # of the processor: others may keep it busy
            await asyncio.sleep(0.01)
            self.crawler.stats.max_value("longest", time.thread_time() - began)
    def parse(self, response):
        path = response.url[-5:]
        texts = ["a." * 60_000 + "@", f"{path} <b>{response.url}</b> 1 b" * 5_000]
        for number in range(6):
            yield {"path": path, "number": number, "texts": texts}
            yield {"path": path, "text": texts[number % 2] + str(number) + path * 2_000}
"""


def test_long_items_do_not_stop_the_crawl(tmp_path) -> None:
    result = crawl(tmp_path, ROUTES, "/a /copy /b", spider=BEATING, settings=ALL | EVERY)
    assert result.count("audit/compared") == 1
    assert result.stats["longest"] < 1
