"""`simhash-gate replay` over the cache of a real crawl: it judges as the crawl did."""

import gzip
import time
from pathlib import Path

import brotli

from tests.crawls.harness import Answer, Site, crawl, page
from tests.offline.kept_pages import remembered

PATHS = "/a /copy /packed /brotli /b /missing /text /xhtml"


def site() -> Site:
    packed = page(1, noise=3)
    return Site(
        {
            "/a": page(1),
            "/copy": page(1, noise=2),
            "/packed": Answer(
                gzip.compress(packed.body), headers=packed.headers | {"Content-Encoding": "gzip"}
            ),
            "/brotli": Answer(
                brotli.compress(packed.body), headers=packed.headers | {"Content-Encoding": "br"}
            ),
            "/b": page(2),
            "/text": Answer(b"words", headers={"Content-Type": "text/plain"}),
            "/xhtml": Answer(page(1).body, headers={"Content-Type": "application/xhtml+xml"}),
        }
    )


def settings(folder: Path, **more: object) -> dict:
    return {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(folder / "cache"),
        "SIMHASH_GATE_ACTION": "tag",
        "CONCURRENT_REQUESTS": 1,
        "HTTPERROR_ALLOW_ALL": True,
        **more,
    }


def test_a_replay_says_of_each_page_what_the_crawl_said(run, tmp_path) -> None:
    store = f"sqlite:///{tmp_path}/kept.sqlite"
    packed = settings(tmp_path, HTTPCACHE_GZIP=True, SIMHASH_GATE_STORE=store)
    began = time.time()
    with site().running() as running:
        crawled = crawl(tmp_path, running, PATHS, settings=packed)
    said = {item["path"]: item["outcome"] for item in crawled.items}
    assert list(said) == PATHS.split()
    result = run("replay", "cache/test")
    assert result.status == 0
    replayed = [(line["url"].removeprefix(running.url), line["outcome"]) for line in result.lines]
    assert replayed == list(said.items())
    assert {"new", "duplicate", "skipped"} == set(said.values())
    again = run("replay", "cache", "-s", f"SIMHASH_GATE_STORE={store}").column("outcome")
    assert again == ["unchanged" if said == "new" else said for said in said.values()]
    pairs = {(line["a"], line["b"]) for line in run("pairs", "cache/test").lines}
    assert (f"{running.url}/a", f"{running.url}/copy") in pairs
    assert run("store", "import", f"sqlite:///{tmp_path}/other.sqlite", "cache").status == 0
    for kept in remembered(f"sqlite:///{tmp_path}/other.sqlite"):
        assert began <= kept.first_seen <= time.time()


def test_damaged_entries_are_reported_and_no_pickle_is_opened(run, tmp_path) -> None:
    with site().running() as running:
        crawl(tmp_path, running, "/a /b /copy /missing", settings=settings(tmp_path))
    cache = tmp_path / "cache/test"
    for name in ("pickled_meta", "response_data"):
        for pickled in cache.rglob(name):
            pickled.write_bytes(b"cos\n_exit\n(I3\ntR.")  # os._exit(3) when it is loaded
    whole = run("replay", "cache")
    assert whole.status == 0
    first, second, third, _ = whole.column("id")
    (cache / first[:2] / first / "response_body").unlink()
    (cache / second[:2] / second / "meta").write_text("__import__('os').abort()")
    result = run("replay", "cache")
    assert result.status == 1
    assert third in result.column("id")
    assert result.column("outcome") == ["new", "skipped"]
    assert f"{first}: a cache entry without response_body" in result.err
    assert f"{second}/meta: not written by Scrapy's FilesystemCacheStorage" in result.err
    assert "could not be used: 2" in result.err


def test_a_database_cache_is_named_as_what_can_not_be_replayed(run, tmp_path) -> None:
    storage = "scrapy.extensions.httpcache.DbmCacheStorage"
    with site().running() as running:
        crawl(tmp_path, running, "/a", settings=settings(tmp_path, HTTPCACHE_STORAGE=storage))
    result = run("replay", "cache")
    assert (result.status, result.out) == (1, "")
    assert "a DBM cache can't be replayed, only one of FilesystemCacheStorage" in result.err
