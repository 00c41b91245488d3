"""Crawls of sitemaps that say when pages changed, and whether that is believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone

import pytest

from tests.crawls.harness import CLOCK, Answer, Crawl, Site, crawl, html_answer, page

PAGES = [f"/{number}" for number in range(90)]
CHANGED = PAGES[10:16]
DAY = 86_400
START = 1_700_000_000
SETTINGS = {
    "SIMHASH_GATE_STORE": "sqlite:///store.sqlite",
    "SIMHASH_GATE_REVALIDATE": 1e-9,
    "SIMHASH_GATE_REVISIT": "drop",
}
SITEMAPS = """
from simhash_gate import LastmodSitemapSpider
class Sitemaps(LastmodSitemapSpider, Base):
    name = "sitemaps"
    async def start(self):
        yield scrapy.Request(self.settings["TEST_SITE"] + "/sitemap.xml", self._parse_sitemap)
    def sitemap_filter(self, entries):
        for entry in super().sitemap_filter(entries):
            yield entry
    def parse(self, response):
        for item in Base.parse(self, response):
            yield {**item, "lastmod": response.meta.get("simhash_gate_lastmod"),
                   "stored": "simhash_gate_stored" in response.flags}
        if response.url.endswith("/0"):
            yield self.request("/linked", meta=response.meta)
"""


@dataclass
class Calendar:
    """A site with a sitemap, on a day; the sitemap knows when a page changed, or says so."""

    site: Site
    folder: object
    pages: list[str]
    day: int = 0
    lastmods: dict[str, int] = field(default_factory=dict)

    def change(self, *paths: str, said: bool = True) -> None:
        for path in paths:
            self.site.routes[path] = page(10_000 * (self.day + 1) + int(path[1:]))
            if said:
                self.lastmods[path] = START + self.day * DAY - 3_600

    def crawl(self, **settings) -> Crawl:
        entries = "".join(
            f"<url><loc>{self.site.url}{path}</loc>"
            f"<lastmod>{_iso(self.lastmods.get(path, START - 90 * DAY))}</lastmod></url>"
            for path in self.pages
        )
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        xml = f'<?xml version="1.0"?><urlset xmlns="{space}">{entries}</urlset>'
        kind = {"Content-Type": "application/xml"}
        self.site.routes["/sitemap.xml"] = Answer(xml.encode(), headers=kind)
        self.site.hits.clear()
        chosen = {**SETTINGS, "TEST_NOW": START + self.day * DAY, **settings}
        self.day += 1
        return crawl(self.folder, self.site, "", spider=CLOCK + SITEMAPS, settings=chosen)

    @property
    def fetched(self) -> list[str]:
        return sorted(set(self.site.hits) & set(self.pages))


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def calendar(tmp_path):
    routes: dict = {path: page(int(path[1:])) for path in PAGES}
    routes["/linked"] = page(999)
    with Site(routes).running() as site:
        yield Calendar(site, tmp_path, PAGES)


def test_pages_are_left_out_only_once_lastmod_has_proved_right(calendar) -> None:
    calendar.pages = PAGES[:48]
    calendar.site.routes["/7"] = html_answer("<html><body></body></html>")
    first = calendar.crawl()
    assert len(first.delivered()) == len(calendar.pages) + 1
    told = {item["path"]: item["lastmod"] for item in first.items}
    assert told["/1"] == _iso(START - 90 * DAY)
    assert told["/linked"] is None  # what its sitemap says of one page is no word on another
    second = calendar.crawl()
    assert calendar.fetched == sorted(calendar.pages)  # no change was told yet
    assert second.count("lastmod/unchanged") == 0
    calendar.change(*CHANGED)
    third = calendar.crawl()
    assert set(third.delivered()) == {*CHANGED, "/7"}
    calendar.change("/3", "/4")
    fourth = calendar.crawl()
    assert calendar.fetched == ["/3", "/4", "/7"]  # /7 has no article that could be kept
    assert fourth.delivered() == ["/3", "/4", "/7"]
    assert fourth.count("lastmod/unchanged") == len(calendar.pages) - 3
    assert fourth.count("lastmod/wrong") == 0


def test_what_is_left_out_is_probed_and_fetched_again_when_lastmod_proves_wrong(calendar) -> None:
    calendar.crawl()
    calendar.change(*CHANGED)
    calendar.crawl()
    calendar.change(*PAGES, said=False)
    third = calendar.crawl(SIMHASH_GATE_REVALIDATE=0.3)
    assert third.count("lastmod/distrusted") == 1
    assert set(third.delivered()) - {"/linked"} == set(PAGES)
    assert third.log.count("The lastmod values in sitemaps of 127.0.0.1 are wrong") == 1
    fourth = calendar.crawl()
    assert calendar.fetched == sorted(PAGES)
    assert fourth.count("lastmod/unchanged") == 0


def test_callbacks_get_the_pages_that_were_left_out_where_they_are_kept(calendar) -> None:
    keep = {"SIMHASH_GATE_KEEP_MARKDOWN": 1 << 24, "SIMHASH_GATE_REVISIT": "pass"}
    calendar.crawl(**keep)
    calendar.change(*CHANGED)
    calendar.crawl(**keep)
    result = calendar.crawl(**keep)
    assert calendar.fetched == []
    assert {item["path"] for item in result.items if item["stored"]} == set(PAGES)
    assert result.count("unchanged") == len(PAGES) + 1


def test_without_the_setting_lastmod_is_only_noted(calendar) -> None:
    calendar.pages = PAGES[:16]
    for _ in range(2):
        result = calendar.crawl(SIMHASH_GATE_REVALIDATE=False)
        calendar.change(*CHANGED)
    assert calendar.fetched == sorted(calendar.pages)
    assert not any("lastmod" in name for name in result.stats)
