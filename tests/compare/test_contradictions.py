"""When names and offers of two pages contradict each other."""

from itertools import pairwise

import pytest

from simhash_gate.compare.contradictions import contradiction
from simhash_gate.compare.names import numbers_and_signs
from simhash_gate.compare.offers import IN_DATA, fields_apart, read_from_text
from simhash_gate.compare.sketch import Sketch, WordSet
from simhash_gate.fingerprints.words import SIGNS, unsegmented, words
from simhash_gate.page.offer import NUMBERS


def looked_for(text: str) -> set[str]:
    """Return the words of a text in all forms in which a name may have them."""
    tokens = words(text)
    places = [place for place, word in enumerate(tokens) if word in SIGNS or "0" <= word[0] <= "9"]
    characters = unsegmented(tokens)
    pairs = (a + b for a, b in pairwise(tokens) if {a, b} <= characters)
    return {*tokens, *pairs, *numbers_and_signs(tokens, places)}


def claims(headline: str, *names: str, said: str = "", beside: str = "", **offered: str) -> Sketch:
    told = WordSet.of(looked_for(said), looked_for(f"{headline} {said} {beside}"))
    return Sketch(headline, names, tuple(sorted(offered.items())), words=told)


def said(a: Sketch, b: Sketch) -> str:
    found = contradiction(a, b)
    return found.reason if found else ""


HOUSE = "How to build a greenhouse out of old windows and sixty nails"
SHORT_HOUSE = HOUSE.removesuffix(" nails")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Blue shirt", "Red shirt"),
        ("Drill X100 of steel", "Drill X200 of brass"),
        ('History of "Bees"', 'History of "Wasps"'),
        ("青いシャツ", "赤いシャツ"),
        ("เสื้อสีแดง", "เสื้อสีเขียว"),
    ],
)
def test_two_names_with_words_of_their_own_contradict_each_other(a: str, b: str) -> None:
    assert said(claims(a), claims(b)) == f"another name: {a!r} → {b!r}"
    assert said(claims(b), claims(a))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Blue shirt", "Print: Blue shirt"),
        ("5 blue shirts", "Print: 5 blue shirts"),
        ("Blue shirt", "“BLUE SHIRT”"),
        ("(4) Blue shirt", "(3) Blue shirt"),
        ("Query (product 3.7.1 API)", "Query (product 4.0 API)"),
        ("Mend a clock without any to…", "Mend a clock without any tools"),
        ("Mend a clock with an h...", "Mend a clock with an hour to spare"),
        ("", "Red shirt"),
    ],
)
def test_a_name_that_templates_write_in_another_way_is_the_same(a: str, b: str) -> None:
    assert not said(claims(a), claims(b))
    assert not said(claims(b), claims(a))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Blue shirt", "Blue shirt for children"),
        ("Phone 15", "Phone 15 Pro"),
        ("5 shirts for 6 children", "6 shirts for 5 children"),
        ("5 blue shirts", "Print: 6 blue shirts"),
        ("Oil (0.5 l)", "Oil (1 l)"),
        ("Oil", "Oil (0.5 l)"),
        ("Oil", "Oil - 0.5 l"),
        ("Letters", "Letters: Volume 2"),
        ("Letters", "Letters | Large print"),
        ("Letters", "Letters of winter…"),
        ("Letters…", "Lettuce"),
        (SHORT_HOUSE, HOUSE),
        (HOUSE, f"{HOUSE}, Pack of 2"),
        ("Written in C", "Written in C++"),
        ("Written in C", "Written in C#"),
        ("Written in C++", "Written in C#"),
        ("Fuse, $2.5", "Fuse, $25"),
        ("History of Rome", "History of Rome, part 2"),
    ],
)
def test_a_name_with_a_word_more_is_another_unless_the_other_page_has_it(a: str, b: str) -> None:
    assert said(claims(a), claims(b))
    assert said(claims(b), claims(a))
    assert not said(claims(a, said=b), claims(b, said=a)), "both pages say both"


@pytest.mark.parametrize("title", ["Blue shirt | Shirts for all", "Blue shirt - AMP version"])
def test_what_is_set_off_in_a_title_is_the_sites_unless_the_page_shows_it(title: str) -> None:
    for a in (claims("Blue shirt"), claims("", "Blue shirt")):
        assert not said(a, claims("", title))
        assert not said(claims("", title), a)
        assert said(a, claims("", title, beside=title))
        assert said(claims("", title, beside=title), a)
    printed = claims("", "Moon » Blue shirt » Print", beside="Moon")
    assert not said(claims("", "Blue shirt"), printed)
    assert not said(claims("", "Blue shirt | Moon"), printed)
    assert said(claims("", "Letters"), claims("", "Letters: Volume 2")), "a colon is no separator"
    assert said(claims("", "Letters"), claims("", "Letters II"))


def test_a_title_that_all_pages_share_does_not_make_two_names_one() -> None:
    assert said(claims("Phone 15", "The Shop"), claims("Phone 15 Pro", "The Shop"))
    assert said(claims("Phone 15", "Phone 15"), claims("Phone 15 Pro", "Phone 15"))


def test_a_headline_that_no_title_has_a_word_of_is_no_name() -> None:
    baker, smith = (claims("Job description", f"{who} in the north") for who in ("Baker", "Smith"))
    assert said(baker, smith)
    assert not said(baker, claims("Job description", "Baker in the north | Jobs"))


def test_a_headline_that_shares_a_word_with_titles_is_no_name() -> None:
    epoxy, rubber = (claims("Call our floor team", f"{it} floor") for it in ("Epoxy", "Rubber"))
    assert said(epoxy, rubber)
    assert said(epoxy, claims("Call our floor team", "Epoxy floor II"))
    assert not said(epoxy, epoxy)


def test_where_both_pages_have_a_headline_that_decides() -> None:
    assert not said(claims("Query", "Query of 3.7"), claims("Query", "Query of 4.0"))
    assert said(claims("", "Red query"), claims("Blue query"))


def test_a_word_of_a_name_that_stands_in_the_other_text_is_no_own_one() -> None:
    printed = claims("Print view", said="The blue shirt is made of wool.")
    assert not said(printed, claims("Blue shirt"))
    assert said(printed, claims("Red shirt"))
    assert said(claims("Part 3"), claims("Part 4", said="Delivery takes 3 days."))
    assert not said(claims("Part 3"), claims("Part 4", said="It follows part 3 of the story."))


def test_what_is_offered_must_agree_where_both_say_it() -> None:
    kept = claims("A drill", price="12.90 EUR", sku="A-1")
    assert said(kept, claims("A drill", price="14.90 EUR")) == "price 12.90 EUR → 14.90 EUR"
    assert contradiction(kept, claims("A drill", price="9.90 EUR")).differs == "offers"
    assert not said(kept, claims("A drill", sku="A-1"))


def shown(price: str, number: str = "A-1") -> Sketch:
    return claims("A drill", **{"shown price": price, "shown number": number})


def test_what_a_print_view_shows_is_compared_with_what_data_say() -> None:
    shop = claims("A drill", price="12.90 EUR", sku="A-1")
    assert not said(shop, shown("12.90 EUR"))
    assert said(shop, shown("14.90 EUR")) == "price 12.90 EUR → 14.90 EUR"


def test_the_lowest_of_the_prices_that_a_page_shows_is_the_one_of_today() -> None:
    sale = claims("A drill", price="9.90 EUR", sku="A-1")
    assert said(sale, shown("12.90 EUR")) == "price 9.90 EUR → 12.90 EUR"
    variants = claims("A drill", price="9.90 EUR", sku="A-1, A-2, A-3, A-4")
    assert not said(variants, shown("9.90 EUR"))


def test_prices_are_compared_as_money() -> None:
    shop = claims("A drill", price="12.90 CAD", sku="A-1")
    assert not said(shop, shown("12.90 $"))
    assert said(shop, shown("12.90 EUR")) == "price 12.90 CAD → 12.90 EUR"
    assert not said(shop, claims("A drill", price="12.90"))
    assert said(shop, claims("A drill", price="12.90 CAD, 14.90 CAD"))


def test_a_field_that_one_page_lacks_is_told_and_is_no_contradiction() -> None:
    kept, new = (("price", "5.00 EUR"), ("sku", "A-1")), (("chosen", "red"), ("price", "5.00"))
    assert fields_apart(kept, new) == [("sku", "A-1", None), ("chosen", None, "red")]
    assert contradiction(Sketch("A drill", offered=kept), Sketch("A drill", offered=new)) is None


def test_of_the_users_fields_one_that_only_one_page_has_differs_too() -> None:
    kept = Sketch("A drill", compared=((".price", "12 €"),))
    gone = Sketch("A drill", compared=((".price", ""),))
    assert contradiction(kept, gone) == ("fields", ".price 12 € → none")
    assert contradiction(kept, Sketch("A drill")) is None


A, B = "https://example.com/a", "https://example.com/b"


def test_a_page_read_from_its_text_contradicts_what_only_data_tell() -> None:
    kept = read_from_text(claims("Boots"), "Boots", A)
    for field in ("sku", "offer gtin13", "item", "price", "chosen", "startDate", "place", "salary"):
        assert said(kept, claims("Boots", **{field: "x"})) == f"{field} unknown → x"
    assert {name.lower() for name in NUMBERS} < {*IN_DATA["shown number"]}
    assert said(kept, claims("Boots")) == said(kept, claims("", "Boots")) == ""
    assert said(kept, claims("Shoes")) != ""


def test_what_its_text_shows_is_known() -> None:
    text = claims("Boots", **{"shown number": "A-1", "shown price": "12.00 EUR"})
    kept = read_from_text(text, "Boots", A)
    assert said(kept, claims("Boots", sku="A-1", price="12.00 EUR")) == ""
    assert "a-1 → a-2" in said(kept, claims("Boots", sku="A-2"))
    assert "12.00 EUR → 13.00 EUR" in said(kept, claims("Boots", price="13.00 EUR"))
    assert said(kept, claims("Boots", sku="A-1", chosen="red")) == "chosen unknown → red"


def test_two_pages_read_from_their_text_are_the_same_only_at_one_address() -> None:
    kept, again, other = (read_from_text(claims("Boots"), "Boots", url) for url in (A, A, B))
    assert said(kept, again) == ""
    assert said(kept, other) == f"the text alone of {A} → {B}"
    untitled = read_from_text(claims("", "Boots"), "Boots", A)
    assert (untitled.headline, untitled.key[:4]) == ("Boots", claims("Boots").key[:4])
    assert read_from_text(claims("Red boots"), "Boots", A).headline == "Red boots"
