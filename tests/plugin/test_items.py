"""Items of two pages: which fields count as different, for every kind of item."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import replace
from datetime import datetime, timezone

import attrs
import pytest
import scrapy
from scrapy.http import HtmlResponse

from simhash_gate.gate.judge import Gate
from simhash_gate.gate.policy import Policy
from simhash_gate.gate.verdict import Verdict
from simhash_gate.pipeline import read_page
from simhash_gate.plugin.audit.items import NO_ITEM, Reader
from simhash_gate.stores import open_store

BEGAN = time.time()
TEXT = " ".join(f"word{n}" for n in range(100))
NEW, DUPLICATE = Verdict("new", ""), Verdict("duplicate", "", audited=True)


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


def snapshot(item, *, path: str = "a", verdict: Verdict = NEW, reader: Reader | None = None):
    url = f"https://example.com/{path}?page=2"
    response = HtmlResponse(url, request=scrapy.Request(url))
    return (reader or Reader((), BEGAN)).snapshot(item, response, verdict)


def news(kept, dropped):
    return Reader((), BEGAN).news(kept, dropped)


def differing(kept, dropped, fields=(), verdicts=(NEW, DUPLICATE), before=()) -> list[str]:
    """The fields by which the item of a dropped page says something new.

    `before` are the items of kept pages that came before.
    """
    reader = Reader(fields, BEGAN)
    for item in before:
        snapshot(item, path="before", verdict=verdicts[0], reader=reader)
    one = snapshot(kept, path="a", verdict=verdicts[0], reader=reader)
    other = snapshot(dropped, path="b", verdict=verdicts[1], reader=reader)
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
        pytest.param("new", "duplicate", id="outcome"),
        pytest.param("The lamp of Bexham", "Print: The lamp of Bexham", id="template's words"),
        pytest.param("The Lamp of Bexham | News", "The lamp of Bexham", id="site's name"),
        pytest.param(TEXT, f"{TEXT} and five words that are new", id="few words of a long text"),
        pytest.param(f"[see]({TEXT})\n{TEXT}", f"see https://b.example\n{TEXT}", id="links"),
        pytest.param(TEXT, f"{TEXT}\nUpdated 3 minutes ago · 8,120 views", id="a counter"),
        pytest.param(f"{TEXT} {TEXT[:300]} more", TEXT, id="nothing new"),
        pytest.param("by Ann", None, id="missing"),
        pytest.param({"a": {1, 2}}, {"a": {2, 1}}, id="sets"),
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
        pytest.param(b"one", b"two", id="bytes"),
        pytest.param("2020-01-01T10:00:00", "2020-01-02T10:00:00", id="times before the crawl"),
        pytest.param(None, "by Ann", id="come"),
    ],
)
def test_what_says_something_new(kept, dropped) -> None:
    assert differing({"field": kept}, {"field": dropped}) == ["field"]


@pytest.fixture(scope="module")
def verdicts() -> tuple[Verdict, Verdict]:
    """Those on a kept page, and on a copy of it that is audited."""
    store = open_store("memory:")
    store.begin("a run of its own")
    gate = Gate(store, run="a run of its own", pipeline="9c1f")
    kept, copy = (
        gate.judge(
            read_page(f"<p>{TEXT} {n}</p>".encode()),
            Policy(10, verify=False),
            url=f"https://e.com/{n}",
        )
        for n in range(2)
    )
    assert (kept.outcome, copy.outcome) == ("new", "duplicate")
    assert copy.match.distance > 0
    return kept, replace(copy, audited=True)


WAYS = {
    "outcome": lambda v: v.outcome,
    "reason": lambda v: v.reason,
    "distance": lambda v: v.match.distance if v.match else None,
    "audited": lambda v: v.audited,
    "words": lambda v: v.page.words,
    "fingerprint in hex": lambda v: f"{v.fingerprint:016x}",
    "record": lambda v: v.record and v.record.request,
    "verdict": lambda v: v,
    "verdict in a text": lambda v: f"judged: {v}",
    "a sentence": lambda v: f"The gate says {v.outcome} ({v.reason}), audited={v.audited}",
    "mapping": lambda v: {"outcome": v.outcome, "bits": v.match.distance if v.match else None},
    "list": lambda v: [v.outcome, v.reason, v.match.distance if v.match else 0],
    "deep": lambda v: {"gate": [{"why": v.reason}, {"how": {"drop": v.rejected}}], "by": "me"},
    "only of duplicates": lambda v: v.reason if v.rejected else None,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_that_the_verdict_says_is_new(verdicts, way) -> None:
    kept, dropped = ({"field": way(verdict), "title": "Lamp"} for verdict in verdicts)
    assert differing(kept, dropped, verdicts=verdicts) == []
    # It hides nothing that stands beside it.
    other = {**dropped, "title": "Chair"}
    assert differing(kept, other, verdicts=verdicts) == ["title"]


def article(text: str) -> bytes:
    """Return an article of which the Markdown is this text."""
    return read_page(f"<p>{text}".encode()).article


@pytest.mark.parametrize("name", ["title", "markdown"])
def test_what_the_page_says_counts_though_the_verdict_has_it(verdicts, name: str) -> None:
    texts = ("Lamp", "Chair")
    kept, dropped = (
        replace(verdict, page=replace(verdict.page, title=text, article=article(text)))
        for verdict, text in zip(verdicts, texts, strict=True)
    )
    items = [{"field": getattr(verdict, name)} for verdict in (kept, dropped)]
    assert [item["field"] for item in items] == list(texts)
    assert differing(*items, verdicts=(kept, dropped)) == ["field"]
    nested = [{"field": {"said": item["field"], "by": v.outcome}} for item, v in
              zip(items, (kept, dropped), strict=True)]  # fmt: skip
    assert differing(*nested, verdicts=(kept, dropped)) == ["field"]


def test_what_a_shop_says_is_not_the_gates_because_it_says_it_too(verdicts) -> None:
    distance = verdicts[1].match.distance
    for kept, dropped, before in (
        ("new", "used", ()),
        ("used", "new", ()),
        (distance + 1, distance, ()),
        (None, distance, (1, 2)),
        (False, True, (True,)),
        ("a new lamp", "a used lamp", ()),
        ({"state": "new", "rating": 1}, {"state": "used", "rating": distance}, ()),
        ([False, 5], [True, 6], ([True, 5],)),
    ):
        items = [{"field": value} for value in (kept, dropped, *before)]
        assert differing(*items[:2], verdicts=verdicts, before=items[2:]) == ["field"], kept


def test_only_named_fields_count_and_these_do_whatever_they_hold(verdicts) -> None:
    kept, dropped = {"url": "/a?page=2", "sku": 1}, {"url": "/b?page=2", "sku": 2}
    assert differing(kept, dropped) == ["sku"]
    assert differing(kept, dropped, fields=["url"]) == ["url"]
    items = [{"field": verdict.reason} for verdict in verdicts]
    assert differing(*items, verdicts=verdicts, fields=["field"]) == ["field"]


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
