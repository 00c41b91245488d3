"""What pages gave: which copies may give more, and which items were given before."""

import zlib
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
import scrapy

from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.yields import TRIALS, Yields, fields_of
from simhash_gate.stores.base import Match, Record

NOW, EARLIER = "now", "earlier"


class Known(Yields):
    """What came of the pages of a crawl."""

    def __init__(self) -> None:
        self.in_work: set = set()
        super().__init__(SimpleNamespace(run=SimpleNamespace(name=NOW)), self.in_work)

    def gave(self, kept: Record, *items: dict, of_copy: bool = False, **page) -> Record | None:
        """Let a page, or a copy of it, give items."""
        return self.ended(came(kept, *items, of_copy=of_copy, **page))

    def unpaid(self, kept: Record, outcome: str = "duplicate", **policy) -> str:
        verdict = Verdict(outcome, "why", Policy(**policy), None, Match(kept, 0))
        return self.given(verdict, "https://example.com/x", let_out=False).unpaid

    def brings_of(self, kept: Record, *items: dict, outcome: str = "duplicate") -> bool:
        verdict = Verdict(outcome, "why", Policy(), None, Match(kept, 0))
        return self.brings(verdict, came(kept, *items, of_copy=True))


def came(kept: Record, *items: dict, of_copy: bool = False, **page) -> FollowedPage:
    followed = FollowedPage(None if of_copy else kept, kept.url, given=len(items), **page)
    if of_copy:
        followed.stands_for, followed.pays = kept, True
    for item in items:
        filled, empty = fields_of(item)
        followed.empty |= empty
        followed.shapes.add(zlib.crc32(repr(sorted(filled)).encode()))
        for name, value in filled.items():
            followed.filled.setdefault(name, []).append(value)
    return followed


def kept(number: int = 0, callback: str = "parse", run: str = NOW, *, gave: int = 0) -> Record:
    url = f"https://example.com/{number}"
    record = Record("s", url, url, 0, 0, 0, "", "v", run, 0, 0, asker=f"{callback}\ncookies 1")
    return replace(record, gave=gave, settled=run == EARLIER)


ITEM = {"name": "Lamp of a desk", "price": "5"}


@pytest.fixture
def known() -> Known:
    return Known()


def test_a_copy_of_a_page_passes_if_that_gave_no_item_but_its_callback_gives(known) -> None:
    rich, poor = kept(1), kept(2)
    known.gave(poor)
    assert known.unpaid(poor) == ""  # it waits: maybe the callback never gives any
    assert known.unpaid(poor, action="links") == "nothing"  # its callback runs anyway
    known.gave(rich, ITEM)
    assert known.unpaid(poor) == "nothing"
    known.in_work.add(poor.identity)  # another copy is in its callback
    assert known.unpaid(poor) == ""
    assert known.unpaid(kept(3)) == ""  # it came too long ago
    assert known.unpaid(poor, action="tag") == known.unpaid(poor, "near") == ""


def test_a_page_that_its_callback_asks_for_again_does_not_let_copies_wait(known) -> None:
    known.gave(kept(), polls=True)
    assert known.unpaid(kept()) == "nothing"


def test_what_an_earlier_crawl_kept_counts_by_what_it_gave(known) -> None:
    known.codes["parse"] = "000000aa"
    poor, rich = kept(run=EARLIER), kept(1, run=EARLIER, gave=0xAA << 32)
    assert known.unpaid(poor, "unchanged") == "nothing"
    assert known.unpaid(rich) == known.unpaid(rich, "unchanged") == ""
    assert known.unpaid(poor, "unchanged", revisit="drop") == ""
    assert known.unpaid(rich, revisit="pass") == "again"
    known.codes["parse"] = "000000bb"
    assert known.unpaid(rich, "unchanged") == "code"
    assert known.unpaid(rich) == ""
    settled = known.gave(rich, ITEM, of_copy=True)
    assert settled is not None
    assert settled.gave >> 32 == 0xBB
    assert known.unpaid(rich, "unchanged") == ""
    assert known.unpaid(rich, revisit="pass") == ""


def test_where_all_shall_come_again_a_page_comes_by_one_address(known) -> None:
    page = kept(run=EARLIER, gave=7)
    unchanged = Verdict("unchanged", "why", Policy(revisit="pass"), None, Match(page, 0))
    assert known.given(unchanged, "https://example.com/x", let_out=False) == unchanged
    known.gave(page, ITEM, of_copy=True)
    assert known.given(unchanged, page.url, let_out=False).outcome == "unchanged"  # asked again
    other = known.given(unchanged, "https://example.com/x", let_out=False)
    assert other.outcome == "duplicate"
    assert other.reason == "why; it comes by https://example.com/0 in this crawl"


def test_an_unchanged_page_gives_again_what_fills_other_fields(known) -> None:
    settled = Known().gave(kept(), ITEM)
    assert settled is not None
    before = replace(settled, run=EARLIER, settled=True)
    for items, brings in (
        ([ITEM], False),
        ([{**ITEM, "price": "6"}, {"name": "more"}], False),
        ([{"name": "Lamp", "price": None}], True),
        ([{"review": "Good"}], True),
    ):
        assert known.brings_of(before, *items, outcome="unchanged") == brings
    assert not known.brings_of(before, {"review": "Good"})  # of a copy


def test_a_copy_is_tried_if_the_page_left_fields_empty(known) -> None:
    known.gave(kept(), {"name": "Lamp of a desk", "price": None, "link": ""})
    assert known.unpaid(kept()) == "less"
    assert known.unpaid(kept(), action="discard") == ""
    assert known.brings_of(kept(), ITEM)
    assert not known.brings_of(kept(), {"name": "Big lamp of a desk", "price": None})
    said_before = {"name": "Lamp of a desk", "link": "Lamp of a desk"}
    assert not known.brings_of(kept(), said_before)
    known.gave(kept(), ITEM, of_copy=True)
    assert not known.brings_of(kept(), {**ITEM, "price": "6"})
    rows = [ITEM, {**ITEM, "price": None}]
    known.gave(kept(1), *rows)
    assert known.brings_of(kept(1), ITEM, ITEM)
    assert not known.brings_of(kept(1), *rows)


def test_copies_are_not_tried_for_ever_for_fields_that_nothing_fills(known) -> None:
    pages = [kept(number) for number in range(2 * TRIALS)]
    for page in pages:
        known.gave(page, {"name": "Lamp of a desk", "price": []})
    assert [known.unpaid(page) for page in pages] == ["less"] * TRIALS + [""] * TRIALS
    for number in range(100, 130):  # most pages have a price
        known.gave(kept(number), ITEM)
    assert known.unpaid(pages[-1]) == "less"


def test_pages_whose_items_are_remembered_are_bounded(known) -> None:
    known._gave = Bounded(2)
    pages = [kept(n) for n in range(3)]
    for page in pages:
        known.gave(page)
    assert [known.wanted(page) for page in pages] == ["", "nothing", "nothing"]


@dataclass
class Offer:
    name: str
    price: float | None = None


class Unsaid:
    def __str__(self) -> str:
        raise ValueError


class Part(scrapy.Item):
    number = scrapy.Field()
    size = scrapy.Field()


@pytest.mark.parametrize(
    ("item", "filled", "empty"),
    [
        ({"a": 0, "b": False, "c": " x "}, {".a", ".b", ".c"}, set()),
        ({"a": None, "b": " ", "c": [None, ""]}, set(), {".a", ".b", ".c"}),
        ({"a": {"b": 1, "c": None}, "d": [{"e": 1}, {"e": ""}]}, {".a.b", ".d.e"}, {".a.c"}),
        (Offer("Lamp"), {".name"}, {".price"}),
        (Part(number="1"), {".number"}, {".size"}),
        (object(), {""}, set()),
        (Unsaid(), set(), set()),
    ],
)
def test_the_fields_of_an_item_are_filled_or_empty(item, filled, empty) -> None:
    found = fields_of(item)
    assert ({*found[0]}, found[1]) == (filled, empty)
