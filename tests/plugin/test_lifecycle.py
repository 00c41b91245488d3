"""The stages of a page after its verdict, and who is told of them."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from scrapy import Request
from scrapy.core import scraper
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simhash_gate.compare.sketch import Sketch
from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import VERDICT_KEY, Verdict
from simhash_gate.gate.visit import Visit
from simhash_gate.identity.keys import key_of
from simhash_gate.page import Page
from simhash_gate.pipeline import read_page
from simhash_gate.plugin.features import site_warnings
from simhash_gate.plugin.features.resend_dropped import Resending
from simhash_gate.plugin.features.site_warnings import AlikePages
from simhash_gate.plugin.followed import Stage
from simhash_gate.plugin.judging import SettledJudge
from simhash_gate.plugin.lifecycle import MIN_RESPONSE_SIZE, Lifecycle
from simhash_gate.plugin.listeners import Crawl, Judged, Listener, Listeners
from simhash_gate.plugin.parked import ParkedRequests
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.settings import read_settings

PAGE = read_page(f"<p>{' '.join(f'word{place}' for place in range(60))}</p>".encode())


class Diary(Listener):
    """Writes down in which stages pages were told of."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self.stages: list[Stage] = []

    def moved(self, page) -> None:
        """Write the stage down."""
        self.stages.append(page.stage)


class Followed:
    """A crawl with a store in memory, whose spider middlewares see pages end."""

    def __init__(self, **settings) -> None:
        self.store = StoreThread("v1")
        self.store.open("memory:", at_once=True)
        crawler = get_crawler(settings_dict=settings)
        crawl = self.crawl = Crawl(crawler, read_settings({}), self.store, ParkedRequests(crawler))
        self.diary = Diary(crawl)
        self.lifecycle = Lifecycle(crawl, Listeners([self.diary]))
        self.lifecycle.sees_end = True

    def page(self, number: int) -> tuple[Request, HtmlResponse]:
        """Return a page that the gate has judged."""
        page = replace(PAGE, fingerprint=random.Random(number).getrandbits(64), digest=number)
        return self.visit(page, f"https://example.com/{number}")

    def visit(self, page: Page, url: str, key: str = "") -> tuple[Request, HtmlResponse]:
        ask = partial(Gate.judge, page=page, visit=Visit(url, "example.com", key or key_of(url)))
        verdict = self.store.submit(ask).result()
        request = Request(url, meta={VERDICT_KEY: verdict})
        response = HtmlResponse(url, request=request)
        self.lifecycle.judged(Judged(request, response, verdict, "example.com"))
        return request, response

    def enters(self, request: Request, *, called: bool = True) -> None:
        """Let a page come before its callback, and into it."""
        self.lifecycle.reached(request)
        self.lifecycle.reached(request, Stage.ENTERING)
        if called:
            self.lifecycle.reached(request, Stage.IN_CALLBACK)

    def goes_through(self, request: Request, response: HtmlResponse, *items: object) -> None:
        """Let a page go through its callback."""
        self.enters(request)
        for item in items:
            assert self.lifecycle.item_out(response, item)
        self.lifecycle.finished(request)
        self.lifecycle.left(request)

    def is_forgotten(self, request: Request) -> bool:
        """Tell whether the page is not in the store any more, and will match nothing."""
        record = request.meta[VERDICT_KEY].record
        gone = self.store.submit(lambda gate: gate.store.current(record)).result() is None
        assert gone == self.lifecycle.was_forgotten(record)
        return gone


@pytest.fixture
def followed(request) -> Iterator[Followed]:
    """A crawl whose store is closed: from Python 3.13 on, SQLite warns of what nobody closes."""
    followed = Followed(**getattr(request, "param", {}))
    yield followed
    followed.store.close(ended=False)


def verdict_on(page: Page, url: str, judge: SettledJudge, **policy) -> Verdict:
    """Return what the judge says of a page, once that is settled."""
    with pytest.raises(StopIteration) as told:
        judge.verdict(page, Visit(url, "example.com", url), Policy(**policy)).send(None)
    return told.value.value


def test_two_addresses_with_one_key_that_say_two_things_end_each_on_its_own(followed) -> None:
    """Their texts have one fingerprint, as those of two offers can."""
    (first, response), (other, failed) = (
        followed.visit(
            replace(PAGE, sketch=Sketch(name, (name,), (("price", "1"),)).encode()),
            f"https://example.com/a?fbclid={name}",
            key_of("https://example.com/a"),
        )
        for name in ("Red", "Blue")
    )
    followed.goes_through(first, response)
    followed.enters(other)
    followed.lifecycle.failed(failed)
    kept = followed.store.submit(lambda gate: [*gate.store.records()]).result()
    assert [record.url for record in kept] == [first.url]


def test_a_page_is_settled_when_its_items_are_done(followed) -> None:
    request, response = followed.page(1)
    followed.goes_through(request, response, {"n": 1}, {"n": 2})
    followed.lifecycle.item_done(response)
    assert followed.diary.stages == [Stage.LEFT]
    followed.lifecycle.item_done(response)
    assert followed.diary.stages == [Stage.LEFT, Stage.SETTLED]
    followed.lifecycle.failed(response)
    assert not followed.is_forgotten(request)


@pytest.mark.parametrize("swallowed_by", ["downloader middleware", "spider middleware"])
def test_a_page_that_another_middleware_swallows_is_missed_when_all_is_idle(
    followed, swallowed_by: str
) -> None:
    request, _ = followed.page(1)
    if swallowed_by == "spider middleware":
        followed.enters(request, called=False)
    followed.lifecycle.idle()
    assert followed.diary.stages == [Stage.FAILED]
    assert followed.is_forgotten(request)


def test_a_page_in_its_callback_is_not_missed(followed) -> None:
    request, response = followed.page(1)
    followed.lifecycle.reached(request)
    followed.lifecycle.idle()
    assert followed.diary.stages == []
    followed.goes_through(request, response)
    assert followed.diary.stages == [Stage.LEFT, Stage.SETTLED]


def test_what_leaves_of_an_earlier_answer_ends_no_page_that_was_fetched_again(followed) -> None:
    request, response = followed.page(1)
    followed.enters(request)
    verdict = request.meta[VERDICT_KEY]
    followed.lifecycle.judged(Judged(request.copy(), response, verdict, "example.com"))
    followed.lifecycle.finished(request)
    followed.lifecycle.left(request)
    assert followed.diary.stages == []
    followed.goes_through(request, response)
    assert followed.diary.stages == [Stage.LEFT, Stage.SETTLED]


NO_ROOM = {"CONCURRENT_REQUESTS": 0, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0}


@pytest.mark.parametrize("followed", [NO_ROOM], indirect=True)
def test_only_so_many_pages_are_followed_as_scrapy_can_work_on(followed) -> None:
    assert scraper.Slot.MIN_RESPONSE_SIZE == MIN_RESPONSE_SIZE
    requests = [followed.page(number)[0] for number in range(3)]
    followed.lifecycle.reached(requests[0])
    for number in range(3, 1002):
        followed.page(number)
    assert followed.diary.stages == [Stage.OUT_OF_SIGHT, Stage.FAILED]
    assert [followed.is_forgotten(request) for request in requests] == [False, True, False]


@pytest.mark.parametrize("page_first", [True, False])
def test_a_copy_that_is_heard_of_before_its_page_is_sent_again_when_that_fails(
    followed, page_first: bool, monkeypatch
) -> None:
    sent: list[Request] = []
    monkeypatch.setattr(followed.crawl.parked, "send", sent.append)
    resending = Resending(followed.crawl)
    lifecycle = Lifecycle(followed.crawl, Listeners([resending]))
    judge = SettledJudge(followed.crawl, lifecycle)

    def judged(url: str) -> Judged:
        verdict = verdict_on(PAGE, url, judge)
        request = Request(url, meta={VERDICT_KEY: verdict})
        return Judged(request, HtmlResponse(url, request=request), verdict, "example.com")

    page, copy = (judged(f"https://example.com/{number}") for number in range(2))
    assert (page.verdict.outcome, copy.verdict.outcome) == ("new", "duplicate")
    for each in (page, copy) if page_first else (copy, page):
        lifecycle.judged(each)
    lifecycle.failed(page.response)
    assert [request.url for request in sent] == [copy.request.url]
    assert not followed.crawl.followed


def test_a_page_that_is_near_one_that_fails_meanwhile_is_no_copy_of_itself(followed) -> None:
    _, response = followed.page(1)
    near = replace(PAGE, fingerprint=random.Random(1).getrandbits(64) ^ 0b11111, digest=2)

    class FailsMeanwhile(Listener):
        """Lets the first page fail while the answer on the second is on its way."""

        async def matched(self, verdict: Verdict) -> Verdict:
            followed.lifecycle.failed(response)
            return verdict

    followed.lifecycle.listeners = Listeners([FailsMeanwhile(followed.crawl)])
    judge = SettledJudge(followed.crawl, followed.lifecycle)
    verdict = verdict_on(near, "https://example.com/near", judge, verify=False)
    assert verdict.outcome == "near"
    assert verdict.record is not None


def test_pages_that_read_alike_are_tallied_within_bounds(followed, monkeypatch) -> None:
    monkeypatch.setattr(site_warnings, "_MOST_CLUSTERS", 3)
    collapses = AlikePages(followed.crawl)
    for number in range(9):
        followed.page(number)
        page = replace(PAGE, fingerprint=random.Random(number).getrandbits(64), digest=number)
        ask = partial(Gate.judge, page=page, url=f"https://example.com/copy/{number}")
        verdict = followed.store.submit(ask).result()
        assert verdict.outcome == "duplicate"
        request = Request(f"https://example.com/copy/{number}")
        response = HtmlResponse(request.url, request=request)
        collapses.judged(Judged(request, response, verdict, "example.com"), None)
    assert len(collapses._clusters) == 3
