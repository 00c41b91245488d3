"""What was dropped for a page that failed: all of it is judged again, whatever comes this time."""

import random
from itertools import count

from simhash_gate.fingerprints.hamming import hamming_distance
from simhash_gate.pipeline import read_page
from tests.crawls.harness import Answer, Site, crawl, html_answer, page, text

# The first page to reach its callback fails when all others are dropped for it.
FIRST_FAILS = """
    first = True
    async def parse(self, response):
        if Spider.first:
            Spider.first = False
            while self.crawler.stats.get_value("simhash_gate/dropped", 0) < {copies}:
                await asyncio.sleep(0.02)
            {then}
            raise ValueError("broken")
        for item in super().parse(response):
            yield item
import asyncio
"""


def first_fails(copies: int, then: str = "") -> str:
    return FIRST_FAILS.format(copies=copies, then=then or "pass")


def says(crawl, seed: int) -> int:
    """Return how many delivered pages say what the article of a seed does."""
    return sum(text(seed)[:200].split(".")[0] in item.get("markdown", "") for item in crawl.items)


def copies_of_which_the_next_to_be_fetched_differs(number: int) -> dict:
    """Return copies of one article; the first that is fetched again is another article by then."""
    again = count()

    def route(noise: int):
        def answer(hits: int) -> Answer:
            return page(2 if hits > 1 and next(again) == 0 else 1, noise=noise)

        return answer

    return {f"/{n}": route(n) for n in range(number)}


def test_a_copy_that_says_something_else_by_now_does_not_stand_for_the_others(tmp_path) -> None:
    routes = copies_of_which_the_next_to_be_fetched_differs(5)
    result = crawl(tmp_path, routes, spider=first_fails(4))
    assert says(result, 1) == says(result, 2) == 1
    assert result.count("forgotten") == 1


NO_ROOM = """
            queues = self.crawler.engine._slot.scheduler.dqs
            push = queues.push
            def full(request):
                queues.push = push
                raise OSError(28, "No space left on device")
            queues.push = full
"""


def test_a_copy_that_a_full_disk_does_not_take_is_sent_when_the_crawl_is_idle(tmp_path) -> None:
    routes = {f"/{n}": page(1, noise=n) for n in range(2)}
    settings = {"JOBDIR": tmp_path / "job"}
    spider = first_fails(1, NO_ROOM.strip())
    result = crawl(tmp_path, routes, "/0 /1", spider=spider, settings=settings)
    assert says(result, 1) == 1
    assert "can't be sent now" in result.log


def test_copies_farther_from_each_other_than_from_a_failed_page_are_delivered(tmp_path) -> None:
    middle, one, other = between()
    routes = {
        "/middle": html_answer(middle),
        "/one": html_answer(one),
        "/other": html_answer(other),
    }
    spider = """
    async def start(self):
        for place, path in enumerate(("/middle", "/one", "/other")):
            yield self.request(path, priority=-place)
    """
    settings = {"SIMHASH_GATE_THRESHOLD": 6, "SIMHASH_GATE_NEAR": 6, "CONCURRENT_REQUESTS": 1}
    settings["SIMHASH_GATE_VERIFY"] = False
    result = crawl(tmp_path, routes, "", spider=spider + first_fails(2), settings=settings)
    assert result.delivered() == ["/one", "/other"]


def between() -> tuple[str, str, str]:
    """Return a page, and two that are within 6 bits of it and more from each other."""
    words = text(1).split()
    rng = random.Random(1)

    def changed() -> str:
        place = rng.randrange(20, len(words) - 20)
        return html([*words[:place], *text(rng.randrange(10**6), 8).split(), *words[place + 8 :]])

    def fingerprint(page: str) -> int:
        return read_page(page.encode()).fingerprint or 0

    near: list[str] = []
    middle = html(words)
    while True:
        candidate = changed()
        if hamming_distance(fingerprint(candidate), fingerprint(middle)) <= 6:
            for other in near:
                if hamming_distance(fingerprint(candidate), fingerprint(other)) > 6:
                    return middle, candidate, other
            near.append(candidate)


def html(words: list[str]) -> str:
    said = " ".join(words)
    return f"<html><head><title>T</title></head><body><main><p>{said}</p></main></body></html>"


def test_of_many_copies_one_is_delivered_though_only_the_last_can_be_parsed(tmp_path) -> None:
    """Each is fetched again once at most: not all of them after each failure."""
    copies = {f"/{n}": page(1, noise=n) for n in range(21)}
    spider = (
        first_fails(20)
        + """
Waiting = Spider.parse
async def parse(self, response):
    if not Spider.first and int(response.url.rpartition("/")[2]) < 18:
        raise ValueError("can't be parsed")
    async for item in Waiting(self, response):
        yield item
Spider.parse = parse
"""
    )
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
    result = crawl(tmp_path, copies, spider=spider, settings=settings)
    assert len(result.delivered()) == 1
    assert result.delivered()[0] in {"/18", "/19", "/20"}
    assert max(result.site.hits.values()) == 2
    assert 1 < result.count("rescheduled") == result.count("forgotten") <= 18


def test_that_too_many_copies_wait_is_said_and_what_it_costs(tmp_path) -> None:
    little = "\nfrom simhash_gate.plugin import parked\nparked.MOST_BYTES = 12_000\n"
    copies = {f"/{n}": page(1, noise=n) for n in range(6)}
    result = crawl(tmp_path, copies, spider=first_fails(5) + little)
    assert result.log.count("requests wait, most of them for one reason (copy)") == 1
    assert 0 < result.count("parked/let_go/copy") <= 5
    assert f"failed, and {result.count('parked/let_go/copy')} request" in result.log


def test_a_paused_crawl_goes_on_with_what_waits_to_be_fetched_again(tmp_path) -> None:
    routes = copies_of_which_the_next_to_be_fetched_differs(5)
    closing = "asyncio.ensure_future(self.crawler.engine.close_spider_async(reason='paused'))"
    settings = {"JOBDIR": str(tmp_path / "job")}
    with Site(routes).running() as site:
        paths = " ".join(routes)
        spider = first_fails(4, then=f"{closing}; await asyncio.sleep(0.2)")
        paused = crawl(tmp_path, site, paths, spider=spider, settings=settings)
        resumed = crawl(tmp_path, site, paths, settings=settings)
    assert paused.delivered() == []
    assert paused.count("forgotten") == 1
    assert says(resumed, 1) == says(resumed, 2) == 1


SWALLOWS = """
import asyncio
class Swallowing:
    calls = 0
    @classmethod
    def from_crawler(cls, crawler):
        cls.crawler = crawler
        return cls()
    async def process_response(self, request, response):
        Swallowing.calls += 1
        if Swallowing.calls > 1:
            return response
        while self.crawler.stats.get_value("simhash_gate/dropped", 0) < 4:
            await asyncio.sleep(0.02)
        asyncio.ensure_future(self.crawler.engine.close_spider_async(reason="paused"))
        raise scrapy.exceptions.IgnoreRequest("swallowed after the gate")
Spider.custom_settings = {"DOWNLOADER_MIDDLEWARES": {Swallowing: 5}}
"""


def test_a_page_that_was_swallowed_before_a_pause_takes_no_copy_with_it(tmp_path) -> None:
    copies = {f"/{n}": page(1, noise=n) for n in range(5)}
    settings = {"JOBDIR": str(tmp_path / "job")}
    with Site(dict(copies)).running() as site:
        paths = " ".join(copies)
        paused = crawl(tmp_path, site, paths, spider=SWALLOWS, settings=settings)
        resumed = crawl(tmp_path, site, paths, settings=settings)
    assert paused.delivered() == []
    assert len(resumed.delivered()) == 1


WHILE_A_TEXT_IS_LOOKED_UP = """
    first = True
    async def parse(self, response):
        if Spider.first:
            Spider.first = False
            await Spider.looked_up.wait()
            raise ValueError("broken")
        for item in super().parse(response):
            yield item

import asyncio
from simhash_gate.plugin.features.kept_texts import KeptTexts
Spider.looked_up = asyncio.Event()
matched = KeptTexts.matched
async def slowly(self, verdict):
    if verdict.outcome == "duplicate":
        Spider.looked_up.set()
        await asyncio.sleep(0.3)
    return await matched(self, verdict)
KeptTexts.matched = slowly
"""


def test_a_page_that_fails_while_a_text_of_it_is_looked_up_takes_no_copy_with_it(tmp_path) -> None:
    settings = {"SIMHASH_GATE_KEEP_MARKDOWN": 10_000_000, "CONCURRENT_REQUESTS": 8}
    with Site({"/a": page(1), "/b": page(1, noise=2)}).running() as site:
        result = crawl(tmp_path, site, "/a /b", spider=WHILE_A_TEXT_IS_LOOKED_UP, settings=settings)
    assert result.count("forgotten") == 1
    assert len(result.delivered()) == 1


def test_a_copy_that_is_tried_in_vain_is_fetched_once(tmp_path) -> None:
    spider = """
    def parse(self, response):
        yield {"path": response.url, "author": None}
"""
    addresses = [f"/story?view={number}" for number in range(3)]
    with Site(dict.fromkeys(addresses, page(1))).running() as site:
        result = crawl(tmp_path, site, spider=spider, settings={"CONCURRENT_REQUESTS": 1})
        fetched = [site.hits[address] for address in addresses]
    assert len([item for item in result.items if "author" in item]) == 1
    assert set(fetched) == {1}
