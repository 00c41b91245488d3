"""Which duplicates are audited, in which order their items may come, and what is remembered."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import VERDICT_KEY, Verdict
from simhash_gate.plugin.audit import Audit
from simhash_gate.plugin.lifecycle import Lifecycle
from simhash_gate.plugin.listeners import Crawl, Judged, Listeners, Stage
from simhash_gate.plugin.parked import ParkedRequests
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.settings import read_settings
from simhash_gate.stores.base import Match, Record

RUN = "this run"


def audit_with(**settings) -> Audit:
    known = {f"SIMHASH_GATE_{name}": value for name, value in settings.items()}
    store = StoreThread("v1")
    store.run.name = RUN
    crawler, read = get_crawler(), read_settings({"SIMHASH_GATE_AUDIT": 1, **known})
    return Audit(Crawl(crawler, read, store, ParkedRequests(crawler)))


@pytest.fixture
def audit() -> Audit:
    return audit_with()


def reasons(audit: Audit) -> dict[str, int]:
    """Why pages were not compared."""
    return {name.partition("/")[2]: n for name, n in audit.counts.items() if "/" in name}


def record(number: int) -> Record:
    url = f"https://example.com/{number}"
    return Record("example.com", url, f"{number:x}", number, 0, 9, "", "v1", RUN, 0.0, 0.0)


class Crawled:
    """A page of a crawl, on its way through the audit."""

    def __init__(self, audit: Audit, number: int, *, of: int | None = None, share: float = 1.0):
        self.lifecycle = Lifecycle(audit._crawl, Listeners([audit]))
        self.request = Request(f"https://example.com/{number}")
        self.response = HtmlResponse(self.request.url, request=self.request)
        policy = Policy(audit=share)
        verdict = Verdict("new", "", policy, record=record(number))
        if of is not None:
            verdict = Verdict("duplicate", "", policy, match=Match(record(of), 1))
        verdict = audit.given(verdict, self.request, "example.com")
        self.request.meta[VERDICT_KEY] = verdict
        self.chosen = verdict.audited
        self.lifecycle.judged(Judged(self.request, self.response, verdict, "example.com"))

    def comes_out(self, *items: dict, well: bool = True) -> None:
        self.lifecycle.reached(self.request, Stage.ENTERING)
        self.lifecycle.reached(self.request, Stage.IN_CALLBACK)
        for item in items:
            self.lifecycle.item_out(self.response, item)
        if well:
            self.lifecycle.finished(self.request)
        self.lifecycle.left(self.request)


def test_a_share_of_the_duplicates_is_chosen_and_a_retry_like_the_first_try(audit) -> None:
    def chosen_by(each: Audit) -> list[bool]:
        return [Crawled(each, n, of=0, share=0.1).chosen for n in range(1_000)]

    chosen = chosen_by(audit)
    assert 52 < sum(chosen) < 148  # five standard deviations
    assert chosen_by(audit) == chosen
    assert chosen_by(audit_with()) != chosen  # another crawl chooses others


@pytest.mark.parametrize("first", ["kept", "audited"])
def test_items_are_compared_whichever_page_comes_out_first(audit, first: str) -> None:
    kept = Crawled(audit, 0)
    pages = [Crawled(audit, n, of=0) for n in (1, 2)]
    if first == "kept":
        kept.comes_out({"price": 5})
    pages[0].comes_out({"price": 5})
    pages[1].comes_out({"price": 6})
    if first == "audited":
        assert audit.counts["compared"] == 0
        kept.comes_out({"price": 5})
    asyncio.run(audit.closed())
    assert audit.counts == {"audited": 2, "compared": 2, "wrong": 1}


def test_what_has_not_the_fields_that_count_or_is_not_over_says_nothing_of_a_drop(caplog) -> None:
    audit = audit_with(AUDIT_FIELDS="price,prise")
    Crawled(audit, 0).comes_out({"price": 5})
    Crawled(audit, 4)
    Crawled(audit, 1, of=0).comes_out({"title": "another"})
    Crawled(audit, 2, of=0).comes_out({"price": 5}, {"title": "another"})
    Crawled(audit, 3, of=4).comes_out({"price": 5})  # its kept page never comes out
    Crawled(audit, 5, of=0)
    asyncio.run(audit.closed())
    assert (audit.counts["compared"], audit.counts["wrong"]) == (1, 0)
    assert reasons(audit) == {"no_items": 1, "unfinished": 2}
    (line,) = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert line == "SIMHASH_GATE_AUDIT_FIELDS: no item has a value in prise"


def test_a_kept_page_that_comes_again_starts_anew(audit) -> None:
    Crawled(audit, 0).comes_out({"price": 4}, well=False)
    again = Crawled(audit, 0)
    Crawled(audit, 1, of=0).comes_out({"price": 5})
    again.comes_out({"price": 5})
    asyncio.run(audit.closed())
    assert audit.counts == {"audited": 1, "compared": 1}


def test_the_oldest_items_make_room(audit) -> None:
    audit._kept = Bounded(10_000)
    waiting = Crawled(audit, 1000, of=0)
    Crawled(audit, 0)
    waiting.comes_out({"price": 5})
    for n in range(1, 100):
        Crawled(audit, n).comes_out({"price": n})
    Crawled(audit, 1001, of=1).comes_out({"price": 1})
    Crawled(audit, 1002, of=99).comes_out({"price": 99})
    asyncio.run(audit.closed())
    assert reasons(audit) == {"forgotten": 2}
    assert audit.counts["compared"] == 1
