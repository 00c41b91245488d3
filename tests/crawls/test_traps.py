"""Real crawls of sites with traps: what is held back, what is said of it, what is left alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.crawls.harness import Answer, Site, crawl, html_answer, page

if TYPE_CHECKING:
    from pathlib import Path

SPIDER = """
class Follows(Base):
    name = "follows"
    def parse(self, response):
        yield {"path": response.url[len(self.settings["TEST_SITE"]):]}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse, errback=self.failed)
    def failed(self, failure):
        yield {"path": failure.request.url[len(self.settings["TEST_SITE"]):],
               "failure": type(failure.value).__name__, "why": getattr(failure.value, "why", "")}
"""


class Routes(dict):
    """Twenty articles, and an order of the list for any number."""

    def get(self, path, default=None):
        if path == "/":
            return html_answer(_links(["/list?sort=0", *(f"/story/{n}" for n in range(20))]))
        if path.startswith("/story/"):
            return page(int(path.rpartition("/")[2]))
        if path.startswith("/list?sort="):
            number = int(path.rpartition("=")[2])
            more = _links([f"/list?sort={number * 3 + each}" for each in (1, 2, 3)])
            return html_answer(
                f"<title>All</title><p>The same list as ever, in an order.</p>{more}"
            )
        return default or Answer(b"not here", 404)


def _links(paths) -> str:
    return "".join(f'<p><a href="{path}">{path}</a></p>' for path in paths)


@pytest.mark.parametrize("mode", ["limit", "observe", "off"])
def test_what_leads_into_a_trap_is_held_back_or_told_of(tmp_path: Path, mode: str) -> None:
    log = tmp_path / "verdicts.jsonl"
    settings = {
        "SIMHASH_GATE_TRAPS": mode,
        "SIMHASH_GATE_ACTION": "tag",
        "SIMHASH_GATE_VERDICTS": str(log),
        "CLOSESPIDER_PAGECOUNT": "250",
    }
    with Site(Routes({})).running() as site:
        done = crawl(tmp_path, site, "/", spider=SPIDER, settings=settings)
        hits = {path for path in site.hits if path.startswith("/list")}
    assert {f"/story/{number}" for number in range(20)} <= set(done.delivered())
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    held = [line for line in lines if line.get("not_sent") == "trap"]
    failed = [item for item in done.items if item.get("failure") == "HeldBack"]
    if mode == "limit":
        assert len(hits) <= 100
        assert done.count("trap/limited") >= 1
        assert done.count("trap/held") == len(held) == len(failed) > 0
        assert {line["url"] for line in held}.isdisjoint(site.url + path for path in hits)
        assert {item["why"] for item in failed} == {"barren"}
        assert "Not fetched http://" in done.log
        assert f"Trap shield: {len(held)} requests held back" in done.log
    else:
        assert len(hits) > 200
        assert held == failed == []
        assert done.count("trap/would_hold") == (0 if mode == "off" else pytest.approx(160, abs=50))
        assert ("would have been held back" in done.log) == (mode == "observe")


def test_a_request_that_asks_for_it_is_left_alone(tmp_path: Path) -> None:
    spider = SPIDER.replace("errback=self.failed)", "errback=self.failed, meta=self.asked(link))")
    spider += """
    def asked(self, link):
        return {"simhash_gate": False} if link.endswith("7") else {}
"""
    settings = {"SIMHASH_GATE_TRAPS": "limit", "CLOSESPIDER_PAGECOUNT": "150"}
    with Site(Routes({})).running() as site:
        done = crawl(tmp_path, site, "/", spider=spider, settings=settings)
    held = {item["path"] for item in done.items if item.get("failure") == "HeldBack"}
    assert len(held) > 10
    assert not any(path.endswith("7") for path in held)


def test_a_shape_that_yields_again_gets_back_what_was_held(tmp_path: Path) -> None:
    class Tags(Routes):
        def get(self, path, default=None):
            if path == "/":
                return html_answer(_links([f"/tag?t={number}" for number in range(100)]))
            number = int(path.rpartition("=")[2])
            return page(number if number > 58 else 0)

    settings = {
        "SIMHASH_GATE_TRAPS": "limit",
        "CONCURRENT_REQUESTS": "1",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    with Site(Tags({})).running() as site:
        done = crawl(tmp_path, site, "/", spider=SPIDER, settings=settings)
    assert done.count("trap/recovered") >= 1
    assert done.count("trap/resent") >= 1
    fetched = {int(item["path"].rpartition("=")[2]) for item in done.items if "t=" in item["path"]}
    assert set(range(59, 100)) <= fetched
