"""Real crawls that audit: duplicates go to the spider, and their items are compared."""

from __future__ import annotations

import json
import re

import pytest

from tests.crawls.harness import Site, crawl, page

PLAIN = {"ADDONS": "{}", "DOWNLOADER_MIDDLEWARES": '{"simhash_gate.SimhashGateMiddleware": 20}'}
ALL = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_AUDIT": 1}

# /copy is a copy of /a, /other has its article and another number of visitors.
ROUTES = {"/a": page(1), "/copy": page(1), "/other": page(1, noise=7), "/b": page(2)}
PATHS = " ".join(ROUTES)
VISITORS = """
    def parse(self, response):
        self.logger.info("parsing %s", response.url)
        for item in super().parse(response):
            yield {**item, "visitors": response.css("footer::text").re_first(r"\\d+")}
"""


def test_items_are_compared_and_held_back(tmp_path) -> None:
    with Site(ROUTES).running() as site:
        (tmp_path / "pairs.jsonl").write_text('{"a": "cut off')
        settings = {**ALL, "SIMHASH_GATE_AUDIT_LOG": "pairs.jsonl"}
        result = crawl(tmp_path, site, PATHS, spider=VISITORS, settings=settings)
    assert result.delivered() == ["/a", "/b"]
    assert result.log.count("parsing") == 4
    assert result.count("dropped") == result.count("items_held") == 2
    assert result.count("fetched") == result.count("passed") + 2 == 4
    found = {key.partition("audit/")[2]: n for key, n in result.stats.items() if "/audit/" in key}
    assert found == {
        "audited": 2,
        "compared": 2,
        "wrong": 1,
        "field/visitors": 1,
        "wrong_low": pytest.approx(0.0945, abs=1e-4),
        "wrong_high": pytest.approx(0.9055, abs=1e-4),
        "audited/127.0.0.1": 2,
        "compared/127.0.0.1": 2,
        "wrong/127.0.0.1": 1,
        "wrong_low/127.0.0.1": pytest.approx(0.0945, abs=1e-4),
        "wrong_high/127.0.0.1": pytest.approx(0.9055, abs=1e-4),
    }
    pairs = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()[1:]]
    assert pairs == [
        {"a": f"{site.url}/a", "b": f"{site.url}{b}", "duplicate": not fields, "distance": 0}
        | {"fields": fields}
        for b, fields in (("/copy", []), ("/other", ["visitors"]))
    ]


def test_the_log_tells_what_was_audited_what_was_wrong_and_how_sure_that_is(tmp_path) -> None:
    with Site(ROUTES).running() as site:
        log = crawl(tmp_path, site, PATHS, spider=VISITORS, settings=ALL).log
    assert re.search(rf"Dropped {site.url}/copy: .*; audited$", log, re.MULTILINE)
    (wrong,) = re.findall(r"WARNING: (Wrong drop\? .*)", log)
    assert wrong.startswith(f"Wrong drop? {site.url}/other says what {site.url}/a does not (")
    assert wrong.endswith("): visitors: '0' → '7'")
    assert "1 of 2 compared duplicates were wrong drops: 50.0% (95 % interval 9.5% to 90.5%)" in log
    assert "These are few pages" in log
    head, row = re.findall(r"^(domain .*|127\.0\.0\.1 .*)$", log, re.MULTILINE)
    assert head.endswith("audited  compared  wrong  % wrong (95 %)")
    assert row.split()[-4:] == ["2", "2", "1", "9.5–90.5"]


def test_audited_items_pass_where_that_is_asked_for(tmp_path) -> None:
    with Site(ROUTES).running() as site:
        settings = {**ALL, "SIMHASH_GATE_AUDIT_ITEMS": "pass"}
        result = crawl(tmp_path, site, PATHS, spider=VISITORS, settings=settings)
    assert result.delivered() == sorted(ROUTES)
    assert result.count("passed") == 4
    assert result.count("dropped") == 0
    assert result.count("audit/wrong") == 1


@pytest.mark.parametrize("action", ["tag", "links"])
def test_duplicates_that_reach_the_spider_anyway_are_compared(tmp_path, action: str) -> None:
    with Site(ROUTES).running() as site:
        settings = {**ALL, "SIMHASH_GATE_ACTION": action}
        result = crawl(tmp_path, site, PATHS, spider=VISITORS, settings=settings)
    assert result.delivered() == (sorted(ROUTES) if action == "tag" else ["/a", "/b"])
    assert result.count("audit/compared") == 2
    assert result.count("dropped") == 0


def test_the_requests_of_an_audited_page_go_on(tmp_path) -> None:
    spider = """
    def parse(self, response):
        yield from super().parse(response)
        for path in response.css("footer a::attr(href)").getall():
            yield self.request(path)
    """
    routes = {"/a": page(1), "/b": page(1, noise=2, links='<a href="/c">c</a>'), "/c": page(3)}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/a /b", spider=spider, settings=ALL)
    assert result.delivered() == ["/a", "/c"]


def test_named_fields_alone_count(tmp_path) -> None:
    with Site(ROUTES).running() as site:
        settings = {**ALL, "SIMHASH_GATE_AUDIT_FIELDS": "markdown, title"}
        result = crawl(tmp_path, site, PATHS, spider=VISITORS, settings=settings)
    assert result.count("audit/compared") == 2
    assert result.count("audit/wrong") == 0


def test_a_domain_and_a_request_have_shares_of_their_own(tmp_path) -> None:
    spider = """
    async def start(self):
        yield self.request("/a")
        yield self.request("/copy", meta={"simhash_gate": {"audit": 1.0}})
        yield self.request("/other", meta={"simhash_gate": {"audit": 0.0}})
    """
    domains = json.dumps({"127.0.0.1": {"audit": 1.0}, "example.com": {"audit": 0.5}})
    with Site(ROUTES).running() as site:
        settings = {"CONCURRENT_REQUESTS": 1, "SIMHASH_GATE_DOMAINS": domains}
        result = crawl(tmp_path, site, "", spider=spider, settings=settings)
    assert result.count("audit/audited") == result.count("audit/compared") == 1
    assert result.delivered() == ["/a"]


def test_an_audit_without_the_spider_middlewares_stops_the_crawl_with_advice(tmp_path) -> None:
    with Site(ROUTES).running() as site:
        result = crawl(tmp_path, site, "/a", settings={**PLAIN, **ALL})
        assert site.hits.total() == 0
    assert result.status != 0
    assert "SIMHASH_GATE_AUDIT needs the spider middlewares" in result.log


COPIES = {f"/{n}": page(1, noise=n) for n in range(5)}

# The kept page fails when its copies have been through.
FAILS = """
    tries = 0
    async def parse(self, response):
        import asyncio
        Spider.tries += 1
        first = Spider.tries == 1
        while first and self.crawler.stats.get_value("simhash_gate/dropped", 0) < 4:
            await asyncio.sleep(0.02)
        if first:
            raise ValueError("broken")
        for item in super().parse(response):
            yield item
"""


def test_nothing_is_lost_when_the_kept_page_of_audited_ones_fails(tmp_path) -> None:
    with Site(dict(COPIES)).running() as site:
        settings = {"SIMHASH_GATE_AUDIT": 1}
        result = crawl(tmp_path, site, " ".join(COPIES), spider=FAILS, settings=settings)
    assert len(result.delivered()) == 1
    assert result.count("forgotten") == result.count("rescheduled") == 1
    assert result.count("audit/not_comparable/kept_page_failed") >= 4
    counted = [result.count(f"audit/{name}") for name in ("compared", "not_comparable")]
    assert sum(counted) == result.count("audit/audited") == result.count("dropped")


@pytest.mark.parametrize(
    ("duplicate", "reason"),
    [
        ("raise ValueError('broken')", "failed"),
        ("yield {'path': '/1'}; raise ValueError('broken')", "failed"),
        ("return", "no_items"),
        ("yield from ({'path': n} for n in range(101))", "too_many_items"),
        ("yield Unreadable()", "unreadable_item"),
    ],
)
def test_what_can_not_be_compared_harms_nothing(tmp_path, duplicate: str, reason: str) -> None:
    spider = f"""
    def parse(self, response):
        if response.meta["simhash_gate_verdict"].audited:
            {duplicate}
        else:
            yield from super().parse(response)
class Unreadable:
    pass
    """
    with Site(dict(COPIES)).running() as site:
        result = crawl(tmp_path, site, "/0 /1", spider=spider, settings=ALL)
    assert result.delivered() == ["/0"]
    assert result.count(f"audit/not_comparable/{reason}") == 1
    assert result.count("audit/compared") == 0
    assert result.count("forgotten") == 0
    assert "none of 1 audited duplicates could be compared" in result.log


def test_pages_that_an_earlier_crawl_kept_have_no_items_to_compare_with(tmp_path) -> None:
    settings = {**ALL, "SIMHASH_GATE_STORE": "sqlite:///store.sqlite"}
    with Site(dict(COPIES)).running() as site:
        crawl(tmp_path, site, "/0", settings=settings)
        result = crawl(tmp_path, site, "/1", spider=VISITORS, settings=settings)
    assert result.delivered() == []
    assert "parsing" not in result.log
    assert result.count("audit/not_comparable/other_crawl") == 1


def test_a_log_of_pairs_that_can_not_be_written_is_named_once(tmp_path) -> None:
    with Site(ROUTES).running() as site:
        (tmp_path / "file").touch()
        settings = {**ALL, "SIMHASH_GATE_AUDIT_LOG": "file/pairs.jsonl"}
        result = crawl(tmp_path, site, PATHS, spider=VISITORS, settings=settings)
    assert (
        result.log.count(
            "SIMHASH_GATE_AUDIT_LOG: audited pairs are not written to file/pairs.jsonl"
        )
        == 1
    )
    assert result.count("audit/compared") == 2


def test_a_log_of_pairs_is_named_by_the_spider_in_a_folder_that_is_made(tmp_path) -> None:
    with Site(ROUTES).running() as site:
        settings = {**ALL, "SIMHASH_GATE_AUDIT_LOG": "pairs/%(name)s.jsonl"}
        crawl(tmp_path, site, PATHS, spider=VISITORS, settings=settings)
    assert len((tmp_path / "pairs" / "test.jsonl").read_text().splitlines()) == 2


THREADS = """
import sys, threading
def told(event, arguments):
    if event == "open" and str(arguments[0]).endswith(("pairs.jsonl", "verdicts.jsonl")):
        thread = threading.current_thread()
        where = "event loop" if thread is threading.main_thread() else thread.name
        sys.stderr.write(f"opened {arguments[0]} by {where}\\n")  # at once: both threads write
sys.addaudithook(told)
"""


def test_logs_are_written_off_the_event_loop(tmp_path) -> None:
    settings = {
        **ALL,
        "SIMHASH_GATE_AUDIT_LOG": "pairs.jsonl",
        "SIMHASH_GATE_VERDICTS": "verdicts.jsonl",
    }
    with Site(ROUTES).running() as site:
        result = crawl(tmp_path, site, PATHS, spider=VISITORS + THREADS, settings=settings)
    assert set(re.findall("opened (.*)", result.log)) == {
        "pairs.jsonl by simhash_gate-audited-pairs",
        "verdicts.jsonl by simhash_gate-verdicts",
    }
    assert len((tmp_path / "pairs.jsonl").read_text().splitlines()) == 2


# Copies of one article, some of them a word or two longer.
NEAR = {f"/{n}": page(1, noise=n, words=300 + n % 3) for n in range(36)}
TELLS = """
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        match = verdict.match
        for item in super().parse(response):
            if "markdown" in item:
                del item["markdown"]
            yield {
                **item, "title": verdict.title, "reason": verdict.reason, "verdict": str(verdict),
                "bits": match.distance if match else None, "of": match.record.url if match else "",
                "gate": {"said": verdict.outcome, "why": [verdict.reason]},
                "gone": verdict.rejected,
                "note": f"{verdict.outcome}: {verdict.reason} ({match and match.distance})",
                "print": f"{verdict.fingerprint:016x}", "words": verdict.page.words,
            }
"""


def test_what_items_have_of_the_verdict_makes_no_drop_wrong(tmp_path) -> None:
    with Site(dict(NEAR)).running() as site:
        settings = {**ALL, "SIMHASH_GATE_THRESHOLD": 8}
        result = crawl(tmp_path, site, " ".join(NEAR), spider=TELLS, settings=settings)
    assert result.count("audit/compared") == 35
    assert result.count("audit/wrong") == 0, re.findall("Wrong drop.*", result.log)
    assert set(re.findall(r"distance (\d+)", result.log)) > {"0"}
    assert re.search("INFO: Audit: 0 of 35 compared duplicates", result.log)


def test_wrong_drops_are_a_warning_with_advice_as_soon_as_they_are_too_many(tmp_path) -> None:
    routes = {f"/{n}": page(1, noise=n if n > 30 else 0) for n in range(36)}
    with Site(routes).running() as site:
        paths = " ".join(routes)
        result = crawl(tmp_path, site, paths, spider=VISITORS, settings=ALL)
    assert result.count("audit/wrong") == 5
    # 3 of 33: 3.1 %; 4 of 34: 4.7 %; 5 of 35: 6.3 %.
    (warning,) = re.findall("WARNING: (Audit of .*)", result.log)
    assert warning == (
        "Audit of 127.0.0.1: 5 of 35 compared duplicates were wrong drops: 14.3% (95 % interval "
        "6.3% to 29.4%). If these pages are no copies, lower its threshold of 3 "
        "(SIMHASH_GATE_DOMAINS), or compare its words (SIMHASH_GATE_VERIFY = 'text'), or drop "
        "nothing of it (SIMHASH_GATE_ACTION = 'tag'). If the fields that differ (visitors 5) are "
        "no content, name those that are in SIMHASH_GATE_AUDIT_FIELDS"
    )
    assert result.log.index(warning) < result.log.index("Closing spider")
    (closing,) = re.findall(r"(\w+: Audit: .*)", result.log)
    assert closing.startswith("WARNING: Audit: 5 of 35 compared duplicates were wrong drops: 14.3%")
