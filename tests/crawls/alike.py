"""The same crawls with and without another plugin: the gate must do the same in both.

A spider fetches copies of articles. In `trouble`, which each callback awaits, the callback of the
first page fails when its copies have been dropped, where a test asks for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.crawls.harness import Crawl, Route, Site, crawl, page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

ROUTES = {
    "/a": page(1),
    "/copy": page(1, noise=1),
    "/b": page(2),
    "/again": page(2, noise=7),
    "/c": page(3),
    "/gone": page(4),
}
COPIES = {f"/{n}": page(1, noise=n) for n in range(5)}
COUNTED = (
    *("fetched", "skipped", "checked", "passed", "dropped", "new", "near", "duplicate", "error"),
    *("unchanged", "items_held", "forgotten", "rescheduled", "store_failed"),
    *("audit/audited", "audit/compared", "audit/wrong", "audit/not_comparable"),
    *("journaled", "recovered", "recovered_incomplete", "recover_failed", "not_fetched"),
)
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
    """Return what the gate counted, without what depends on sizes and times."""
    return {name: result.count(name) for name in COUNTED if result.count(name)}


def articles(result: Crawl) -> list[str]:
    """Return the Markdown of the items, in order."""
    return sorted(item["markdown"] for item in result.items if "markdown" in item)


_without: dict[tuple, Crawl] = {}
"""The crawls without a plugin, by what was crawled and how: they are the same for all."""


@dataclass
class Beside:
    """Crawls with a plugin: its settings, a spider that uses it, and how it sees the pages."""

    spider: str
    settings: Mapping[str, object]
    serve: Callable[[Mapping[str, Route]], Mapping[str, Route]] = dict

    def both(self, folder: Path, routes: Mapping[str, Route], **settings) -> tuple[Crawl, Crawl]:
        """Crawl the same pages without the plugin, and with it."""
        settings = {"CONCURRENT_REQUESTS": 1, **settings}
        paths = " ".join(routes)
        key = (paths, *sorted(settings.items()))
        if key not in _without:
            with Site(routes).running() as site:
                _without[key] = crawl(
                    folder / "without", site, paths, spider=TROUBLE + PLAIN, settings=settings
                )
        with Site(self.serve(routes)).running() as site:
            result = self.crawl(folder / "beside", site, paths, **settings)
        return _without[key], result

    def crawl(self, folder: Path, site: Site, paths: str, **settings) -> Crawl:
        """Crawl with the plugin."""
        settings = {**self.settings, **settings}
        return crawl(folder, site, paths, spider=TROUBLE + self.spider, settings=settings)


def drops_alike(beside: Beside, folder: Path) -> Crawl:
    """Check that the gate drops the same copies; return the crawl with the plugin."""
    without, result = beside.both(folder, ROUTES)
    assert result.delivered() == without.delivered() == ["/a", "/b", "/c", "/gone"]
    assert counts(result) == counts(without)
    assert counts(result)["dropped"] == 2
    assert articles(result) == articles(without)
    assert all(articles(result))
    return result


def audits_alike(beside: Beside, folder: Path) -> Crawl:
    """Check that an audit compares the same items, and holds them back."""
    without, result = beside.both(folder, ROUTES, SIMHASH_GATE_AUDIT=1)
    assert result.delivered() == without.delivered() == ["/a", "/b", "/c", "/gone"]
    assert counts(result) == counts(without)
    assert counts(result)["audit/compared"] == counts(result)["items_held"] == 2
    assert counts(result)["audit/wrong"] == 2
    return result


def fetches_again_alike(beside: Beside, folder: Path) -> Crawl:
    """Check that the copies of a page whose callback failed are fetched again, and one passes."""
    settings = {"CONCURRENT_REQUESTS": 8, "TEST_FAILS_AFTER": 4}
    without, result = beside.both(folder, COPIES, **settings)
    assert len(result.delivered()) == len(without.delivered()) == 1
    assert counts(result) == counts(without)
    assert counts(result)["forgotten"] == 1
    assert counts(result)["rescheduled"] >= 1
    return result


def recovers_alike(beside: Beside, folder: Path) -> Crawl:
    """Check that what was dropped comes back from the journal, and that nothing is fetched."""
    with Site(beside.serve(COPIES)).running() as site:
        paths = " ".join(COPIES)
        kept = beside.crawl(folder, site, paths, SIMHASH_GATE_JOURNAL="journal")
        hits = site.hits.copy()
        again = beside.crawl(folder, site, "/never", SIMHASH_GATE_RECOVER="journal")
        assert site.hits == hits
    assert kept.count("journaled") == again.count("recovered") == 4
    assert again.count("recover_failed") == 0
    assert len(kept.delivered()) == 1
    assert sorted([*kept.delivered(), *again.delivered()]) == sorted(COPIES)
    assert all(articles(again))
    return again
