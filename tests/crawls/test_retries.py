"""A retry passes, though its own page was kept; a request that only carries its meta does not."""

from __future__ import annotations

from tests.crawls.harness import Answer, Site, crawl, page

IN_ORDER = """
    async def start(self):
        for place, path in enumerate(self.settings["TEST_PATHS"].split()):
            yield self.request(path, priority=-place, dont_filter=True)
"""


def test_a_page_that_the_spider_retries_passes_even_where_revisits_are_dropped(tmp_path) -> None:
    retrying = """
    def parse(self, response):
        from scrapy.downloadermiddlewares.retry import get_retry_request
        yield from super().parse(response)
        if not response.meta.get("retry_times"):
            yield get_retry_request(response.request, spider=self, reason="incomplete")
"""
    with Site({"/a": page(1)}).running() as site:
        settings = {"SIMHASH_GATE_REVISIT": "drop"}
        result = crawl(tmp_path, site, "/a", spider=retrying, settings=settings)
    assert [item.get("outcome") for item in result.items] == ["new", "unchanged"]


def test_after_a_server_was_busy_a_page_that_was_kept_is_a_duplicate(tmp_path) -> None:
    """Where the retry is redirected to it, and where it is the retry of a second request for it."""
    busy = Answer(b"busy", 503)
    routes = {
        "/kept": lambda hits: busy if hits == 3 else page(1),
        "/busy": lambda hits: busy if hits == 1 else Answer(b"", 302, {"Location": "/kept"}),
    }
    with Site(routes).running() as site:
        one_at_a_time = {"CONCURRENT_REQUESTS": 1}
        paths = "/kept /busy /kept"
        result = crawl(tmp_path, site, paths, spider=IN_ORDER, settings=one_at_a_time)
    assert site.hits == {"/kept": 4, "/busy": 2}
    assert result.delivered() == ["/kept"]
    assert result.count("dropped") == result.count("duplicate") == 2


def test_a_request_that_inherits_the_meta_of_a_retry_is_none(tmp_path) -> None:
    inherits = """
    inheriting = ["/kept", "/first"]
    def parse(self, response):
        from scrapy.downloadermiddlewares.retry import get_retry_request
        first = response.url.endswith("/first")
        if first and not response.meta.get("retry_times"):
            yield get_retry_request(response.request, spider=self, reason="incomplete")
            return
        while first and self.inheriting:
            yield self.request(self.inheriting.pop(), meta=response.meta, dont_filter=True)
        yield from super().parse(response)
"""
    with Site({"/kept": page(1), "/first": page(2)}).running() as site:
        result = crawl(tmp_path, site, "/kept /first", spider=IN_ORDER + inherits)
    assert site.hits == {"/kept": 2, "/first": 3}
    assert result.delivered() == ["/first", "/kept"]
    assert result.count("unchanged") == 1
    assert result.count("duplicate") == 2
