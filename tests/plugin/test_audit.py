"""Which duplicates are audited, in which order their items may come, and what is remembered."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin import audit as module
from simhash_gate.plugin.audit import Audit
from simhash_gate.plugin.lifecycle import Lifecycle
from simhash_gate.plugin.listeners import Closing, Crawl, Judged, Stage
from simhash_gate.plugin.requests import VERDICT_KEY
from simhash_gate.plugin.store_thread import StoreThread
from simhash_gate.settings import read_settings
from simhash_gate.stores.base import Match, Record

RUN = "this run"


def audit_with(**settings) -> Audit:
    known = {f"SIMHASH_GATE_{name}": value for name, value in {"AUDIT": 1, **settings}.items()}
    store = StoreThread("v1")
    store.run.name = RUN
    return Audit(Crawl(get_crawler(), read_settings(known), store))


@pytest.fixture
def audit() -> Audit:
    return audit_with()


def record(number: int) -> Record:
    url = f"https://example.com/{number}"
    return Record("example.com", url, f"{number:x}", number, 0, 9, "", "v1", RUN, 0.0, 0.0)


class Crawled:
    """A page of a crawl, on its way through the audit."""

    def __init__(self, audit: Audit, number: int, *, of: int | None = None, share: float = 1.0):
        self.lifecycle = Lifecycle(audit._crawl, [audit])
        self.request = Request(f"https://example.com/{number}")
        self.response = HtmlResponse(self.request.url, request=self.request)
        policy = Policy(audit=share)
        if of is None:
            verdict = Verdict("new", "", policy, record=record(number))
        else:
            verdict = Verdict("duplicate", "", policy, match=Match(record(of), 1))
        verdict = audit.choose("example.com", f"{number:x}", verdict)
        self.request.meta[VERDICT_KEY] = verdict
        self.chosen = verdict.audited
        self.lifecycle.judged(Judged(self.request, self.response, verdict, "example.com"))

    def comes_out(self, *items: dict, well: bool = True) -> None:
        self.lifecycle.reached(self.request, Stage.ENTERING)
        self.lifecycle.reached(self.request, Stage.IN_CALLBACK)
        for item in items:
            self.lifecycle.item_out(self.response, item)
        if well:
            self.lifecycle.finished(self.request, 0.1)
        self.lifecycle.left(self.request)


def test_a_share_of_the_duplicates_is_chosen_and_a_retry_like_the_first_try(audit) -> None:
    chosen = [Crawled(audit, n, of=0, share=0.1).chosen for n in range(4000)]
    assert 300 < sum(chosen) < 500  # five standard deviations
    assert [Crawled(audit, n, of=0, share=0.1).chosen for n in range(4000)] == chosen


def test_another_crawl_chooses_others(audit) -> None:
    other = audit_with()
    first, second = (
        [Crawled(each, n, of=0, share=0.5).chosen for n in range(100)] for each in (audit, other)
    )
    assert first != second


@pytest.mark.parametrize("first", ["kept", "audited"])
def test_items_are_compared_whichever_page_comes_out_first(audit, first: str) -> None:
    kept = Crawled(audit, 0)
    pages = [Crawled(audit, n, of=0) for n in (1, 2)]
    if first == "kept":
        kept.comes_out({"price": 5})
    pages[0].comes_out({"price": 5})
    pages[1].comes_out({"price": 6})
    if first == "audited":
        assert audit.figures.total.compared == 0
        kept.comes_out({"price": 5})
    (row,) = audit.figures.rows()
    assert (row.domain, row.audited, row.compared, row.wrong) == ("example.com", 2, 2, 1)
    assert row.fields == {"price": 1}
    assert 0 < row.interval[0] < 0.5 < row.interval[1] < 1


def test_items_without_the_fields_that_count_say_nothing_of_a_drop(caplog) -> None:
    audit = audit_with(AUDIT_FIELDS="price,prise")
    Crawled(audit, 0).comes_out({"price": 5})
    Crawled(audit, 1, of=0).comes_out({"title": "another"})
    Crawled(audit, 2, of=0).comes_out({"price": 5}, {"title": "another"})
    asyncio.run(audit.closed(Closing()))
    total = audit.figures.total
    assert (total.compared, total.wrong) == (1, 0)
    assert total.not_comparable == {"no_items": 1}
    (line,) = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert line == "SIMHASH_GATE_AUDIT_FIELDS: no item has a value in prise"


def test_a_callback_that_is_cut_short_has_failed(audit) -> None:
    Crawled(audit, 0).comes_out({"price": 5})
    Crawled(audit, 1, of=0).comes_out({"price": 5}, well=False)
    assert audit.figures.total.not_comparable == {"failed": 1}


def test_a_kept_page_that_comes_again_starts_anew(audit) -> None:
    Crawled(audit, 0).comes_out({"price": 4}, well=False)
    again = Crawled(audit, 0)
    Crawled(audit, 1, of=0).comes_out({"price": 5})
    again.comes_out({"price": 5})
    assert audit.figures.total.compared == 1
    assert audit.figures.total.wrong == 0


def test_the_oldest_items_make_room(audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10_000)
    waiting = Crawled(audit, 1000, of=0)
    Crawled(audit, 0)
    waiting.comes_out({"price": 5})
    for n in range(1, 100):
        Crawled(audit, n).comes_out({"price": n})
    Crawled(audit, 1001, of=1).comes_out({"price": 1})
    Crawled(audit, 1002, of=99).comes_out({"price": 99})
    assert audit.figures.total.not_comparable == {"forgotten": 2}
    assert audit.figures.total.compared == 1


def test_what_is_not_over_at_the_end_is_unfinished(audit) -> None:
    Crawled(audit, 0)
    Crawled(audit, 1, of=0).comes_out({"price": 5})
    Crawled(audit, 2, of=0)
    asyncio.run(audit.closed(Closing()))
    assert audit.figures.total.not_comparable == {"unfinished": 2}
    assert audit.figures.total.interval == (0.0, 1.0)
