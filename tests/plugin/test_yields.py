"""What pages gave: which copies may give more, and which items were given before."""

from concurrent.futures import Future
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
import scrapy

from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict
from simhash_gate.history.versions import Version
from simhash_gate.plugin.followed import FollowedPage
from simhash_gate.plugin.item_values import packed, said_by
from simhash_gate.plugin.reading import Bounded
from simhash_gate.plugin.yields import TRIALS, Yields, fields_of, values_of
from simhash_gate.stores.base import Match, Record

NOW, EARLIER = "now", "earlier"


class Known(Yields):
    """What came of the pages of a crawl."""

    def __init__(self) -> None:
        self.in_work: set = set()
        over: Future[bool] = Future()
        over.set_result(False)  # no other crawl is live
        store = SimpleNamespace(run=SimpleNamespace(name=NOW), submit=lambda _: over)
        super().__init__(store, self.in_work)

    def gave(self, kept: Record, *items: dict, of_copy: bool = False, **page) -> Record | None:
        """Let a page, or a copy of it, give items."""
        return self.ended(came(kept, *items, of_copy=of_copy, **page))

    def unpaid(self, kept: Record, outcome: str = "duplicate", **policy) -> str:
        verdict = Verdict(outcome, "why", Policy(**policy), None, Match(kept, 0))
        return self.given(verdict, "https://example.com/x", let_out=False).unpaid

    def brings_of(self, kept: Record, *items: dict, before: Version | None = None) -> bool:
        outcome = "unchanged" if before else "duplicate"
        verdict = Verdict(outcome, "why", Policy(), None, Match(kept, 0), previous=before)
        return self.brings(verdict, came(kept, *items, of_copy=True))


def came(kept: Record, *items: dict, of_copy: bool = False, **page) -> FollowedPage:
    followed = FollowedPage(None if of_copy else kept, kept.url, given=len(items), **page)
    if of_copy:
        followed.stands_for, followed.pays = kept, True
    for item in items:
        filled, empty = fields_of(values_of(item))
        followed.empty |= empty
        for name, digests in said_by(values_of(item), [kept.url]).items():
            followed.said.setdefault(name, set()).update(digests)
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
    poor, rich = kept(run=EARLIER), kept(1, run=EARLIER, gave=0xAA)
    assert known.unpaid(poor, "unchanged") == "nothing"
    assert known.unpaid(rich) == known.unpaid(rich, "unchanged") == ""
    assert known.unpaid(poor, "unchanged", revisit="drop") == ""
    assert known.unpaid(rich, revisit="pass") == "again"
    known.codes["parse"] = "000000bb"
    assert known.unpaid(rich, "unchanged") == "code"
    assert known.unpaid(rich) == ""
    settled = known.gave(rich, ITEM, of_copy=True)
    assert settled is not None
    assert settled.gave == 0xBB
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


def version(*items: dict, **other) -> Version:
    """Return an earlier visit to a page that gave items then."""
    said = packed(came(kept(), *items).said)
    given = {"url": kept().url, "items": said} | other
    return Version(0, 0, 0, 0, 0, "", EARLIER, **given)


def test_an_unchanged_page_gives_again_what_it_did_not_give(known) -> None:
    before, page = version(ITEM), kept(run=EARLIER, gave=7)
    for items, brings in (
        ([ITEM], False),
        ([{**ITEM, "price": ""}], False),
        ([{**ITEM, "price": "6"}], False),  # it may be another one at each visit
        ([{"name": "Lamp of a desk", "review": "Good"}], True),
        ([ITEM, {"name": "Lamp of a desk", "review": "Good"}], False),  # it may add to the item
    ):
        assert known.brings_of(page, *items, before=before) == brings
    assert known.steady.unsure == {"price": 1, "review": 1}
    assert not known.brings_of(page, {"review": "Good"})  # of a copy
    assert not known.brings_of(page, {"review": "Good"}, before=version(ITEM, items=""))


def test_a_field_that_stays_the_same_brings_an_item_if_it_differs(known) -> None:
    page, other = kept(run=EARLIER, gave=7), {**ITEM, "price": "6"}
    for _ in range(3):
        assert not known.brings_of(page, ITEM, before=version(ITEM))
    assert not known.brings_of(page, other, before=version(ITEM, url="https://example.com/m"))
    assert known.steady.unsure == {"price": 1}
    assert known.brings_of(page, other, before=version(ITEM))
    assert known.steady.learned()["parse"] == {"name": True, "price": True}
    for _ in range(2):
        known.brings_of(page, other, before=version(ITEM))
    assert known.steady.learned()["parse"] == {"name": True, "price": False}
    later = Known()
    later.steady.known = {"parse": {"name": True, "price": False}}
    assert not later.brings_of(page, other, before=version(ITEM))
    assert later.brings_of(page, {**ITEM, "name": "Lamp"}, before=version(ITEM))
    assert not later.steady.unsure


@pytest.mark.parametrize(
    ("value", "later"),
    [
        *(("2 days ago", "3 days ago"), (kept().url, kept(1).url), (1.0, "1.0")),
        ("# Lamps\n\nUpdated 9 minutes ago · 6,207 views\n\nLit.", "# Lamps\n\n3 views\n\nLit."),
    ],
)
def test_values_that_say_the_same_at_each_visit(value, later) -> None:
    said = [said_by([("value", str(it))], [kept().url, kept(1).url]) for it in (value, later)]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("value", "later"),
    [
        ("Hall 3\n9 May 2026, 14:00", "Hall 3\n9 May 2026, 15:00"),
        ("5 views\nRed.", "5 views\nTeal."),
    ],
)
def test_values_that_say_something_else(value, later) -> None:
    assert said_by([("value", value)], ()) != said_by([("value", later)], ())


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
        ({"a": 0, "b": False, "c": " x "}, {"a", "b", "c"}, set()),
        ({"a": None, "b": " ", "c": [None, ""]}, set(), {"a", "b", "c"}),
        ({"a": {"b": 1, "c": None}, "d": [{"e": 1}, {"e": ""}]}, {"a.b", "d.e"}, {"a.c"}),
        (Offer("Lamp"), {"name"}, {"price"}),
        (Part(number="1"), {"number"}, {"size"}),
        (object(), {""}, set()),
        (Unsaid(), set(), set()),
    ],
)
def test_the_fields_of_an_item_are_filled_or_empty(item, filled, empty) -> None:
    found = fields_of(values_of(item))
    assert ({*found[0]}, found[1]) == (filled, empty)
