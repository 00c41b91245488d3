"""Crawls that keep the Markdown of pages: what a dropped page's verdict knows of the kept one."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from simhash_gate.history.texts import KeptPage
from simhash_gate.history.versions import History
from simhash_gate.stores import open_store
from tests.crawls.harness import Site, crawl, page

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


def test_verdicts_and_the_journal_know_the_text_of_the_kept_page_and_the_store_that_of_each_version(
    tmp_path,
) -> None:
    url = f"sqlite:///{tmp_path}/pages.sqlite"
    settings = {**KEEP, "SIMHASH_GATE_STORE": url, "CONCURRENT_REQUESTS": 1}
    original = page(1, links='<a href="/more">More</a>')
    corrected = replace(original, body=original.body.replace(b"</p>", b" Lately.</p>", 1))
    routes = {"/a": original, "/b": page(1, noise=7)}
    with Site(routes).running() as site:
        journal = {**settings, "SIMHASH_GATE_JOURNAL": "dropped"}
        first = crawl(tmp_path, site, "/a /b", spider=TELLS, settings=journal)
        recover = {"SIMHASH_GATE_RECOVER": "dropped"}
        again = crawl(tmp_path, site, "", spider=TELLS, settings=recover)
        routes["/a"] = corrected
        for _ in range(2):
            updated = crawl(tmp_path, site, "/a", settings=settings).count("updated")
    kept, dropped = first.items
    assert dropped["url"] == f"{site.url}/a"
    assert dropped["markdown"] == kept["markdown"]
    assert len(dropped["markdown"]) > 1_000
    assert [f"{site.url}/", "Home"] in dropped["links"]
    assert [f"{site.url}/more", "More"] in dropped["links"]
    assert first.count("texts/kept") == 1
    assert [item["matched"] for item in again.items] == [kept["markdown"]]
    with closing(open_store(url)) as store:
        (history,) = store.histories()
        versions = History.decode(history.history).versions
        texts = [
            KeptPage(store.text(history.scope, version.digest)).markdown for version in versions
        ]
    assert updated == 0  # by then the correction is known
    assert ["Lately." in text for text in texts] == [False, True]
