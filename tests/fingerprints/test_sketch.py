"""What exactly differs between two pages that look alike."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.fingerprints.sketch import LIMIT, Sketch, compare, decode
from simhash_gate.pipeline import Options, read_page

TEXT = [
    "The drill comes with two batteries and a charger, and it weighs less than the old one.",
    "It was tested for six weeks by carpenters, who liked the grip and disliked the case.",
    "Spare parts are kept for ten years; the guarantee ends after three.",
]
DICE = random.Random(1)
LONG = [" ".join(f"{DICE.getrandbits(40):x}" for _ in range(12)) + "." for _ in range(400)]


def page(*paragraphs: str, headline: str = "A new drill", top: str = "") -> Sketch:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    html = (
        f"<html><head><title>{headline} | Shop</title></head><body><main>"
        f"<h1>{headline}</h1>{top}{body}</main></body></html>"
    )
    options = Options(sketch=True)
    return decode(read_page(html.encode(), url="https://x.example/a", options=options).sketch)


def test_the_order_of_blocks_and_where_a_block_is_split_do_not_matter() -> None:
    for copy in (page(*TEXT), page(*reversed(TEXT)), page(" ".join(TEXT))):
        assert compare(page(*TEXT), copy) == (True, "the same text")


def test_what_is_fleeting_makes_no_other_page_and_is_named() -> None:
    old, new = (page(*TEXT, top=f"<p>Updated {clock}</p>") for clock in ("12:04", "12:31"))
    assert compare(old, new) == (True, "only 'Updated 12:04' → 'Updated 12:31' differs")


PRICE = "Price: 19.99 EUR"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("weighs less", "weighs more"), "'weighs less' → 'weighs more'"),
        (("19.99", "24.99"), "'Price: 19.99' → 'Price: 24.99'"),
        ((PRICE, ""), "'Price: 19.99 EUR' is gone"),
        ((PRICE, f"{PRICE}. Sold out!"), "'Sold out!' was added"),
    ],
)
def test_another_word_or_price_makes_another_page_and_is_named(change, named) -> None:
    altered = [text.replace(*change) for text in (*TEXT, PRICE)]
    assert compare(page(*TEXT, PRICE), page(*altered)) == (False, named)


def test_another_headline_makes_another_page_but_not_the_name_of_the_site_in_it() -> None:
    old, new = page(*TEXT, headline="Drill AX-200"), page(*TEXT, headline="Drill AX-300")
    assert compare(old, new) == (False, "'Drill AX-200' → 'Drill AX-300'")
    assert compare(page(*TEXT), page(*TEXT, headline="Print: A new drill")).same


def test_a_long_page_is_known_by_hashes_and_still_compared() -> None:
    old, new = page(*LONG), page(*LONG[:200], "Something else entirely happened here.", *LONG[201:])
    assert not old.sentences
    assert compare(old, page(*LONG)).same
    assert not compare(old, new).same
    assert len(old.encode()) < LIMIT


FIGURE = "<figure><img src=drill.jpg><figcaption>{}</figcaption></figure>"


def test_a_view_without_images_lacks_their_captions_and_another_caption_is_another_page() -> None:
    first, second = (page(*TEXT, top=FIGURE.format(f"The {tool} at work.")) for tool in "AB")
    assert compare(first, page(*TEXT)).same
    assert compare(page(*TEXT), first).same
    assert not compare(first, second).same


def test_another_image_makes_another_page_of_few_words() -> None:
    bees, wasps = (page(top=f"<img src=/{name}.jpg>") for name in ("bees", "wasps"))
    assert compare(bees, wasps) == (False, "'bees.jpg' → 'wasps.jpg'")
    assert compare(bees, page()).same, "a view without images"
    long = [page(*TEXT, top=f"<img src=/{name}.jpg>") for name in ("bees", "wasps")]
    assert compare(*long).same


def whole(article: str, rest: str = "", title: str = "A new drill") -> Sketch:
    html = f"<title>{title}</title><body>{article}{rest}</body>"
    return decode(read_page(html.encode(), options=Options(sketch=True)).sketch)


def test_what_the_other_page_says_beside_its_article_is_no_difference() -> None:
    article = "".join(f"<p>{text}</p>" for text in TEXT)
    box = "<p>Sold in three towns by the Hive.</p>"
    inside = whole(f"<main><h1>A new drill</h1>{article}{box}</main>")
    beside = whole(f"<main><h1>A new drill</h1>{article}</main>", f"<aside>{box}</aside>")
    neither = whole(f"<main><h1>A new drill</h1>{article}</main>")
    assert compare(inside, beside).same
    assert compare(beside, inside).same
    assert not compare(inside, neither).same


def test_the_heading_before_an_article_without_one_counts_in_the_same_place_only() -> None:
    article = "<main>" + "".join(f"<p>{text}</p>" for text in TEXT) + "</main>"
    first, second, moved = (
        whole(f"<div><h2 class={place}>{heading}</h2></div>{article}", title="The Shop")
        for heading, place in (("A drill", "name"), ("A saw", "name"), ("A saw", "promo-name"))
    )
    assert compare(first, second) == (False, "'A drill' → 'A saw'")
    assert compare(first, moved).same


@given(st.builds(Sketch, st.text(), st.text(), sentences=st.lists(st.text()).map(tuple)))
def test_any_sketch_survives_its_encoding(sketch: Sketch) -> None:
    assert compare(decode(sketch.encode()), sketch).same


@pytest.mark.parametrize("data", [b"", b"garbage", b"x\x9cK\xce\x00\x00\x02$\x01("])
def test_what_is_no_sketch_is_said(data: bytes) -> None:
    with pytest.raises(ValueError, match="no sketch"):
        decode(data)


def test_a_sentence_more_that_the_site_repeats_makes_no_other_page() -> None:
    line = "Brought to you by the friends of the drill."
    plain, printed = page(*TEXT), page(*TEXT, line)
    repeated = set(printed.hashes) - set(plain.hashes)
    assert not compare(plain, printed).same
    assert compare(plain, printed, is_repeated=repeated.__contains__).same
    assert compare(printed, plain, is_repeated=repeated.__contains__).same
    other = page(*TEXT[:2], line)
    few = page(*TEXT, "Sold out!")
    for changed in (other, few):
        assert not compare(plain, changed, is_repeated=lambda _: True).same
