"""What came of pages: which copies may still give something, and when their text decides."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin import yields as module
from simhash_gate.plugin.yields import IN_A_ROW, IN_VAIN, Yields
from simhash_gate.stores.base import UNKNOWN_GAVE, Match, Record

NOW, EARLIER = "now", "earlier"


class Known(Yields):
    """What came of the pages of a crawl, and what it has told the store."""

    def __init__(self) -> None:
        self.settled: list[Record] = []
        store = SimpleNamespace(run=SimpleNamespace(name=NOW), settle=self.settled.append)
        self.in_work = set()
        super().__init__(store, self.in_work)

    def tries(self, kept: Record, times: int, *, sent: int = 0, given: int = 0) -> None:
        """Let copies of a page go to its callback."""
        for _ in range(times):
            self.ended(kept, given=given, sent=sent, is_copy=True)


def kept(number: int = 0, callback: str = "parse", run: str = NOW, *, gave: int = 0) -> Record:
    url = f"https://example.com/{number}"
    asker = f"{callback}\ncookies 1"
    return Record("s", url, url, 0, 0, 0, "", "v", run, 0, 0, asker=asker, gave=gave)


def barren(known: Known, *pages: Record, sent: int = 0) -> None:
    for page in pages:
        known.ended(page, given=0, sent=sent, is_copy=False)


def copy_of(page: Record, outcome: str = "duplicate", **policy) -> Verdict:
    return Verdict(outcome, "why", Policy(**policy), None, Match(page, 0))


@pytest.fixture
def known() -> Known:
    return Known()


def test_a_copy_of_a_page_passes_if_that_gave_no_item_and_is_done(known) -> None:
    rich, poor = kept(1), kept(2)
    known.ended(rich, given=1, sent=0, is_copy=False)
    barren(known, poor)
    assert not known.given(copy_of(rich)).unpaid
    passes = known.given(copy_of(poor))
    assert passes.unpaid
    assert not passes.rejected
    assert passes.reason == "why; but no item came of that page"
    known.in_work.add(poor.identity)  # another copy is in its callback
    assert not known.given(copy_of(poor)).unpaid
    assert not known.given(copy_of(kept(3))).unpaid  # it is not done, or too long ago


def test_what_an_earlier_crawl_kept_passes_if_it_gave_nothing(known) -> None:
    assert known.given(copy_of(kept(run=EARLIER))).unpaid
    assert not known.given(copy_of(kept(run=EARLIER, gave=UNKNOWN_GAVE))).unpaid
    assert known.given(copy_of(kept(run=EARLIER), "unchanged", revisit="links")).unpaid
    for policy in ({"revisit": "drop"}, {"revisit": "pass"}, {"action": "tag"}):
        assert not known.given(copy_of(kept(run=EARLIER), "unchanged", **policy)).unpaid
    assert not known.given(copy_of(kept(run=EARLIER), "near")).unpaid


def test_an_item_of_a_copy_pays_for_the_page_in_later_crawls_too(known) -> None:
    page = kept()
    barren(known, page)
    known.tries(page, 1, given=1)
    assert not known.wants_more(page)
    assert known.settled == [replace(page, gave=UNKNOWN_GAVE)]


def test_so_many_copies_of_one_page_in_a_row_are_enough(known) -> None:
    page = kept()
    barren(known, page)
    known.tries(page, IN_A_ROW - 1)
    known.tries(page, 1, sent=1)
    known.tries(page, IN_A_ROW - 1)
    assert not known.is_tried(page)
    known.tries(page, 1)
    assert known.is_tried(page)
    assert not known.is_tried(kept(9))


def test_the_text_decides_for_a_callback_that_never_gives_once_enough_were_in_vain(
    known, caplog
) -> None:
    caplog.set_level("INFO")
    pages = [kept(n) for n in range(IN_VAIN + 1)]
    leading, other = kept(7), kept(8, "other")
    barren(known, *pages, other)
    barren(known, leading, sent=1)
    for page in pages[:-2]:
        known.tries(page, 1)
    known.tries(pages[0], 1, sent=1)  # in a row
    for page in pages[:-1]:
        assert known.wants_more(page)
        known.tries(page, 1)
    assert [page for page in pages if known.wants_more(page)] == []
    assert "parse gives no items: copies of its pages are dropped for their text" in caplog.text
    assert known.wants_more(leading)  # pages that lead to others are counted apart
    assert known.wants_more(other)  # and so are callbacks
    known.ended(kept(9), given=1, sent=0, is_copy=False)
    assert known.wants_more(pages[0])  # it gives items after all


def test_pages_without_an_item_are_bounded(known, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_BARREN", 2)
    pages = [kept(n) for n in range(3)]
    barren(known, *pages)
    assert [known.wants_more(page) for page in pages] == [False, True, True]
