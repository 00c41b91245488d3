"""Items of two pages: which fields count as different, for every kind of item."""

from __future__ import annotations

import dataclasses
import time
from datetime import datetime, timezone

import attrs
import pytest
import scrapy
from scrapy.http import HtmlResponse

from simhash_gate.plugin.audit.items import NO_ITEM, Reader

BEGAN = time.time()
TEXT = " ".join(f"word{n}" for n in range(100))


@dataclasses.dataclass
class DataItem:
    title: str
    price: float | None = None


@attrs.define
class AttrsItem:
    title: str
    price: float | None = None


class ScrapyItem(scrapy.Item):
    title = scrapy.Field()
    price = scrapy.Field()


def snapshot(item, *, path: str = "a", reader: Reader | None = None):
    url = f"https://example.com/{path}?page=2"
    response = HtmlResponse(url, request=scrapy.Request(url))
    return (reader or Reader((), BEGAN)).snapshot(item, response)


def news(kept, dropped):
    return Reader((), BEGAN).news(kept, dropped)


def differing(kept, dropped, fields=()) -> list[str]:
    """The fields by which the item of a dropped page says something new."""
    reader = Reader(fields, BEGAN)
    one = snapshot(kept, path="a", reader=reader)
    other = snapshot(dropped, path="b", reader=reader)
    return [difference.field for difference in reader.news([one], [other])]


@pytest.mark.parametrize("kind", [dict, DataItem, AttrsItem, ScrapyItem])
def test_every_kind_of_item_is_compared_field_by_field(kind) -> None:
    assert differing(kind(title="Lamp", price=3.5), kind(title=" Lamp ", price=3.5)) == []
    assert differing(kind(title="Lamp", price=3.5), kind(title="Lamp", price=4.0)) == ["price"]
    assert differing(kind(title="Lamp"), kind(title="Lamp", price=4.0)) == ["price"]
    with pytest.raises(TypeError):
        snapshot(object())


@pytest.mark.parametrize(
    ("kept", "dropped"),
    [
        pytest.param("https://example.com/a?page=2", "https://example.com/b?page=2", id="address"),
        pytest.param("/a?page=2", "/b?page=2", id="path and query"),
        pytest.param("https://example.com/a", "https://example.com/b?page=2", id="canonical"),
        pytest.param(datetime.now(), datetime.now(), id="naive time"),
        pytest.param(
            datetime.now(timezone.utc).isoformat(), datetime.now().isoformat(), id="time in words"
        ),
        pytest.param(time.time(), int(time.time() * 1000), id="Unix time"),
        pytest.param("The lamp of Bexham", "Print: The lamp of Bexham", id="template's words"),
        pytest.param("The Lamp of Bexham | News", "The lamp of Bexham", id="site's name"),
        pytest.param(TEXT, f"{TEXT} and five words that are new", id="few words of a long text"),
        pytest.param(f"[see]({TEXT})\n{TEXT}", f"see https://b.example\n{TEXT}", id="links"),
        pytest.param(TEXT, f"{TEXT}\nUpdated 3 minutes ago · 8,120 views", id="a counter"),
        pytest.param(f"{TEXT} {TEXT[:300]} more", TEXT, id="nothing new"),
        pytest.param("by Ann", None, id="missing"),
        pytest.param({"a": {1, 2}}, {"a": {2, 1}}, id="sets"),
        pytest.param([DataItem("Lamp")], [DataItem("Lamp")], id="items in a list"),
    ],
)
def test_what_differs_between_copies_says_nothing_new(kept, dropped) -> None:
    assert differing({"field": kept}, {"field": dropped}) == []


@pytest.mark.parametrize(
    ("kept", "dropped"),
    [
        pytest.param("Lamp", "Lamps", id="word"),
        pytest.param("€ 5", "$ 5", id="sign"),
        pytest.param("Written for bees in C", "Written for bees in C++", id="signs alone"),
        pytest.param(5, -5, id="number"),
        pytest.param("iPhone 15", "iPhone 15 Pro", id="few words more"),
        pytest.param("Phone 15 with 256 GB", "Phone 15 with 512 GB", id="another number"),
        pytest.param("The lamp of Bexham", "The lamp of Lowerford", id="another headline"),
        pytest.param(TEXT, f"{TEXT} {' '.join(f'new{n}' for n in range(20))}", id="new sentences"),
        pytest.param(["a", "b"], ["a", "c"], id="list"),
        pytest.param({"a": 1}, {"a": 2}, id="mapping"),
        pytest.param([DataItem("Lamp")], [DataItem("Chair")], id="items in a list"),
        pytest.param(b"one", b"two", id="bytes"),
        pytest.param("2020-01-01T10:00:00", "2020-01-02T10:00:00", id="times before the crawl"),
        pytest.param(None, "by Ann", id="come"),
    ],
)
def test_what_says_something_new(kept, dropped) -> None:
    assert differing({"field": kept}, {"field": dropped}) == ["field"]


def test_only_named_fields_count_and_these_do_whatever_they_hold() -> None:
    kept, dropped = {"url": "/a?page=2", "sku": 1}, {"url": "/b?page=2", "sku": 2}
    assert differing(kept, dropped) == ["sku"]
    assert differing(kept, dropped, fields=["url"]) == ["url"]


def test_each_item_of_a_dropped_page_is_looked_for_among_those_of_the_kept_page() -> None:
    red, blue, green = ({"sku": n, "colour": c, "size": 1} for n, c in enumerate("rbg"))
    kept = [snapshot(item) for item in (red, blue)]
    assert news(kept, [snapshot(blue), snapshot(red)]) == []
    assert [d.field for d in news(kept, [snapshot({**red, "size": 2})])] == ["size"]
    assert [d.field for d in news(kept, [snapshot(green)])] == ["sku", "colour"]
    assert [d.field for d in news([], [snapshot(red)])] == [NO_ITEM]
    assert news(kept, []) == []


@pytest.mark.parametrize("unit", ["x", "](", "://", "1 ", "word ", "\n"])
def test_endless_text_ends(unit: str) -> None:
    assert differing({"text": f"y{unit * 500_000}"}, {"text": f"y{unit * 600_000}end"}) == []
    assert differing({"text": "short"}, {"text": f"y{unit * 300_000}"}) == ["text"]


def test_a_difference_is_told_in_words() -> None:
    kept = snapshot({"title": "Carmen Blanket", "text": TEXT})
    dropped = snapshot({"title": "Olive Blanket", "text": TEXT.upper().replace("WORD", "x")})
    title, text = news([kept], [dropped])
    assert title.change == "'Carmen Blanket' → 'Olive Blanket'"
    assert text.change == "100% of its words are new"
