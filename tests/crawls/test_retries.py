"""A retry passes, though its own page was kept; a request that only carries its meta does not."""

from __future__ import annotations

from tests.crawls.harness import Answer, Site, crawl, page

ONE_AT_A_TIME = {"CONCURRENT_REQUESTS": 1}
IN_ORDER = """
    async def start(self):
        for place, path in enumerate(self.settings["TEST_PATHS"].split()):
            yield self.request(path, priority=-place)
"""


def busy_then_redirected(hits: int) -> Answer:
    if hits == 1:
        return Answer(b"busy", 503)
    return Answer(b"", 302, {"Location": "/kept"})


def test_a_retry_that_is_redirected_to_a_page_that_was_kept_is_a_duplicate(tmp_path) -> None:
    routes = {"/kept": page(1), "/busy": busy_then_redirected}
    with Site(routes).running() as site:
        result = crawl(tmp_path, site, "/kept /busy", spider=IN_ORDER, settings=ONE_AT_A_TIME)
    assert site.hits["/busy"] == 2
    assert result.delivered() == ["/kept"]
    assert result.count("duplicate") == 1


def test_a_request_that_is_repeated_after_a_server_was_busy_is_a_duplicate(tmp_path) -> None:
    """The retry is the downloader's, of a second request, and says nothing of the first."""
    again = (
        IN_ORDER
        + """
        yield self.request("/kept", priority=-9, dont_filter=True)
"""
    )

    def answer(hits: int) -> Answer:
        return Answer(b"busy", 503) if hits == 2 else page(1)

    with Site({"/kept": answer}).running() as site:
        result = crawl(tmp_path, site, "/kept", spider=again, settings=ONE_AT_A_TIME)
    assert site.hits["/kept"] == 3
    assert result.delivered() == ["/kept"]


INHERITS = (
    IN_ORDER
    + """
    def parse(self, response):
        from scrapy.downloadermiddlewares.retry import get_retry_request
        path = response.url.rpartition("/")[2]
        if path == "first" and not response.meta.get("retry_times"):
            yield get_retry_request(response.request, spider=self, reason="incomplete")
            return
        if path == "first":
            yield self.request("/{target}", meta=response.meta, dont_filter=True)
        yield from super().parse(response)
"""
)


def test_a_request_that_inherits_the_meta_of_a_retry_is_none(tmp_path) -> None:
    routes = {"/kept": page(1), "/first": page(2)}
    for target in ("kept", "first"):
        spider = (
            INHERITS.replace("{target}", target).replace(
                'if path == "first":',
                'if path == "first" and not Spider.sent:\n            Spider.sent = 1',
            )
            + "    sent = 0\n"
        )
        with Site(dict(routes)).running() as site:
            result = crawl(tmp_path / target, site, "/kept /first", spider=spider)
        assert site.hits[f"/{target}"] == (3 if target == "first" else 2)
        assert result.delivered() == ["/first", "/kept"]
        assert result.count("unchanged") == 1
        assert result.count("duplicate") == 1
