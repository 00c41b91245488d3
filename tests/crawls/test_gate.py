"""What the gate does to real crawls."""

import re
from dataclasses import replace

import pytest

from tests.crawls.harness import WITHOUT_ADDON, Answer, Site, crawl, html_answer, page, text

IN_ORDER = {"CONCURRENT_REQUESTS": 1}


def test_a_near_duplicate_is_dropped_the_log_says_why_and_the_stats_add_up(tmp_path) -> None:
    robots = b"User-agent: *\nDisallow: /secret"
    routes = {
        "/robots.txt": Answer(robots, headers={"Content-Type": "text/plain"}),
        "/a": page(1),
        "/b": page(1, noise=2),
        "/c": page(3),
        "/empty": html_answer("<html></html>"),
        "/gone": html_answer("gone", status=410),
        "/image": Answer(b"\x89PNG", headers={"Content-Type": "image/png"}),
        "/picture": html_answer("GIF89a"),
        "/moved": Answer(b"", 301, {"Location": "/c2"}),
        "/c2": page(4),
        "/large": html_answer("<p>word</p>" * 1000),
        "/secret": page(5),
    }
    settings = {**IN_ORDER, "ROBOTSTXT_OBEY": True, "SIMHASH_GATE_MAX_BYTES": 10_000}
    paths = "/a /b /c /empty /gone /image /picture /moved /large /secret"
    result = crawl(tmp_path, routes, paths, settings=settings)
    hits = result.site.hits
    assert result.delivered() == ["/a", "/c", "/c2", "/empty", "/image", "/large", "/picture"]
    assert {"path": "/b", "failure": "NearDuplicate"} in result.items
    (line,) = [line for line in result.log.splitlines() if "Dropped" in line]
    assert f"Dropped {result.site.url}/b: near-duplicate of {result.site.url}/a (distance " in line
    assert "threshold 3; 305 and 305 words)" in line
    assert result.count("bytes_saved") == len(page(1, noise=2).body)
    assert hits["/secret"] == 0
    seen = hits.total() - hits["/moved"]  # redirects end before the gate
    assert result.count("fetched") == seen == 10
    assert result.count("skipped/no_callback") == hits["/robots.txt"] == 1
    for reason, times in {"empty": 1, "status": 1, "not_html": 2, "too_large": 1}.items():
        assert result.count(f"skipped/{reason}") == times, reason
    counted = {"skipped": 6, "checked": 4, "new": 3, "passed": 3, "dropped": 1}
    assert {name: result.count(name) for name in counted} == counted
    assert result.count("duplicate") == 1
    row = next(line for line in result.log.splitlines() if line.startswith("127.0.0.1"))
    assert row.split()[:9] == ["127.0.0.1", "10", "6", "4", "3", "1", "3", "1", "25.0"]


def test_a_page_without_a_length_is_judged_if_its_end_is_there(tmp_path) -> None:
    whole, copy, cut = (replace(page(1, noise=n), length=False) for n in range(3))
    cut.body = cut.body[: -len("</footer></body></html>")]
    cached = replace(copy, body=copy.body + b"\n<!-- cached --> <!-- in 0.1 s -->\n")
    routes = {"/a": whole, "/copy": copy, "/cut": cut, "/cached": cached}
    result = crawl(tmp_path, routes, settings=IN_ORDER)
    assert result.delivered() == ["/a", "/cut"]
    assert result.count("skipped/incomplete") == 1


META_SPIDER = """
    custom_settings = {"SIMHASH_GATE_THRESHOLD": 5}
    async def start(self):
        yield self.request("/a", priority=9)
        yield self.request("/b?off", priority=8, meta={"simhash_gate": False})
        yield self.request("/b?tag", priority=7, meta={"simhash_gate": {"action": "tag"}})
        yield self.request("/b?bad", priority=6, meta={"simhash_gate": {"treshold": 3}})
        yield self.request("/b?odd", priority=5, meta={"simhash_gate": 3})
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        yield {"path": response.url[len(self.settings["TEST_SITE"]):], "outcome": verdict.outcome,
               "threshold": verdict.policy.threshold}
"""


def test_policies_come_from_the_spider_the_domains_and_the_request(tmp_path) -> None:
    copy = page(1, noise=2)
    routes = {"/a": page(1), "/b?off": copy, "/b?tag": copy, "/b?bad": copy, "/b?odd": copy}
    settings = {**IN_ORDER, "SIMHASH_GATE_DOMAINS": '{"127.0.0.1": {"threshold": 7}}'}
    result = crawl(tmp_path, routes, "", spider=META_SPIDER, settings=settings)
    assert {item["path"]: item["outcome"] for item in result.items} == {
        "/a": "new",
        "/b?off": "skipped",
        "/b?tag": "duplicate",
        "/b?bad": "error",
        "/b?odd": "error",
    }
    assert result.items[0]["threshold"] == 7
    assert f"Tagged {result.site.url}/b?tag" in result.log
    assert "unknown key 'treshold'" in result.log
    assert "meta['simhash_gate'] = 3: expected a mapping" in result.log
    assert "Traceback" not in result.log


CARELESS_SPIDER = """
    def parse(self, response):
        yield from super().parse(response)
        if response.url.endswith("/a"):
            yield self.request("/gone", meta=response.meta)
            yield self.request("/refused", meta={**response.meta, "handle_httpstatus_all": True})
    def failed(self, failure):
        yield {"path": "failed", "failure": failure.request.meta["simhash_gate_verdict"].outcome}
"""


@pytest.mark.parametrize("settings", [{}, WITHOUT_ADDON], ids=["add-on", "plain"])
def test_a_copied_meta_carries_no_verdict_along(tmp_path, settings) -> None:
    routes = {"/a": page(1), "/gone": html_answer("gone", status=404), "/refused": page(1)}
    result = crawl(tmp_path, routes, "/a", spider=CARELESS_SPIDER, settings=settings)
    outcomes = sorted(item.get("outcome") or item["failure"] for item in result.items)
    assert outcomes == ["duplicate", "new", "skipped"]


def test_two_copies_in_flight_at_once_cannot_both_pass(tmp_path) -> None:
    routes = {f"/{n}": replace(page(1, noise=n), delay=0.2) for n in range(8)}
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 8, "SIMHASH_GATE_WORKERS": 2}
    result = crawl(tmp_path, routes, settings=settings)
    assert len(result.delivered()) == 1
    assert result.count("dropped") == 7


@pytest.mark.parametrize("sends", ["failure.request.replace(dont_filter=True)", "again(failure)"])
@pytest.mark.parametrize("job", [{}, {"JOBDIR": "job"}], ids=["memory", "disk"])
def test_what_the_errback_of_a_drop_sends_again_passes_once(tmp_path, sends, job) -> None:
    """Each drop is a failure for a spider that was written before: it must not try for ever."""
    spider = f"""
    async def failed(self, failure):
        def again(failure):
            return self.request(failure.request.url[len(self.settings["TEST_SITE"]):] + "&x",
                                errback=self.failed, dont_filter=True)
        yield {sends}
    """
    paths = [f"/{n}{end}" for n in range(3) for end in ("", "?a", "?b")]
    routes = {
        f"{path}{more}": page(int(path[1]), noise=n)
        for n, path in enumerate(paths)
        for more in ("", "&x", "&x&x")
    }
    settings = {"CONCURRENT_REQUESTS": 1, **job}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, " ".join(paths), spider=spider, settings=settings)
        assert sum(site.hits.values()) == 15
    assert len(result.delivered()) == 9
    assert result.count("unpaid") == result.count("dropped") == 6
    assert "Unable to serialize" not in result.log


def test_the_signal_and_the_errback_carry_response_and_verdict(tmp_path) -> None:
    spider = """
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        from simhash_gate.plugin.signals import near_duplicate_dropped
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.seen = []
        crawler.signals.connect(spider.on_drop, near_duplicate_dropped)
        return spider
    def on_drop(self, request, response, verdict, spider):
        assert spider is self and response.request is request
        self.seen.append(verdict)
    def failed(self, failure):
        error = failure.value
        assert error.verdict is self.seen[0] is failure.request.meta["simhash_gate_verdict"]
        yield {"path": error.response.url, "failure": str(error),
               "matched": error.verdict.match.record.url, "markdown": error.verdict.markdown}
    """
    routes = {"/a": page(1), "/b": page(1, noise=2)}
    result = crawl(tmp_path, routes, spider=spider, settings=IN_ORDER)
    (drop,) = [item for item in result.items if "failure" in item]
    assert drop["path"] == f"{result.site.url}/b"
    assert drop["matched"] == f"{result.site.url}/a"
    assert drop["failure"].startswith("distance ")
    assert drop["markdown"] == result.items[0]["markdown"]


COUNTING = """
import os
from simhash_gate.page.extract import SteadyExtractor
class Counting(SteadyExtractor):
    def __call__(self, page):
        with open(os.environ["TEST_READINGS"], "a") as file:
            print(os.getpid(), file=file)
        return super().__call__(page)
"""


def test_a_body_that_comes_again_is_judged_as_before_and_not_read(tmp_path, monkeypatch) -> None:
    (tmp_path / "counting.py").write_text(COUNTING)
    monkeypatch.setenv("TEST_READINGS", str(tmp_path / "readings"))
    same = html_answer(f"<main><h1>Story</h1><p>{text(1)}</p><p><a href='x'>Next</a></p></main>")
    routes = {"/a": same, "/a?session=1": same, "/b": same, "/c": page(3)}
    workers = {"SIMHASH_GATE_EXTRACTOR": "counting.Counting", "SIMHASH_GATE_WORKERS": 1}
    spider = """
    def failed(self, failure):
        url = failure.request.url[len(self.settings["TEST_SITE"]):]
        yield {"path": url, "failure": "", "markdown": failure.value.verdict.markdown}
    """
    result = crawl(tmp_path, routes, spider=spider, settings={**IN_ORDER, **workers})
    assert result.delivered() == ["/a", "/c"]
    links = [re.findall(rf"\({result.site.url}(/.*)\)", item["markdown"]) for item in result.items]
    assert links == [["/x"], ["/x"], ["/x"], []]
    assert result.count("repeated") == 1
    assert (result.count("new"), result.count("duplicate"), result.count("checked")) == (2, 2, 4)
    readers = (tmp_path / "readings").read_text().split()
    assert len(readers) == 3
    assert len(set(readers)) == 1


WHO_RENDERS = """
    def parse(self, response):
        verdict = response.meta["simhash_gate_verdict"]
        made = "markdown" in vars(verdict.page)
        yield {"path": response.url, "made": made, "markdown": verdict.markdown}
"""


@pytest.mark.parametrize("eager", [False, True])
def test_markdown_is_made_when_a_callback_asks_or_by_workers_if_it_is_kept(tmp_path, eager) -> None:
    settings = {"SIMHASH_GATE_WORKERS": 1, "SIMHASH_GATE_KEEP_MARKDOWN": eager * 2**20}
    result = crawl(tmp_path, {"/a": page(1)}, spider=WHO_RENDERS, settings=settings)
    (item,) = result.items
    assert item["made"] is eager
    assert item["markdown"].startswith(f"# {text(1, 5)}\n\n")
    assert text(1).split(". ")[3] in item["markdown"]
