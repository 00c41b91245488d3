"""What requests are for, in real crawls: pages that a callback awaits, a limit of depth, names."""

import pytest

from tests.crawls.harness import PLAIN_TEXT, Answer, Site, crawl, page

IN_ORDER = {"CONCURRENT_REQUESTS": 1}


@pytest.mark.parametrize("judged", ["None", "True"])
def test_what_a_callback_awaits_is_fetched_whatever_stands_for_it(tmp_path, judged: str) -> None:
    spider = f"""
    async def parse(self, response):
        path = "/more?utm_source=" + response.url.rpartition("/")[2]
        more = self.request(path, meta={{"simhash_gate": {judged}}})
        try:
            answer = await self.crawler.engine.download_async(more)
            words = len(answer.text.split())
        except Exception as error:
            words = type(error).__name__
        for item in super().parse(response):
            yield {{**item, "more": words}}
    """
    more = {f"/more?utm_source={n}": page(9, noise=n) for n in range(9)}
    with Site({**{f"/{n}": page(n) for n in range(9)}, **more}).running() as site:
        result = crawl(
            tmp_path, site, "/0 /1 /2 /3 /4 /5 /6 /7 /8", spider=spider, settings=IN_ORDER
        )
        assert site.hits == dict.fromkeys(site.routes, 1)
    assert len(result.delivered()) == 9
    found = [item.get("more") for item in result.items]
    assert found.count("NearDuplicate") == (8 if judged == "True" else 0)
    assert result.count("skipped/inline") == (0 if judged == "True" else 9)


def test_a_page_that_a_callback_awaits_stands_for_none_that_a_callback_gets(tmp_path) -> None:
    spider = """
    async def parse(self, response):
        if response.url.endswith("/a"):
            more = self.request("/awaited", meta={"simhash_gate": True})
            await self.crawler.engine.download_async(more)
            yield self.request("/copy")
        for item in super().parse(response):
            yield item
"""
    routes = {"/a": page(3), "/awaited": page(1), "/copy": page(1, noise=2)}
    assert crawl(tmp_path, routes, "/a", spider=spider).delivered() == ["/a", "/copy"]


def test_a_middleware_that_answers_before_the_gate_hides_no_purpose_of_a_request(tmp_path) -> None:
    spider = """
    class Answers:
        def process_request(self, request):
            body = b"<p>A page that a browser has drawn, of more words than five</p>"
            return scrapy.http.HtmlResponse(request.url, body=body, request=request)
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {Answers: 10}}
    async def start(self):
        for path, part in (("/a", 1), ("/b", 2), ("/copy-of-b", 2)):
            yield self.request(path, cb_kwargs={"part": part})
    def parse(self, response, part):
        yield from super().parse(response)
"""
    result = crawl(tmp_path, {}, spider=spider, settings=IN_ORDER)
    assert result.delivered() == ["/a", "/b"]
    assert result.count("requests_differ") == 1


def test_a_page_that_is_asked_for_again_by_what_it_led_to_passes(tmp_path) -> None:
    """A page gives an item and a token, which has run out when its comments are asked for."""
    spider = """
    def parse(self, response):
        yield from super().parse(response)
        yield self.request("/comments", callback=self.comments, dont_filter=True)
    def comments(self, response):
        if response.text == "run out":
            yield self.request("/a", dont_filter=True)
        else:
            yield {"path": "/comments"}
"""
    routes = {
        "/a": page(1),
        "/comments": lambda hits: Answer(b"nice" if hits > 1 else b"run out", headers=PLAIN_TEXT),
    }
    result = crawl(tmp_path, routes, "/a", spider=spider)
    assert result.delivered() == ["/a", "/a", "/comments"]


@pytest.mark.parametrize("copy", ["/copy", "/deep?utm_source=b"])
def test_a_page_at_the_limit_of_depth_stands_for_no_links_of_a_copy(tmp_path, copy: str) -> None:
    links = '<a href="{}">x</a>'.format
    routes = {
        "/a": page(1, links=links("/deep?utm_source=a")),
        "/deep?utm_source=a": page(2, links=links("/x")),
        copy: page(2, noise=2, links=links("/x")),
        "/x": page(3),
    }
    spider = f"""
    async def start(self):
        yield self.request("/a")
        await Spider.deep.wait()
        yield self.request("{copy}")
    def parse(self, response):
        if "/deep?utm_source=a" in response.url:
            Spider.deep.set()
        yield from super().parse(response)
        for path in response.css("footer a::attr(href)").getall():
            yield self.request(path)
import asyncio
Spider.deep = asyncio.Event()
"""
    result = crawl(tmp_path, routes, spider=spider, settings={**IN_ORDER, "DEPTH_LIMIT": 1})
    assert result.delivered() == ["/a", "/deep?utm_source=a", "/x"]


@pytest.mark.parametrize("ignored", [[], ["place"]])
def test_a_name_that_is_ignored_makes_no_difference(tmp_path, ignored: list[str]) -> None:
    spider = """
    async def start(self):
        for path in "ab":
            yield self.request("/" + path, cb_kwargs={"place": path})
    def parse(self, response, place):
        yield {"path": place}
    """
    settings = {**IN_ORDER, "SIMHASH_GATE_IGNORE": ",".join(ignored)}
    routes = {"/a": page(1), "/b": page(1, noise=2)}
    result = crawl(tmp_path, routes, spider=spider, settings=settings)
    assert result.delivered() == (["a"] if ignored else ["a", "b"])
    assert result.count("requests_differ") == (0 if ignored else 1)
