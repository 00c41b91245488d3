"""Crawls on a store that was filled from an archive: they drop copies alone."""

import json

from simhash_gate.cli import main
from tests.crawls.harness import Answer, Site, crawl, html_answer, page, text
from tests.offline.test_replay_warc import record


def article(name: str, seed: int, head: str = "") -> Answer:
    """Return an article whose text is that of others."""
    return html_answer(
        f"<!doctype html><html><head><title>{name}</title>{head}</head><body><main><article>"
        f"<h1>{name}</h1><p>{text(seed, 200)}.</p></article></main></body></html>"
    )


def product(name: str, number: str, price: str = "12.90") -> Answer:
    """Return a page of a shop whose products have one description."""
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
    data = {"@type": "Product", "name": name, "sku": number, "offers": offer}
    return article(name, 77, f'<script type="application/ld+json">{json.dumps(data)}</script>')


# Each page, what a crawl finds that it is, and which archived page it is.
PAGES = {
    "/a": (page(1), "unchanged", "/a"),
    "/a?print": (page(1, noise=5), "duplicate", "/a"),
    "/b?copy": (page(2, noise=6), "duplicate", "/b"),
    "/b": (page(2), "unchanged", "/b"),
    "/new": (page(3), "new", ""),
    "/boots": (product("Red boots", "R-1"), "unchanged", "/boots"),
    "/boots?copy": (product("Red boots", "R-1"), "duplicate", "/boots"),
    "/boots-of-another-number": (product("Red boots", "R-2"), "near", ""),
    "/boots-of-another-price": (product("Red boots", "R-1", "19.90"), "near", ""),
    "/shoes": (product("Blue shoes", "B-1"), "near", ""),
    "/weather-of-monday": (article("Weather of Monday", 78), "unchanged", "/weather-of-monday"),
    "/weather-of-tuesday": (article("Weather of Tuesday", 78), "near", ""),
}
SITE = {path: answer for path, (answer, _, _) in PAGES.items()}
ARCHIVED = ("/a", "/b", "/boots", "/weather-of-monday")


def test_a_crawl_knows_what_an_archive_has_and_drops_no_other_product(tmp_path) -> None:
    archive, log = tmp_path / "archive.warc", tmp_path / "verdicts.jsonl"
    url = f"sqlite:///{tmp_path}/pages.sqlite"
    settings = {
        "SIMHASH_GATE_STORE": url,
        "SIMHASH_GATE_VERDICTS": str(log),
        "SIMHASH_GATE_REVISIT": "pass",
        "CONCURRENT_REQUESTS": 1,
    }
    with Site(SITE).running() as site:
        archived = (
            record(SITE[path].body, url=site.url + path, WARC_Date="2020-06-01T00:00:00Z")
            for path in ARCHIVED
        )
        archive.write_bytes(b"".join(archived))
        assert main(["store", "import", url, str(archive), "-s", "SIMHASH_GATE_WORKERS=0"]) == 0
        crawled = crawl(tmp_path / "crawl", site, " ".join(SITE), settings=settings)
    assert crawled.status == 0
    found, dropped = {}, set()
    for line in map(json.loads, log.read_text().splitlines()):
        path, outcome = line["url"].removeprefix(site.url), line["outcome"]
        met_before = outcome in ("duplicate", "unchanged")
        found[path] = (outcome, line["matched_url"].removeprefix(site.url) if met_before else "")
        if line["dropped"]:
            dropped.add(path)
    assert found == {path: (outcome, match) for path, (_, outcome, match) in PAGES.items()}
    assert dropped.isdisjoint(crawled.delivered())
    assert dropped | {*crawled.delivered()} == SITE.keys()
