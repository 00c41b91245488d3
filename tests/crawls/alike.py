"""Crawls with another plugin: the gate must do what it does without.

A spider fetches copies of articles. In `trouble`, which each callback awaits, the callback of the
first page fails when its copies have been dropped, where a test asks for that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from simhash_gate import read_page
from simhash_gate.journal import segments
from tests.crawls.harness import Crawl, Route, Site, crawl, page

ROUTES = {
    "/a": page(1),
    "/copy": page(1, noise=1),
    "/b": page(2),
    "/again": page(2, noise=7),
    "/c": page(3),
    "/gone": page(4),
}
ORIGINALS = ["/a", "/b", "/c", "/gone"]
COPIES = {f"/{n}": page(1, noise=n) for n in range(5)}
COUNTED = (
    *("fetched", "skipped", "checked", "passed", "dropped", "new", "near", "duplicate", "error"),
    *("unchanged", "items_held", "forgotten", "rescheduled", "store_failed"),
    "journaled",
)
DROPPED = {"fetched": 6, "checked": 6, "passed": 4, "dropped": 2, "new": 4, "duplicate": 2}
FETCHED_AGAIN = {"fetched": 6, "checked": 6, "passed": 2, "dropped": 4, "new": 2, "duplicate": 4}
TROUBLE = """
    tries = 0
    async def trouble(self, response):
        import asyncio
        Spider.tries += 1
        many = self.settings.getint("TEST_FAILS_AFTER")
        if Spider.tries == 1 and many:
            while self.crawler.stats.get_value("simhash_gate/dropped", 0) < many:
                await asyncio.sleep(0.02)
            raise ValueError("broken")
    def item(self, response, verdict, **more):
        return {"path": response.url[len(self.settings["TEST_SITE"]):], "outcome": verdict.outcome,
            "markdown": verdict.markdown,
            "visitors": response.css("footer::text").re_first(r"\\d+"), **more}
"""
PLAIN = """
    async def parse(self, response):
        await self.trouble(response)
        yield self.item(response, response.meta["simhash_gate_verdict"])
"""


def counts(result: Crawl) -> dict[str, int]:
    return {name: result.count(name) for name in COUNTED if result.count(name)}


@dataclass
class Beside:
    """Crawls with a plugin: its settings, a spider that uses it, and how it sees the pages."""

    spider: str
    settings: Mapping[str, object]
    serve: Callable[[Mapping[str, Route]], Mapping[str, Route]] = dict

    def crawl(
        self, folder: Path, site: Site | Mapping[str, Route], paths: str | None = None, **settings
    ) -> Crawl:
        """Crawl a site, or routes as the plugin sees them: see `crawl` of the harness."""
        site = site if isinstance(site, Site) else self.serve(site)
        settings = {"CONCURRENT_REQUESTS": 1, **self.settings, **settings}
        return crawl(folder, site, paths, spider=TROUBLE + self.spider, settings=settings)


def drops(beside: Beside, folder: Path) -> Crawl:
    """Check what is dropped, and that the journal has it as the spider would have got it."""
    result = beside.crawl(folder, ROUTES, SIMHASH_GATE_JOURNAL="journal")
    assert result.delivered() == ORIGINALS
    assert counts(result) == {**DROPPED, "journaled": 2}
    got = {item["path"]: item["markdown"] for item in result.items if "markdown" in item}
    for found in segments.drops(f"{folder}/journal", pytest.fail):
        page = read_page(found.body, url=found.drop.url, encoding=found.drop.encoding)
        got[urlsplit(found.drop.url).path] = page.markdown
    assert got == {path: read_page(ROUTES[path].body, url=path).markdown for path in ROUTES}
    return result


def fetches_again(beside: Beside, folder: Path) -> Crawl:
    """Check that a copy of a page whose callback failed is fetched again, and passes."""
    settings = {"CONCURRENT_REQUESTS": 8, "TEST_FAILS_AFTER": 4}
    result = beside.crawl(folder, COPIES, **settings)
    assert len(result.delivered()) == 1
    again = counts(result)
    assert again.pop("rescheduled") >= 1
    assert again == FETCHED_AGAIN | {"forgotten": 1}
    return result
