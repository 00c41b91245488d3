"""Links that only copies have, in real crawls: what is followed, what waits, what is let go."""

import json
import re
from collections.abc import Callable

import pytest

from simhash_gate.plugin.parked import JOB_FILE
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
    assert {"path": "/c", "failure": "NearDuplicate"} in result.items
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


def test_copies_that_lead_to_copies_alone_are_followed_until_their_credit_is_used(tmp_path) -> None:
    def link(name: object) -> str:
        return f'<a href="/{name}">{name}</a>'

    copies = {f"/{n}": page(1, noise=n + 2, links=link(n + 1)) for n in range(40)}
    with Site({"/a": page(1), **copies}).running() as site:
        result = crawl(tmp_path, site, "/a /0", spider=LINKS_SPIDER, settings=IN_ORDER)
    assert result.count("links/let_go") == 1
    assert "/9" in site.hits
    assert "/25" not in site.hits
    assert result.delivered() == ["/a"]


@pytest.mark.parametrize("paused_after", [None, 20], ids=["at once", "with a pause"])
def test_the_copies_of_one_page_do_not_use_up_the_credit_of_those_of_another(
    tmp_path, paused_after
) -> None:
    """Of six pages copies lead to more copies, and of a list to a story each."""

    def copies(seed: int, name: str, links: Callable[[int], str]) -> dict[str, Answer]:
        return {
            f"/{name}/{n}": page(seed, noise=100 * seed + n, links=n and links(n))
            for n in range(12)
        }

    routes = {"/more": page(1, noise=999)}
    for seed in range(1, 7):
        routes |= copies(seed, f"c{seed}", lambda n, s=seed: f'<a href="/c{s}/{n + 1}">more</a>')
    routes |= copies(7, "list", lambda n: f'<a href="/story/{n}">story</a>')
    stories = {f"/story/{n}": page(100 + n) for n in range(1, 12)}
    first = [path for path in routes if path.endswith("/0")]
    rest = [path for path in routes if not path.endswith(("/0", "/more"))]
    with Site({**routes, **stories}).running() as site:
        paths = " ".join([*first, *rest])
        delivered = set()
        if paused_after:
            settings = {**IN_ORDER, "JOBDIR": "job", "CLOSESPIDER_PAGECOUNT": paused_after}
            first_part = crawl(tmp_path, site, paths, spider=LINKS_SPIDER, settings=settings)
            assert (tmp_path / "job" / JOB_FILE).exists()
            delivered.update(first_part.delivered())
            assert not stories.keys() <= delivered
        settings = {**IN_ORDER, **({"JOBDIR": "job"} if paused_after else {})}
        result = crawl(tmp_path, site, paths, spider=LINKS_SPIDER, settings=settings)
        assert stories.keys() <= site.hits.keys()
        again = [path for path, hits in site.hits.items() if hits > 1]
    assert any(path.startswith("/list/") for path in again)
    assert len(again) < 40
    assert stories.keys() <= delivered.union(result.delivered())


def test_no_link_of_a_copy_is_followed_to_another_domain_or_where_revisits_are_dropped(
    tmp_path,
) -> None:
    link = '<a href="{}">x</a>'.format
    routes = {
        "/a": page(1),
        "/b": page(1, noise=2, links=link("http://other.example/x")),
        "/c": page(1, noise=3, links=link("/x")),
        "/x": page(2),
    }
    settings = {**IN_ORDER, "SIMHASH_GATE_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    with Site(routes).running() as site:
        first = crawl(tmp_path, site, "/a /b", spider=LINKS_SPIDER, settings=settings)
        settings["SIMHASH_GATE_REVISIT"] = "drop"
        second = crawl(tmp_path, site, "/c", spider=LINKS_SPIDER, settings=settings)
        assert "/x" not in site.hits
    assert first.count("dropped") == second.count("dropped") == 1


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
