"""Crawls on a store that was filled from an archive or a corpus: they drop copies alone."""

from __future__ import annotations

import json

import pytest

from simhash_gate.cli import main
from tests.crawls.harness import Answer, Site, crawl, html_answer, page, text
from tests.offline.test_replay_warc import record
from tests.sources.corpora import FORMS, row, write_corpus


def product(name: str, number: str, price: str = "12.90") -> Answer:
    """Return a page of a shop whose products have one description."""
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": name,
        "sku": number,
        "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR"},
    }
    return html_answer(
        f"<!doctype html><html><head><title>{name} | Shop</title>"
        f'<script type="application/ld+json">{json.dumps(data)}</script></head><body><main>'
        f"<article><h1>{name}</h1><p>{text(77, 120)}.</p></article></main></body></html>"
    )


def story(name: str) -> Answer:
    """Return an article whose text is that of others."""
    return html_answer(
        f"<!doctype html><html><head><title>{name}</title></head><body><main><article>"
        f"<h1>{name}</h1><p>{text(78, 200)}.</p></article></main></body></html>"
    )


SITE = {
    "/a": page(1),
    "/a?print": page(1, noise=5),
    "/b?copy": page(2, noise=6),
    "/b": page(2),
    "/new": page(3),
    "/boots": product("Red boots", "R-1"),
    "/boots?copy": product("Red boots", "R-1"),
    "/boots-of-another-number": product("Red boots", "R-2"),
    "/boots-of-another-price": product("Red boots", "R-1", "19.90"),
    "/shoes": product("Blue shoes", "B-1"),
    "/weather-of-monday": story("Weather of Monday"),
    "/weather-of-tuesday": story("Weather of Tuesday"),
}
ARCHIVED = ("/a", "/b", "/boots", "/weather-of-monday")
CRAWLED = " ".join(SITE)


@pytest.fixture
def crawl_after(tmp_path):
    """Fill a store with the archived pages, as `make` writes them, and crawl; return outcomes.

    They are told by path; those that were met before, with the path of the matched page.
    """

    def run(make) -> dict[str, tuple[str, str]]:
        with Site(dict(SITE)).running() as site:
            pages = [(f"{site.url}{path}", SITE[path].body) for path in ARCHIVED]
            source = str(make(pages))
            assert main(["store", "import", url, source, "-s", "SIMHASH_GATE_WORKERS=0"]) == 0
            log = tmp_path / "verdicts.jsonl"
            crawled = crawl(
                tmp_path / "crawl",
                site,
                CRAWLED,
                settings={"SIMHASH_GATE_STORE": url, "SIMHASH_GATE_VERDICTS": str(log),
                          "SIMHASH_GATE_REVISIT": "pass",
                          "CONCURRENT_REQUESTS": 1},
            )  # fmt: skip
        assert crawled.status == 0
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        dropped = {line["url"].removeprefix(site.url) for line in lines if line["dropped"]}
        assert dropped.isdisjoint(crawled.delivered())
        assert dropped | {*crawled.delivered()} == SITE.keys()
        return {
            line["url"].removeprefix(site.url): (
                line["outcome"],
                (line["matched_url"] or "").removeprefix(site.url)
                if line["outcome"] in ("duplicate", "unchanged")
                else "",
            )
            for line in lines
        }

    return run


def as_warc(folder):
    def make(pages):
        path = folder / "archive.warc"
        dated = {"WARC_Date": "2020-06-01T00:00:00Z"}
        path.write_bytes(b"".join(record(body, url=url, **dated) for url, body in pages))
        return path

    return make


ARTICLES = {
    "/a": ("unchanged", "/a"),
    "/a?print": ("duplicate", "/a"),
    "/b?copy": ("duplicate", "/b"),
    "/b": ("unchanged", "/b"),
    "/new": ("new", ""),
    "/weather-of-monday": ("unchanged", "/weather-of-monday"),
    "/weather-of-tuesday": ("near", ""),
}


def test_a_crawl_knows_what_an_archive_has(crawl_after, lasting_url, tmp_path) -> None:
    assert crawl_after(lasting_url, as_warc(tmp_path)) == ARTICLES | {
        "/boots": ("unchanged", "/boots"),
        "/boots?copy": ("duplicate", "/boots"),
        "/boots-of-another-number": ("near", ""),
        "/boots-of-another-price": ("near", ""),
        "/shoes": ("near", ""),
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_crawl_knows_what_a_corpus_has_and_drops_no_other_product(
    crawl_after, tmp_path, form
) -> None:
    """A corpus does not have the numbers of products: their pages pass once, whatever they are."""

    def make(pages):
        return write_corpus(tmp_path, form, *(row(body, url) for url, body in pages))

    found = crawl_after(f"sqlite:///{tmp_path}/pages.sqlite", make)
    assert found == ARTICLES | {
        "/boots": ("updated", ""),
        "/boots?copy": ("duplicate", "/boots"),
        "/boots-of-another-number": ("near", ""),
        "/boots-of-another-price": ("near", ""),
        "/shoes": ("near", ""),
    }
