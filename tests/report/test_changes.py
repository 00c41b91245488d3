"""What differs between two texts: all of it marked, nothing else, bounded, and harmless."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from simhash_gate.report.pairs import SIDE, alone, difference_of

TEXT = st.lists(st.sampled_from(["a", "b", "c", "<b>", "12.90", "\n", "本", "語"])).map(" ".join)


def parsed(markup: str) -> html.HtmlElement:
    return html.fragment_fromstring(markup, create_parent="div")


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@given(TEXT, TEXT)
def test_both_sides_say_their_text_and_agree_outside_of_the_marks(kept: str, page: str) -> None:
    found = difference_of(kept, page)
    sides = parsed(found.kept), parsed(found.page)
    assert [bare(side.text_content()) for side in sides] == [bare(kept), bare(page)]
    assert {mark.tag for side in sides for mark in side} <= {"ins", "del"}
    for side in sides:
        for mark in side:
            mark.drop_tag() if mark.tag not in ("ins", "del") else mark.drop_tree()
    assert bare(sides[0].text_content()) == bare(sides[1].text_content())
    assert (found.number == 0) == (kept.split() == page.split())
    assert 0 <= found.share <= 1


@pytest.mark.parametrize(
    ("kept", "page", "places"),
    [
        ("Price 12.90 EUR now", "Price 13.90 EUR now", ["Price -12.90- +13.90+ EUR now"]),
        ("これは本です。", "これは犬です。", ["これは-本- +犬+です。"]),
        ("one two", "one two three", ["one two +three+"]),
        ("[a](https://x.com/1) b", "[a](https://x.com/2) b", []),
        ("**so** it is", "so it *is*", []),
    ],
)
def test_places_have_the_words_around_them(kept: str, page: str, places: list[str]) -> None:
    found = difference_of(kept, page)
    plain = [re.sub("</?del>", "-", re.sub("</?ins>", "+", place)) for place in found.places]
    assert plain == places


@pytest.mark.parametrize(
    ("kept", "page", "offer"),
    [
        ("costs 12.90 EUR.", "costs 13.90 EUR.", True),
        ("costs $ 12", "costs $ 13", True),
        ("costs 12.00 EUR", "costs 12 EUR", False),
        ("costs 12 EUR", "costs 12 EUR, and 5 EUR to ship", False),
        ("12 EUR, 5 EUR to ship", "13 EUR, 5 EUR to ship", True),
        ("read 12 times", "read 13 times", False),
    ],
)
def test_it_is_told_when_an_amount_of_money_differs(kept: str, page: str, offer: bool) -> None:
    assert difference_of(kept, page).offer is offer


def test_texts_are_bounded_and_long_parts_that_agree_are_shortened() -> None:
    same = "word " * 2_000
    found = difference_of(f"{same} 1 {same}", f"{same} 2 {same}")
    assert len(found.page) < 1_000
    assert "1,960 words that agree" in found.page
    around = "word " * 6
    assert found.places == [f"{around}<del>1</del> <ins>2</ins> {around}"]
    other = difference_of("a " * 9_000, "b " * 9_000)
    assert len(parsed(other.kept).text_content()) <= SIDE + 10
    assert len(alone("c " * 9_000)) <= SIDE + 10
    assert len(difference_of("x" * 99_999, "y" * 99_999).page) < 200


@pytest.mark.parametrize(
    ("kept", "page"),
    [
        ("[" * 50_000, "![" * 25_000),
        tuple(" ".join(f"w{n * step % 120}" for n in range(9_000)) for step in (1, 7)),
        ("1 " * 25_000, "€ " * 25_000),
    ],
)
@pytest.mark.timeout(30)
def test_texts_that_are_made_to_take_long_do_not(kept: str, page: str) -> None:
    assert len(difference_of(kept, page).page) < 20 * SIDE
