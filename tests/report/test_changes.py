"""What differs between two texts: all of it marked, nothing else, bounded, and harmless."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_gate.report.pairs import SIDE, Pair, Run, side_by_side
from tests.report.verdicts import SITE, copy, summary_of

TEXT = st.lists(st.sampled_from(["a", "b", "c", "<b>", "12.90", "\n", "本", "語"])).map(" ".join)


def pair_of(kept: str, page: str | None) -> Pair:
    """Return a copy beside its kept page, with their texts."""
    texts = {SITE + "a": kept} | ({} if page is None else {SITE + "b": page})
    duplicates = summary_of(copy("b", "a", 1)).duplicates.ranked()
    return side_by_side(duplicates, lambda _: texts)[0]


def said(runs: list[Run], *, marked: bool = True) -> str:
    return re.sub(r"\s+", "", "".join(run.text for run in runs if marked or not run.tag))


@given(TEXT.filter(str.strip), TEXT.filter(str.strip))
def test_both_sides_say_their_text_and_agree_outside_of_the_marks(kept: str, page: str) -> None:
    pair = pair_of(kept, page)
    texts = [re.sub(r"\s+", "", text) for text in (kept, page)]
    assert [said(pair.kept_text), said(pair.page_text)] == texts
    assert {run.tag for run in pair.kept_text} <= {"del", ""}
    assert {run.tag for run in pair.page_text} <= {"ins", ""}
    assert said(pair.kept_text, marked=False) == said(pair.page_text, marked=False)
    assert (pair.found.changes == []) == (kept.split() == page.split())
    assert 0 <= pair.found.doubt.growth <= 1


@pytest.mark.parametrize(
    ("kept", "page", "changes"),
    [
        ("Price 12.90 EUR now", "Price 13.90 EUR now", [("Price", "12.90", "13.90", "EUR now")]),
        ("これは本です。", "これは犬です。", [("これは", "本", "犬", "です。")]),
        ("one two", "one two three", [("one two", "", "three", "")]),
        ("[a](https://x.com/1) b", "[a](https://x.com/2) b", []),
        ("**so** it is", "so it *is*", []),
        ("a\n\nb c\n\nd", "a b c d", []),
        ("one\ntwo 2\nthree", "one\ntwo 3\nthree", [("two", "2", "3", "")]),
        ("a b\nc", "a\nc", [("a", "b", "", "")]),
    ],
)
def test_changes_have_the_words_around_them_in_their_line(kept, page, changes) -> None:
    found = pair_of(kept, page).found.changes
    assert [change[:4] for change in found] == changes


@pytest.mark.parametrize(
    ("kept", "page", "offer"),
    [
        ("costs 12.90 EUR.", "costs 13.90 EUR.", True),
        ("costs $ 12", "costs $ 13", True),
        ("costs 12.00 EUR", "costs 12 EUR", False),
        ("costs 1.299,50 €", "costs EUR 1 299.50", False),
        ("costs 12 EUR", "costs 12 USD", True),
        ("costs 12 EUR", "costs 12 EUR, and 5 EUR to ship", False),
        ("12 EUR, 5 EUR to ship", "13 EUR, 5 EUR to ship", True),
        ("read 12 times", "read 13 times", False),
    ],
)
def test_it_is_told_when_an_amount_of_money_differs(kept: str, page: str, offer: bool) -> None:
    assert pair_of(kept, page).found.doubt.offer is offer


def test_texts_are_bounded_and_long_parts_that_agree_are_shortened() -> None:
    same = "word " * 2_000
    pair = pair_of(f"{same} 1 {same}", f"{same} 2 {same}")
    assert len(said(pair.page_text)) < 1_000
    assert "1,960wordsthatagree" in said(pair.page_text)
    around = " ".join(["word"] * 6)
    assert [place[:4] for place in pair.places] == [(around, "1", "2", around)]
    for kept, page in (("a " * 9_000, "b " * 9_000), ("c " * 9_000, None)):
        pair = pair_of(kept, page)
        assert SIDE / 2 - 10 < len(said(pair.kept_text)) <= SIDE + 10
        assert all(len(place.removed) <= 300 for place in pair.places)
    assert len(said(pair_of("x" * 99_999, "y" * 99_999).page_text)) < 200


@pytest.mark.parametrize(
    ("kept", "page"),
    [
        ("[" * 50_000, "![" * 25_000),
        tuple(" ".join(f"w{n * step % 120}" for n in range(9_000)) for step in (1, 7)),
        tuple("\n".join(f"w{n * step % 120}" for n in range(9_000)) for step in (1, 7)),
        ("1 " * 25_000, "€ " * 25_000),
    ],
)
@pytest.mark.timeout(30)
def test_texts_that_are_made_to_take_long_do_not(kept: str, page: str) -> None:
    assert len(said(pair_of(kept, page).page_text)) < 20 * SIDE
