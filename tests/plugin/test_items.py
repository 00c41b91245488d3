"""Items of two pages: which fields count as different, for every kind of item."""

from __future__ import annotations

import dataclasses

import attrs
import pytest
import scrapy
from scrapy.http import HtmlResponse

from simhash_gate.plugin.audit import NO_ITEM, Snapshot, news, snapshot


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


def said(item, path: str = "a", fields=()) -> Snapshot:
    url = f"https://example.com/{path}?page=2"
    return snapshot(item, HtmlResponse(url, request=scrapy.Request(url)), fields)


def differing(kept, dropped, fields=()) -> list[str]:
    """The fields by which the item of a dropped page says something new."""
    return news([said(kept, "a", fields)], [said(dropped, "b", fields)])


@pytest.mark.parametrize("kind", [dict, DataItem, AttrsItem, ScrapyItem])
def test_every_kind_of_item_is_compared_field_by_field(kind) -> None:
    assert differing(kind(title="Lamp", price=3.5), kind(title=" Lamp ", price=3.5)) == []
    assert differing(kind(title="Lamp", price=3.5), kind(title="Lamp", price=4.0)) == ["price"]
    assert differing(kind(title="Lamp"), kind(title="Lamp", price=4.0)) == ["price"]
    with pytest.raises(TypeError):
        said(object())


@pytest.mark.parametrize(
    ("kept", "dropped"),
    [
        pytest.param("https://example.com/a?page=2", "https://example.com/b?page=2", id="address"),
        pytest.param("by Ann", None, id="missing"),
        pytest.param({"a": {1, 2}}, {"a": {2, 1}}, id="sets"),
        pytest.param([DataItem("Lamp")], [DataItem("Lamp")], id="items in a list"),
        pytest.param("a lone \ud800\n", "a  lone \ud800", id="no characters"),
    ],
)
def test_what_differs_between_copies_says_nothing_new(kept, dropped) -> None:
    assert differing({"field": kept}, {"field": dropped}) == []


@pytest.mark.parametrize(
    ("kept", "dropped"),
    [
        pytest.param("Lamp", "Lamps", id="word"),
        pytest.param("€ 5", "$ 5", id="sign"),
        pytest.param(["a", "b"], ["a", "c"], id="list"),
        pytest.param({"a": 1}, {"a": 2}, id="mapping"),
        pytest.param([DataItem("Lamp")], [DataItem("Chair")], id="items in a list"),
        pytest.param(b"one", b"two", id="bytes"),
        pytest.param(None, "by Ann", id="come"),
    ],
)
def test_what_says_something_new(kept, dropped) -> None:
    assert differing({"field": kept}, {"field": dropped}) == ["field"]


def test_only_named_fields_count_and_these_do_whatever_they_hold() -> None:
    kept, dropped = ({"url": f"https://example.com/{n}?page=2", "sku": n} for n in "ab")
    assert differing(kept, dropped) == ["sku"]
    assert differing(kept, dropped, fields=["url"]) == ["url"]


def test_each_item_of_a_dropped_page_is_looked_for_among_those_of_the_kept_page() -> None:
    red, blue, green = ({"sku": n, "colour": c, "size": 1} for n, c in enumerate("rbg"))
    kept = [said(item) for item in (red, blue)]
    assert news(kept, [said(blue), said(red)]) == []
    assert news(kept, [said({**red, "size": 2})]) == ["size"]
    assert news(kept, [said(green)]) == ["sku", "colour"]
    assert news([], [said(red)]) == [NO_ITEM]
    assert news(kept, []) == []
