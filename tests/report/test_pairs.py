"""Duplicates beside their kept pages: their order, and which texts are asked for."""

from collections.abc import Collection

import pytest

from simhash_gate.report.html import render
from simhash_gate.report.pairs import MOST_TEXTS, SIDE, Pair, Texts, side_by_side
from tests.report.verdicts import SITE, copy, summary_of

SAME = {"title": "Shirt", "matched_title": "Shirt"}


def pairs_of(*lines: dict, texts: Texts | None = None) -> list[Pair]:
    return side_by_side(summary_of(*lines).duplicates.ranked(), texts)


def names(pairs: list[Pair]) -> list[str]:
    return [pair.found.verdict.url.removeprefix(SITE) for pair in pairs]


def test_what_differs_decides_the_order_and_bits_come_last() -> None:
    only = "distance 3, threshold 3; only '12:04' → '12:31' differs"
    pairs = pairs_of(
        copy("bits", "a", 3, **SAME),
        copy("words", "a", 3, reason=only, **SAME),
        copy("length", "a", 2, words=400, **SAME),
        copy("title", "a", 1, title="Shirt sale", matched_title="Shirt"),
        copy("price", "a", 0, reason="distance 0, threshold 3; only '12 €' → '13 €'", **SAME),
        copy("name", "a", 0, title="Red shirt", matched_title="Blue shirt"),
        copy("none", "a", 0, **SAME),
    )
    assert names(pairs) == ["name", "price", "title", "length", "words", "bits", "none"]
    assert [pair.found.differences for pair in pairs] == [
        "another name",
        "another price or offer; only '12 €' → '13 €'",
        "another title",
        "+100 words",
        "only '12:04' → '12:31' differs",
        *("", ""),
    ]


def test_a_list_in_another_order_is_told_to_be_one() -> None:
    texts = {f"{SITE}a": "- ax\n- bee\n- cow", f"{SITE}b": "- cow\n- bee\n- ax"}
    (pair,) = pairs_of(copy("b", "a", 1, **SAME), texts=lambda _: texts)
    assert pair.found.differences == "the same words in another order"


def test_texts_are_asked_for_once_and_only_those_of_doubtful_pages() -> None:
    asked = []

    def texts(names: Collection[str]) -> dict[str, str]:
        asked.append(set(names))
        return {}

    lines = [
        copy("same", "a", **SAME),
        copy("self", "self", 2, **SAME),
        copy("nothing", "b", 2, matched_url=None, **SAME),
        copy("", "", 2, id="pages/1.html", matched_url="", matched_id="pages/2.html", **SAME)
        | {"url": ""},
        copy("c", "c", 2, id="c-2", matched_id="c-1", **SAME),
        copy("d", "a", 2, **SAME),
    ]
    pairs = pairs_of(*lines, texts=texts)
    assert asked == [{SITE + "d", SITE + "a", "pages/1.html", "pages/2.html", "c-1", "c-2"}]
    assert len(pairs) == len(lines)


def test_a_text_that_says_another_price_puts_its_page_first_and_one_that_agrees_last() -> None:
    found = {"a": "It costs 12 EUR.", "far": "It costs 13 EUR.", "near": "It costs 12 EUR. "}
    pairs = pairs_of(
        *(copy("near", "a", 3, **SAME), copy("far", "a", 1, **SAME)),
        texts=lambda names: {SITE + name: text for name, text in found.items()},
    )
    assert [
        (pair.found.differences, pair.found.changes and len(pair.found.changes)) for pair in pairs
    ] == [*(("another price or offer", 1), ("", []))]


@pytest.mark.slow
def test_the_texts_of_a_report_are_bounded_in_number_and_size() -> None:
    """Marks around every word, and characters that HTML writes as five."""
    lines = [copy(f"p{n}", "a", 2, **SAME) for n in range(2 * MOST_TEXTS)]
    summary = summary_of(*lines)
    empty = len(render(summary, name="news"))

    def texts(names: Collection[str]) -> dict[str, str]:
        assert len(names) == MOST_TEXTS + 1
        return {name: ("& " if name.endswith("/a") else "&& x ") * 5_000 for name in names}

    assert len(render(summary, name="news", texts=texts)) < empty + MOST_TEXTS * 2 * 8 * SIDE
