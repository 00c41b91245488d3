"""Pages that read alike and are others: names, offers, the user's own fields, whole templates."""

import json
import re

import pytest

from tests.crawls.harness import Answer, Site, crawl, html_answer, page, text

IN_ORDER = {"CONCURRENT_REQUESTS": 1}
NOTES, OTHER_NOTES = (
    "".join(f"<p>{part}.</p>" for part in text(seed, 300).split(". ")) for seed in (7, 8)
)


def product(name: str, *, notes: str = NOTES) -> Answer:
    return html_answer(
        f"<!doctype html><html><head><title>{name}</title></head><body><main>"
        f"<h1>{name}</h1>{notes}</main></body></html>"
    )


@pytest.mark.parametrize(
    ("selector", "expected"), [("h1", ["/a"]), (".price@data-is", ["/a", "/b"])]
)
def test_fields_of_the_users_own_tell_pages_apart(tmp_path, selector: str, expected) -> None:
    routes = {
        f"/{place}": product("A drill", notes=f"<b class=price data-is={state}></b>{NOTES}")
        for place, state in (("a", "stock"), ("b", "order"), ("c", "stock"))
    }
    domains = json.dumps({"127.0.0.1": {"compare": [selector]}})
    result = crawl(tmp_path, routes, settings={**IN_ORDER, "SIMHASH_GATE_DOMAINS": domains})
    assert result.delivered() == expected


def test_a_selector_that_matches_nothing_is_reported_once(tmp_path) -> None:
    routes = {f"/{n}": product(f"Drill {n}") for n in range(25)}
    settings = {**IN_ORDER, "SIMHASH_GATE_COMPARE": '["h1", ".gone"]'}
    result = crawl(tmp_path, routes, settings=settings)
    assert result.log.count("'.gone' has matched nothing on 20 pages of 127.0.0.1") == 1
    assert "'h1' has matched nothing" not in result.log


@pytest.mark.parametrize("pauses", [[], [3]])
def test_a_template_that_reads_alike_is_warned_of_and_what_was_dropped_comes_back(
    tmp_path, pauses
) -> None:
    """A list and its second page have one name behind the other: only what comes later tells."""
    rooms = ["Login", "Basket", "Orders", "Returns", "Terms", "Imprint"]
    routes = {
        "/shoes": product("Shoes"),
        "/shoes/2": product("Page two: Shoes"),
        **{f"/{room.lower()}": product(room) for room in rooms},
    }
    with Site(routes).running() as site:
        delivered = []
        for items in (*pauses, 0):
            settings = {**IN_ORDER, "JOBDIR": "job", "CLOSESPIDER_ITEMCOUNT": items}
            result = crawl(tmp_path, site, " ".join(routes), settings=settings)
            delivered += result.delivered()
        assert site.hits["/shoes/2"] == 2
    assert sorted(delivered) == sorted(routes)
    assert result.count("collapses") == 1
    assert result.log.count("Pages of 127.0.0.1 with different names read alike") == 1
    assert "/shoes/2" in result.log


def test_a_block_page_is_dropped_with_a_warning_and_copies_of_one_story_without(tmp_path) -> None:
    blocked = {f"/story-{n}": product("Please confirm that you are human") for n in range(8)}
    copies = {f"/{part}/story": product("A story", notes=OTHER_NOTES) for part in "abcdefg"}
    with Site({**blocked, **copies}).running() as site:
        result = crawl(tmp_path, site, " ".join([*blocked, *copies]), settings=IN_ORDER)
    assert result.delivered() == ["/a/story", "/story-0"]
    assert result.count("collapses") == 1
    (warning,) = re.findall("WARNING: .*at different addresses are duplicates of one.*", result.log)
    assert "/story-" in warning


def test_what_middlewares_add_to_a_request_makes_no_other_visitor_of_its_copies(tmp_path) -> None:
    spider = """
    class Adds:
        def process_request(self, request):
            request.meta["session"] = request.url
            request.headers["X-Session"] = request.url
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {Adds: 500}}
    def parse(self, response):
        yield from super().parse(response)
        if response.url.endswith("/start"):
            for path in ("/a", "/b"):
                yield response.request.replace(url=self.settings["TEST_SITE"] + path)
            yield self.request("/c", headers=response.request.headers)
    """
    routes = {"/start": page(1), "/a": page(2), "/b": page(2), "/c": page(2)}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/start", spider=spider)
    assert result.count("requests_differ") == 0
    assert result.count("duplicate") == 2
