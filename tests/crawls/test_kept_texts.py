"""Crawls that keep the Markdown of pages: what a dropped page's verdict knows of the kept one."""

from __future__ import annotations

from contextlib import closing

from simhash_gate.history.texts import KeptPage
from simhash_gate.history.versions import History
from simhash_gate.stores import open_store
from tests.crawls.harness import Answer, Site, crawl, page

KEEP = {"SIMHASH_GATE_KEEP_MARKDOWN": 1 << 20}
TELLS = """
    def parse(self, response):
        found = response.meta.get("simhash_gate_recovered")
        for item in super().parse(response):
            yield {**item, "matched": found and found.drop.matched_markdown}
    def failed(self, failure):
        kept = failure.value.verdict.kept
        yield {"path": failure.request.url[len(self.settings["TEST_SITE"]):], "failure": "dropped",
               "url": kept and kept.url, "markdown": kept and kept.markdown,
               "links": kept and [list(link) for link in kept.links]}
"""


def test_a_dropped_page_and_the_journal_know_the_markdown_of_the_page_that_was_kept(
    tmp_path,
) -> None:
    routes = {"/a": page(1, links='<a href="/more">More</a>'), "/b": page(1, noise=7)}
    settings = {**KEEP, "SIMHASH_GATE_JOURNAL": "dropped", "CONCURRENT_REQUESTS": 1}
    recover = {"SIMHASH_GATE_RECOVER": "dropped"}
    with Site(routes).running() as site:
        first = crawl(tmp_path, site, "/a /b", spider=TELLS, settings=settings)
        again = crawl(tmp_path, site, "", spider=TELLS, settings=recover)
    kept, dropped = first.items
    assert dropped["url"] == f"{site.url}/a"
    assert dropped["markdown"] == kept["markdown"]
    assert len(dropped["markdown"]) > 1_000
    assert [f"{site.url}/", "Home"] in dropped["links"]
    assert [f"{site.url}/more", "More"] in dropped["links"]
    assert first.count("texts/kept") == 1
    assert [item["matched"] for item in again.items] == [kept["markdown"]]


def test_each_version_of_a_page_has_its_own_text_in_the_store(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/pages.sqlite"
    settings = {**KEEP, "SIMHASH_GATE_STORE": url}
    corrected = page(1).body.replace(b"</p>", b" Corrected lately.</p>", 1)
    routes = {"/a": page(1)}
    with Site(routes).running() as site:
        crawl(tmp_path / "1", site, "/a", settings=settings)
        routes["/a"] = Answer(corrected, headers=page(1).headers)
        second = crawl(tmp_path / "2", site, "/a", settings=settings)
        assert second.count("updated") == 1
        crawl(tmp_path / "3", site, "/a", settings=settings)
    with closing(open_store(url)) as store:
        (history,) = store.histories()
        before, after = History.decode(history.history).versions
        texts = [
            KeptPage(store.text(history.scope, version.digest)).markdown
            for version in (before, after)
        ]
    assert ["Corrected lately." in text for text in texts] == [False, True]
