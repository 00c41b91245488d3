"""Real crawls of sites with traps: what is held back, what is said of it, what is left alone."""

from __future__ import annotations

import json
import random
import shutil
from datetime import date
from typing import TYPE_CHECKING

import pytest

from simhash_gate.plugin.parked import JOB_FILE
from tests.crawls.harness import Answer, Site, crawl, html_answer, page
from tests.identity import sites

if TYPE_CHECKING:
    from pathlib import Path

SPIDER = """
class Follows(Base):
    name = "follows"
    def parse(self, response):
        return self.parse_links(response)
    def parse_links(self, response):
        yield {"path": response.url[len(self.settings["TEST_SITE"]):]}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse_links, errback=self.failed)
    def failed(self, failure):
        yield {"path": failure.request.url[len(self.settings["TEST_SITE"]):],
               "failure": type(failure.value).__name__, "kind": getattr(failure.value, "kind", "")}
        held = self.crawler.stats.get_value("simhash_gate/trap/held")
        if held == self.settings.getint("TEST_PAUSE"):
            raise scrapy.exceptions.CloseSpider("paused")
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
    done = crawl(tmp_path, Routes({}), "/", spider=SPIDER, settings=settings)
    hits = {path for path in done.site.hits if path.startswith("/list")}
    assert {f"/story/{number}" for number in range(20)} <= set(done.delivered())
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    held = [line for line in lines if line.get("not_sent") == "trap"]
    failed = [item for item in done.items if item.get("failure") == "NotSent"]
    if mode == "limit":
        assert len(hits) <= 100
        assert done.count("trap/limited") >= 1
        assert done.count("trap/held") == len(held) == len(failed) > 0
        sent = {line["url"] for line in held} & {done.site.url + path for path in hits}
        assert 5 <= len(sent) == done.count("trap/resent") < len(held) / 4  # the last sample
        assert {item["kind"] for item in failed} == {"trap"}
        assert "Not fetched http://" in done.log
        assert f"Trap shield: {len(held)} requests held back" in done.log
    else:
        assert len(hits) > 200
        assert held == failed == []
        assert done.count("trap/would_hold") == (0 if mode == "off" else pytest.approx(160, abs=50))
        assert ("would have been held back" in done.log) == (mode == "observe")
        assert "is limited" not in done.log
        notes = [line["crawl_note"] for line in lines if "crawl_note" in line]
        assert any("ever more of the same" in it["message"] and it["wrong"] for it in notes) == (
            mode == "observe"
        )
        tagged = sum(line.get("outcome") == "duplicate" for line in lines)
        (trial,) = [it for it in notes if "would have been dropped" in it["message"]]
        assert trial["message"].startswith(f"{tagged} pages of {done.count('checked')} passed")
        assert trial["message"] in done.log


def test_a_request_that_asks_for_it_is_left_alone(tmp_path: Path) -> None:
    spider = SPIDER.replace("errback=self.failed)", "errback=self.failed, meta=self.asked(link))")
    spider += """
    def asked(self, link):
        return {"simhash_gate": False} if link.endswith("7") else {}
"""
    settings = {
        "SIMHASH_GATE_TRAPS": "limit",
        "SIMHASH_GATE_ACTION": "tag",
        "CLOSESPIDER_PAGECOUNT": "150",
    }
    done = crawl(tmp_path, Routes({}), "/", spider=spider, settings=settings)
    held = {item["path"] for item in done.items if item.get("failure") == "NotSent"}
    assert len(held) > 10
    assert not any(path.endswith("7") for path in held)


class Tags(Routes):
    """Two hundred pages of tags, of which only those after the 59th say something of their own.

    Each leads to three of them.
    """

    def get(self, path, default=None):
        if path == "/":
            return html_answer(_links(["/tag?t=0"]))
        if "=" not in path:
            return Answer(b"not here", 404)
        number = int(path.rpartition("=")[2])
        more = [f"/tag?t={each}" for each in range(3 * number + 1, 3 * number + 4) if each < 200]
        return page(number if number > 58 else 0, links=_links(more))


ONE_BY_ONE = {
    "SIMHASH_GATE_TRAPS": "limit",
    "SIMHASH_GATE_ACTION": "tag",
    "CONCURRENT_REQUESTS": "1",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


def test_a_shape_that_yields_again_gets_back_what_was_held(tmp_path: Path) -> None:
    done = crawl(tmp_path, Tags({}), "/", spider=SPIDER, settings=ONE_BY_ONE)
    assert "brings something new again" in done.log
    assert done.count("trap/resent") >= 1
    fetched = {int(item["path"].rpartition("=")[2]) for item in done.items if "t=" in item["path"]}
    assert set(range(59, 200)) <= fetched


class Linked(Routes):
    """Tags that say nothing new, but for one, and stories of which the last leads to that one."""

    def get(self, path, default=None):
        if path == "/":
            return html_answer(_links(["/tag?t=0", "/story/1"]))
        if path.startswith("/story/"):
            number = int(path.rpartition("/")[2])
            return page(
                300 + number,
                links=_links([f"/story/{number + 1}" if number < 60 else "/tag?t=137"]),
            )
        number = int(path.rpartition("=")[2])
        more = [f"/tag?t={each}" for each in range(3 * number + 1, 3 * number + 4) if each < 200]
        return page(number if number == 137 else 0, links=_links(more))


class Tree(dict):
    """Stories of few words that lead to three others each, and never back; 400 of them."""

    def get(self, path, default=None):
        name = path.rpartition("/")[2]
        if not name.isdecimal():
            return default or Answer(b"not here", 404)
        more = range(3 * int(name) + 1, min(400, 3 * int(name) + 4))
        return page(int(name), words=100, links=_links(f"/tree/{each}" for each in more))


@pytest.mark.parametrize("in_order", [True, False])
def test_what_seemed_endless_is_sent_once_its_pages_lead_to_nothing_new(
    tmp_path: Path, in_order: bool
) -> None:
    settings = ONE_BY_ONE if in_order else {"SIMHASH_GATE_TRAPS": "limit"}
    done = crawl(tmp_path, Tree({}), "/tree/0", spider=SPIDER, settings=settings)
    hits = {path for path in done.site.hits if path.startswith("/tree/")}
    assert done.count("trap/held") > 50
    assert "lead to ever more of the same" in done.log
    assert len(hits) == 400


class Maze(dict):
    """Each page leads to three others; after `most` pages all are gone."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.served = 0

    def get(self, path, default=None):
        self.served += path.startswith("/tree/")
        if self.served > self.most:
            return default or Answer(b"gone", 404)
        number = int(path.rpartition("/")[2] or 0)
        more = range(3 * number + 1, 3 * number + 4)
        return page(number, words=100, links=_links(f"/tree/{each}" for each in more))


@pytest.mark.parametrize(("most", "deepest"), [(106, 0), (9_999, 6)])
def test_a_page_that_shows_no_links_is_no_end_of_a_maze(
    tmp_path: Path, most: int, deepest: int
) -> None:
    """It failed, or is as deep as the crawl goes: 1,093 pages of the maze are within six links."""
    settings = {"SIMHASH_GATE_TRAPS": "limit", "DEPTH_LIMIT": deepest}
    done = crawl(tmp_path, Maze(most), "/tree/0", spider=SPIDER, settings=settings)
    assert done.count("trap/held") > 50
    assert done.count("trap/resent") <= 40


def test_what_a_page_elsewhere_links_to_is_sent_after_it_was_held(tmp_path: Path) -> None:
    done = crawl(tmp_path, Linked({}), "/", spider=SPIDER, settings=ONE_BY_ONE)
    assert done.site.hits["/tag?t=137"] == 1
    assert done.site.hits["/tag?t=138"] == 0
    assert "/tag?t=137" in {item["path"] for item in done.items if "failure" not in item}
    assert "/tag?t=137" in {item["path"] for item in done.items if "failure" in item}


@pytest.fixture(scope="module")
def paused(tmp_path_factory):
    """Return a job that was paused when its trap had not yet yielded again, and what it held."""
    folder = tmp_path_factory.mktemp("paused")
    settings = {**ONE_BY_ONE, "JOBDIR": "job", "TEST_PAUSE": "3"}
    with Site(Tags({})).running() as site:
        first = crawl(folder, site, "/", spider=SPIDER, settings=settings)
        held = {item["path"] for item in first.items if item.get("failure") == "NotSent"}
        assert len(held) == first.count("trap/held") >= 2
        assert held.isdisjoint(site.hits)
        yield site, folder / "job", held


def resumed(paused, folder: Path, spider: str = SPIDER, **settings):
    """Crawl the second part of the job, in a copy."""
    site, job, held = paused
    shutil.copytree(job, folder / "job")
    if spider != SPIDER:  # Scrapy itself reads nothing of what another spider has queued
        shutil.rmtree(folder / "job/requests.queue")
    settings = {**ONE_BY_ONE, "JOBDIR": "job", **settings}
    before = site.hits.copy()
    second = crawl(folder, site, "/", spider=spider, settings=settings)
    fetched, site.hits = site.hits - before, before
    return second, held & set(fetched), fetched


def test_what_was_held_before_a_pause_is_sent_after_it(paused, tmp_path: Path) -> None:
    second, sent, fetched = resumed(paused, tmp_path)
    assert sent == paused[2]
    assert {f"/tag?t={number}" for number in range(59, 200)} <= set(fetched)
    assert not (tmp_path / "job" / JOB_FILE).exists()
    held = len(sent) + second.count("trap/held")
    assert f"{held} requests held back; {second.count('trap/resent')} sent again" in second.log


def test_what_is_no_longer_asked_for_after_a_pause_is_sent(paused, tmp_path: Path) -> None:
    for mode in ("off", "observe"):
        _, sent, _ = resumed(paused, tmp_path / mode, SIMHASH_GATE_TRAPS=mode)
        assert sent == paused[2]


def test_what_a_spider_does_not_know_after_a_pause_is_told_of(paused, tmp_path: Path) -> None:
    other = SPIDER.replace("parse_links", "parse_all")
    second, sent, _ = resumed(paused, tmp_path, other)
    assert not sent
    assert second.count("parked/lost") == len(paused[2])
    told = f"{len(paused[2])} requests that waited before the pause are lost"
    assert second.log.count(told) == 1
    assert "Method 'parse_links' not found" in second.log


class Chain(dict):
    """A list of any number of pages, of which each leads to the next one, with a body of its own.

    With `orders`, each also leads to orders of the list, without an end.
    """

    def __init__(self, body, *, size=120, orders=0) -> None:
        super().__init__()
        self.body, self.size, self.orders = body, size, orders

    def get(self, path, default=None):
        if not path.startswith("/list?page="):
            return default or Answer(b"not here", 404)
        place, _, order = path.removeprefix("/list?page=").partition("&sort=")
        number = int(place)
        links = [f"/list?page={number + 1}"] if not order and number + 1 < self.size else []
        links += [f"/list?page={place}&sort={order}{each}" for each in range(self.orders)]
        body = (
            "<p>The list, in an order.</p>" if order else self.body(random.Random(number), number)
        )
        anchors = "".join(
            f'<a href="{link}">{kind}</a>' for link, kind in zip(links, "NOPQRS", strict=False)
        )
        return html_answer(f"<title>List</title><main><h1>List</h1>{body}</main>{anchors}")


def _said(rng, _number) -> str:
    """Sixty words of two thousand, in new combinations."""
    words = [f"w{'abcdefghij'[n % 10]}{sites.word(n)}" for n in rng.choices(range(2_000), k=60)]
    return "".join(f"<p>{' '.join(words[at : at + 12])}</p>" for at in range(0, 60, 12))


def _measured(rng, _number) -> str:
    rows = (f"<td>{rng.choice(['north', 'south'])}<td>{rng.randint(900, 1100)}" for _ in range(14))
    return f"<table>{''.join(f'<tr><td>{n}{row}' for n, row in enumerate(rows))}</table>"


def _shown(_rng, number) -> str:
    return f'<img src="/strip/{number}.png">'


def _month(_rng, number) -> str:
    year, month = divmod(number, 12)
    days = "".join("<tr>" + "".join(f"<td>{n + d}" for d in range(7)) for n in range(1, 28, 7))
    name = f"{date(2000, month + 1, 1):%B} {2020 + year}"
    return (
        f"<h2>{name}</h2><p>No events in {name}, from 9:{number % 60:02}.</p><table>{days}</table>"
    )


def _not_found(_rng, number) -> str:
    return f"<p>Nothing was found on page {number}.</p><p>{number} of {number}</p>"


@pytest.mark.parametrize(
    ("body", "size"), [(_said, 400), (_measured, 120), (_shown, 120)], ids=lambda it: str(it)[:15]
)
def test_an_archive_with_one_link_a_page_is_read_to_its_end(tmp_path: Path, body, size) -> None:
    """In a second crawl, too, in which all pages are unchanged."""
    settings = {"SIMHASH_GATE_TRAPS": "limit", "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/s"}
    with Site(Chain(body, size=size)).running() as site:
        for _ in range(2):
            site.hits.clear()
            done = crawl(tmp_path, site, "/list?page=0", spider=SPIDER, settings=settings)
            assert sum(path.startswith("/list") for path in site.hits) == size
            assert done.count("trap/held") == 0


@pytest.mark.parametrize("body", [_month, _not_found])
def test_a_chain_that_shows_nothing_new_is_limited(tmp_path: Path, body) -> None:
    chain, settings = Chain(body, size=400), {"SIMHASH_GATE_TRAPS": "limit"}
    done = crawl(tmp_path, chain, "/list?page=0", spider=SPIDER, settings=settings)
    assert done.count("trap/limited") == 1
    assert len(done.site.hits) < 100


def test_the_next_page_goes_on_in_a_part_that_is_limited(tmp_path: Path) -> None:
    chain, settings = Chain(_measured, orders=4), {"SIMHASH_GATE_TRAPS": "limit"}
    done = crawl(tmp_path, chain, "/list?page=0", spider=SPIDER, settings=settings)
    fetched = [path for path in done.site.hits if path.startswith("/list")]
    assert sum("sort" not in path for path in fetched) == 120
    assert done.count("trap/held") > 50
    assert len(fetched) < 500


def test_limit_is_not_advised_where_what_it_would_hold_back_is_new(tmp_path: Path) -> None:
    """A tree of generated text that has an end: a trap, as far as could be seen."""
    settings = {**ONE_BY_ONE, "SIMHASH_GATE_TRAPS": "observe"}
    done = crawl(tmp_path, Tree({}), "/tree/0", spider=SPIDER, settings=settings)
    assert done.count("trap/would_hold") == done.count("trap/missed") > 50
    assert "would have been held back" in done.log
    assert "TRAPS = 'limit'" not in done.log
