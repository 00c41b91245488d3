"""What waits in real crawls: links that only copies have, and copies of pages without an item."""

import json
import re

import pytest

from simhash_gate.plugin.features.waiting_room import CREDIT
from tests.crawls.harness import ROOT, Answer, Site, crawl, page

IN_ORDER = {"CONCURRENT_REQUESTS": 1}
LINKS_SPIDER = """
    def parse(self, response):
        yield from super().parse(response)
        for path in response.css("footer a::attr(href)").getall():
            yield self.request(path)
"""


def placed_by_hand() -> dict[str, str]:
    """Return both spider middlewares as the documentation places them, without the add-on."""
    text = (ROOT / "docs/settings.md").read_text("utf-8")
    blocks = dict(re.findall(r"^(\w+_MIDDLEWARES) = (\{.*?\})$", text, re.MULTILINE | re.DOTALL))
    assert set(blocks) == {"DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES"}
    return {"ADDONS": "{}", **{name: json.dumps(eval(value)) for name, value in blocks.items()}}


def test_what_only_a_copy_leads_to_is_fetched_once_whatever_names_the_visitor(tmp_path) -> None:
    """Copies under a session lead where other pages lead: that costs no request."""

    def links(*names: str, end: str = "") -> str:
        return "".join(f'<a href="/{name}{end}">{name}</a>' for name in names)

    mine, others = [f"m{n}" for n in range(10)], [f"o{n}" for n in range(10)]
    routes = {
        "/a": page(1, links=links(*mine)),
        "/b": page(1, noise=2, links=links(*mine[5:], *others, end="?sid=7&utm_source=b")),
        "/c": page(1, noise=3, links=links(*mine, *others, end="?sid=8")),
        **{f"/{name}": page(10 + n) for n, name in enumerate(mine)},
        **{f"/{name}?sid=7&utm_source=b": page(50 + n) for n, name in enumerate(others)},
    }
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/a /b /c", spider=LINKS_SPIDER, settings=IN_ORDER)
        assert site.hits.keys() == routes.keys()
        assert set(site.hits.values()) == {1}
    assert len(result.delivered()) == 21
    assert "10 links that no page had are followed" in result.log
    assert result.count("room/waited") == 10
    with Site(routes).running() as site:
        settings = {**IN_ORDER, "SIMHASH_GATE_ACTION": "discard"}
        crawl(tmp_path / "discard", site, "/a /b", spider=LINKS_SPIDER, settings=settings)
        assert len(site.hits) == 12


def test_what_a_copy_leads_to_that_fails_is_fetched_from_another_copy(tmp_path) -> None:
    links = '<a href="/x">x</a><a href="/y">y</a>'
    routes = {
        "/a": page(1),
        **{f"/{name}": page(1, noise=n, links=links) for n, name in enumerate("bcd", 2)},
        "/x": page(10),
        "/y": page(11),
    }
    spider = LINKS_SPIDER.replace(
        "        for path in response.css",
        """        if response.url.endswith("/b"):
            raise ValueError("broken")
        for path in response.css""",
    )
    result = crawl(tmp_path, routes, "/a /b /c /d", spider=spider, settings=IN_ORDER)
    assert "broken" in result.log
    assert result.delivered() == ["/a", "/x", "/y"]
    assert [result.site.hits[path] for path in ("/x", "/y")] == [1, 1]


@pytest.mark.parametrize("action", ["drop", "discard"])
def test_an_endless_calendar_of_copies_ends_and_the_log_says_why(tmp_path, action) -> None:
    def month(number: int) -> Answer:
        links = f'<a href="/{number + 1}">next</a> <a href="/{number + 1}?print">print</a>'
        return page(1, noise=number, links=links)

    months = {f"/{n}{end}": month(n) for n in range(200) for end in ("", "?print")}
    settings = {**IN_ORDER, "SIMHASH_GATE_ACTION": action}
    with Site({"/a": page(1), "/story": page(2), **months}).running() as site:
        result = crawl(tmp_path, site, "/a /0 /story", spider=LINKS_SPIDER, settings=settings)
    assert result.delivered() == ["/a", "/story"]
    assert len(site.hits) <= 3 + CREDIT
    if action == "drop":
        assert result.count("room/left") in (1, 2)
        assert "Only copies lead there" in result.log
        assert "SIMHASH_GATE_ACTION = 'links' fetches all of them" in result.log


def test_of_links_of_copies_the_good_ones_come_whatever_order_they_wait_in(tmp_path) -> None:
    """A tenth of 400 links lead to stories, the others to copies."""
    links = "".join(
        f'<a href="/{"story" if n % 10 == 0 else "copy"}/{n}">x</a>' for n in range(400)
    )
    stories = {f"/story/{n}": page(1000 + n) for n in range(0, 400, 10)}
    copies = {f"/copy/{n}": page(1, noise=n) for n in range(400) if n % 10}
    routes = {"/a": page(1), "/b": page(1, noise=999, links=links), **stories, **copies}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/a /b", spider=LINKS_SPIDER, settings=IN_ORDER)
    assert stories.keys() <= {*result.delivered()}
    assert result.count("room/brought") == len(stories)


@pytest.mark.parametrize("ends", ["paused", "closed"])
def test_what_waited_when_a_crawl_ended_comes_in_the_next_one(tmp_path, ends) -> None:
    links = "".join(f'<a href="/story/{n}">x</a>' for n in range(5))
    routes = {"/a": page(1), "/b": page(1, noise=2, links=links), "/c": page(3)}
    routes |= {f"/story/{n}": page(10 + n) for n in range(5)}
    settings = {**IN_ORDER, "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    if ends == "paused":
        settings["JOBDIR"] = str(tmp_path / "job")
    with Site(routes).running() as site:
        early = {**settings, "CLOSESPIDER_PAGECOUNT": 3}
        first = crawl(tmp_path / "1", site, "/a /b /c", spider=LINKS_SPIDER, settings=early)
        assert not any(path.startswith("/story") for path in site.hits)
        assert "closed before it had nothing else to do" in first.log
        second = crawl(tmp_path / "2", site, "/a /b /c", spider=LINKS_SPIDER, settings=settings)
    assert {f"/story/{n}" for n in range(5)} <= {*second.delivered()}


def test_while_start_requests_come_a_trickle_is_let_out(tmp_path) -> None:
    spider = (
        LINKS_SPIDER
        + """
    async def start(self):
        yield self.request("/a")
        yield self.request("/b")
        for number in range(1000):
            if "/story" in self.came:
                return
            yield self.request(f"/{number}")
            await __import__("asyncio").sleep(0.02)
    came = set()
Follows = Spider.parse
def parse(self, response):
    self.came.add(response.url[-6:])
    yield from Follows(self, response)
Spider.parse = parse
"""
    )
    routes = {"/a": page(1), "/b": page(1, noise=2, links='<a href="/story">x</a>')}
    routes |= {"/story": page(2), **{f"/{n}": page(10 + n) for n in range(1000)}}
    result = crawl(tmp_path, routes, "", spider=spider, settings=IN_ORDER)
    assert "/story" in result.delivered()
    assert len(result.delivered()) < 100


def test_no_link_of_a_copy_is_followed_where_revisits_are_dropped(tmp_path) -> None:
    routes = {"/a": page(1), "/c": page(1, noise=3, links='<a href="/x">x</a>'), "/x": page(2)}
    settings = {**IN_ORDER, "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    with Site(routes).running() as site:
        crawl(tmp_path, site, "/a", spider=LINKS_SPIDER, settings=settings)
        settings["SIMHASH_GATE_REVISIT"] = "drop"
        second = crawl(tmp_path, site, "/c", spider=LINKS_SPIDER, settings=settings)
        assert "/x" not in site.hits
    assert second.count("dropped") == 1


@pytest.mark.parametrize("installed", [{}, placed_by_hand()], ids=["add-on", "by hand"])
def test_links_of_a_duplicate_are_followed_and_its_items_held_back(tmp_path, installed) -> None:
    routes = {"/a": page(1), "/b": page(1, noise=2, links='<a href="/c">c</a>'), "/c": page(3)}
    settings = {**IN_ORDER, **installed, "SIMHASH_GATE_ACTION": "links"}
    result = crawl(tmp_path, routes, "/a /b", spider=LINKS_SPIDER, settings=settings)
    assert result.delivered() == ["/a", "/c"]
    assert "Held back the items of" in result.log
    assert result.count("items_held") == 1
    assert result.count("dropped") == result.count("forgotten") == 0


def test_what_a_page_without_an_item_asks_on_purpose_is_sent_whatever_links_there(tmp_path) -> None:
    """Of two exports that are not ready one is a copy; each is asked for until it is."""
    waits = page(1, links='<a href="/0">a</a><a href="/1">b</a>')
    ready = [page(2), page(3)]
    routes = {f"/{n}": lambda hits, n=n: waits if hits < 30 else ready[n] for n in range(2)}
    spider = """
    def parse(self, response):
        if response.css("footer a"):
            yield response.request.replace(dont_filter=True)
        else:
            yield from super().parse(response)
    """
    result = crawl(tmp_path, routes, spider=spider, settings=IN_ORDER)
    assert result.delivered() == ["/0", "/1"]
