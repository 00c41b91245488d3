"""Items of unchanged pages: they are held back if they say what they said, field by field."""

import re
import subprocess
from collections.abc import Callable

import pytest

from tests.crawls.harness import Answer, Crawl, Site, crawl, page
from tests.offline.command import COMMAND

SPIDER = """
import time

from simhash_gate import verdict_of

class Spider(Base):
    name = "test"
    part, clock = "prices", ""
    def parse(self, response):
        picture = response.css("h1").attrib["data-large"]
        item = {"url": response.url, "part": self.part, "picture": picture, "none": None}
        item["canonical"] = verdict_of(response).canonical_url
        yield item | ({"at": {"time": time.time_ns()}} if self.clock else {})
"""
WARNED = r"WARNING: Items of unchanged pages were held back.*? last visit: (.*?)\. That is right"
CAME = r"INFO: Items of (\d) unchanged pages? came, because they say .* visit: (.*?)\."
FEED = "?utm_source=feed"


@pytest.fixture
def pictures() -> dict[str, str]:
    return {f"/{number}": f"/{number}.png" for number in range(6)}


@pytest.fixture
def crawled(tmp_path, pictures: dict[str, str]):
    """Return what crawls with arguments of the spider; the pages show `pictures`."""

    def shown(path: str, number: int) -> Callable[..., Answer]:
        html = page(number).body
        return lambda *_: Answer(
            html.replace(b"<h1", f"<h1 data-large='{pictures[path]}'".encode())
        )

    routes = {path: shown(path, number) for number, path in enumerate(pictures)}
    routes |= {f"{path}{FEED}": answer for path, answer in routes.items()}
    with Site(routes).running() as site:

        def run(given: str = "", query: str = "") -> Crawl:
            paths = " ".join(path + query for path in pictures)
            settings = {"SIMHASH_GATE_STORE": "sqlite:///store.sqlite", "CONCURRENT_REQUESTS": 1}
            settings["SIMHASH_GATE_VERDICTS"] = "verdicts.jsonl"
            result = crawl(tmp_path, site, paths, spider=SPIDER, settings=settings, given=given)
            assert result.status == 0
            return result

        yield run


def test_an_item_comes_if_it_says_something_else_where_others_do_not(
    crawled, pictures, tmp_path
) -> None:
    in_folder = {"cwd": tmp_path, "text": True}
    assert len(crawled().items) == 6
    pictures["/5"] = "/new.png"
    second = crawled()  # five pages before have shown that pictures stay
    assert [item["picture"] for item in second.items] == ["/new.png"]
    assert re.findall(CAME, second.log) == [("1", "picture (1)")]
    whys = [
        subprocess.check_output([*COMMAND, "why", url, "--in", "verdicts.jsonl"], **in_folder)
        for url in (f"{second.site.url}/{number}" for number in (4, 5))
    ]
    assert "its items not delivered" in whys[0]
    assert "its items came: they say something else in picture" in whys[1]
    assert re.search(
        r"Delivered the items of \S+/5: they say something else in picture", second.log
    )
    assert crawled().items == []
    pictures.update(dict.fromkeys(pictures, "/moved.png"))  # all at once: it is known by now
    third = crawled()
    assert len(third.items) == 6
    assert re.findall(WARNED, third.log) == []


def test_fields_that_differ_at_each_visit_are_learned_and_told_once(crawled) -> None:
    assert len(crawled("clock=on").items) == 6
    second = crawled("clock=on")
    assert second.items == []
    assert re.findall(WARNED, second.log) == ["at.time (6)"]
    third = crawled("clock=on")
    assert third.items == []
    assert re.findall(WARNED, third.log) == []


def test_other_arguments_bring_other_items(crawled) -> None:
    assert len(crawled("part=prices").items) == 6
    second = crawled("part=reviews")
    assert second.items == []  # whether that field is another one at each visit is not known
    assert re.findall(WARNED, second.log) == ["part (6)"]
    assert crawled().items == []
    assert re.findall(CAME, crawled("part=stock").log) == [("6", "part (6)")]


def test_another_address_of_a_page_is_no_other_item(crawled, pictures) -> None:
    crawled()
    crawled()
    third = crawled(query=FEED)
    assert third.items == []
    assert third.count("unchanged") == 6


MENDED = """
class Spider(Base):
    name = "test"
    def parse(self, response):
        yield {"url": response.url, "name": response.css("%s::text").get("none")}
"""


def test_a_mended_spider_gets_its_items_also_of_pages_that_have_moved(tmp_path) -> None:
    pages = {f"/{number}": page(number) for number in range(5)}
    moved = {f"/moved{path}": answer for path, answer in pages.items() if path != "/0"}
    routes, both = {**pages, **moved}, "/0 /1 /moved/1 /moved/2 /moved/3 /moved/4"
    settings = {"SIMHASH_GATE_STORE": "sqlite:///store.sqlite"}
    with Site(routes).running() as site:
        results = [
            crawl(tmp_path, site, paths, spider=MENDED % selector, settings=settings)
            for selector, paths in (("h6", " ".join(pages)), ("title", both), ("title", both))
        ]
    given = [[it["name"] for it in result.items if "name" in it] for result in results]
    assert [*map(sorted, given)] == [["none"] * 5, [f"Story {n}" for n in range(5)], []]
    assert "5 pages came again" in results[1].log
